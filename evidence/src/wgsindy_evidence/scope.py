"""How much of an experiment to run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from wgsindy import zoo
from wgsindy_evidence.errors import CampaignError

# Figures are reported on these; choices are made on others.
REPORTING_SEEDS = range(1000, 1010)
QUICK_SEEDS, QUICK_SYSTEMS = 2, 2


@dataclass(frozen=True)
class Scope:
    """Seeds and systems, where they differ from the experiment's own; ``quick`` for a look."""

    seeds: Sequence[int] | None = None
    systems: Sequence[str] | None = None
    quick: bool = False

    def of_seeds(self, usual: Sequence[int] = REPORTING_SEEDS) -> Sequence[int]:
        """Seeds to run."""
        seeds = usual if self.seeds is None else self.seeds
        return seeds[:QUICK_SEEDS] if self.quick else seeds

    def of_systems(self, usual: Sequence[str]) -> Sequence[str]:
        """Systems to run.

        Raises
        ------
        CampaignError
            If a system was asked for that the experiment cannot use.
        """
        if self.systems is None:
            return usual[:QUICK_SYSTEMS] if self.quick else usual
        for name in self.systems:
            if name not in usual:
                zoo.get(name)  # says so if there is no such system at all
                raise CampaignError(
                    f"{name} is not part of this experiment; choose among {list(usual)}."
                )
        return self.systems


@cache
def in_scope() -> tuple[str, ...]:
    """Systems that the paper declares recoverable."""
    return tuple(name for name in zoo.names() if zoo.get(name).in_scope)


@cache
def spanned() -> tuple[str, ...]:
    """Systems whose truth is a formula of their library."""
    return tuple(name for name in zoo.names() if zoo.get(name).true_coefficients() is not None)
