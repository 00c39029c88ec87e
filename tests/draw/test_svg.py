"""Small drawings: numbers at the right pixels, text that stays text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from wgsindy.data import FloatArray
from wgsindy.draw import Colour, Picture, axes, band, curve, outline
from wgsindy.draw.plots import Pixels, as_svg, round_values

SPACE = "{http://www.w3.org/2000/svg}"
X = np.array([-1.0, 1.0, 3.0])
PIXELS = Pixels((-1.0, 10.0), (3.0, 20.0), width=260, height=156)  # 200 x 100 within margins


def picture(*traces: dict[str, object], x: str = "x", y: str = "y") -> Picture:
    layout = axes(x, y, xaxis={"range": [-1.0, 3.0]}, yaxis={"range": [10.0, 20.0]})
    return Picture("a", "", "<i>t</i>", traces, layout, aspect=0.5, caption="'d' & \"e\"")


def drawn(one: Picture) -> ElementTree.Element:
    return ElementTree.fromstring(as_svg(one, 260))


def numbers(one: Picture) -> FloatArray:
    """Coordinates of the last line of a drawing, ``(n, 2)``."""
    path = drawn(one).findall(f"{SPACE}path")[-1].attrib["d"]
    return np.array(re.findall(r"-?[\d.]+", path), dtype=np.float64).reshape(-1, 2)


def at(places: FloatArray) -> FloatArray:
    return np.array([PIXELS.at(x, y) for x, y in places])


def test_corners_of_the_data_are_corners_of_the_picture() -> None:
    corners = np.array([[-1.0, 10.0], [3.0, 10.0], [-1.0, 20.0], [3.0, 20.0]])
    np.testing.assert_allclose(at(corners), [[46, 122], [246, 122], [46, 22], [246, 22]])


@pytest.mark.parametrize(
    ("low", "high"), [(-1, 1), (0, 1e-7), (-3e6, 2e5), (99.0, 101.0), (0.0, 0.9), (-0.3, 0.1)]
)
def test_ticks_are_few_round_and_inside(low: float, high: float) -> None:
    ticks = round_values(low, high)
    assert 2 <= len(ticks) <= 6
    assert all(low <= tick <= high for tick in ticks)
    steps = np.diff(ticks)
    np.testing.assert_allclose(steps, steps[0])
    assert f"{steps[0]:.0e}"[0] in "125"


def test_a_curve_goes_through_its_points() -> None:
    y = 10 + X**2
    found = numbers(picture(curve(X, y, "a curve")))
    np.testing.assert_allclose(found, at(np.column_stack([X, y])), atol=0.051)


def test_a_band_goes_there_above_and_back_below() -> None:
    found = numbers(picture(band(X, X + 12, X + 15, "a band", Colour.OBSERVED)))
    above, below = np.column_stack([X, X + 15]), np.column_stack([X, X + 12])[::-1]
    np.testing.assert_allclose(found, at(np.vstack([above, below])), atol=0.051)


def test_a_gap_is_not_drawn_across() -> None:
    places = np.array([[-1.0, 10.0], [np.nan, np.nan], [3.0, 20.0]])
    (_, line) = drawn(picture(outline(places, 1.0, Colour.INK))).findall(f"{SPACE}path")
    assert line.attrib["d"].count("M") == 2
    assert line.attrib["stroke"] == "currentColor"


def test_names_stay_text() -> None:
    root = drawn(picture(x="<b>x</b>", y="a&b"))
    assert {child.tag.removeprefix(SPACE) for child in root.iter()} == {
        *("svg", "title", "desc", "path", "g", "text"),
    }
    words = [node.text for node in root.iter(f"{SPACE}text")]
    assert {"<b>x</b>", "a&b"} <= set(words)
    assert root[0].text == "<i>t</i>"
    assert root[1].text == "'d' & \"e\""
