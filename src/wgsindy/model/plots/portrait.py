"""Arrows of the drift and ellipses of the noise, in a plane or along a line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data import FloatArray
from wgsindy.errors import DataError
from wgsindy.model import tensor
from wgsindy.model.display.units import named_fields, with_unit
from wgsindy.model.formulas import field_names
from wgsindy.model.generator import Generator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ARROWS, ELLIPSES = 17, 7  # a side
REACH = 2.0  # standard deviations of the data on either side
SAMPLES = 200  # of a curve
MOST_DOTS = 20_000  # of the data behind a picture of a field


def new_axes(ax: Axes | None) -> Axes:
    """Return the axes to draw on: those given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def plot(
    generator: Generator,
    data: Any = None,
    *,
    coordinates: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw where the process goes; see :meth:`wgsindy.Generator.plot`."""
    axes = new_axes(ax)
    states = states_of(generator, data)
    if generator.dimension == 1:
        return plot_field(generator, "b1", data, ax=axes)
    first, second = plane_of(generator, coordinates)
    low, high, centre = _range(generator, states)
    if states is not None:
        axes.hexbin(
            states[:, first], states[:, second], gridsize=45, cmap="Blues", mincnt=1, linewidths=0
        )
    places = Plane(generator, (first, second), low, high, centre)
    places.draw_arrows(axes)
    places.draw_ellipses(axes)
    axes.set_xlim(low[first], high[first])
    axes.set_ylim(low[second], high[second])
    labels = generator.units.labels()
    axes.set(xlabel=labels[first], ylabel=labels[second])
    return axes


class Plane:
    """Two coordinates of a generator between corners ``(d,)``, the others at ``centre (d,)``."""

    def __init__(
        self,
        generator: Generator,
        pair: tuple[int, int],
        low: FloatArray,
        high: FloatArray,
        centre: FloatArray,
    ) -> None:
        self.generator, self.pair = generator, list(pair)
        self.low, self.high, self.centre = low[self.pair], high[self.pair], centre

    def places(self, count: int) -> tuple[FloatArray, FloatArray]:
        """``count`` a side: places in the plane ``(n, 2)``, and whole states ``(n, d)``."""
        x, y = (np.linspace(self.low[i], self.high[i], count) for i in range(2))
        flat = np.array([[a, b] for b in y for a in x])
        states = np.tile(self.centre, (len(flat), 1))
        states[:, self.pair] = flat
        return flat, states

    def draw_arrows(self, axes: Axes) -> None:
        """Draw the drift."""
        feet, states = self.places(ARROWS)
        drift = self.generator.drift(states)[:, self.pair]
        axes.quiver(*feet.T, *drift.T, color="0.15", angles="xy", width=0.0032, zorder=3)

    def draw_ellipses(self, axes: Axes) -> None:
        """Draw one standard deviation of the noise, the largest as large as their distance."""
        from matplotlib.collections import EllipseCollection

        centres, states = self.places(ELLIPSES)
        block = self.generator.diffusion(states)[:, self.pair][:, :, self.pair]
        spacing = (self.high - self.low).min() / ELLIPSES
        values, vectors = np.linalg.eigh(block)
        largest = float(np.sqrt(max(values.max(), 0.0))) or 1.0
        lengths = 0.8 * spacing * np.sqrt(np.maximum(values, 0)) / largest
        # One artist for all of them: Matplotlib works out the extent of each that is its own.
        ellipses = EllipseCollection(
            lengths[:, 1],
            lengths[:, 0],
            np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1])),
            units="xy",
            offsets=centres,
            offset_transform=axes.transData,
            facecolors="none",
            edgecolors="C3",
            linewidths=1.2,
            zorder=4,
        )
        axes.add_collection(ellipses, autolim=False)


def plot_field(
    generator: Generator,
    field: str,
    data: Any = None,
    *,
    along: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one field along one coordinate; see :meth:`wgsindy.Generator.plot_field`."""
    names = [*chain(*field_names(generator.dimension))]
    if field not in names:
        raise DataError(f"there is no field {field!r}; there are {', '.join(names)}.")
    number, p = names.index(field), 0 if along is None else _number(generator, along)
    low, high, centre = _range(generator, states_of(generator, data))
    states = np.tile(centre, (SAMPLES, 1))
    states[:, p] = np.linspace(low[p], high[p], SAMPLES)

    def column(drift: FloatArray, diffusion: FloatArray) -> FloatArray:
        return np.hstack([drift, tensor.entries_of(diffusion)])[:, number]

    axes = new_axes(ax)
    values = column(generator.drift(states), generator.diffusion(states))
    (line,) = axes.plot(states[:, p], values, label=field)
    if generator.uncertainty is not None:
        bands = generator.bands(states)
        least = column(bands.drift_low, bands.diffusion_low)
        most = column(bands.drift_high, bands.diffusion_high)
        axes.fill_between(states[:, p], least, most, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.set(xlabel=generator.units.labels()[p], ylabel=generator.units.title(field))
    return axes


def plot_coefficients(generator: Generator, *, ax: Axes | None = None) -> Axes:
    """Draw every coefficient with its interval; see :meth:`wgsindy.Generator.plot_coefficients`."""
    axes, found = new_axes(ax), generator.coefficients
    places = np.arange(len(found))[::-1]
    values = np.array([one.value for one in found])
    errors = np.array([[one.value - one.low, one.high - one.value] for one in found]).reshape(-1, 2)
    axes.axvline(0.0, color="0.7", linewidth=1)
    axes.errorbar(values, places, xerr=np.nan_to_num(errors).T, fmt="o", markersize=4, capsize=3)
    ticks = [f"{named_fields(one.target, generator.names)}: {one.term}" for one in found]
    units = [generator.units.coefficient(one.target, one.term) for one in found]
    axes.set_yticks(places, [*map(with_unit, ticks, units)])
    axes.set_xlabel("coefficient, with its 95 % interval")
    return axes


def states_of(generator: Generator, data: Any) -> FloatArray | None:
    """Return the states ``(n, d)`` of trajectories, of a reading or of an array; None of None."""
    if data is None:
        return None
    found = getattr(data, "data", data) if not isinstance(data, np.ndarray) else data
    states: ArrayLike = getattr(found, "states", found)
    array = np.asarray(states, dtype=np.float64)
    array = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else array[:, None]
    if array.shape[1] != generator.dimension:
        raise DataError(
            f"the data have {array.shape[1]} coordinates, the generator {generator.dimension}."
        )
    return array[:: max(1, len(array) // MOST_DOTS)]


def plane_of(generator: Generator, coordinates: Sequence[str] | None) -> tuple[int, int]:
    """Return the numbers of two coordinates, by default the first two."""
    if coordinates is None:
        return 0, 1
    if len(coordinates) != 2 or coordinates[0] == coordinates[1]:
        raise DataError(f"a plane has two coordinates, got {list(coordinates)}.")
    return _number(generator, coordinates[0]), _number(generator, coordinates[1])


def _number(generator: Generator, name: str) -> int:
    if name not in generator.names:
        raise DataError(f"there is no coordinate {name!r}; there are {list(generator.names)}.")
    return generator.names.index(name)


def _range(
    generator: Generator, states: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Corners and centre ``(d,)`` of what is drawn: the central 96 % of data, or two deviations."""
    if states is not None:
        low, high = np.percentile(states, (2, 98), axis=0)
        return low, high, np.median(states, axis=0)
    if generator.region is None:
        raise DataError("this generator does not know where its data were; pass data to draw it.")
    centre, scale = generator.region.centre, generator.region.scale
    return centre - REACH * scale, centre + REACH * scale, centre
