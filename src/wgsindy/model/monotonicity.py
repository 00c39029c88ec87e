"""Whether a formula of one state can be undone on the data: finite and strictly monotone there.

The samples come in blocks, so they need not all be in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wgsindy.data import Dataset, FloatArray
from wgsindy.terms import Expression

ROUNDING = 1e-12
BETWEEN = 1000  # places at which a formula is looked at besides the samples


@dataclass
class Monotonicity:
    """What a formula does at the samples seen so far."""

    formula: Expression
    bad: int = 0  # samples at which the formula has no finite value and slope
    first_bad: float = np.nan  # the first of these
    low: float = np.inf  # range of the samples
    high: float = -np.inf
    least: float = np.inf  # range of the values of the formula
    most: float = -np.inf
    direction: float = 0.0  # 1 where the formula climbs, -1 where it falls
    turns: bool = False  # whether it does both
    worst: float = 0.0  # largest step against its direction

    @property
    def is_monotone(self) -> bool:
        """Whether the formula climbs, or falls, all over the range of samples."""
        # Neighbours may be so close that rounding decides which is larger.
        return not self.turns and self.worst < ROUNDING * (self.most - self.least)

    def add(self, x: FloatArray) -> None:
        """Look at some samples ``(n,)``."""
        value, slope = self._at(x)
        bad = np.flatnonzero(~(np.isfinite(value) & np.isfinite(slope)))
        if len(bad) and not self.bad:
            self.first_bad = float(x[bad[0]])
        self.bad += len(bad)
        self.low, self.high = min(self.low, float(x.min())), max(self.high, float(x.max()))
        if not self.bad:
            order = np.argsort(x)
            self._follow(x[order], value[order], slope[order])

    def add_between(self) -> None:
        """Look between the samples: a turn may hide where no sample is."""
        points = np.linspace(self.low, self.high, BETWEEN)
        self._follow(points, *self._at(points))

    def _at(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(all="ignore"):
            jet = self.formula.jet(x[:, None])
        return jet.value, jet.gradient[:, 0]

    def _follow(self, x: FloatArray, value: FloatArray, slope: FloatArray) -> None:
        """Walk along ascending ``x (n,)``."""
        self.direction = self.direction or float(np.sign(slope[0]))
        rise = self.direction * np.diff(value)[np.diff(x) > 0]
        self.turns |= not (self.direction * slope > 0).all()
        self.worst = max(self.worst, float(-rise.min(initial=0.0)))
        self.least = min(self.least, float(value.min()))
        self.most = max(self.most, float(value.max()))


def monotonicity(formula: Expression, data: Dataset, column: int) -> Monotonicity:
    """Follow a formula over all samples of one coordinate, in one reading, and between them."""
    found = Monotonicity(formula)
    for states in data.states_in_turn():
        found.add(states[:, column])
    if not found.bad:
        found.add_between()
    return found
