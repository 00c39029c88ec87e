"""Pictures of where the process goes: drift arrows and noise ellipses over the density of data."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.model import Generator, field_names, named_fields, tensor
from wgsindy.report.digest import States
from wgsindy.report.field_data import Plane, planes
from wgsindy.report.page_text import duration
from wgsindy.report.pictures.picture import (
    DENSITY_COLOURS,
    OBSERVED,
    SQUARE,
    UNIDENTIFIED,
    Picture,
    Spec,
    heat,
    marked,
    numbers,
    outline,
    plane_axes,
)

CELLS = 40
ARROWS, ELLIPSES = 15, 8  # a side
LONGEST_ARROW, LARGEST_ELLIPSE = 1.6, 0.45  # in distances between neighbours
HEAD, BARB = 0.32, np.radians(28)  # length over that of the arrow, angle
OUTLINE = 40  # points of an ellipse


def flow_pictures(
    generator: Generator, data: States, weak: Collection[str], unit: str
) -> list[Picture]:
    """Arrows and ellipses in each plane; a process on a line has none.

    ``weak`` drift components are marked, times are in ``unit``.
    """
    return [
        picture
        for plane in planes(data)
        for picture in (
            arrow_picture(generator, data, plane, weak, unit),
            ellipse_picture(generator, data, plane, unit),
        )
    ]


def arrow_picture(
    generator: Generator, data: States, plane: Plane, weak: Collection[str], unit: str
) -> Picture:
    """Draw the drift; what has no samples around it is pale and no longer than what has."""
    states, seen = plane.cells(ARROWS).states, plane.counts(data, ARROWS) > 0
    drift = generator.drift(states)[:, list(plane.pair)]
    lengths = np.linalg.norm(drift / plane.sizes, axis=1)
    longest = LONGEST_ARROW / ARROWS
    time = _shown_time(lengths[seen], longest)
    arrows = drift * time / np.maximum(lengths * time / longest, 1.0)[:, None]
    names, places = plane.view.names, states[:, list(plane.pair)]
    hover = (
        f"{names[0]} = %{{x:.3g}}, {names[1]} = %{{y:.3g}}<br>"
        "drift (%{customdata[0]:.3g}, %{customdata[1]:.3g})<extra></extra>"
    )
    components, _ = field_names(generator.dimension)
    doubtful = [components[p] for p in plane.pair if components[p] in weak]
    title = marked(f"Drift in {plane.described(data.names)}", doubtful)
    outlines = [
        outline(arrow_outlines(places[part], arrows[part], plane.sizes), 1.5, colour)
        for part, colour in ((~seen, "var(--pale)"), (seen, "var(--ink)"))
    ]
    return Picture(
        name=f"arrows-{plane.first}-{plane.second}",
        title=named_fields(title, generator.names),
        alt=(
            f"Arrows of the drift in the plane of {plane.described(data.names)}, over the density "
            f"of the samples. The fastest among them moves {_fastest(drift[seen]):.3g} in "
            f"{duration(1, unit)}."
        ),
        caption=(
            f"An arrow is the displacement by the drift alone in {duration(time, unit)}. Pale "
            "arrows, where there are no samples, are cut at the longest of the others."
            + (f" {UNIDENTIFIED}" if doubtful else "")
        ),
        traces=[_density(plane, data), *outlines, _points(places, hover, drift)],
        layout=plane_axes(plane.view),
        aspect=SQUARE,
        columns=[f"drift of {name}" for name in names],
    )


def ellipse_picture(generator: Generator, data: States, plane: Plane, unit: str) -> Picture:
    """Draw the tensor."""
    states, seen = plane.cells(ELLIPSES).states, plane.counts(data, ELLIPSES) > 0
    full = generator.diffusion(states)
    block = full[:, list(plane.pair)][:, :, list(plane.pair)]
    deviation = np.sqrt(np.einsum("npp->np", block))
    # Lengths grow with the root of time.
    sizes = (deviation / plane.sizes).max(axis=1)
    time = _shown_time(sizes[seen], LARGEST_ELLIPSE / ELLIPSES) ** 2
    shown = (
        block
        * time
        / np.maximum(sizes**2 * time / (LARGEST_ELLIPSE / ELLIPSES) ** 2, 1.0)[:, None, None]
    )
    places = states[:, list(plane.pair)]
    names = plane.view.names
    hover = (
        f"{names[0]} = %{{x:.3g}}, {names[1]} = %{{y:.3g}}<br>variances %{{customdata[0]:.3g}}, "
        "%{customdata[2]:.3g}<br>covariance %{customdata[1]:.3g}<extra></extra>"
    )
    return Picture(
        name=f"ellipses-{plane.first}-{plane.second}",
        title=f"Noise in {plane.described(data.names)}",
        alt=(
            f"Ellipses of the diffusion tensor in the plane of {plane.described(data.names)}: "
            "long where noise is strong, tilted where the coordinates share it."
        ),
        caption=(
            "An ellipse is one standard deviation of the displacement by the noise alone in "
            f"{duration(time, unit)}. Where it is pale there are no samples."
        ),
        traces=[
            _density(plane, data),
            outline(ellipse_outlines(places[~seen], shown[~seen]), 1.6, "var(--pale)"),
            outline(ellipse_outlines(places[seen], shown[seen]), 1.6, "var(--simulated)"),
            _points(places, hover, tensor.entries_of(block)),
        ],
        layout=plane_axes(plane.view),
        aspect=SQUARE,
        columns=(f"variance of {names[0]}", "covariance", f"variance of {names[1]}"),
    )


def arrow_outlines(places: FloatArray, arrows: FloatArray, sizes: FloatArray) -> FloatArray:
    """Shafts and heads of arrows ``(n, 2)`` as one line ``(m, 2)`` with gaps.

    Heads are drawn as seen on a square of ``sizes (2,)``, whatever the units of the axes are.
    """
    tips = places + arrows
    gap = np.full_like(places, np.nan)
    barbs = []
    for angle in (np.pi - BARB, np.pi + BARB):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        barbs.append(tips + HEAD * (arrows / sizes) @ turn.T * sizes)
    parts = [places, tips, gap, barbs[0], tips, barbs[1], gap]
    return np.stack(parts, axis=1).reshape(-1, 2)


def ellipse_outlines(places: FloatArray, tensors: FloatArray) -> FloatArray:
    """Outlines ``(m, 2)``, with gaps, of x' a^-1 x = 1 around places; flat where a is singular."""
    angle = np.linspace(0, 2 * np.pi, OUTLINE)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    around = np.einsum("npq,qk->nkp", tensor.cholesky(tensors), circle)
    outlines = np.full((len(places), OUTLINE + 1, 2), np.nan)
    outlines[:, :-1] = places[:, None] + around
    return outlines.reshape(-1, 2)


def _shown_time(rates: FloatArray, length: float) -> float:
    """Time in which the largest of ``rates (n,)`` covers ``length``; 1 if nothing moves."""
    largest = float(rates.max(initial=0.0))
    return length / largest if largest > 0 else 1.0


def _fastest(drift: FloatArray) -> float:
    return float(np.linalg.norm(drift, axis=1).max(initial=0.0))


def _density(plane: Plane, data: States) -> Spec:
    # The root shows thin regions too; a linear scale would leave them blank.
    return heat(
        plane.cells(CELLS),
        np.sqrt(plane.counts(data, CELLS)),
        colorscale=DENSITY_COLOURS,
        showscale=False,
        hoverinfo="skip",
        zmin=0.0,
    )


def _points(places: FloatArray, hover: str, values: FloatArray) -> Spec:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(places[:, 0]),
        "y": numbers(places[:, 1]),
        "customdata": numbers(values),
        "marker": {"size": 3, "color": OBSERVED},
        "hovertemplate": hover,
        "showlegend": False,
    }
