"""Flat cuts through the states, through the middle of the data."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.report.digest import States
from wgsindy.report.figures.fields import Viewport
from wgsindy.zoo.scores import GRID_RANGE

MOST_PLANES = 6


class Plane(NamedTuple):
    """Coordinates ``first`` and ``second`` within a window, all others at their median.

    ``centre (d,)`` are the medians.
    """

    first: int
    second: int
    centre: FloatArray
    window: Viewport

    @property
    def pair(self) -> tuple[int, int]:
        """Both coordinates."""
        return self.first, self.second

    @property
    def sizes(self) -> FloatArray:
        """Width and height ``(2,)``."""
        return self.window.high - self.window.low

    def widened(self, share: float) -> Plane:
        """Reach beyond the window by a share of it on every side."""
        margin = share * self.sizes
        wider = self.window._replace(low=self.window.low - margin, high=self.window.high + margin)
        return self._replace(window=wider)

    def cells(self, count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Middles of cells ``(count,)`` along both axes, and their states ``(count ** 2, d)``."""
        half = self.sizes / (2 * count)
        inner = self.window._replace(low=self.window.low + half, high=self.window.high - half)
        x, y, grid = inner.mesh(count)
        states = np.tile(self.centre, (len(grid), 1))
        states[:, list(self.pair)] = grid
        return x, y, states

    def counts(self, data: States, count: int) -> FloatArray:
        """Samples in each cell, ``(count ** 2,)``, whatever their other coordinates are."""
        x, y = data.states[:, self.first], data.states[:, self.second]
        limits = np.stack([self.window.low, self.window.high], axis=1)
        counts, _, _ = np.histogram2d(x, y, bins=count, range=limits)
        return counts.T.ravel()

    def described(self, names: tuple[str, ...]) -> str:
        """Say where the plane lies.

        >>> window = Viewport(("x", "y"), np.zeros(2), np.ones(2))
        >>> Plane(0, 1, np.array([0.0, 0.0, 0.5]), window).described(("x", "y", "z"))
        'x and y, at z = 0.5'
        """
        others = [p for p in range(len(names)) if p not in self.pair]
        text = f"{names[self.first]} and {names[self.second]}"
        fixed = ", ".join(f"{names[p]} = {self.centre[p]:.3g}" for p in others)
        return f"{text}, at {fixed}" if fixed else text


def planes(data: States, reach: tuple[float, float] = GRID_RANGE) -> list[Plane]:
    """Planes of the pairs of coordinates, up to 6; windows between two percentiles."""
    centre = np.median(data.states, axis=0)
    low, high = np.percentile(data.states, reach, axis=0)
    wide = high > low
    low, high = np.where(wide, low, centre - 1), np.where(wide, high, centre + 1)
    pairs = list(combinations(range(data.dimension), 2))[:MOST_PLANES]
    return [
        Plane(
            p,
            q,
            centre,
            Viewport((data.names[p], data.names[q]), low[[p, q]], high[[p, q]]),
        )
        for p, q in pairs
    ]
