"""Specifications of pictures: marks, axes and words as data, which two back ends draw.

Written in a part of the figure format of plotly.js (traces ``scatter``, ``bar`` and ``heatmap``).
``report/template/report.js`` draws them on the page, ``plots`` with Matplotlib, ``svg`` in
notebooks. Colours are names of the page's style, so that light, dark and paper each have their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data import FloatArray
from wgsindy.draw.planes import Mesh, Plane

Spec = dict[str, Any]

DIGITS = 5  # of every number in a picture: more than anyone sees, less than a file needs


class Colour(StrEnum):
    """Names of colours, whose values the style sheet of the page has."""

    INK = "var(--ink)"
    PALE = "var(--pale)"
    EMPTY = "var(--empty)"
    FULL = "var(--full)"
    GRID = "var(--grid)"
    OBSERVED = "var(--observed)"
    SIMULATED = "var(--simulated)"
    REFERENCE = "var(--reference)"
    OBSERVED_SOFT = "var(--observed-soft)"
    SIMULATED_SOFT = "var(--simulated-soft)"
    REFERENCE_SOFT = "var(--reference-soft)"
    THIRD = "var(--third)"
    FOURTH = "var(--fourth)"
    FIFTH = "var(--fifth)"


SOFT = {
    Colour.OBSERVED: Colour.OBSERVED_SOFT,
    Colour.SIMULATED: Colour.SIMULATED_SOFT,
    Colour.REFERENCE: Colour.REFERENCE_SOFT,
}
SERIES = (Colour.OBSERVED, Colour.SIMULATED, Colour.THIRD, Colour.FOURTH, Colour.FIFTH)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")  # colour is never the only difference
SQUARE, FLAT, STRIP = 1.0, 0.72, 0.4  # height over width
UNIDENTIFIED = (
    "The data do not determine it: what is drawn is an average over sets of terms, and may be "
    "due to chance."
)


def palette(colours: str) -> list[list[float | str]]:
    """Colours at even places from 0 to 1; what draws them fills in between.

    >>> palette("#000000 #888888 #ffffff")
    [[0.0, '#000000'], [0.5, '#888888'], [1.0, '#ffffff']]
    """
    parts = colours.split()
    return [[k / (len(parts) - 1), colour] for k, colour in enumerate(parts)]


# Matplotlib's, which the page has without loading it.
VIRIDIS = palette(
    "#440154 #48186a #472d7b #424086 #3b528b #33638d #2c728e #26828e #21918c "
    "#1fa088 #28ae80 #3fbc73 #5ec962 #84d44b #addc30 #d8e219 #fde725"
)
CIVIDIS = palette(
    "#00224e #002e6a #1a386f #32436d #434e6c #535a6d #61656f #6f7073 #7d7c78 "
    "#8c8878 #9b9476 #aba072 #bcae6c #cdbb63 #dec958 #f0d846 #fee838"
)


@dataclass(frozen=True)
class Picture:
    """A drawing: ``name`` in the page, ``title`` above, ``alt`` for readers who hear the page."""

    name: str
    title: str
    alt: str
    traces: Sequence[Spec]
    layout: Spec
    aspect: float = FLAT
    caption: str = ""
    wide: bool = False
    columns: Sequence[str] = ()  # what the values beside x and y are, in a table of the data

    def axis_titles(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Titles of both axes; ``labels`` says how names of coordinates are written there."""
        titles = {side: self.layout[side]["title"]["text"] for side in ("xaxis", "yaxis")}
        return {side: labels.get(title, title) for side, title in titles.items()}

    def spec(self, labels: Mapping[str, str]) -> Spec:
        """What the page's script draws, and writes as a table."""
        layout = dict(self.layout)
        for side, title in self.axis_titles(labels).items():
            layout[side] = layout[side] | {"title": {"text": title}}
        return {
            "data": [plain(trace) for trace in self.traces],
            "layout": plain(layout),
            "aspect": self.aspect,
            "columns": list(self.columns),
        }


def capitalised(text: str, names: Collection[str] = ()) -> str:
    """Begin a sentence with a capital, unless it begins with the name of a coordinate.

    >>> capitalised("the drift of x is not identified.", ("x", "v"))
    'The drift of x is not identified.'
    >>> capitalised("v has no noise of its own.", ("x", "v"))
    'v has no noise of its own.'
    """
    return text if text.split(" ", 1)[0] in names else text[:1].upper() + text[1:]


def marked(title: str, weak: Collection[str]) -> str:
    """Say in a title which of the drift components drawn are not identified.

    >>> marked("Drift in x and y", ["b[y]"])
    'Drift in x and y (b[y] not identified)'
    """
    return f"{title} ({', '.join(weak)} not identified)" if weak else title


def plain(value: Any) -> Any:
    """Write nested data as JSON has them: arrays as lists of short numbers, gaps as nothing.

    >>> plain({"x": np.array([[1.23456789, np.nan]]), "zmin": 1.23456789})
    {'x': [[1.2346, None]], 'zmin': 1.23456789}
    """
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        if value.ndim > 1:
            return [plain(row) for row in value]
        return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in value.tolist()]
    return value


def axes(x: str, y: str, **changes: Spec) -> Spec:
    """Layout with the titles of both axes; ``xaxis`` and ``yaxis`` add to them."""
    layout: Spec = {"xaxis": {"title": {"text": x}}, "yaxis": {"title": {"text": y}}}
    for name, change in changes.items():
        layout[name] = layout.get(name, {}) | change
    return layout


def plane_axes(plane: Plane) -> Spec:
    """Layout of a picture that fills a plane."""
    ranges = [{"range": np.array([plane.low[i], plane.high[i]])} for i in range(2)]
    return axes(*plane.names, xaxis=ranges[0], yaxis=ranges[1])


def curve(x: ArrayLike, y: ArrayLike, name: str, number: int = 0, **changes: Any) -> Spec:
    """A line in the colour and dash of the ``number``-th series."""
    place = number % len(SERIES)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.asarray(x, dtype=np.float64),
        "y": np.asarray(y, dtype=np.float64),
        "name": name,
        "line": {"color": SERIES[place], "dash": DASHES[place], "width": 2},
        "hovertemplate": "%{x:.4g}: %{y:.4g}",
    } | changes


def reference(x: ArrayLike, y: ArrayLike, name: str) -> Spec:
    """A thin line of what is expected."""
    return curve(x, y, name, line={"color": Colour.REFERENCE, "dash": "dash", "width": 1.5})


def band(x: FloatArray, low: FloatArray, high: FloatArray, name: str, colour: Colour) -> Spec:
    """A shaded strip between two curves."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([x, x[::-1]]),
        "y": np.concatenate([high, low[::-1]]),
        "fill": "toself",
        "fillcolor": SOFT.get(colour, Colour.REFERENCE_SOFT),
        "line": {"width": 0, "color": colour},
        "name": name,
        "hoverinfo": "skip",
    }


def outline(places: FloatArray, width: float, colour: str) -> Spec:
    """A line through places ``(n, 2)``, with gaps at those that are NaN."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": places[:, 0],
        "y": places[:, 1],
        "line": {"color": colour, "width": width},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def dots(
    x: FloatArray,
    y: FloatArray,
    size: float,
    colour: Colour,
    values: FloatArray | None = None,
    **more: Any,
) -> Spec:
    """Places, each by itself; ``values (n, ...)`` are told of each."""
    places: Spec = {
        "type": "scatter",
        "mode": "markers",
        "x": x,
        "y": y,
    }
    if values is not None:
        places["customdata"] = values
    return places | {"marker": {"size": size, "color": colour}} | more


def heat(mesh: Mesh, values: FloatArray, **changes: Any) -> Spec:
    """An image of values ``(n,)`` on a mesh."""
    return {
        "type": "heatmap",
        "x": mesh.x,
        "y": mesh.y,
        "z": mesh.as_image(values),
        "colorscale": VIRIDIS,
    } | changes


def histogram_bars(edges: FloatArray, heights: FloatArray, name: str) -> Spec:
    """Bars between ``edges (n + 1,)``."""
    return {
        "type": "bar",
        "x": (edges[1:] + edges[:-1]) / 2,
        "y": heights,
        "width": np.diff(edges),
        "marker": {"color": Colour.OBSERVED, "opacity": 0.55},
        "name": name,
        "hovertemplate": "%{x:.3g}: %{y:.3g}",
    }


def time_picture(
    coordinate: str,
    times: FloatArray,
    middle: tuple[FloatArray, str],
    bands: Sequence[tuple[FloatArray, FloatArray, str]],
    *,
    below: str = "time",
    measured: FloatArray | None = None,
    **words: str,
) -> Picture:
    """A coordinate over ``times (n,)``: a curve within bands, each with its name, and samples.

    ``measured (n,)`` are the samples, NaN where there are none; ``words`` those of the picture.
    """
    traces = []
    for low, high, share in bands:
        there = np.isfinite(low) & np.isfinite(high)
        traces.append(band(times[there], low[there], high[there], share, Colour.OBSERVED))
    traces.append(curve(times, *middle))
    if measured is not None and not np.isnan(measured).all():
        there = ~np.isnan(measured)
        traces.append(dots(times[there], measured[there], 4, Colour.REFERENCE, name="measured"))
    about = {
        "name": coordinate,
        "title": "",
        "alt": f"{coordinate} over time",
        "caption": "",
    } | words
    layout = axes(below, coordinate)
    return Picture(**about, traces=traces, layout=layout, aspect=STRIP, wide=True)
