"""Every fact of the diagnostics beside what is normal for it, and what it tells."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, nan
from typing import NamedTuple

from wgsindy.diagnostics import (
    CLIPPED,
    ELSEWHERE,
    LARGE_ERROR,
    LEAST_SIGNAL,
    LOW_NOISE_SHARE,
    MEMORY,
    NOISE_CORRELATION,
    REPEATED,
    TAILS,
    TYPICAL,
    WRONG_VARIANCE,
    Diagnostics,
)
from wgsindy.estimate import PREFERRED
from wgsindy.model import in_full, rounded, typographic
from wgsindy.passes import OUTLIER_RATIO

NO_NOISE = "no noise"
# Beyond this the terms of a library can hardly be told apart on the data.
LARGE_CONDITION = 1e4
NO_DRIFT = "no drift was found"
NOT_ASKED = "needs recipe='sharp'"


class Value(NamedTuple):
    """One figure of a fact."""

    coordinate: str  # that it belongs to; empty if it is one of the whole fit
    text: str
    number: float
    normal: bool = True
    missing: str = ""  # why there is no figure


class Measured(NamedTuple):
    """A line of the table."""

    fact: str  # attribute of the diagnostics
    name: str
    tells: str
    normal: str  # range in words
    values: tuple[Value, ...]  # one, or one a coordinate


class Quantity(NamedTuple):
    """How a fact is named, read and judged."""

    fact: str  # attribute of the diagnostics
    name: str
    tells: str
    low: float = -inf  # of the normal range; near zero if it has no ends
    high: float = inf
    share: bool = False  # written in percent
    missing: str = NO_NOISE  # why it may not be known

    @property
    def normal(self) -> str:
        """The normal range in words."""
        low, high = self.written(self.low), self.written(self.high)
        if isfinite(self.low) and isfinite(self.high):
            return f"{low} to {high}"
        if isfinite(self.high):
            return f"below {high}"
        return f"above {low}" if isfinite(self.low) else f"near {self.written(0.0)}"

    def written(self, value: float) -> str:
        """Write a value as a number or as a share; beyond 100 % its size says nothing."""
        if self.share and abs(value) > 1:
            return "more than 100 %"
        return typographic(f"{rounded(100 * value)} %" if self.share else in_full(value))

    def judged(self, value: float, coordinate: str = "", text: str = "") -> Value:
        """Write a value and compare it."""
        if not isfinite(value):
            return Value(coordinate, "", value, missing=self.missing)
        normal = self.low <= value <= self.high
        return Value(coordinate, text or self.written(value), value, normal)

    def line(self, values: Sequence[Value]) -> Measured:
        """Put the values beside what is normal."""
        return Measured(self.fact, self.name, self.tells, self.normal, tuple(values))


PER_COORDINATE = (
    Quantity(
        "residual_variance",
        "Residual variance",
        "Away from 1 the tensor does not fit.",
        1 - WRONG_VARIANCE,
        1 + WRONG_VARIANCE,
    ),
    Quantity(
        "excess_kurtosis",
        "Excess kurtosis of the residuals",
        "Heavy tails: jumps, outliers, or noise of hidden strength.",
        high=TAILS,
    ),
    Quantity(
        "lag_one",
        "Correlation of neighbouring residuals",
        "Below zero: there is observation noise.",
        low=NOISE_CORRELATION,
    ),
    Quantity(
        "memory",
        "Memory: excess variance of sums of residuals",
        "Something that is not observed acts on the state.",
        high=MEMORY,
    ),
    Quantity(
        "thinning",
        "Change of the drift at every other sample",
        "Large: steps are too long, or the observation is noisy.",
        share=True,
        missing=NO_DRIFT,
    ),
    Quantity(
        "low_noise",
        "Samples with almost no noise",
        "Many: the samples crowd at a boundary, or the coordinate has no noise.",
        high=LOW_NOISE_SHARE,
        share=True,
    ),
    Quantity(
        "drift_signal",
        "Strongest drift term, in standard errors",
        "Small: the drift does not stand out of the noise.",
        low=LEAST_SIGNAL,
        missing=NOT_ASKED,
    ),
    Quantity(
        "drift_error",
        "Expected error of the drift",
        "Relative to its size where the data are.",
        high=LARGE_ERROR,
        share=True,
        missing=NO_DRIFT,
    ),
)
OF_THE_FIT = (
    Quantity(
        "singular",
        "Samples with a nearly singular tensor",
        "Noise is confined to fewer directions than there are coordinates.",
        high=TYPICAL,
        share=True,
    ),
    Quantity(
        "long_steps",
        "Samples with long steps",
        "Within one of them the drift changes by more than a tenth.",
        high=TYPICAL,
        share=True,
    ),
    Quantity(
        "shift",
        "Shift between halves, in standard deviations",
        "Large: the data are one passage from one place to another.",
        high=ELSEWHERE,
    ),
    Quantity(
        "largest_increment",
        "Largest increment over the typical one",
        "Large: an outlier, a jump or a gap in the record.",
        high=OUTLIER_RATIO,
    ),
    Quantity(
        "condition_number",
        "Condition number of the library",
        "Large: its terms can hardly be told apart on the data.",
        high=LARGE_CONDITION,
    ),
)
REPEATS = Quantity(
    "repeated_samples",
    "Samples that repeat the one before",
    "A stalled sensor, padding, or a state stuck at a limit.",
    high=REPEATED,
    share=True,
)
CLIPPING = Quantity(
    "clipped_fraction",
    "Samples with a clipped tensor",
    "Its formula has a negative eigenvalue there, which is set to zero.",
    high=CLIPPED,
    share=True,
    missing=NOT_ASKED,
)
RIVAL = Quantity(
    "rival_log_evidence",
    "Preference for another library, in log-evidence",
    "Large: the library lacks terms. A preference of 4 means 55 to 1.",
    high=PREFERRED,
    missing="no other library was tried",
)
HOLDOUT = Quantity(
    "holdout",
    "Change of the drift without one trajectory",
    "Large: one trajectory does not fit the others.",
    share=True,
    missing="there is one trajectory only",
)


def measured(diagnostics: Diagnostics, names: Sequence[str], n_trajectories: int) -> list[Measured]:
    """Write down every fact: those of each coordinate, then those of the whole fit."""
    return [
        *(_of_coordinates(quantity, diagnostics, names) for quantity in PER_COORDINATE),
        *(
            quantity.line([quantity.judged(float(getattr(diagnostics, quantity.fact)))])
            for quantity in OF_THE_FIT
        ),
        _repeats(diagnostics),
        _clipping(diagnostics),
        _rival(diagnostics),
        HOLDOUT.line([HOLDOUT.judged(diagnostics.holdout if n_trajectories > 1 else nan)]),
    ]


def _of_coordinates(quantity: Quantity, diagnostics: Diagnostics, names: Sequence[str]) -> Measured:
    found: Sequence[float] = getattr(diagnostics, quantity.fact)
    if not found:
        return quantity.line([quantity._replace(missing=NOT_ASKED).judged(nan)])
    quiet = diagnostics.noiseless if quantity.missing == NO_NOISE else ()
    return quantity.line(
        [
            quantity.judged(nan if name in quiet else value, name)
            for value, name in zip(found, names, strict=True)
        ]
    )


def _repeats(diagnostics: Diagnostics) -> Measured:
    share = diagnostics.repeated_samples / diagnostics.n_increments
    counted = f"{diagnostics.repeated_samples} ({REPEATS.written(share)})"
    return REPEATS.line([REPEATS.judged(share, text=counted)])


def _clipping(diagnostics: Diagnostics) -> Measured:
    known = diagnostics.verdict != "not assessed"
    return CLIPPING.line([CLIPPING.judged(diagnostics.clipped_fraction if known else nan)])


def _rival(diagnostics: Diagnostics) -> Measured:
    if diagnostics.verdict == "not assessed":
        return RIVAL.line([RIVAL._replace(missing=NOT_ASKED).judged(nan)])
    text = f"{diagnostics.rival}: {RIVAL.written(diagnostics.rival_log_evidence)}"
    return RIVAL.line(
        [RIVAL.judged(diagnostics.rival_log_evidence if diagnostics.rival else nan, "", text)]
    )
