"""Pictures of every drift component and tensor entry, of how sure they are and where data are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from wgsindy.data import BoolArray, FloatArray
from wgsindy.draw.picture import (
    CIVIDIS,
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
    histogram_bars,
    outline,
    plane_axes,
)
from wgsindy.draw.planes import (
    FieldCurves,
    Mesh,
    Plane,
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
from wgsindy.model import Generator, Units, field_names, named_fields, percent

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
