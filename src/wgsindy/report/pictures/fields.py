"""Pictures of every drift component and tensor entry, with how sure they are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from wgsindy.model import Generator, Units, field_names, named_fields, tensor
from wgsindy.report.digest import States
from wgsindy.report.field_data import (
    FieldCurves,
    colour_ranges,
    field_curves,
    field_images,
    field_values,
    half_widths,
    is_constant,
    planes,
)
from wgsindy.report.page_text import capitalised
from wgsindy.report.pictures.picture import (
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

CELLS, POINTS = 31, 81
MOST_PLACES = 2000  # of the data at which a field is compared with a constant
PALE_COLOURS = [[0.0, "var(--empty)"], [1.0, "var(--pale)"]]


def field_titles(units: Units) -> dict[str, str]:
    """What each field is, by its name.

    >>> list(field_titles(Units(("x", "y"), "s", ("um", "um"))).values())[1:3]
    ['drift of y: b[y] (um/s)', 'variance of x: a[x, x] (um^2/s)']
    """
    names = units.names
    drift, entries = field_names(len(names))
    titles = dict(zip(drift, (f"drift of {name}" for name in names), strict=True))
    for field, (p, q) in zip(entries, tensor.pairs(len(names)), strict=True):
        shared = f"covariance of {names[q]} and {names[p]}"
        titles[field] = f"variance of {names[p]}" if p == q else shared
    return {field: f"{title}: {units.title(field)}" for field, title in titles.items()}


class Constant(NamedTuple):
    """A field that has one value wherever there are data."""

    field: str
    title: str
    value: float
    half_width: float  # of its 95 % interval; NaN if the fit gives none
    identified: bool


def constant_fields(
    generator: Generator, data: States, weak: Collection[str] = ()
) -> list[Constant]:
    """Those of the fields that are one number: nothing is drawn of them.

    ``weak`` drift components are not identified.
    """
    places = np.unique(data.states[:: max(1, len(data.states) // MOST_PLACES)], axis=0)
    values, widths = field_values(generator, places), half_widths(generator, places)
    return [
        Constant(field, capitalised(title), float(value[0]), float(width.max()), field not in weak)
        for (field, title), value, width, same in zip(
            field_titles(generator.units).items(), values, widths, is_constant(values), strict=True
        )
        if same
    ]


def field_pictures(generator: Generator, data: States, weak: Collection[str]) -> list[Picture]:
    """Images for two coordinates, curves through the middle of the data for any other number.

    None of a field that is constant, see :func:`constant_fields`.
    ``weak`` drift components are marked, and have no colours.
    """
    drawn = _images if data.dimension == 2 else _curves
    constant = {found.field for found in constant_fields(generator, data)}
    return [
        _as_unidentified(picture) if field in weak else picture
        for field, picture in drawn(generator, data).items()
        if field not in constant
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


def _images(generator: Generator, data: States) -> dict[str, Picture]:
    plane = planes(data)[0]
    mesh, names = plane.cells(CELLS), plane.view.names
    # Colours are for where there are samples; in empty corners a polynomial can be anything.
    seen = plane.counts(data, CELLS) > 0
    images, widths = field_images(generator, mesh, seen), half_widths(generator, mesh.states)
    pictures = {}
    for (field, title), values, (low, high), width in zip(
        field_titles(generator.units).items(), images.values, images.colours, widths, strict=True
    ):
        called = named_fields(field, generator.names)
        hover = f"{names[0]} = %{{x:.3g}}, {names[1]} = %{{y:.3g}}<br>{called} = %{{z:.4g}}"
        sure: Spec = {}
        if np.isfinite(width).all():
            hover += " ± %{customdata:.2g}"
            sure = {"customdata": numbers(mesh.as_image(width))}
        shown = heat(
            mesh, values, zmin=low, zmax=high, hovertemplate=hover + "<extra></extra>", **sure
        )
        there = values[seen]
        pictures[field] = Picture(
            name=f"field-{field}",
            title=capitalised(title),
            alt=(
                f"Image of the {title}, over the plane of {names[0]} and {names[1]}: from "
                f"{there.min():.3g} to {there.max():.3g} where there are samples."
            ),
            traces=[shown],
            layout=axes(*names),
            aspect=SQUARE,
            columns=(called, *(["half width of the 95 % band"] if sure else [])),
        )
    return pictures


def _curves(generator: Generator, data: States) -> dict[str, Picture]:
    found, units = field_curves(generator, data, POINTS), generator.units
    titles = field_titles(units)
    # The least and the largest of all curves and bands of a field, ``(F, 2)``.
    extremes = np.array(
        [
            (
                np.nanmin([(c.values[f], c.low[f]) for c in found]),
                np.nanmax([(c.values[f], c.high[f]) for c in found]),
            )
            for f in range(len(titles))
        ]
    )
    below = data.names[0] if data.dimension == 1 else "standard deviations from the median"
    return {
        field: Picture(
            name=f"field-{field}",
            title=capitalised(title),
            alt=(f"Curves of the {title}, amid the data: from {low:.3g} to {high:.3g}."),
            traces=[
                trace
                for p, curves in enumerate(found)
                for trace in _curve_traces(curves, number, p, data, units.title(field))
            ],
            layout=axes(below, units.title(field), yaxis={"range": numbers(_with_margin(*opened))}),
        )
        for number, ((field, title), (low, high), opened) in enumerate(
            zip(titles.items(), extremes, colour_ranges(extremes, data.dimension), strict=True)
        )
    }


def _curve_traces(curves: FieldCurves, number: int, p: int, data: States, field: str) -> list[Spec]:
    """Field ``number`` along coordinate ``p``, below it its band."""
    places, label = curves.places, field
    if data.dimension > 1:  # coordinates share an axis, whatever their units
        column = data.states[:, p]
        places = (places - np.median(column)) / (column.std() or 1.0)
        label = f"along {data.names[p]}"
    traces = []
    if curves.has_bands:
        low, high = curves.low[number], curves.high[number]
        strip = band(places, low, high, f"95 % {label}", SERIES[p % len(SERIES)])
        traces.append(strip | {"showlegend": False})
    return [*traces, curve(places, curves.values[number], label, p)]


def _with_margin(low: float, high: float) -> tuple[float, float]:
    """Ends of an axis: a little more than what is drawn."""
    margin = 0.05 * (high - low)
    return low - margin, high + margin
