"""What holds in the long run: density beside the samples, current, times of relaxation."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from wgsindy.errors import ReadoutError, WgsindyError
from wgsindy.model import Generator, with_unit
from wgsindy.readouts import TURNING, Readouts, Value
from wgsindy.report.digest import Digest, States
from wgsindy.report.field_data import planes
from wgsindy.report.page_text import capitalised
from wgsindy.report.pictures.flow import ARROWS, LONGEST_ARROW, arrow_outlines
from wgsindy.report.pictures.picture import (
    FLAT,
    SIMULATED,
    SQUARE,
    Picture,
    axes,
    band,
    curve,
    heat,
    histogram_bars,
    outline,
    plane_axes,
)

# Coarser than what is asked for by hand: a page should not take longer than its fit.
CELLS = {1: 256, 2: 64, 3: 16}
DRAWS = 20
BINS, POINTS, IMAGE = 40, 121, 60
SHOWN_RATES = 4


@dataclass(frozen=True)
class LawSection:
    """What the page says of the long run."""

    numbers: list[tuple[str, Value]] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    failure: str = ""  # why there is no stationary law, or none that can be told


def law_section(generator: Generator, data: Digest, unit: str) -> LawSection:
    """Read out the stationary law; that there is none is a finding, not an error of the report."""
    told = Readouts(generator, None, None, CELLS.get(generator.dimension), draws=DRAWS)
    try:
        numbers = law_numbers(told, unit)
        pictures = [_marginal(told, data, p) for p in range(data.dimension)]
        if data.dimension == 2:
            pictures.append(_current(told, data))
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


def _marginal(told: Readouts, data: Digest, p: int) -> Picture:
    name, grid = told.generator.names[p], told.grid
    places = np.linspace(grid.low[p], grid.high[p], POINTS)
    found = told.marginal(name, places)
    heights, edges = np.histogram(data.states[:, p], BINS, density=True)
    traces = [histogram_bars(edges, heights, "samples")]
    if np.isfinite(found.low).all() and np.isfinite(found.high).all():
        traces.append(band(places, found.low, found.high, "95 % band", SIMULATED))
    traces.append(curve(places, found.values, "stationary density", 1))
    shown = data.names[p]
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
        aspect=FLAT,
    )


def _current(told: Readouts, data: States) -> Picture:
    """Draw the density and the current; arrows as long as the current is strong."""
    plane = next(iter(planes(data)))
    cells, places = plane.cells(IMAGE), plane.cells(ARROWS).states
    flow = told.current(places).values
    lengths = np.linalg.norm(flow / plane.sizes, axis=1)
    longest = LONGEST_ARROW / ARROWS
    arrows = flow * longest / max(float(lengths.max(initial=0.0)), 1e-300)
    density = told.density(cells.states).values
    return Picture(
        name="current",
        title=f"Stationary density and current of {plane.described(data.names)}",
        alt=(
            "The stationary density of the equations, and arrows of the probability current. "
            "A reversible process has none."
        ),
        caption="Lengths of arrows are proportional to the current.",
        traces=[
            heat(cells, density, showscale=False, hoverinfo="skip"),
            outline(arrow_outlines(places, arrows, plane.sizes), 1.6, "white"),
        ],
        layout=plane_axes(plane.view),
        aspect=SQUARE,
    )
