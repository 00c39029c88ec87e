"""Pictures of where there are data, and of how sure the drift is there."""

from __future__ import annotations

import numpy as np

from wgsindy.data import BoolArray, FloatArray
from wgsindy.draw.picture import (
    CIVIDIS,
    SQUARE,
    Colour,
    Picture,
    Spec,
    axes,
    band,
    heat,
    histogram_bars,
    outline,
    plane_axes,
)
from wgsindy.draw.planes import Mesh, Plane, StateCloud, data_planes, half_widths
from wgsindy.model import Generator, percent

COVERAGE_CELLS, COVERAGE_BINS = 34, 50
WHOLE = (0.0, 100.0)
BEYOND = 0.07  # of the range of the data, shown on every side of it
LARGEST_ERROR = 100.0  # percent; a drift that is off by more is unknown, by however much


def coverage_pictures(generator: Generator, data: StateCloud) -> list[Picture]:
    """Samples in each cell over the whole range of the data; beside it the error of the drift."""
    if data.dimension == 1:
        return [_line_coverage(data)]
    found = []
    for plane, central in zip(data_planes(data, WHOLE), data_planes(data), strict=True):
        wide = plane.widened(BEYOND)
        found.append(_counts_picture(data, wide, central))
        # Without any drift there is nothing that an error could be large or small against.
        if generator.uncertainty is not None and generator.drift_coefficients.any():
            found.append(_drift_error_picture(generator, data, plane))
    return found


def _counts_picture(data: StateCloud, plane: Plane, central: Plane) -> Picture:
    mesh, counts = plane.cells(COVERAGE_CELLS), plane.counts(data, COVERAGE_CELLS)
    names = plane.names
    occupied = counts > 0
    with np.errstate(divide="ignore"):
        logarithm = np.where(occupied, np.log10(counts), np.nan)
    most = int(np.ceil(np.nanmax(logarithm)))
    ticks = list(range(most + 1))
    bar = {"tickvals": ticks, "ticktext": [f"{10**tick}" for tick in ticks]}
    where = f"{names[0]} = %{{x:.3g}}, {names[1]} = %{{y:.3g}}<br>"
    filled = heat(
        mesh,
        logarithm,
        zmin=0.0,
        zmax=float(max(most, 1)),
        customdata=mesh.as_image(counts),
        colorbar=bar,
        hovertemplate=where + "%{customdata} samples<extra></extra>",
    )
    return Picture(
        name=f"coverage-{plane.pair[0]}-{plane.pair[1]}",
        title=f"Samples in {names[0]} and {names[1]}",
        alt=(
            f"Number of samples in each cell of the plane of {names[0]} and {names[1]}: "
            f"{percent(occupied.mean())} of the cells have any, the fullest has "
            f"{int(counts.max())}. The others are marked as beyond the data."
        ),
        caption=(
            "Hatched: no samples, formulas are extrapolated there. Dashed: the central 96 %, over "
            "which the fields are drawn."
        ),
        traces=[*_hatching(mesh, occupied), filled, _frame(central)],
        layout=plane_axes(plane),
        aspect=SQUARE,
        columns=("log10 of the samples", "samples"),
    )


def _hatching(mesh: Mesh, occupied: BoolArray) -> list[Spec]:
    """Grey where there are no samples, with a stroke across each such cell."""
    grey = heat(
        mesh,
        np.where(occupied, np.nan, 0.0),
        colorscale=[[0.0, Colour.GRID], [1.0, Colour.GRID]],
        showscale=False,
        hovertemplate="no samples<extra></extra>",
    )
    x, y = mesh.x, mesh.y
    rows, columns = np.nonzero(~mesh.as_image(occupied))
    half = np.array([x[1] - x[0], y[1] - y[0]]) / 2
    middles = np.stack([x[columns], y[rows]], axis=1)
    strokes = np.stack([middles - half, middles + half, np.full_like(middles, np.nan)], axis=1)
    stroke = outline(strokes.reshape(-1, 2), 1.0, Colour.PALE)
    return [grey, stroke]


def _frame(plane: Plane) -> Spec:
    """The edge of a viewport."""
    (left, bottom), (right, top) = plane.low, plane.high
    corners = [[left, bottom], [right, bottom], [right, top], [left, top], [left, bottom]]
    drawn = outline(np.array(corners), 1.5, Colour.INK)
    return drawn | {"line": drawn["line"] | {"dash": "dash"}}


def relative_errors(generator: Generator, data: StateCloud, states: FloatArray) -> FloatArray:
    """Half-width of the drift's band at ``states (n, d)`` over the drift's size on the data.

    The largest over the components, ``(n,)``; those that are zero have no size to compare with.
    """
    sizes = np.sqrt(np.mean(generator.drift(data.states) ** 2, axis=0))
    widths = half_widths(generator, states)[: generator.dimension]
    there = sizes > 0
    return np.asarray((widths[there] / sizes[there, None]).max(axis=0))


def _drift_error_picture(generator: Generator, data: StateCloud, plane: Plane) -> Picture:
    mesh, names = plane.cells(COVERAGE_CELLS), plane.names
    errors = 100 * relative_errors(generator, data, mesh.states)
    shown = errors[plane.counts(data, COVERAGE_CELLS) > 0]
    highest = min(float(shown.max()), LARGEST_ERROR)
    cut = bool((errors > LARGEST_ERROR).any())
    return Picture(
        name=f"drift-error-{plane.pair[0]}-{plane.pair[1]}",
        title=f"Error of the drift in {plane.described(data.names)}",
        alt=(
            "Half-width of the 95 % band over the size of the drift on the data: from "
            f"{_capped(shown.min())} to {_capped(shown.max())} where there are samples."
        ),
        caption=(
            "Half-width of the 95 % band, in percent of the drift's root mean square on the data; "
            "the worst component. Colours span the values where there are samples"
            + (f", and end at {LARGEST_ERROR:.0f} %: more is as good as unknown." if cut else ".")
        ),
        traces=[
            heat(
                mesh,
                np.minimum(errors, LARGEST_ERROR),
                colorscale=CIVIDIS,
                zmin=0.0,
                zmax=highest,
                text=[[_capped(error) for error in row] for row in mesh.as_image(errors)],
                hovertemplate=(
                    f"{names[0]} = %{{x:.3g}}, {names[1]} = %{{y:.3g}}<br>"
                    "± %{text}<extra></extra>"
                ),
            )
        ],
        layout=axes(*names),
        aspect=SQUARE,
        columns=("half width of the 95 % band in % of the drift",),
    )


def _capped(error: float) -> str:
    """Write an error in percent; beyond the largest its size says nothing."""
    return f"{error:.2g} %" if error <= LARGEST_ERROR else f"more than {LARGEST_ERROR:.0f} %"


def _line_coverage(data: StateCloud) -> Picture:
    counts, edges = np.histogram(data.states[:, 0], bins=COVERAGE_BINS)
    name = data.names[0]
    margin = BEYOND * (edges[-1] - edges[0])
    top = float(counts.max())
    sides = [(edges[0] - margin, edges[0]), (edges[-1], edges[-1] + margin)]
    beyond = [
        band(np.array(side), np.zeros(2), np.full(2, top), "beyond the data", Colour.REFERENCE)
        | {"showlegend": number == 0}
        for number, side in enumerate(sides)
    ]
    return Picture(
        name="coverage-0",
        title=f"Samples of {name}",
        alt=(
            f"Histogram of the samples of {name}, from {edges[0]:.3g} to {edges[-1]:.3g}; the "
            f"fullest of {COVERAGE_BINS} bins has {counts.max()}. What lies beyond is marked."
        ),
        caption="Outside of the bars formulas are extrapolated.",
        traces=[*beyond, histogram_bars(edges, counts.astype(np.float64), "samples")],
        layout=axes(name, "samples"),
    )
