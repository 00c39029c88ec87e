"""Pictures as data for the page: what is drawn, and the words for those who do not see it.

Written in a part of the figure format of plotly.js (traces ``scatter``, ``bar`` and ``heatmap``),
which ``template/report.js`` draws. Colours are names of the page's style, ``var(--observed)``, so
that light, dark and paper each have their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data import FloatArray
from wgsindy.report.field_data import Mesh, Viewport

Spec = dict[str, Any]

DIGITS = 5  # of every number in a picture: more than anyone sees, less than a file needs
OBSERVED, SIMULATED, REFERENCE = "var(--observed)", "var(--simulated)", "var(--reference)"
SOFT = {
    OBSERVED: "var(--observed-soft)",
    SIMULATED: "var(--simulated-soft)",
    REFERENCE: "var(--reference-soft)",
}
SERIES = (OBSERVED, SIMULATED, "var(--third)", "var(--fourth)", "var(--fifth)")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")  # colour is never the only difference
DENSITY_COLOURS = [[0.0, "var(--empty)"], [1.0, "var(--full)"]]
STOPS = 17  # of a palette; the page fills in between
SQUARE, FLAT = 1.0, 0.72  # height over width
UNIDENTIFIED = (
    "The data do not determine it: what is drawn is an average over sets of terms, and may be "
    "due to chance."
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
    wide: bool = field(default=False)
    columns: Sequence[str] = ()  # what the values beside x and y are, in a table of the data

    def spec(self, labels: Mapping[str, str]) -> Spec:
        """What the page's script draws, and writes as a table; titles of axes by ``labels``."""
        layout = dict(self.layout)
        for side in ("xaxis", "yaxis"):
            title = layout[side]["title"]["text"]
            layout[side] = layout[side] | {"title": {"text": labels.get(title, title)}}
        return {
            "data": list(self.traces),
            "layout": layout,
            "aspect": self.aspect,
            "columns": list(self.columns),
        }


def marked(title: str, weak: Collection[str]) -> str:
    """Say in a title which of the drift components drawn are not identified.

    >>> marked("Drift in x and y", ["b[y]"])
    'Drift in x and y (b[y] not identified)'
    """
    return f"{title} ({', '.join(weak)} not identified)" if weak else title


def numbers(values: ArrayLike) -> list[Any]:
    """Shorten numbers; what is not finite becomes a gap.

    >>> numbers([[1.23456789, float("nan")]])
    [[1.2346, None]]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim > 1:
        return [numbers(row) for row in array]
    return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in array.tolist()]


def axes(x: str, y: str, **changes: Spec) -> Spec:
    """Layout with the titles of both axes; ``xaxis`` and ``yaxis`` add to them."""
    layout: Spec = {"xaxis": {"title": {"text": x}}, "yaxis": {"title": {"text": y}}}
    for name, change in changes.items():
        layout[name] = layout.get(name, {}) | change
    return layout


def plane_axes(view: Viewport) -> Spec:
    """Layout of a picture that fills a viewport."""
    ranges = [{"range": numbers([view.low[i], view.high[i]])} for i in range(2)]
    return axes(*view.names, xaxis=ranges[0], yaxis=ranges[1])


def curve(x: ArrayLike, y: ArrayLike, name: str, number: int = 0, **changes: Any) -> Spec:
    """A line in the colour and dash of the ``number``-th series."""
    place = number % len(SERIES)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(x),
        "y": numbers(y),
        "name": name,
        "line": {"color": SERIES[place], "dash": DASHES[place], "width": 2},
        "hovertemplate": "%{x:.4g}: %{y:.4g}",
    } | changes


def reference(x: ArrayLike, y: ArrayLike, name: str) -> Spec:
    """A thin line of what is expected."""
    return curve(x, y, name, line={"color": REFERENCE, "dash": "dash", "width": 1.5})


def band(x: FloatArray, low: FloatArray, high: FloatArray, name: str, colour: str) -> Spec:
    """A shaded strip between two curves."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(np.concatenate([x, x[::-1]])),
        "y": numbers(np.concatenate([high, low[::-1]])),
        "fill": "toself",
        "fillcolor": SOFT.get(colour, SOFT[REFERENCE]),
        "line": {"width": 0, "color": colour},
        "name": name,
        "hoverinfo": "skip",
    }


def outline(places: FloatArray, width: float, colour: str) -> Spec:
    """A line through places ``(n, 2)``, with gaps at those that are NaN."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(places[:, 0]),
        "y": numbers(places[:, 1]),
        "line": {"color": colour, "width": width},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def heat(mesh: Mesh, values: FloatArray, **changes: Any) -> Spec:
    """An image of values ``(n,)`` on a mesh."""
    return {
        "type": "heatmap",
        "x": numbers(mesh.x),
        "y": numbers(mesh.y),
        "z": numbers(mesh.as_image(values)),
        "colorscale": palette("viridis"),
    } | changes


@cache
def palette(name: str) -> list[list[float | str]]:
    """Colours of Matplotlib at even places from 0 to 1.

    >>> palette("viridis")[0]
    [0.0, '#440154']
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    colours = colormaps[name]
    return [[float(place), to_hex(colours(place))] for place in np.linspace(0, 1, STOPS)]


def histogram_bars(edges: FloatArray, heights: FloatArray, name: str) -> Spec:
    """Bars between ``edges (n + 1,)``."""
    return {
        "type": "bar",
        "x": numbers((edges[1:] + edges[:-1]) / 2),
        "y": numbers(heights),
        "width": numbers(np.diff(edges)),
        "marker": {"color": OBSERVED, "opacity": 0.55},
        "name": name,
        "hovertemplate": "%{x:.3g}: %{y:.3g}",
    }
