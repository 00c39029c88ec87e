"""Pictures of every drift component and tensor entry, with how sure they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.model import tensor
from wgsindy.model.generator import Generator
from wgsindy.model.linear_form import field_names
from wgsindy.report.digest import States
from wgsindy.report.figures.fields import colour_range, field_scales, field_values
from wgsindy.report.pictures.picture import (
    OBSERVED,
    REFERENCE,
    SERIES,
    SOFT,
    SQUARE,
    UNIDENTIFIED,
    Picture,
    Spec,
    axes,
    band,
    curve,
    heat,
    numbers,
)
from wgsindy.report.pictures.planes import planes
from wgsindy.zoo.scores import GRID_RANGE

CELLS, POINTS = 31, 81
PALE_COLOURS = [[0.0, "var(--empty)"], [1.0, "var(--pale)"]]


def field_titles(names: Sequence[str]) -> dict[str, str]:
    """What each field is, by its name.

    >>> list(field_titles(("x", "y")).values())[:4]
    ['b1, drift of x', 'b2, drift of y', 'a11, variance of x', 'a12, covariance of x and y']
    """
    drift, entries = field_names(len(names))
    titles = {field: f"{field}, drift of {name}" for field, name in zip(drift, names, strict=True)}
    for field, (p, q) in zip(entries, tensor.pairs(len(names)), strict=True):
        shared = f"covariance of {names[q]} and {names[p]}"
        titles[field] = f"{field}, {f'variance of {names[p]}' if p == q else shared}"
    return titles


def field_pictures(generator: Generator, data: States, weak: Collection[str]) -> list[Picture]:
    """Images for two coordinates, curves through the middle of the data for any other number.

    ``weak`` drift components are marked, and have no colours.
    """
    drawn = _images if data.dimension == 2 else _curves
    return [
        _as_unidentified(picture) if field in weak else picture
        for field, picture in drawn(generator, data).items()
    ]


def _as_unidentified(picture: Picture) -> Picture:
    return replace(
        picture,
        title=f"{picture.title} (not identified)",
        alt=f"Not identified. {picture.alt}",
        caption=UNIDENTIFIED,
        traces=[_without_colour(trace) for trace in picture.traces],
    )


def _without_colour(trace: Spec) -> Spec:
    if trace["type"] == "heatmap":
        return trace | {"colorscale": PALE_COLOURS}
    grey: Spec = {"line": trace["line"] | {"color": REFERENCE}}
    return trace | grey | ({"fillcolor": SOFT[REFERENCE]} if "fill" in trace else {})


def half_widths(generator: Generator, states: FloatArray) -> FloatArray:
    """Half of the 95 % bands of all fields, ``(F, n)``; NaN if there are none."""
    if generator.uncertainty is None:
        fields = generator.dimension + len(tensor.pairs(generator.dimension))
        return np.full((fields, len(states)), np.nan)
    bands = generator.bands(states)
    drift = bands.drift_high - bands.drift_low
    entries = tensor.entries_of(bands.diffusion_high - bands.diffusion_low)
    return np.hstack([drift, entries]).T / 2


def _images(generator: Generator, data: States) -> dict[str, Picture]:
    plane = planes(data)[0]
    x, y, states = plane.cells(CELLS)
    values, widths = field_values(generator, states), half_widths(generator, states)
    # Colours are for where there are samples; in empty corners a polynomial can be anything.
    there = values[:, plane.counts(data, CELLS) > 0]
    scales = field_scales(there, 2)
    names = plane.window.names
    titles = field_titles(names)
    pictures = {}
    for (field, title), value, seen, scale, width in zip(
        titles.items(), values, there, scales, widths, strict=True
    ):
        low, high = colour_range(seen, seen, scale)
        hover = f"{names[0]} = %{{x:.3g}}, {names[1]} = %{{y:.3g}}<br>{field} = %{{z:.4g}}"
        sure: Spec = {}
        if np.isfinite(width).all():
            hover += " ± %{customdata:.2g}"
            sure = {"customdata": numbers(width.reshape(len(y), len(x)))}
        shown = heat(
            x, y, value, zmin=low, zmax=high, hovertemplate=hover + "<extra></extra>", **sure
        )
        pictures[field] = Picture(
            name=f"field-{field}",
            title=title,
            alt=(
                f"Image of {title}, over the plane of {names[0]} and {names[1]}: from "
                f"{seen.min():.3g} to {seen.max():.3g} where there are samples."
            ),
            traces=[shown],
            layout=axes(*names),
            aspect=SQUARE,
        )
    return pictures


def _curves(generator: Generator, data: States) -> dict[str, Picture]:
    titles = field_titles(data.names)
    traces: dict[str, list[Spec]] = {field: [] for field in titles}
    extremes: dict[str, list[float]] = {field: [] for field in titles}
    centre = np.median(data.states, axis=0)
    spread = data.states.std(axis=0)
    low, high = np.percentile(data.states, GRID_RANGE, axis=0)
    for p, name in enumerate(data.names):
        states = np.tile(centre, (POINTS, 1))
        states[:, p] = np.linspace(low[p], high[p], POINTS)
        place = states[:, p]
        if data.dimension > 1:  # coordinates share an axis, whatever their units
            place = (place - centre[p]) / (spread[p] or 1.0)
        values, widths = field_values(generator, states), half_widths(generator, states)
        for field, value, width in zip(titles, values, widths, strict=True):
            label = f"along {name}" if data.dimension > 1 else field
            if np.isfinite(width).all():
                colour = OBSERVED if p == 0 else SERIES[p % len(SERIES)]
                strip = band(place, value - width, value + width, f"95 % {label}", colour)
                traces[field].append(strip | {"showlegend": False})
            traces[field].append(curve(place, value, label, p))
            reach = np.nan_to_num(width)
            extremes[field] += [float((value - reach).min()), float((value + reach).max())]
    ranges = _opened(np.array(list(extremes.values())), data.dimension)
    below = data.names[0] if data.dimension == 1 else "standard deviations from the median"
    return {
        field: Picture(
            name=f"field-{field}",
            title=title,
            alt=(
                f"Curves of {title}, through the middle of the data: from "
                f"{min(extremes[field]):.3g} to {max(extremes[field]):.3g}."
            ),
            traces=traces[field],
            layout=axes(below, field, yaxis={"range": numbers(shown)}),
        )
        for (field, title), shown in zip(titles.items(), ranges, strict=True)
    }


def _opened(extremes: FloatArray, dimension: int) -> list[tuple[float, float]]:
    """Ranges of axes: a little more than the curves ``(F, n)``, and not small where flat."""
    ranges = []
    for own, scale in zip(extremes, field_scales(extremes, dimension), strict=True):
        low, high = colour_range(own, own, scale)
        margin = 0.05 * (high - low)
        ranges.append((low - margin, high + margin))
    return ranges
