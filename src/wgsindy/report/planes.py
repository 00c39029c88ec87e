"""Where pictures look: rectangles of two coordinates, and cuts through the middle of the data."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from wgsindy.data.arrays import FloatArray
from wgsindy.errors import DataError
from wgsindy.report.digest import States
from wgsindy.zoo.scores import GRID_RANGE

Scalar = TypeVar("Scalar", bound=np.generic)
MOST_PLANES = 6


def central_range(
    states: FloatArray, reach: tuple[float, float] = GRID_RANGE
) -> tuple[FloatArray, FloatArray]:
    """Two percentiles ``(d,)`` of each coordinate of ``states (n, d)``; the central 96 %."""
    low, high = np.percentile(states, reach, axis=0)
    return low, high


class Mesh(NamedTuple):
    """Points of a rectangle: both axes, and the states at all their pairs, row by row."""

    x: FloatArray  # (m,)
    y: FloatArray  # (m,)
    states: FloatArray  # (m ** 2, d)

    def as_image(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Arrange values ``(m ** 2,)`` as they are drawn: a row for each ``y``."""
        return values.reshape(len(self.y), len(self.x))


class Viewport(NamedTuple):
    """A rectangle of states: names of the coordinates, lower and upper corner ``(2,)``."""

    names: tuple[str, ...]
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, data: States) -> Viewport:
        """The central 96 % of the states of each coordinate.

        Raises
        ------
        DataError
            If the data do not have two coordinates.
        """
        if data.dimension != 2:
            raise DataError(f"field pictures need 2 coordinates, these data have {data.dimension}.")
        return cls(data.names, *central_range(data.states))

    def mesh(self, points: int) -> Mesh:
        """Points ``points`` a side, from corner to corner."""
        x, y = (np.linspace(self.low[i], self.high[i], points) for i in range(2))
        return Mesh(x, y, np.array([[a, b] for b in y for a in x]))


class Plane(NamedTuple):
    """Coordinates ``first`` and ``second`` within a viewport, all others at their median."""

    first: int
    second: int
    centre: FloatArray  # (d,) medians
    view: Viewport

    @property
    def pair(self) -> tuple[int, int]:
        """Both coordinates."""
        return self.first, self.second

    @property
    def sizes(self) -> FloatArray:
        """Width and height ``(2,)``."""
        return self.view.high - self.view.low

    def widened(self, share: float) -> Plane:
        """Reach beyond the viewport by a share of it on every side."""
        margin = share * self.sizes
        wider = self.view._replace(low=self.view.low - margin, high=self.view.high + margin)
        return self._replace(view=wider)

    def cells(self, count: int) -> Mesh:
        """Middles of ``count`` cells a side."""
        half = self.sizes / (2 * count)
        inner = self.view._replace(low=self.view.low + half, high=self.view.high - half)
        flat = inner.mesh(count)
        states = np.tile(self.centre, (len(flat.states), 1))
        states[:, list(self.pair)] = flat.states
        return flat._replace(states=states)

    def counts(self, data: States, count: int) -> FloatArray:
        """Samples in each cell, ``(count ** 2,)``, whatever their other coordinates are."""
        x, y = data.states[:, self.first], data.states[:, self.second]
        limits = np.stack([self.view.low, self.view.high], axis=1)
        counts, _, _ = np.histogram2d(x, y, bins=count, range=limits)
        return counts.T.ravel()

    def described(self, names: tuple[str, ...]) -> str:
        """Say where the plane lies.

        >>> view = Viewport(("x", "y"), np.zeros(2), np.ones(2))
        >>> Plane(0, 1, np.array([0.0, 0.0, 0.5]), view).described(("x", "y", "z"))
        'x and y, at z = 0.5'
        """
        others = [p for p in range(len(names)) if p not in self.pair]
        text = f"{names[self.first]} and {names[self.second]}"
        fixed = ", ".join(f"{names[p]} = {self.centre[p]:.3g}" for p in others)
        return f"{text}, at {fixed}" if fixed else text


def planes(data: States, reach: tuple[float, float] = GRID_RANGE) -> list[Plane]:
    """Planes of the pairs of coordinates, up to 6; viewports between two percentiles."""
    centre = np.median(data.states, axis=0)
    low, high = central_range(data.states, reach)
    wide = high > low
    low, high = np.where(wide, low, centre - 1), np.where(wide, high, centre + 1)
    return [
        Plane(p, q, centre, Viewport((data.names[p], data.names[q]), low[[p, q]], high[[p, q]]))
        for p, q in list(combinations(range(data.dimension), 2))[:MOST_PLANES]
    ]
