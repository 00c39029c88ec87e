"""Pictures of where the process goes: drift arrows and noise ellipses over the density of data."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from wgsindy.data import BoolArray, FloatArray
from wgsindy.draw.picture import (
    SQUARE,
    UNIDENTIFIED,
    Colour,
    Picture,
    Spec,
    dots,
    heat,
    marked,
    outline,
    plane_axes,
)
from wgsindy.draw.planes import Plane, StateCloud, data_planes, where_defined
from wgsindy.model import Generator, field_names, named_fields, tensor

DENSITY_CELLS = 40
ARROWS, ELLIPSES = 15, 8  # a side, each in a picture of its own
FEWER_ELLIPSES = 6  # a side, where arrows are drawn, too
LONGEST_ARROW, LARGEST_ELLIPSE = 1.6, 0.45  # in distances between neighbours
LONGEST_ROOT = 0.95  # where most arrows are nearly as long
ARROW_HEAD, BARB = 0.32, np.radians(28)  # length over that of the arrow, angle
OUTLINE = 40  # points of an ellipse
# Without data there is no saying which speeds matter: cube roots of them bring out the directions
# of a slow drift beside a fast one.
ROOT = 1 / 3


def duration(value: float, unit: str) -> str:
    """Write a time.

    >>> duration(0.25, "s"), duration(0.25, ""), duration(1, "")
    ('0.25 s', '0.25 units of time', '1 unit of time')
    """
    written = f"{value:.2g}"
    return f"{written} {unit or ('unit of time' if written == '1' else 'units of time')}"


def flow_pictures(
    generator: Generator, data: StateCloud, weak: Collection[str], unit: str
) -> list[Picture]:
    """Arrows and ellipses in each plane; a process on a line has none.

    ``weak`` drift components are marked, times are in ``unit``.
    """
    return [
        picture
        for plane in data_planes(data)
        for picture in (
            _arrow_picture(generator, data, plane, weak, unit),
            _ellipse_picture(generator, data, plane, unit),
        )
    ]


def portrait(generator: Generator, plane: Plane, data: StateCloud | None = None) -> Picture:
    """Draw drift and noise in one picture, over the density of the data if there are any."""
    moving, _ = moved = _places(generator, plane, ARROWS, data)
    drift = generator.drift(moving)[:, list(plane.pair)]
    arrows, _ = arrow_traces(plane, *moved, drift, 1.0 if data else ROOT)
    spread, _ = placed = _places(generator, plane, FEWER_ELLIPSES, data)
    block = tensor.clip(_block(generator, plane, spread))
    ellipses, time = ellipse_traces(plane, *placed, block)
    sentences = ["Arrows: drift, longer where it is stronger." if drift.any() else "No drift."]
    if block.any():
        sentences.append(f"Ellipses: one standard deviation of the noise after {time:.2g}.")
    others = [name for p, name in enumerate(generator.names) if p not in plane.pair]
    if others:
        sentences.append(f"Shown at the middle of {', '.join(others)}.")
    return Picture(
        name="portrait",
        title="",
        alt=f"Drift and noise of ({', '.join(generator.names)})",
        caption=" ".join(sentences),
        traces=[*([_density(plane, data)] if data else []), *ellipses, *arrows],
        layout=plane_axes(plane),
        aspect=SQUARE,
    )


def _places(
    generator: Generator, plane: Plane, count: int, data: StateCloud | None
) -> tuple[FloatArray, BoolArray]:
    """Middles of cells ``(n, d)`` at which to draw, and whether there are samples in them."""
    states = plane.cells(count).states
    if data is not None:
        return states, plane.counts(data, count) > 0
    states = where_defined(generator, states)
    return states, np.ones(len(states), dtype=bool)


def _block(generator: Generator, plane: Plane, states: FloatArray) -> FloatArray:
    """The tensor of the two coordinates ``(n, 2, 2)``."""
    full = generator.diffusion(states)
    return full[:, list(plane.pair)][:, :, list(plane.pair)]


def _arrow_picture(
    generator: Generator, data: StateCloud, plane: Plane, weak: Collection[str], unit: str
) -> Picture:
    """Draw the drift; what has no samples around it is pale and no longer than what has."""
    states, occupied = _places(generator, plane, ARROWS, data)
    drift = generator.drift(states)[:, list(plane.pair)]
    outlines, time = arrow_traces(plane, states, occupied, drift)
    names = plane.names
    hover = (
        f"{names[0]} = %{{x:.3g}}, {names[1]} = %{{y:.3g}}<br>"
        "drift (%{customdata[0]:.3g}, %{customdata[1]:.3g})<extra></extra>"
    )
    components, _ = field_names(generator.dimension)
    doubtful = [components[p] for p in plane.pair if components[p] in weak]
    title = marked(f"Drift in {plane.described(data.names)}", doubtful)
    fastest = float(np.linalg.norm(drift[occupied], axis=1).max(initial=0.0))
    return Picture(
        name=f"arrows-{plane.pair[0]}-{plane.pair[1]}",
        title=named_fields(title, generator.names),
        alt=(
            f"Arrows of the drift in the plane of {plane.described(data.names)}, over the density "
            f"of the samples. The fastest among them moves {fastest:.3g} in "
            f"{duration(1, unit)}."
        ),
        caption=(
            f"An arrow is the displacement by the drift alone in {duration(time, unit)}. Pale "
            "arrows, where there are no samples, are cut at the longest of the others."
            + (f" {UNIDENTIFIED}" if doubtful else "")
        ),
        traces=[_density(plane, data), *outlines, _points(plane, states, hover, drift)],
        layout=plane_axes(plane),
        aspect=SQUARE,
        columns=[f"drift of {name}" for name in names],
    )


def _ellipse_picture(generator: Generator, data: StateCloud, plane: Plane, unit: str) -> Picture:
    """Draw the tensor."""
    states, occupied = _places(generator, plane, ELLIPSES, data)
    block = _block(generator, plane, states)
    outlines, time = ellipse_traces(plane, states, occupied, block)
    names = plane.names
    hover = (
        f"{names[0]} = %{{x:.3g}}, {names[1]} = %{{y:.3g}}<br>variances %{{customdata[0]:.3g}}, "
        "%{customdata[2]:.3g}<br>covariance %{customdata[1]:.3g}<extra></extra>"
    )
    return Picture(
        name=f"ellipses-{plane.pair[0]}-{plane.pair[1]}",
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
            *outlines,
            _points(plane, states, hover, tensor.entries_of(block)),
        ],
        layout=plane_axes(plane),
        aspect=SQUARE,
        columns=(f"variance of {names[0]}", "covariance", f"variance of {names[1]}"),
    )


def arrow_traces(
    plane: Plane, states: FloatArray, occupied: BoolArray, drift: FloatArray, power: float = 1.0
) -> tuple[list[Spec], float]:
    """Draw ``drift (n, 2)`` at ``states (n, d)``, pale without samples, and say in what time."""
    arrows, time = shown_arrows(drift, plane.sizes, occupied, power)
    places = states[:, list(plane.pair)]
    drawn = [
        outline(arrow_outlines(places[part], arrows[part], plane.sizes), 1.5, shade)
        for part, shade in ((~occupied, Colour.PALE), (occupied, Colour.INK))
    ]
    return drawn, time


def shown_arrows(
    vectors: FloatArray, sizes: FloatArray, occupied: BoolArray, power: float = 1.0
) -> tuple[FloatArray, float]:
    """Arrows ``(n, 2)`` along ``vectors (n, 2)``, and the time in which these lead so far.

    The longest where there are samples has a set length; the others are as long as their share of
    it to a ``power``, none is longer.
    """
    lengths = np.linalg.norm(vectors / sizes, axis=1)
    longest = (LONGEST_ARROW if power == 1.0 else LONGEST_ROOT) / ARROWS
    time = _shown_time(lengths[occupied], longest)
    shares = lengths * time / longest
    arrows = vectors * time / np.maximum(shares, 1.0)[:, None]
    if power != 1.0:
        moving = np.where(shares > 0, np.minimum(shares, 1.0), 1.0)
        arrows *= moving[:, None] ** (power - 1)
    return arrows, time


def ellipse_traces(
    plane: Plane, states: FloatArray, occupied: BoolArray, block: FloatArray
) -> tuple[list[Spec], float]:
    """Draw tensors ``block (n, 2, 2)`` at ``states (n, d)``, and say after what time."""
    deviation = np.sqrt(np.einsum("npp->np", block))
    largest = LARGEST_ELLIPSE / ELLIPSES
    # Lengths grow with the root of time.
    sizes = (deviation / plane.sizes).max(axis=1)
    time = _shown_time(sizes[occupied], largest) ** 2
    shown = block * time / np.maximum(sizes**2 * time / largest**2, 1.0)[:, None, None]
    places = states[:, list(plane.pair)]
    drawn = [
        outline(ellipse_outlines(places[part], shown[part]), 1.6, shade)
        for part, shade in ((~occupied, Colour.PALE), (occupied, Colour.SIMULATED))
    ]
    return drawn, time


def arrow_outlines(places: FloatArray, arrows: FloatArray, sizes: FloatArray) -> FloatArray:
    """Shafts and heads of arrows ``(n, 2)`` as one line ``(m, 2)`` with gaps.

    Heads are drawn as seen on a square of ``sizes (2,)``, whatever the units of the axes are.
    """
    tips = places + arrows
    gap = np.full_like(places, np.nan)
    barbs = []
    for angle in (np.pi - BARB, np.pi + BARB):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        barbs.append(tips + ARROW_HEAD * (arrows / sizes) @ turn.T * sizes)
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


def _density(plane: Plane, data: StateCloud) -> Spec:
    # The root shows thin regions too; a linear scale would leave them blank.
    return heat(
        plane.cells(DENSITY_CELLS),
        np.sqrt(plane.counts(data, DENSITY_CELLS)),
        colorscale=[[0.0, Colour.EMPTY], [1.0, Colour.FULL]],
        showscale=False,
        hoverinfo="skip",
        zmin=0.0,
    )


def _points(plane: Plane, states: FloatArray, hover: str, values: FloatArray) -> Spec:
    x, y = states[:, list(plane.pair)].T
    return dots(x, y, 3, Colour.OBSERVED, values, hovertemplate=hover, showlegend=False)
