"""Whether a formula of one state can be undone on the data: finite and strictly monotone there.

The samples are looked at piece by piece, so they need not be in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.data.dataset import Dataset
from wgsindy.terms.expression import Expression

ROUNDING = 1e-12
BETWEEN = 1000  # places at which a formula is looked at besides the samples


@dataclass
class Look:
    """What a formula does at the samples seen so far.

    ``bad`` of them have no finite value and slope, the first of these is ``first_bad``. ``low`` and
    ``high`` are the ends of the range of samples, ``least`` and ``most`` those of the values;
    ``direction`` is 1 where the formula climbs and -1 where it falls, ``turns`` if it does both,
    and ``worst`` is the largest step the other way.
    """

    formula: Expression
    bad: int = 0
    first_bad: float = np.nan
    low: float = np.inf
    high: float = -np.inf
    least: float = np.inf
    most: float = -np.inf
    direction: float = 0.0
    turns: bool = False
    worst: float = 0.0

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


def look(formula: Expression, data: Dataset, column: int) -> Look:
    """Look at all samples of one coordinate, in one reading, and between them."""
    found = Look(formula)
    for states in data.states_in_turn():
        found.add(states[:, column])
    if not found.bad:
        found.add_between()
    return found
