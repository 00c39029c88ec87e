"""Small pictures as SVG text: axes, curves, arrows and ellipses, without a plotting package.

Lines and letters take the colour of the text around them and the background is left open, so a
picture suits light and dark pages. What is drawn in one colour is one element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from wgsindy.data import FloatArray
from wgsindy.model.display.numbers import rounded, typographic

ACCENT = "#d9762b"  # an orange that stands out of white and of black
HEAD = 0.38, 0.45  # length of an arrow's head relative to the arrow, and its slope
LETTERS = "font-family='system-ui, sans-serif' font-size='11' fill='currentColor'"


@dataclass(frozen=True)
class Axes:
    """A rectangle of data coordinates ``low`` to ``high`` drawn into one of pixels."""

    low: tuple[float, float]
    high: tuple[float, float]
    left: float  # pixels, as the following
    top: float
    width: float
    height: float

    @property
    def unit(self) -> FloatArray:
        """Pixels of one unit of each coordinate, ``(2,)``; the second axis points down."""
        span = np.subtract(self.high, self.low)
        return np.array([self.width, -self.height]) / span

    def pixels(self, points: FloatArray) -> FloatArray:
        """Map points ``(n, 2)`` to pixels."""
        return (points - self.low) * self.unit + [self.left, self.top + self.height]

    def frame(self, across: str, up: str, *, title: str = "") -> Markup:
        """Draw the border, ticks with numbers, and the names of the coordinates."""
        bottom, middle = self.top + self.height, self.left + self.width / 2
        ticks, labels = [], []
        for value in round_values(self.low[0], self.high[0]):
            x = self.pixels(np.array([[value, self.low[1]]]))[0, 0]
            ticks.append(f"M{x:.1f} {bottom:.1f}v4")
            labels.append(_text(value, x, bottom + 15, "middle"))
        for value in round_values(self.low[1], self.high[1]):
            y = self.pixels(np.array([[self.low[0], value]]))[0, 1]
            ticks.append(f"M{self.left:.1f} {y:.1f}h-4")
            labels.append(_text(value, self.left - 6, y + 4, "end"))
        words = [(across, middle, bottom + 29, "middle"), (up, self.left, self.top - 7, "start")]
        words.append((title, middle, self.top - 7, "middle"))
        labels += [_text(*word) for word in words if word[0]]
        border = f"M{self.left} {self.top}v{self.height}h{self.width}v-{self.height}z"
        lines = _path([border, *ticks], "stroke='currentColor' stroke-opacity='0.45' fill='none'")
        return lines + Markup(f"<g {LETTERS}>{{}}</g>").format(Markup("").join(labels))


def round_values(low: float, high: float, most: int = 5) -> list[float]:
    """Return at most so many round numbers between two.

    >>> round_values(-2.9, 2.6), round_values(0.0, 0.013)
    ([-2.0, 0.0, 2.0], [0.0, 0.005, 0.01])
    """
    raw = (high - low) / most
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw)
    first, last = int(np.ceil(low / step)), int(np.floor(high / step))
    return [float(rounded(k * step, 12)) for k in range(first, last + 1)]


def curve(axes: Axes, points: FloatArray) -> Markup:
    """Draw a line through points ``(n, 2)``."""
    return _path([_through(axes.pixels(points))], f"stroke='{ACCENT}' stroke-width='2' fill='none'")


def band(axes: Axes, x: FloatArray, low: FloatArray, high: FloatArray) -> Markup:
    """Fill between two curves over ``x (n,)``."""
    there, back = np.column_stack([x, low]), np.column_stack([x, high])[::-1]
    outline = _through(axes.pixels(np.vstack([there, back]))) + "z"
    return _path([outline], f"fill='{ACCENT}' fill-opacity='0.22'")


def level_line(axes: Axes, level: float) -> Markup:
    """Draw a thin line across, if the level is on the picture."""
    if not axes.low[1] < level < axes.high[1]:
        return Markup("")
    ends = axes.pixels(np.array([[axes.low[0], level], [axes.high[0], level]]))
    return _path([_through(ends)], "stroke='currentColor' stroke-opacity='0.3' fill='none'")


def arrows(starts: FloatArray, ends: FloatArray) -> Markup:
    """Draw arrows between pixels ``(n, 2)``."""
    along = HEAD[0] * (ends - starts)
    across = HEAD[1] * along @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    corners = ends - along + across, ends - along - across
    lines = np.stack([starts, ends, corners[0], ends, corners[1]], axis=1)
    look = "stroke='currentColor' stroke-opacity='0.8' stroke-linejoin='round' fill='none'"
    return _path([_through(line) for line in lines], look)


def ellipses(centres: FloatArray, factors: FloatArray) -> Markup:
    """Draw the images of the unit circle under ``factors (n, 2, 2)`` around pixels ``(n, 2)``."""
    axes, radii, _ = np.linalg.svd(factors)
    radii = np.abs(radii)  # rounding may leave -0.0
    long = axes[:, :, 0] * radii[:, :1]
    tilt = np.degrees(np.arctan2(long[:, 1], long[:, 0]))
    paths = []
    for start, (x, y), (rx, ry), angle in zip(centres - long, 2 * long, radii, tilt, strict=True):
        arc = f"a{rx:.1f} {ry:.1f} {angle:.1f} 1 0"
        paths.append(f"M{start[0]:.1f} {start[1]:.1f}{arc} {x:.1f} {y:.1f}{arc} {-x:.1f} {-y:.1f}z")
    return _path(paths, f"stroke='{ACCENT}' fill='{ACCENT}' fill-opacity='0.25'")


def document(width: float, height: float, title: str, description: str, *parts: Markup) -> Markup:
    """Put parts of a picture together; screen readers say ``title`` and ``description``."""
    head = Markup(
        "<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{0}' height='{1}' "
        "viewBox='0 0 {0} {1}' style='max-width:100%'><title>{2}</title><desc>{3}</desc>"
    ).format(f"{width:g}", f"{height:g}", title, description)
    return head + Markup("").join(parts) + Markup("</svg>")


def _through(points: FloatArray) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points.tolist())


def _path(lines: Sequence[str], look: str) -> Markup:
    return Markup("<path d='{}' {}/>").format("".join(lines), Markup(look))


def _text(content: str | float, x: float, y: float, anchor: str) -> Markup:
    text = content if isinstance(content, str) else typographic(rounded(content, 4))
    place = Markup(f"x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'")
    return Markup("<text {}>{}</text>").format(place, text)
