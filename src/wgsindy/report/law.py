"""What holds in the long run: density beside the samples, current, times of relaxation."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.draw import (
    ARROWS,
    SERIES,
    SQUARE,
    Colour,
    Picture,
    Plane,
    StateCloud,
    View,
    arrow_outlines,
    axes,
    axis_labels,
    band,
    capitalised,
    curve,
    data_planes,
    dots,
    draw_picture,
    heat,
    histogram_bars,
    outline,
    plane_axes,
    reference,
    shown_arrows,
)
from wgsindy.errors import ReadoutError, WgsindyError
from wgsindy.model import Generator, with_unit
from wgsindy.readouts import TURNING, Readouts, Value
from wgsindy.report.plot_sample import PlotSample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Coarser than what is asked for by hand: a page should not take longer than its fit.
PAGE_GRID = {1: 256, 2: 64, 3: 16}
DRAWS = 20
MARGINAL_BINS, MARGINAL_POINTS, DENSITY_IMAGE = 40, 121, 60
SHOWN_RATES = 4
MOST_MARKS = 1500  # samples under a density
MEMORY_POINTS, LATER = 81, 5.0  # of an autocorrelation; relaxation times that it is shown for


@dataclass(frozen=True)
class LawSection:
    """What the page says of the long run."""

    numbers: list[tuple[str, Value]] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    failure: str = ""  # why there is no stationary law, or none that can be told


def law_section(generator: Generator, data: PlotSample, unit: str) -> LawSection:
    """Read out the stationary law; that there is none is a finding, not an error of the report."""
    told = Readouts(generator, None, None, PAGE_GRID.get(generator.dimension), draws=DRAWS)
    try:
        numbers = law_numbers(told, unit)
        pictures = [_marginal(told, data, p) for p in range(data.dimension)]
        if data.dimension == 2:
            pictures.append(_current(told, data_planes(data)[0], data.names))
    except WgsindyError as error:
        return LawSection(failure=capitalised(str(error), data.names))
    return LawSection(numbers, pictures)


def law_numbers(told: Readouts, unit: str) -> list[tuple[str, Value]]:
    """Times of relaxation, periods of what turns, and entropy production, by name."""
    rows: list[tuple[str, Value]] = []
    times = told.relaxation_times
    for k, rate in enumerate(told.rates[:SHOWN_RATES]):
        if rate.frequency.value < -TURNING:
            continue  # the other one of a pair
        label = with_unit(f"relaxation time {len(rows) + 1}", unit)
        if rate.frequency.value > TURNING * rate.decay.value:
            label += f", one turn in {2 * np.pi / rate.frequency.value:.3g} {unit}".rstrip()
        rows.append((label, times[k]))
    each = f"1/{unit}" if unit else "per unit of time"
    if told.generator.dimension > 1:  # a line is reversible, whatever its equation
        with suppress(ReadoutError):  # noise may be missing in some direction
            rows.append((with_unit("entropy production", each), told.entropy_production))
    return rows


def _marginal(told: Readouts, data: StateCloud | None, p: int) -> Picture:
    name, grid = told.generator.names[p], told.grid
    places = np.linspace(grid.low[p], grid.high[p], MARGINAL_POINTS)
    density = told.marginal(name, places)
    shown = name if data is None else data.names[p]
    traces = []
    if data is not None:
        heights, edges = np.histogram(data.states[:, p], MARGINAL_BINS, density=True)
        traces.append(histogram_bars(edges, heights, "samples"))
    if np.isfinite(density.low).all() and np.isfinite(density.high).all():
        traces.append(band(places, density.low, density.high, "95 % band", Colour.SIMULATED))
    traces.append(curve(places, density.values, "stationary density", 1))
    return Picture(
        name=f"marginal-{p}",
        title=f"Density of {shown}",
        alt=f"Histogram of the samples of {shown}, and the stationary density of the equations.",
        caption=(
            "Samples that still depend on where they started have another density than the "
            "stationary one of the equations."
        ),
        traces=traces,
        layout=axes(shown, "density"),
    )


def _current(
    told: Readouts, plane: Plane, names: tuple[str, ...], samples: StateCloud | None = None
) -> Picture:
    """Draw the density and the current; arrows as long as the current is strong."""
    cells, places = plane.cells(DENSITY_IMAGE), plane.cells(ARROWS).states
    flow = told.current(places).values
    arrows, _ = shown_arrows(flow, plane.sizes, np.ones(len(flow), dtype=bool))
    density = told.density(cells.states).values
    traces = [heat(cells, density, showscale=False, hoverinfo="skip")]
    if samples is not None:
        few = samples.states[:: max(1, len(samples.states) // MOST_MARKS)]
        traces.append(dots(few[:, 0], few[:, 1], 1, Colour.PALE, showlegend=False))
    traces.append(outline(arrow_outlines(places, arrows, plane.sizes), 1.6, "white"))
    return Picture(
        name="current",
        title=f"Stationary density and current of {plane.described(names)}",
        alt=(
            "The stationary density of the equations, and arrows of the probability current. "
            "A reversible process has none."
        ),
        caption="Lengths of arrows are proportional to the current.",
        traces=traces,
        layout=plane_axes(plane),
        aspect=SQUARE,
    )


def _autocorrelations(told: Readouts) -> Picture:
    """Draw the memory of every coordinate, and the time of the slowest relaxation."""
    slowest = told.relaxation_times[0].value
    times = np.linspace(0.0, LATER * slowest, MEMORY_POINTS)
    traces = [reference([slowest, slowest], [-1.0, 1.0], "1 / gap")]
    for p, name in enumerate(told.generator.names):
        memory = told.autocorrelation(times, name)
        if np.isfinite(memory.low).all() and np.isfinite(memory.high).all():
            strip = band(times, memory.low, memory.high, f"95 % {name}", SERIES[p])
            traces.append(strip | {"showlegend": False})
        traces.append(curve(times, memory.values, name, p))
    return Picture(
        name="autocorrelations",
        title="Memory",
        alt="Autocorrelation of every coordinate over time",
        traces=traces,
        layout=axes(
            with_unit("time", told.generator.units.time),
            "autocorrelation",
            yaxis={"range": [-1.05, 1.05]},
        ),
    )


def plot_readouts(told: Readouts, states: ArrayLike | None = None) -> Figure:
    """Draw a process of one or two coordinates; ``states (n, d)`` of data are drawn under it.

    Raises
    ------
    ReadoutError
        If there are more coordinates, or no stationary law.
    """
    from matplotlib.figure import Figure

    names, grid = told.generator.names, told.grid
    if len(names) > 2:
        raise ReadoutError(f"figures show 1 or 2 coordinates, these are {len(names)}.")
    samples = None if states is None else StateCloud(names, np.asarray(states, dtype=np.float64))
    if len(names) == 1:
        law = _marginal(told, samples, 0)
    else:
        view = View(grid.low, grid.high, (grid.low + grid.high) / 2)
        law = _current(told, Plane.of(view, (0, 1), names), names, samples)
        law = replace(law, title="Stationary density and current")
    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    for picture, panel in zip((law, _autocorrelations(told)), figure.subplots(1, 2), strict=True):
        draw_picture(picture, panel, axis_labels(told.generator))
    return figure
