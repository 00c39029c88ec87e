"""What can stand between data and their equation, and how a diagnosis says so."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal, NamedTuple

Verdict = Literal["identified", "partly identified", "not identified", "not assessed"]


class Limitation(StrEnum):
    """What stands between the data and a full recovery; empty where nothing does."""

    NONE = ""
    LOW_SIGNAL = "low drift signal-to-noise"
    NEAR_SINGULAR = "near-singular tensor"
    BOUNDARY = "boundary concentration"
    MISSING_TERMS = "missing library terms"
    HIDDEN = "hidden coordinate"
    COVERAGE = "insufficient coverage"
    LARGE_STEP = "step too large"
    DEGENERATE = "degenerate diffusion"
    STALLED = "stalled sensor"
    NOISE = "observation noise"
    JUMPS = "jumps or outliers"
    DISAGREEMENT = "trajectories disagree"


class Finding(NamedTuple):
    """One thing a diagnosis found.

    ``fields`` that it concerns, such as ``("b1",)``; ``sentence`` what was measured, ``advice``
    what to do. ``handled`` if the fit has allowed for it, so that the verdict need not.
    """

    limitation: Limitation
    fields: tuple[str, ...]
    sentence: str
    advice: str
    handled: bool = False


def weak_fields(found: Iterable[Finding]) -> frozenset[str]:
    """Drift components that do not stand out of the noise, by their names."""
    weak = (one for one in found if one.limitation == Limitation.LOW_SIGNAL and not one.handled)
    return frozenset(name for one in weak for name in one.fields)
