"""Small drawings: numbers at the right pixels, text that stays text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from markupsafe import Markup

from wgsindy.data import FloatArray
from wgsindy.model.display import svg
from wgsindy.model.display.svg import Axes

AXES = Axes((-1.0, 10.0), (3.0, 20.0), left=40, top=20, width=200, height=100)


def numbers(markup: Markup) -> FloatArray:
    """Coordinates of a path that has lines only, ``(n, 2)``."""
    path = ElementTree.fromstring(markup).attrib["d"]
    return np.array(re.findall(r"-?[\d.]+", path), dtype=np.float64).reshape(-1, 2)


def test_corners_of_the_data_are_corners_of_the_picture() -> None:
    corners = np.array([[-1.0, 10.0], [3.0, 10.0], [-1.0, 20.0], [3.0, 20.0]])
    wanted = [[40, 120], [240, 120], [40, 20], [240, 20]]
    np.testing.assert_allclose(AXES.pixels(corners), wanted)


@pytest.mark.parametrize(
    ("low", "high"), [(-1, 1), (0, 1e-7), (-3e6, 2e5), (99.0, 101.0), (0.0, 0.9), (-0.3, 0.1)]
)
def test_ticks_are_few_round_and_inside(low: float, high: float) -> None:
    ticks = svg.round_values(low, high)
    assert 2 <= len(ticks) <= 6
    assert all(low <= tick <= high for tick in ticks)
    steps = np.diff(ticks)
    np.testing.assert_allclose(steps, steps[0])
    assert f"{steps[0]:.0e}"[0] in "125"


def test_a_curve_goes_through_its_points() -> None:
    x = np.linspace(-1, 3, 9)
    points = np.column_stack([x, 10 + x**2])
    np.testing.assert_allclose(numbers(svg.curve(AXES, points)), AXES.pixels(points), atol=0.051)


def test_a_band_goes_there_below_and_back_above() -> None:
    x = np.array([-1.0, 1.0, 3.0])
    outline = numbers(svg.band(AXES, x, x + 12, x + 15))
    below, above = np.column_stack([x, x + 12]), np.column_stack([x, x + 15])[::-1]
    np.testing.assert_allclose(outline, AXES.pixels(np.vstack([below, above])), atol=0.051)


def test_an_arrow_ends_in_a_head_that_is_even_on_both_sides() -> None:
    start, end = np.array([[10.0, 20.0]]), np.array([[40.0, 60.0]])
    line = numbers(svg.arrows(start, end))
    np.testing.assert_allclose(line[[0, 1, 3]], [start[0], end[0], end[0]])
    left, right = line[2] - end[0], line[4] - end[0]
    assert np.linalg.norm(left) == pytest.approx(np.linalg.norm(right), abs=0.2)
    assert left @ (end - start)[0] < 0
    assert right @ (end - start)[0] < 0
    assert not np.allclose(left, right)


def test_an_ellipse_has_the_axes_of_its_factor() -> None:
    angle = np.radians(30)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    # A rotation of the circle before it is stretched changes nothing.
    factor = turn @ np.diag([20.0, 5.0]) @ turn.T
    path = ElementTree.fromstring(svg.ellipses(np.array([[100.0, 50.0]]), factor[None])).attrib["d"]
    rx, ry, tilt = map(float, re.findall(r"a([\d.]+) ([\d.]+) (-?[\d.]+)", path)[0])
    assert (rx, ry) == (20.0, 5.0)
    assert tilt % 180 == pytest.approx(30, abs=0.1)


def test_a_noise_in_one_direction_is_drawn_as_a_line() -> None:
    factor = np.array([[[0.0, 0.0], [0.0, 7.0]]])
    path = ElementTree.fromstring(svg.ellipses(np.zeros((1, 2)), factor)).attrib["d"]
    assert re.findall(r"a([\d.]+) ([\d.]+)", path)[0] == ("7.0", "0.0")


def test_names_stay_text() -> None:
    frame = AXES.frame("<b>x</b>", "a&b", title="<script>")
    drawing = svg.document(300, 200, "<i>t</i>", "'d' & \"e\"", frame)
    root = ElementTree.fromstring(drawing)
    space = "{http://www.w3.org/2000/svg}"
    assert {child.tag.removeprefix(space) for child in root.iter()} == {
        *("svg", "title", "desc", "path", "g", "text"),
    }
    words = [node.text for node in root.iter(f"{space}text")]
    assert {"<b>x</b>", "a&b", "<script>"} <= set(words)
    assert root[0].text == "<i>t</i>"
    assert root[1].text == "'d' & \"e\""
