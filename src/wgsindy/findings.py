"""What can stand between data and their equation, and how a diagnosis says so."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple

Verdict = Literal["identified", "partly identified", "not identified", "not assessed"]


class Axis(StrEnum):
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
    what to do. ``mended`` if the fit has allowed for it, so that the verdict need not.
    """

    axis: Axis
    fields: tuple[str, ...]
    sentence: str
    advice: str
    mended: bool = False
