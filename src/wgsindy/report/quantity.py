"""One fact of a fit: how it is written, and what is normal for it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import NamedTuple

from wgsindy.model.display.numbers import in_full, rounded, typographic

NO_NOISE = "no noise"


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
