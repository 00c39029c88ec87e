"""What pictures of drift and tensor show, as plain arrays: where they look, and the fields there.

The ``F`` fields of a process of ``d`` coordinates are its ``d`` drift components, then the entries
of its tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import CENTRAL_RANGE, BoolArray, FloatArray
from wgsindy.errors import DataError, LibraryError
from wgsindy.model import Generator, field_names, tensor

Scalar = TypeVar("Scalar", bound=np.generic)
MOST_PLANES = 6  # more pictures of one kind are no longer looked at
VIEWED_AROUND = 2.0  # standard deviations of the data on either side, where the data are not there
# Relative to the largest field of its kind: what an eigenvalue decomposition leaves of a zero.
FIELD_ROUNDING = 1e-12


@dataclass(frozen=True)
class StateCloud:
    """States of data that are drawn, in any order."""

    names: tuple[str, ...]  # of the coordinates, as they are shown
    states: FloatArray  # (n, d)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.names)


class View(NamedTuple):
    """The box of states that is looked at."""

    low: FloatArray  # (d,) corners
    high: FloatArray  # (d,)
    centre: FloatArray  # (d,) where the coordinates are that a picture does not show

    @classmethod
    def of(cls, states: FloatArray, reach: tuple[float, float] = CENTRAL_RANGE) -> View:
        """Look between two percentiles of ``states (n, d)``, by default at the central 96 %."""
        low, high = np.percentile(states, reach, axis=0)
        return cls(low, high, np.median(states, axis=0))

    @classmethod
    def around(cls, generator: Generator) -> View:
        """Look where the data of a fit were.

        Raises
        ------
        DataError
            If the generator does not know.
        """
        if generator.region is None:
            raise DataError(
                "this generator does not know where its data were; pass data to draw it."
            )
        centre, scale = generator.region.centre, generator.region.scale
        return cls(centre - VIEWED_AROUND * scale, centre + VIEWED_AROUND * scale, centre)


class Mesh(NamedTuple):
    """Points of a rectangle: both axes, and the states at all their pairs, row by row."""

    x: FloatArray  # (m,)
    y: FloatArray  # (m,)
    states: FloatArray  # (m ** 2, d)

    def as_image(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Arrange values ``(m ** 2,)`` as they are drawn: a row for each ``y``."""
        return values.reshape(len(self.y), len(self.x))


class Plane(NamedTuple):
    """A rectangle of two coordinates, all others at their centre."""

    pair: tuple[int, int]  # numbers of both
    names: tuple[str, str]  # and their names
    low: FloatArray  # (2,) corners
    high: FloatArray  # (2,)
    centre: FloatArray  # (d,)

    @classmethod
    def of(cls, view: View, pair: tuple[int, int], names: tuple[str, ...]) -> Plane:
        """Cut through a view."""
        first, second = pair
        shown = (names[first], names[second])
        return cls(pair, shown, view.low[[*pair]], view.high[[*pair]], view.centre)

    @property
    def sizes(self) -> FloatArray:
        """Width and height ``(2,)``."""
        return self.high - self.low

    def widened(self, share: float) -> Plane:
        """Reach beyond the rectangle by a share of it on every side."""
        margin = share * self.sizes
        return self._replace(low=self.low - margin, high=self.high + margin)

    def mesh(self, points: int) -> Mesh:
        """Points ``points`` a side, from corner to corner."""
        x, y = (np.linspace(self.low[i], self.high[i], points) for i in range(2))
        states = np.tile(self.centre, (points * points, 1))
        states[:, list(self.pair)] = [[a, b] for b in y for a in x]
        return Mesh(x, y, states)

    def cells(self, count: int) -> Mesh:
        """Middles of ``count`` cells a side."""
        half = self.sizes / (2 * count)
        return self._replace(low=self.low + half, high=self.high - half).mesh(count)

    def counts(self, data: StateCloud, count: int) -> FloatArray:
        """Samples in each cell, ``(count ** 2,)``, whatever their other coordinates are."""
        x, y = (data.states[:, p] for p in self.pair)
        limits = np.stack([self.low, self.high], axis=1)
        counts, _, _ = np.histogram2d(x, y, bins=count, range=limits)
        return counts.T.ravel()

    def described(self, names: tuple[str, ...]) -> str:
        """Say where the plane lies.

        >>> corners = np.zeros(2), np.ones(2), np.array([0.0, 0.0, 0.5])
        >>> Plane((0, 1), ("x", "y"), *corners).described(("x", "y", "z"))
        'x and y, at z = 0.5'
        """
        others = [p for p in range(len(names)) if p not in self.pair]
        text = " and ".join(names[p] for p in self.pair)
        fixed = ", ".join(f"{names[p]} = {self.centre[p]:.3g}" for p in others)
        return f"{text}, at {fixed}" if fixed else text


def data_planes(data: StateCloud, reach: tuple[float, float] = CENTRAL_RANGE) -> list[Plane]:
    """Planes of the pairs of coordinates, up to 6, between two percentiles of the data."""
    low, high, centre = View.of(data.states, reach)
    wide = high > low
    view = View(np.where(wide, low, centre - 1), np.where(wide, high, centre + 1), centre)
    pairs = list(combinations(range(data.dimension), 2))[:MOST_PLANES]
    return [Plane.of(view, pair, data.names) for pair in pairs]


def where_defined(generator: Generator, states: FloatArray) -> FloatArray:
    """Those of ``states (n, d)`` at which all terms are: a box may have sqrt(x < 0) in it.

    Raises
    ------
    DataError
        If there are none.
    """
    kept = _defined(generator, states)
    if not len(kept):
        raise DataError("the terms of this generator are not defined where it is drawn.")
    return kept


def _defined(generator: Generator, states: FloatArray) -> FloatArray:
    try:
        generator.basis.values(states)
    except LibraryError:
        if len(states) == 1:
            return states[:0]
        return np.concatenate([_defined(generator, part) for part in np.array_split(states, 2)])
    return states


def all_field_names(dimension: int) -> list[str]:
    """Names of all fields, in order.

    >>> all_field_names(2)
    ['b1', 'b2', 'a11', 'a12', 'a22']
    """
    return [*chain(*field_names(dimension))]


def field_pairs(dimension: int) -> dict[str, tuple[int, int]]:
    """Coordinates of each entry of the tensor, by its name.

    >>> field_pairs(2)
    {'a11': (0, 0), 'a12': (1, 0), 'a22': (1, 1)}
    """
    return dict(zip(field_names(dimension)[1], tensor.pairs(dimension), strict=True))


def field_values(generator: Generator, states: FloatArray) -> FloatArray:
    """All fields at ``states (n, d)``: ``(F, n)``; what is zero but for rounding is zero."""
    drift, entries = generator.drift(states), tensor.entries_of(generator.diffusion(states))
    for fields in (drift, entries):
        largest = np.abs(fields).max(axis=0)
        fields[:, largest <= FIELD_ROUNDING * largest.max()] = 0.0
    return np.hstack([drift, entries]).T


def field_bands(generator: Generator, states: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends ``(F, n)`` of the 95 % bands of all fields; NaN if there are none."""
    if generator.uncertainty is None:
        none = np.full((len(all_field_names(generator.dimension)), len(states)), np.nan)
        return none, none
    bands = generator.bands(states)
    return (
        np.hstack([bands.drift_low, tensor.entries_of(bands.diffusion_low)]).T,
        np.hstack([bands.drift_high, tensor.entries_of(bands.diffusion_high)]).T,
    )


def half_widths(generator: Generator, states: FloatArray) -> FloatArray:
    """Half of the 95 % bands of all fields, ``(F, n)``; NaN if there are none."""
    low, high = field_bands(generator, states)
    return (high - low) / 2


def is_constant(values: FloatArray) -> BoolArray:
    """Whether fields ``(F, n)`` have one value, but for rounding: then a picture has nothing."""
    spread = values.max(axis=1) - values.min(axis=1)
    return np.asarray(spread <= FIELD_ROUNDING * np.abs(values).max(axis=1))


def field_scales(values: FloatArray, dimension: int) -> FloatArray:
    """Size ``(F,)`` against which a difference in each field ``(F, n)`` is small or large.

    The largest value of the field. A covariance of zero has none; there the variances say what a
    large one would be.
    """
    sizes = np.abs(values).max(axis=1)
    for p, q in tensor.pairs(dimension):
        first, cross, second = (
            dimension + tensor.entry_number(*pair) for pair in ((p, p), (p, q), (q, q))
        )
        if sizes[cross] == 0:
            sizes[cross] = np.sqrt(sizes[first] * sizes[second])
    return sizes


def colour_range(values: FloatArray, scale: float) -> tuple[float, float]:
    """Range of values, opened up where they are constant so that no small difference is painted."""
    low, high = float(values.min()), float(values.max())
    wanted = 0.25 * max(abs(low), abs(high), float(scale)) or 1.0
    margin = max(wanted - (high - low) / 2, 0.0)
    return low - margin, high + margin


def colour_ranges(values: FloatArray, dimension: int) -> list[tuple[float, float]]:
    """Range of the colours of each field ``(F, n)``."""
    scales = field_scales(values, dimension)
    return [colour_range(field, scale) for field, scale in zip(values, scales, strict=True)]


class FieldCurves(NamedTuple):
    """Every field along one coordinate, the others at their centre."""

    places: FloatArray  # (n,) values of the coordinate
    values: FloatArray  # (F, n)
    low: FloatArray  # (F, n) ends of the 95 % band; NaN if the fit gives none
    high: FloatArray

    @property
    def dimension(self) -> int:
        """Number of coordinates ``d``, of which there are ``d + d (d + 1) / 2`` fields."""
        return int(np.sqrt(2 * len(self.values) + 2.25) - 1.5)

    @property
    def has_bands(self) -> bool:
        """Whether the fit gives error bars."""
        return bool(np.isfinite(self.low).all())

    @classmethod
    def along(cls, generator: Generator, view: View, p: int, points: int) -> FieldCurves:
        """Follow coordinate ``p`` through the view, as far as all terms are defined."""
        states = np.tile(view.centre, (points, 1))
        states[:, p] = np.linspace(view.low[p], view.high[p], points)
        states = where_defined(generator, states)
        ends = field_bands(generator, states)
        return cls(states[:, p], field_values(generator, states), *ends)
