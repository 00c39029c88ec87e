"""What pictures of drift and tensor show, as plain arrays: computed here, drawn by others.

``figures`` draws them with Matplotlib, ``pictures`` for the page. The ``F`` fields of a process of
``d`` coordinates are its ``d`` drift components, then the entries of its tensor.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray
from wgsindy.model import tensor
from wgsindy.model.generator import Generator
from wgsindy.model.linear_form import field_names
from wgsindy.report.digest import States
from wgsindy.report.planes import Mesh, central_range

# Relative to the largest field of its kind: what an eigenvalue decomposition leaves of a zero.
ROUNDING = 1e-12


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
