"""Pictures of where there are data, and of how sure the drift is there."""

from __future__ import annotations

import numpy as np

from wgsindy.arrays import FloatArray
from wgsindy.display.grid import percent
from wgsindy.display.report.fieldplots import half_widths
from wgsindy.display.report.picture import (
    SQUARE,
    Picture,
    axes,
    heat,
    histogram_bars,
    numbers,
)
from wgsindy.display.report.planes import Plane, planes
from wgsindy.generator import Generator
from wgsindy.trajectories import Trajectories

CELLS, BINS = 30, 50
WHOLE = (0.0, 100.0)


def coverage_pictures(generator: Generator, data: Trajectories) -> list[Picture]:
    """Samples in each cell over the whole range of the data; beside it the error of the drift."""
    if data.dimension == 1:
        return [_line_coverage(data)]
    found = []
    for plane in planes(data, WHOLE):
        found.append(_counts_picture(data, plane))
        # Without any drift there is nothing that an error could be large or small against.
        if generator.uncertainty is not None and generator.drift_coefficients.any():
            found.append(_sureness_picture(generator, data, plane))
    return found


def _counts_picture(data: Trajectories, plane: Plane) -> Picture:
    x, y, _ = plane.cells(CELLS)
    counts = plane.counts(data, CELLS)
    names = plane.window.names
    seen = counts > 0
    with np.errstate(divide="ignore"):
        logarithm = np.where(seen, np.log10(counts), np.nan)
    most = int(np.ceil(np.nanmax(logarithm)))
    ticks = list(range(most + 1))
    bar = {"tickvals": ticks, "ticktext": [f"{10**tick}" for tick in ticks]}
    return Picture(
        name=f"coverage-{plane.first}-{plane.second}",
        title=f"Samples in {names[0]} and {names[1]}",
        alt=(
            f"Number of samples in each cell of the plane of {names[0]} and {names[1]}: "
            f"{percent(seen.mean())} of the cells have any, the fullest has {int(counts.max())}."
        ),
        caption="Where there is no colour there are no data: formulas are extrapolated there.",
        traces=[
            heat(
                x,
                y,
                logarithm,
                zmin=0.0,
                zmax=float(max(most, 1)),
                customdata=numbers(counts.reshape(CELLS, CELLS)),
                colorbar={"thickness": 10, "outlinewidth": 0, **bar},
                hovertemplate=(
                    f"{names[0]} = %{{x:.3g}}, {names[1]} = %{{y:.3g}}<br>"
                    "%{customdata} samples<extra></extra>"
                ),
            )
        ],
        layout=axes(*names),
        aspect=SQUARE,
    )


def relative_errors(generator: Generator, data: Trajectories, states: FloatArray) -> FloatArray:
    """Half-width of the drift's band at ``states (n, d)`` over the drift's size on the data.

    The largest over the components, ``(n,)``; those that are zero have no size to compare with.
    """
    sizes = np.sqrt(np.mean(generator.drift(data.states) ** 2, axis=0))
    widths = half_widths(generator, states)[: generator.dimension]
    there = sizes > 0
    return np.asarray((widths[there] / sizes[there, None]).max(axis=0))


def _sureness_picture(generator: Generator, data: Trajectories, plane: Plane) -> Picture:
    x, y, states = plane.cells(CELLS)
    errors = 100 * relative_errors(generator, data, states)
    seen = errors[plane.counts(data, CELLS) > 0]
    names = plane.window.names
    return Picture(
        name=f"sureness-{plane.first}-{plane.second}",
        title=f"Error of the drift in {plane.described(data.names)}",
        alt=(
            "Half-width of the 95 % band over the size of the drift on the data: from "
            f"{seen.min():.2g} % to {seen.max():.2g} % where there are samples."
        ),
        caption=(
            "Half-width of the 95 % band, in percent of the drift's root mean square on the data; "
            "the worst component. Colours span the values where there are samples."
        ),
        traces=[
            heat(
                x,
                y,
                errors,
                colorscale="Cividis",
                zmin=0.0,
                zmax=float(seen.max()),
                hovertemplate=(
                    f"{names[0]} = %{{x:.3g}}, {names[1]} = %{{y:.3g}}<br>"
                    "± %{z:.2g} %<extra></extra>"
                ),
            )
        ],
        layout=axes(*names),
        aspect=SQUARE,
    )


def _line_coverage(data: Trajectories) -> Picture:
    counts, edges = np.histogram(data.states[:, 0], bins=BINS)
    name = data.names[0]
    return Picture(
        name="coverage-0",
        title=f"Samples of {name}",
        alt=(
            f"Histogram of the samples of {name}, from {edges[0]:.3g} to {edges[-1]:.3g}; the "
            f"fullest of {BINS} bins has {counts.max()}."
        ),
        caption="Outside of the bars formulas are extrapolated.",
        traces=[histogram_bars(edges, counts.astype(np.float64), "samples")],
        layout=axes(name, "samples"),
    )
