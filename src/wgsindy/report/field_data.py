"""What pictures of drift and tensor show, as plain arrays: computed here, drawn by others.

``figures`` draws them with Matplotlib, ``pictures`` for the page. The ``F`` fields of a process of
``d`` coordinates are its ``d`` drift components, then the entries of its tensor.
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import CENTRAL_RANGE, BoolArray, FloatArray
from wgsindy.errors import DataError
from wgsindy.model import Generator, field_names, tensor
from wgsindy.report.digest import States

Scalar = TypeVar("Scalar", bound=np.generic)
MOST_PLANES = 6
# Relative to the largest field of its kind: what an eigenvalue decomposition leaves of a zero.
ROUNDING = 1e-12


def central_range(
    states: FloatArray, reach: tuple[float, float] = CENTRAL_RANGE
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


def planes(data: States, reach: tuple[float, float] = CENTRAL_RANGE) -> list[Plane]:
    """Planes of the pairs of coordinates, up to 6; viewports between two percentiles."""
    centre = np.median(data.states, axis=0)
    low, high = central_range(data.states, reach)
    wide = high > low
    low, high = np.where(wide, low, centre - 1), np.where(wide, high, centre + 1)
    return [
        Plane(p, q, centre, Viewport((data.names[p], data.names[q]), low[[p, q]], high[[p, q]]))
        for p, q in list(combinations(range(data.dimension), 2))[:MOST_PLANES]
    ]


def all_field_names(dimension: int) -> list[str]:
    """Names of all fields, in order.

    >>> all_field_names(2)
    ['b1', 'b2', 'a11', 'a12', 'a22']
    """
    return [*chain(*field_names(dimension))]


def field_values(generator: Generator, states: FloatArray) -> FloatArray:
    """All fields at ``states (n, d)``: ``(F, n)``; what is zero but for rounding is zero."""
    drift, entries = generator.drift(states), tensor.entries_of(generator.diffusion(states))
    for fields in (drift, entries):
        largest = np.abs(fields).max(axis=0)
        fields[:, largest <= ROUNDING * largest.max()] = 0.0
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


def is_constant(values: FloatArray) -> BoolArray:
    """Whether fields ``(F, n)`` have one value, but for rounding: then a picture has nothing."""
    spread = values.max(axis=1) - values.min(axis=1)
    return np.asarray(spread <= ROUNDING * np.abs(values).max(axis=1))


def half_widths(generator: Generator, states: FloatArray) -> FloatArray:
    """Half of the 95 % bands of all fields, ``(F, n)``; NaN if there are none."""
    low, high = field_bands(generator, states)
    return (high - low) / 2


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


class FieldImages(NamedTuple):
    """Every field of two coordinates over a mesh."""

    mesh: Mesh
    values: FloatArray  # (F, n), row by row of the mesh
    colours: list[tuple[float, float]]  # lower and upper end of the colours of each field


def field_images(generator: Generator, mesh: Mesh, seen: BoolArray | None = None) -> FieldImages:
    """Evaluate the fields; colours span the values where ``seen (n,)``, everywhere if not given."""
    values = field_values(generator, mesh.states)
    shown = values if seen is None else values[:, seen]
    return FieldImages(mesh, values, colour_ranges(shown, generator.dimension))


class FieldCurves(NamedTuple):
    """Every field along one coordinate, the others at their medians."""

    places: FloatArray  # (n,) values of the coordinate
    values: FloatArray  # (F, n)
    low: FloatArray  # (F, n) ends of the 95 % band; NaN if the fit gives none
    high: FloatArray

    @property
    def has_bands(self) -> bool:
        """Whether the fit gives error bars."""
        return bool(np.isfinite(self.low).all())


def field_curves(generator: Generator, data: States, points: int) -> list[FieldCurves]:
    """Follow every coordinate through the middle of the data, over the central 96 % of them."""
    centre = np.median(data.states, axis=0)
    low, high = central_range(data.states)
    curves = []
    for p in range(data.dimension):
        states = np.tile(centre, (points, 1))
        states[:, p] = np.linspace(low[p], high[p], points)
        ends = field_bands(generator, states)
        curves.append(FieldCurves(states[:, p], field_values(generator, states), *ends))
    return curves
