"""What draws specifications, and what ``plot`` methods and notebooks of other rooms draw.

Matplotlib is loaded when it draws. Pictures as SVG need no script and no plotting package. Their
lines and letters take the colour of the text around them and the background is left open, so they
suit light and dark pages.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from wgsindy.draw.fields import CURVE_POINTS, line_picture
from wgsindy.draw.flow import portrait
from wgsindy.draw.picture import Colour, Picture, Spec
from wgsindy.draw.planes import FieldCurves, Plane, StateCloud, View, all_field_names
from wgsindy.errors import DataError, OutputError
from wgsindy.files import write_atomically
from wgsindy.model import Generator, named_fields, rounded, typographic, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SETTINGS: Any = {
    "font.size": 8,
    "axes.labelsize": 8.5,
    "figure.labelsize": 8.5,
    "axes.titlesize": 9,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
# The light values of the page's style sheet.
LIGHT_COLOURS = {
    Colour.INK: "#1d2330",
    Colour.PALE: "#9aa3b1",
    Colour.EMPTY: "#ffffff",
    Colour.FULL: "#5b97d6",
    Colour.GRID: "#e6e9ee",
    Colour.OBSERVED: "#1f5fa8",
    Colour.SIMULATED: "#b04a0b",
    Colour.REFERENCE: "#565f6e",
    Colour.OBSERVED_SOFT: "#1f5fa833",
    Colour.SIMULATED_SOFT: "#b04a0b33",
    Colour.REFERENCE_SOFT: "#565f6e26",
    Colour.THIRD: "#1f7a4d",
    Colour.FOURTH: "#7a3fa0",
    Colour.FIFTH: "#8a6a00",
}
STYLES = {"dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3))}
POINTS_A_PIXEL = 0.75  # sizes in specifications are those of the page
ACCENT = "#d9762b"  # an orange that stands out of white and of black
LETTERS = "font-family='system-ui, sans-serif' font-size='11' fill='currentColor'"
LEFT_MARGIN, TOP_MARGIN, RIGHT_MARGIN, BOTTOM_MARGIN = 46.0, 22.0, 14.0, 34.0  # pixels
MOST_TICKS = 5  # of an axis
THINNER = 0.7  # lines than on the page, whose pictures are larger


def page_style() -> AbstractContextManager[None]:
    """Apply the settings to figures made and drawn inside the context."""
    import matplotlib

    return matplotlib.rc_context(SETTINGS)


def new_axes(ax: Axes | None) -> Axes:
    """Return the axes to draw on: those given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def save_picture(figure: Figure, path: Path, dpi: int) -> None:
    """Save a figure whose layout is worked out once; Matplotlib alone would do it twice."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")
    drawn, kinds = io.BytesIO(), figure.canvas.get_supported_filetypes()
    if path.suffix[1:] not in kinds:
        raise OutputError(f"{path} is of no kind that can be drawn: {', '.join(kinds)}.")
    figure.savefig(drawn, dpi=dpi, format=path.suffix[1:])
    write_atomically(path, drawn.getvalue())


def draw_picture(picture: Picture, ax: Axes | None, labels: Mapping[str, str] = {}) -> Axes:
    """Draw a specification; ``labels`` says how names of coordinates are written at axes."""
    axes = new_axes(ax)
    named = [t for t in picture.traces if t["type"] != "heatmap" and t.get("showlegend", True)]
    for number, trace in enumerate(picture.traces):
        # Matplotlib would draw all lines over all areas; here what comes later lies above.
        marks = {"zorder": 1 + number / 100}
        if len(named) > 1 and any(trace is one for one in named):
            marks["label"] = trace["name"]
        MARKS[trace["type"]](axes, trace, marks)
    titles, layout = picture.axis_titles(labels), picture.layout
    axes.set(xlabel=titles["xaxis"], ylabel=titles["yaxis"])
    if picture.title:
        axes.set_title(picture.title)
    if "range" in layout["xaxis"]:
        axes.set_xlim(*layout["xaxis"]["range"])
    if "range" in layout["yaxis"]:
        axes.set_ylim(*layout["yaxis"]["range"])
    if len(named) > 1:
        axes.legend()
    return axes


def _colour(name: str) -> str:
    return LIGHT_COLOURS[Colour(name)] if name.startswith("var(") else name


def _scatter(axes: Axes, trace: Spec, marks: dict[str, Any]) -> None:
    x, y = trace["x"], trace["y"]
    if trace.get("fill"):
        axes.fill(x, y, color=_colour(trace["fillcolor"]), linewidth=0, **marks)
        return
    line, dot = trace.get("line", {}), trace.get("marker", {})
    colour = _colour(dot.get("color") or line["color"])
    look: dict[str, Any] = {"linestyle": "none", "color": colour}
    if "lines" in trace["mode"]:
        look["linestyle"] = STYLES.get(line.get("dash"), "-")
        look["linewidth"] = POINTS_A_PIXEL * line.get("width", 2)
    if "markers" in trace["mode"]:
        look |= {"marker": ".", "markersize": 1.5 * POINTS_A_PIXEL * dot.get("size", 6)}
    axes.plot(x, y, **look, **marks)


def _bar(axes: Axes, trace: Spec, marks: dict[str, Any]) -> None:
    look = trace["marker"]
    colour, opacity = _colour(look["color"]), look.get("opacity", 1.0)
    axes.bar(trace["x"], trace["y"], trace["width"], color=colour, alpha=opacity, **marks)


def _heatmap(axes: Axes, trace: Spec, marks: dict[str, Any]) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    scale = [(place, _colour(colour)) for place, colour in trace["colorscale"]]
    image = axes.pcolormesh(
        trace["x"],
        trace["y"],
        np.ma.masked_invalid(trace["z"]),
        cmap=LinearSegmentedColormap.from_list("page", scale),
        vmin=trace.get("zmin"),
        vmax=trace.get("zmax"),
        rasterized=True,
        **marks,
    )
    figure = axes.get_figure()
    if trace.get("showscale", True) and figure is not None:
        bar = figure.colorbar(image, ax=axes, pad=0.01)
        if "colorbar" in trace:
            bar.set_ticks(trace["colorbar"]["tickvals"], labels=trace["colorbar"]["ticktext"])


MARKS = {"scatter": _scatter, "bar": _bar, "heatmap": _heatmap}


@dataclass(frozen=True)
class Pixels:
    """Where the places of a picture are, in a drawing of so many pixels."""

    low: tuple[float, float]  # corners of the picture, in its own coordinates
    high: tuple[float, float]
    width: float
    height: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Map a place; the second axis of a drawing points down."""
        across = (x - self.low[0]) / (self.high[0] - self.low[0])
        up = (y - self.low[1]) / (self.high[1] - self.low[1])
        bottom = self.height - BOTTOM_MARGIN
        return LEFT_MARGIN + across * (self.width - LEFT_MARGIN - RIGHT_MARGIN), bottom - up * (
            bottom - TOP_MARGIN
        )


def as_svg(picture: Picture, width: float) -> Markup:
    """Draw lines and areas of a specification; screen readers say its ``alt`` and ``caption``."""
    height = TOP_MARGIN + BOTTOM_MARGIN + picture.aspect * (width - LEFT_MARGIN - RIGHT_MARGIN)
    (left, right), (bottom, top) = _ends(picture, "x"), _ends(picture, "y")
    pixels = Pixels((left, bottom), (right, top), width, height)
    head = Markup(
        "<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{0}' height='{1}' "
        "viewBox='0 0 {0} {1}' style='max-width:100%'><title>{2}</title><desc>{3}</desc>"
    ).format(f"{width:g}", f"{height:g}", picture.alt, picture.caption)
    marks = [_mark(trace, pixels) for trace in picture.traces if len(trace["x"])]
    return head + _frame(picture, pixels) + Markup("").join(marks) + Markup("</svg>")


def _ends(picture: Picture, axis: str) -> tuple[float, float]:
    """Ends of an axis: those it states, else those of what is drawn."""
    values = picture.layout[f"{axis}axis"].get("range")
    if values is None:
        values = np.concatenate([trace[axis] for trace in picture.traces])
    return float(np.nanmin(values)), float(np.nanmax(values))


def _mark(trace: Spec, pixels: Pixels) -> Markup:
    line, pen, steps = trace["line"], "M", []
    for x, y in zip(trace["x"], trace["y"], strict=True):
        if np.isnan(x + y):
            pen = "M"
            continue
        steps.append("{}{:.1f} {:.1f}".format(pen, *pixels.at(x, y)))
        pen = "L"
    ink = "currentColor" if line["color"] in (Colour.INK, Colour.PALE) else ACCENT
    if trace.get("fill"):
        return _path("".join(steps) + "z", f"fill='{ink}' fill-opacity='0.22'")
    look = f"stroke='{ink}' stroke-width='{line['width'] * THINNER:g}' fill='none'"
    return _path("".join(steps), look)


def _frame(picture: Picture, pixels: Pixels) -> Markup:
    """Draw the border, ticks with numbers, and the names of both axes."""
    (left, bottom), (right, top) = pixels.at(*pixels.low), pixels.at(*pixels.high)
    lines = [f"M{left:g} {top:g}H{right:g}V{bottom:g}H{left:g}z"]
    labels = []
    for value in round_values(pixels.low[0], pixels.high[0]):
        x, _ = pixels.at(value, pixels.low[1])
        lines.append(f"M{x:.1f} {bottom:g}v4")
        labels.append(_text(typographic(rounded(value, 4)), x, bottom + 15, "middle"))
    for value in round_values(pixels.low[1], pixels.high[1]):
        _, y = pixels.at(pixels.low[0], value)
        lines.append(f"M{left:g} {y:.1f}h-4")
        labels.append(_text(typographic(rounded(value, 4)), left - 6, y + 4, "end"))
    titles = picture.axis_titles({})
    labels.append(_text(titles["xaxis"], (left + right) / 2, bottom + 29, "middle"))
    labels.append(_text(titles["yaxis"], left, top - 7, "start"))
    border = _path("".join(lines), "stroke='currentColor' stroke-opacity='0.45' fill='none'")
    return border + Markup(f"<g {LETTERS}>{{}}</g>").format(Markup("").join(labels))


def round_values(low: float, high: float) -> list[float]:
    """Return a few round numbers between two.

    >>> round_values(-2.9, 2.6), round_values(0.0, 0.013)
    ([-2.0, 0.0, 2.0], [0.0, 0.005, 0.01])
    """
    raw = (high - low) / MOST_TICKS
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw)
    first, last = int(np.ceil(low / step)), int(np.floor(high / step))
    return [float(rounded(k * step, 12)) for k in range(first, last + 1)]


def _path(line: str, look: str) -> Markup:
    return Markup("<path d='{}' {}/>").format(line, Markup(look))


def _text(content: str, x: float, y: float, anchor: str) -> Markup:
    place = Markup(f"x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'")
    return Markup("<text {}>{}</text>").format(place, content)


MOST_DOTS = 20_000  # of the data behind a picture of a field


def plot(
    generator: Generator,
    data: Any = None,
    *,
    coordinates: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw where the process goes; see :meth:`wgsindy.Generator.plot`."""
    cloud = _cloud(generator, data)
    if generator.dimension == 1:
        return plot_field(generator, "b1", data, ax=ax)
    plane = Plane.of(_view(generator, cloud), _pair(generator, coordinates), generator.names)
    return draw_picture(portrait(generator, plane, cloud), ax, axis_labels(generator))


def plot_field(
    generator: Generator,
    field: str,
    data: Any = None,
    *,
    along: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one field along one coordinate; see :meth:`wgsindy.Generator.plot_field`."""
    names = all_field_names(generator.dimension)
    if field not in names:
        raise DataError(f"there is no field {field!r}; there are {', '.join(names)}.")
    p, beside = coordinate_number(generator, along), generator.units.title(field)
    view = _view(generator, _cloud(generator, data))
    curves = {beside: FieldCurves.along(generator, view, p, CURVE_POINTS)}
    picture = line_picture(curves, field, generator.names[p], beside)
    return draw_picture(picture, ax, axis_labels(generator))


def plot_coefficients(generator: Generator, *, ax: Axes | None = None) -> Axes:
    """Draw every coefficient with its interval; see :meth:`wgsindy.Generator.plot_coefficients`."""
    axes, found = new_axes(ax), generator.coefficients
    places = np.arange(len(found))[::-1]
    values = np.array([one.value for one in found])
    errors = np.array([[one.value - one.low, one.high - one.value] for one in found]).reshape(-1, 2)
    axes.axvline(0.0, color="0.7", linewidth=1)
    axes.errorbar(values, places, xerr=np.nan_to_num(errors).T, fmt="o", markersize=4, capsize=3)
    ticks = [f"{named_fields(one.target, generator.names)}: {one.term}" for one in found]
    units = [generator.units.coefficient(one.target, one.term) for one in found]
    axes.set_yticks(places, [*map(with_unit, ticks, units)])
    axes.set_xlabel("coefficient, with its 95 % interval")
    return axes


def axis_labels(generator: Generator) -> dict[str, str]:
    """How the names of the coordinates are written at axes: with their units."""
    return dict(zip(generator.names, generator.units.labels(), strict=True))


def coordinate_number(generator: Generator, name: str | None) -> int:
    """Number of the coordinate of a name, by default the first."""
    if name is not None and name not in generator.names:
        raise DataError(f"there is no coordinate {name!r}; there are {list(generator.names)}.")
    return 0 if name is None else generator.names.index(name)


def _cloud(generator: Generator, data: Any) -> StateCloud | None:
    """Take the states of trajectories, of a reading or of an array; None of None."""
    if data is None:
        return None
    given = getattr(data, "data", data) if not isinstance(data, np.ndarray) else data
    array = np.asarray(getattr(given, "states", given), dtype=np.float64)
    array = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else array[:, None]
    if array.shape[1] != generator.dimension:
        raise DataError(
            f"the data have {array.shape[1]} coordinates, the generator {generator.dimension}."
        )
    return StateCloud(generator.names, array[:: max(1, len(array) // MOST_DOTS)])


def _view(generator: Generator, cloud: StateCloud | None) -> View:
    return View.around(generator) if cloud is None else View.of(cloud.states)


def _pair(generator: Generator, coordinates: Sequence[str] | None) -> tuple[int, int]:
    """Return the numbers of two coordinates, by default the first two."""
    if coordinates is None:
        return 0, 1
    if len(coordinates) != 2 or coordinates[0] == coordinates[1]:
        raise DataError(f"a plane has two coordinates, got {list(coordinates)}.")
    first, second = (coordinate_number(generator, name) for name in coordinates)
    return first, second


def small_pictures(generator: Generator) -> list[Picture]:
    """Draw drift and noise where the data were; nothing for a generator that does not know."""
    shown = generator.relative()
    if shown.region is None:
        return []
    view, names = View.around(shown), tuple(map(typographic, generator.basis.coordinates))
    try:
        if generator.dimension > 1:
            return [portrait(shown, Plane.of(view, (0, 1), names))]
        curves = FieldCurves.along(shown, view, 0, CURVE_POINTS)
        titles = [(field, shown.units.title(field)) for field in all_field_names(1)]
        return [line_picture({title: curves}, field, names[0], title) for field, title in titles]
    except DataError:  # no term is defined in the middle of the data
        return []


def small_drawing(generator: Generator) -> Markup:
    """The pictures of a generator as a figure of a notebook, with what they show below."""
    pictures = small_pictures(generator)
    if not pictures:
        return Markup("")
    width = 330 if len(pictures) == 1 else 205
    drawn = Markup("").join(as_svg(picture, width) for picture in pictures)
    bands = ", with 95 % bands" if generator.uncertainty is not None else ""
    caption = pictures[0].caption or f"Drift and variance of the noise{bands}."
    return Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(drawn, caption)
