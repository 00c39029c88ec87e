"""A small picture of a generator where the data were: its drift and its noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from markupsafe import Markup

from wgsindy.data import FloatArray, Frame
from wgsindy.errors import LibraryError
from wgsindy.model import tensor
from wgsindy.model.display import svg
from wgsindy.model.display.numbers import rounded, typographic

if TYPE_CHECKING:
    from wgsindy.model.generator import Generator

REACH = 2.2  # standard deviations of the data that a picture shows on either side of their mean
ARROWS, ELLIPSES, SAMPLES = 13, 5, 81  # along each axis
LONGEST, WIDEST = 0.95, 0.3  # of an arrow and of an ellipse, in cells of their grids
SHORTEST = 3.0  # pixels of an arrow that can still be seen


class Picture(NamedTuple):
    """A drawing as SVG, and the sentence below it."""

    drawing: Markup
    caption: str


def picture(generator: Generator) -> Picture | None:
    """Draw drift and noise over the region of the data; None for a generator without one."""
    shown = generator.relative()
    if shown.region is None:
        return None
    names = [typographic(name) for name in generator.basis.coordinates]
    draw = _on_a_line if generator.dimension == 1 else _in_a_plane
    return draw(shown, shown.region, names)


def _defined(generator: Generator, points: FloatArray) -> FloatArray:
    """Those of the points at which all terms are: a box around data may have sqrt(x < 0) in it."""
    try:
        generator.basis.values(points)
    except LibraryError:
        if len(points) == 1:
            return points[:0]
        halves = np.array_split(points, 2)
        return np.concatenate([_defined(generator, half) for half in halves])
    return points


def _in_a_plane(generator: Generator, region: Frame, names: Sequence[str]) -> Picture:
    """Arrows for the drift and ellipses for the noise, over the first two coordinates."""
    low, high = (tuple((region.centre + s * REACH * region.scale)[:2]) for s in (-1, 1))
    axes = svg.Axes(low, high, left=46, top=22, width=270, height=220)
    moved, (time, spread) = _arrows(generator, region, axes), _ellipses(generator, region, axes)
    sentences = ["Arrows: drift, longer where it is stronger." if moved else "No drift was found."]
    if spread:
        during = f"after a time of {rounded(time, 2)}"
        sentences.append(f"Ellipses: one standard deviation of the noise {during}.")
    if generator.dimension > 2:
        sentences.append(f"Shown at the mean of {', '.join(generator.names[2:])}.")
    caption, frame = " ".join(sentences), axes.frame(*names[:2])
    title = f"Drift and noise of ({', '.join(generator.names)})"
    return Picture(svg.document(330, 276, title, caption, frame, spread, moved), caption)


def _grid(generator: Generator, region: Frame, count: int) -> FloatArray:
    """Centres ``(n, d)`` of ``count x count`` cells, with further coordinates at their mean."""
    steps = REACH * (2 * np.arange(count) + 1 - count) / count
    points = np.tile(region.centre, (count * count, 1))
    points[:, :2] += np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2) * region.scale[:2]
    return _defined(generator, points)


def _arrows(generator: Generator, region: Frame, axes: svg.Axes) -> Markup:
    points = _grid(generator, region, ARROWS)
    speed = generator.drift(points)[:, :2] * axes.unit
    size = np.linalg.norm(speed, axis=1, keepdims=True)
    if not size.any():
        return Markup("")
    # The cube root brings out the directions of a slow drift beside a fast one.
    longest = LONGEST * min(axes.width, axes.height) / ARROWS
    length = longest * np.cbrt(size / size.max())
    shown = length[:, 0] > SHORTEST
    arrow = (speed / np.where(size > 0, size, 1.0) * length)[shown]
    middle = axes.pixels(points[:, :2])[shown]
    return svg.arrows(middle - arrow / 2, middle + arrow / 2)


def _ellipses(generator: Generator, region: Frame, axes: svg.Axes) -> tuple[float, Markup]:
    """Draw one standard deviation of the noise after the time at which it fills its cell."""
    points = _grid(generator, region, ELLIPSES)
    field = tensor.clip(generator.diffusion(points)[:, :2, :2])
    factors = tensor.cholesky(field) * axes.unit[:, None]
    largest = np.abs(factors).sum(axis=2).max(initial=0.0)
    if not largest > 0:
        return 0.0, Markup("")
    room = WIDEST * min(axes.width, axes.height) / ELLIPSES
    # Rounded, so that the caption says exactly what is drawn.
    time = float(rounded((room / largest) ** 2, 2))
    return time, svg.ellipses(axes.pixels(points[:, :2]), factors * np.sqrt(time))


def _on_a_line(generator: Generator, region: Frame, names: Sequence[str]) -> Picture | None:
    """Curves of the drift and of the variance, with their 95 % bands if there are any."""
    steps = np.linspace(-REACH, REACH, SAMPLES)[:, None]
    points = _defined(generator, region.centre + steps * region.scale)
    if len(points) < 2:
        return None
    x, name = points[:, 0], names[0]
    drift, variance = generator.drift(points)[:, 0], generator.diffusion(points)[:, 0, 0]
    bands = [(drift, drift), (variance, variance)]
    if generator.uncertainty is not None:
        found = generator.bands(points)
        bands = [
            (found.drift_low[:, 0], found.drift_high[:, 0]),
            (found.diffusion_low[:, 0, 0], found.diffusion_high[:, 0, 0]),
        ]
    panels = [
        _panel(left, title, name, x, values, *limits)
        for left, title, values, limits in zip(
            (44.0, 254.0), ("drift", "variance of the noise"), (drift, variance), bands, strict=True
        )
    ]
    caption = "Drift and variance of the noise"
    caption += " with 95 % bands." if generator.uncertainty is not None else "."
    return Picture(svg.document(420, 190, caption, f"As functions of {name}.", *panels), caption)


def _panel(
    left: float,
    title: str,
    name: str,
    x: FloatArray,
    values: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> Markup:
    bottom, top = float(low.min()), float(high.max())
    # A constant has room above and below, and a variance is seen beside zero.
    bottom, top = (min(bottom, 0.0), max(top, 0.0)) if bottom * top >= 0 else (bottom, top)
    room = 0.06 * (top - bottom) or 1.0
    axes = svg.Axes((float(x[0]), bottom - room), (float(x[-1]), top + room), left, 22, 158, 130)
    parts = [axes.frame(name, "", title=title), svg.level_line(axes, 0.0)]
    if not np.array_equal(low, high):
        parts.append(svg.band(axes, x, low, high))
    return Markup("").join([*parts, svg.curve(axes, np.column_stack([x, values]))])
