"""Pictures of every drift component and tensor entry, with how sure they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.draw.picture import (
    SERIES,
    SOFT,
    SQUARE,
    UNIDENTIFIED,
    Colour,
    Picture,
    Spec,
    axes,
    band,
    capitalised,
    curve,
    heat,
)
from wgsindy.draw.planes import (
    FieldCurves,
    StateCloud,
    View,
    all_field_names,
    colour_ranges,
    data_planes,
    field_pairs,
    field_values,
    half_widths,
    is_constant,
)
from wgsindy.model import Generator, Units, field_names, named_fields

IMAGE_CELLS, CURVE_POINTS = 31, 81
MOST_PLACES = 2000  # of the data at which a field is compared with a constant


def field_titles(units: Units) -> dict[str, str]:
    """What each field is, by its name.

    >>> list(field_titles(Units(("x", "y"), "s", ("um", "um"))).values())[1:3]
    ['drift of y: b[y] (um/s)', 'variance of x: a[x, x] (um^2/s)']
    """
    names = units.names
    drift, _ = field_names(len(names))
    titles = dict(zip(drift, (f"drift of {name}" for name in names), strict=True))
    for field, (p, q) in field_pairs(len(names)).items():
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
    generator: Generator, data: StateCloud, weak: Collection[str] = ()
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


def field_pictures(generator: Generator, data: StateCloud, weak: Collection[str]) -> list[Picture]:
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
        return trace | {"colorscale": [[0.0, Colour.EMPTY], [1.0, Colour.PALE]]}
    grey: Spec = {"line": trace["line"] | {"color": Colour.REFERENCE}}
    return trace | grey | ({"fillcolor": SOFT[Colour.REFERENCE]} if "fill" in trace else {})


def _images(generator: Generator, data: StateCloud) -> dict[str, Picture]:
    plane = data_planes(data)[0]
    mesh, names = plane.cells(IMAGE_CELLS), plane.names
    # Colours are for where there are samples; in empty corners a polynomial can be anything.
    occupied = plane.counts(data, IMAGE_CELLS) > 0
    fields, widths = field_values(generator, mesh.states), half_widths(generator, mesh.states)
    colours = colour_ranges(fields[:, occupied], generator.dimension)
    pictures = {}
    for (field, title), values, (low, high), width in zip(
        field_titles(generator.units).items(), fields, colours, widths, strict=True
    ):
        called = named_fields(field, generator.names)
        hover = f"{names[0]} = %{{x:.3g}}, {names[1]} = %{{y:.3g}}<br>{called} = %{{z:.4g}}"
        sure: Spec = {}
        if np.isfinite(width).all():
            hover += " ± %{customdata:.2g}"
            sure = {"customdata": mesh.as_image(width)}
        shown = heat(
            mesh, values, zmin=low, zmax=high, hovertemplate=hover + "<extra></extra>", **sure
        )
        there = values[occupied]
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


def _curves(generator: Generator, data: StateCloud) -> dict[str, Picture]:
    view, units = View.of(data.states), generator.units
    curves = [FieldCurves.along(generator, view, p, CURVE_POINTS) for p in range(data.dimension)]
    titles = field_titles(units)
    # The least and the largest of all curves and bands of a field, ``(F, 2)``.
    extremes = np.array(
        [
            (
                np.nanmin([(c.values[f], c.low[f]) for c in curves]),
                np.nanmax([(c.values[f], c.high[f]) for c in curves]),
            )
            for f in range(len(titles))
        ]
    )
    labels, below = [f"along {name}" for name in data.names], "standard deviations from the median"
    if data.dimension == 1:
        below = data.names[0]
    else:  # coordinates share an axis, whatever their units
        curves = [
            one._replace(places=(one.places - middle) / (column.std() or 1.0))
            for one, middle, column in zip(curves, view.centre, data.states.T, strict=True)
        ]
    return {
        field: Picture(
            name=f"field-{field}",
            title=capitalised(title),
            alt=(f"Curves of the {title}, amid the data: from {low:.3g} to {high:.3g}."),
            traces=[
                trace
                for p, (one, label) in enumerate(zip(curves, labels, strict=True))
                for trace in curve_traces(
                    one, number, label if len(curves) > 1 else units.title(field), p
                )
            ],
            layout=axes(below, units.title(field), yaxis={"range": _with_margin(*opened)}),
        )
        for number, ((field, title), (low, high), opened) in enumerate(
            zip(titles.items(), extremes, colour_ranges(extremes, data.dimension), strict=True)
        )
    }


def curve_traces(curves: FieldCurves, field: int, label: str, number: int = 0) -> list[Spec]:
    """A field along a coordinate as the ``number``-th series, and its band."""
    drawn = [curve(curves.places, curves.values[field], label, number)]
    if curves.has_bands:
        ends = curves.low[field], curves.high[field]
        strip = band(curves.places, *ends, f"95 % {label}", SERIES[number % len(SERIES)])
        drawn.insert(0, strip | {"showlegend": False})
    return drawn


def line_picture(
    curves: Mapping[str, FieldCurves], field: str, below: str, beside: str = "", title: str = ""
) -> Picture:
    """One field along a coordinate, of each generator by its label, with its band.

    A variance is seen from zero: small changes must look small.
    """
    names = all_field_names(next(iter(curves.values())).dimension)
    number = names.index(field)
    ends = [(one.values[number], one.low[number], one.high[number]) for one in curves.values()]
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    if low >= 0 and field.startswith("a"):
        low = 0.0
    return Picture(
        name=f"line-{field}",
        title=title,
        alt=f"{beside or field} along {below}",
        traces=[
            trace
            for series, (label, one) in enumerate(curves.items())
            for trace in curve_traces(one, number, label, series)
        ],
        layout=axes(below, beside, yaxis={"range": _with_margin(low, high)}),
    )


def _with_margin(low: float, high: float) -> FloatArray:
    """Ends of an axis: a little more than what is drawn."""
    margin = 0.05 * (high - low) or 1.0
    return np.array([low - margin, high + margin])
