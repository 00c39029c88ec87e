"""Cells of a box, and functions that are known at their centres."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from wgsindy.data import BoolArray, FloatArray, IntArray
from wgsindy.errors import ReadoutError

# A side, by the number of coordinates: a second for a fit without draws.
DEFAULT_CELLS = {1: 1024, 2: 128, 3: 24}
FEWEST_CELLS, MOST_CELLS = 16, 400_000  # a side, and in all: what memory holds of factors


@dataclass(frozen=True)
class Side:
    """One side of a box."""

    coordinate: int
    upper: bool

    def name(self, names: tuple[str, ...]) -> str:
        """Return it in words."""
        return f"{'upper' if self.upper else 'lower'} end of {names[self.coordinate]}"


@dataclass(frozen=True, eq=False)
class Grid:
    """A box ``low`` to ``high``, ``(d,)`` each, cut into ``shape`` cells of equal size."""

    low: FloatArray
    high: FloatArray
    shape: tuple[int, ...]

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(np.prod(self.shape))

    @cached_property
    def step(self) -> FloatArray:
        """Sides of a cell, ``(d,)``."""
        return np.asarray((self.high - self.low) / self.shape)

    @property
    def volume(self) -> float:
        """Volume of a cell."""
        return float(np.prod(self.step))

    @cached_property
    def centres(self) -> FloatArray:
        """Centres of all cells ``(n, d)``, the last coordinate running fastest."""
        return _mesh([self.low[p] + (np.arange(m) + 0.5) * self.step[p] for p, m in self._axes])

    @property
    def _axes(self) -> list[tuple[int, int]]:
        return list(enumerate(self.shape))

    @cached_property
    def cells(self) -> IntArray:
        """Numbers of each cell along the axes, ``(n, d)``."""
        return np.stack(np.unravel_index(np.arange(self.size), self.shape), axis=1)

    def number(self, cells: IntArray) -> IntArray:
        """Place of cells ``(..., d)`` in the order of :attr:`centres`."""
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(cells, -1, 0)), self.shape))

    @property
    def half_shape(self) -> tuple[int, ...]:
        """Shape of the lattice of centres and of the points half-way between them."""
        return tuple(2 * m - 1 for m in self.shape)

    @cached_property
    def half_points(self) -> FloatArray:
        """Points of that lattice, ``(m, d)``; cell (i, j) is its point (2 i, 2 j)."""
        axes = [self.low[p] + (np.arange(2 * m - 1) + 1) * self.step[p] / 2 for p, m in self._axes]
        return _mesh(axes)

    @property
    def sides(self) -> list[Side]:
        """All sides: low and high of each coordinate in turn."""
        return [Side(p, upper) for p in range(self.dimension) for upper in (False, True)]

    def boundary(self, layers: int = 1) -> list[BoolArray]:
        """The outermost cells ``(n,)`` at each of the sides."""
        sides = []
        for p, m in self._axes:
            sides += [self.cells[:, p] < layers, self.cells[:, p] >= m - layers]
        return sides

    def refined(self, factor: float) -> Grid:
        """Return the same box in ``factor`` times as many cells a side."""
        return Grid(self.low, self.high, tuple(max(4, round(m * factor)) for m in self.shape))

    def inside(self, points: FloatArray) -> BoolArray:
        """Whether points ``(n, d)`` are in the box."""
        return np.asarray(((points >= self.low) & (points <= self.high)).all(axis=1))

    def at(self, points: FloatArray, values: FloatArray, order: Literal[0, 1, 3] = 3) -> FloatArray:
        """Interpolate ``values (n, ...)`` of the cells at ``points (k, d)`` by splines."""
        from scipy.ndimage import map_coordinates

        places = ((points - self.low) / self.step - 0.5).T
        columns = values.reshape(self.size, -1).T
        found = [
            map_coordinates(column.reshape(self.shape), places, order=order, mode="nearest")
            for column in columns
        ]
        return np.stack(found, axis=1).reshape(len(points), *values.shape[1:])

    def weights_at(self, point: FloatArray) -> FloatArray:
        """Weights ``(n,)`` that sum to one and have their mean at ``point (d,)``.

        Two neighbouring cells along each axis share it, so a start need not be a centre.
        """
        place = np.clip((point - self.low) / self.step - 0.5, 0, np.array(self.shape) - 1)
        weights = np.ones(())
        for p, m in self._axes:
            first = min(int(place[p]), m - 2)
            row = np.zeros(m)
            row[first], row[first + 1] = 1 - (place[p] - first), place[p] - first
            weights = np.multiply.outer(weights, row)
        return weights.ravel()


def shape_of(cells: int | Sequence[int] | None, dimension: int) -> tuple[int, ...]:
    """Cells along each axis; by default 1024, 128 and 24 in 1, 2 and 3 dimensions."""
    if dimension not in DEFAULT_CELLS:
        raise ReadoutError(f"a grid takes 1 to 3 coordinates, this generator has {dimension}.")
    asked = DEFAULT_CELLS[dimension] if cells is None else cells
    shape = tuple(asked) if np.iterable(asked) else (asked,) * dimension
    counts = len(shape) == dimension and all(isinstance(m, int | np.integer) for m in shape)
    if not counts or min(shape) < FEWEST_CELLS or math.prod(shape) > MOST_CELLS:
        raise ReadoutError(
            f"cells must be a number, or one for each of {dimension} coordinates, of at least "
            f"{FEWEST_CELLS} a side and at most {MOST_CELLS:,} in all; got {asked!r}."
        )
    return shape


def _mesh(axes: list[FloatArray]) -> FloatArray:
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
