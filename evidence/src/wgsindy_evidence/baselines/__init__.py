"""Other ways to the same generator, for comparison.

:data:`BASELINES` holds proxies of four families of methods, as the paper compares itself with:
written here from the published ideas, small, and not certified by the authors of any of them.
:func:`fit_oracle` is the information floor, :func:`fit_weak_oracle` the paper's own oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from wgsindy.data import Trajectories
from wgsindy.model import Generator
from wgsindy.terms import Library
from wgsindy_evidence.baselines.gedmd import fit_gedmd
from wgsindy_evidence.baselines.kramers_moyal import fit_kramers_moyal
from wgsindy_evidence.baselines.naive import fit_naive
from wgsindy_evidence.baselines.oracle import fit_oracle
from wgsindy_evidence.baselines.temporal_weak import fit_temporal_weak
from wgsindy_evidence.baselines.weak_oracle import fit_weak_oracle


class Fit(Protocol):
    """From trajectories and candidate terms to a generator."""

    def __call__(
        self, data: Trajectories, library: str | Sequence[str] | Library, *, seed: int = 0
    ) -> Generator: ...


@dataclass(frozen=True)
class Baseline:
    """One baseline; ``paper_trajectories`` is how many trajectories the paper gives its own."""

    name: str
    title: str
    fit: Fit
    paper_trajectories: int


BASELINES: dict[str, Baseline] = {
    baseline.name: baseline
    for baseline in (
        Baseline("naive", "one-dimensional weak form, field by field", fit_naive, 1),
        Baseline("kramers-moyal", "local moments in cells of a grid", fit_kramers_moyal, 4),
        Baseline("temporal-weak", "weak SINDy along time", fit_temporal_weak, 4),
        Baseline("gedmd", "dense generator EDMD", fit_gedmd, 16),
    )
}

__all__ = [
    "BASELINES",
    "Baseline",
    "Fit",
    "fit_gedmd",
    "fit_kramers_moyal",
    "fit_naive",
    "fit_oracle",
    "fit_temporal_weak",
    "fit_weak_oracle",
]
