"""What a notebook and a terminal show of a generator: all equations, a picture, no script."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html import unescape
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy
from generators import MADE
from markupsafe import Markup

from wgsindy import zoo
from wgsindy.data import Frame, Trajectories
from wgsindy.draw.plots import small_drawing, small_pictures
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator, TensorField, fragment, mathml_equations, named_fields
from wgsindy.model.formulas import MOST_LINES, WIDEST_LINE
from wgsindy.terms import library

SVG = "{http://www.w3.org/2000/svg}"
NAMED = re.compile(r"&(?!amp;|lt;|gt;|quot;|#)\w+;")  # letters that HTML knows and XML does not


def parsed(html: str) -> ElementTree.Element:
    """Read HTML as XML, which is stricter: every element closed, every attribute quoted."""
    return ElementTree.fromstring(NAMED.sub(lambda found: unescape(found.group()), html))


def words(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


@cache
def fitted(name: str = "van_der_pol", recipe: str = "sharp") -> Generator:
    system = zoo.get(name)
    data = system.simulate(seed=0, trajectories=4, steps=1000)
    return WGSINDy("poly3", recipe).fit(data).generator_


@cache
def on_a_line() -> Generator:
    rng = np.random.default_rng(0)
    paths = np.zeros((4, 2000, 1))
    for n in range(1999):
        paths[:, n + 1] = 0.97 * paths[:, n] + rng.normal(0, 0.1, (4, 1))
    return WGSINDy("poly2", "sharp").fit(Trajectories(list(paths), 0.05)).generator_


@cache
def in_space() -> Generator:
    return replace(MADE["factor, 3-D"], region=Frame(np.array([1.0, 2.0, 3.0]), np.ones(3)))


def drawing(generator: Generator) -> ElementTree.Element:
    """The first drawing of a generator."""
    root = ElementTree.fromstring(small_drawing(generator)).find(f".//{SVG}svg")
    assert root is not None
    return root


def caption(generator: Generator) -> str:
    return words(ElementTree.fromstring(small_drawing(generator)).findall("figcaption")[0])


def test_a_generator_reads_as_its_equations() -> None:
    generator = fitted()
    first, *others = repr(generator).splitlines()
    assert first == "Generator of (x, y)"
    assert [line.strip() for line in others] == generator.equations(errors=True)
    assert "±" in others[0]


def test_a_long_generator_is_cut_short() -> None:
    names = tuple(f"x{i}" for i in range(9))
    basis = library("poly2").bind(names)
    field = TensorField("entries", np.ones((45, len(basis))), 0.0, np.ones(9))
    lines = repr(Generator(basis, np.ones((9, len(basis))), field)).splitlines()
    assert len(lines) == MOST_LINES + 2
    assert lines[-1].strip() == f"... and {9 + 45 - MOST_LINES} more; see equations()"
    assert lines[1].endswith(" ...")
    assert max(map(len, lines)) <= WIDEST_LINE + 6


@pytest.mark.parametrize("name", [*MADE, "truth", "fit", "paper", "line", "space"])
def test_the_html_is_well_formed_and_brings_no_script(name: str) -> None:
    others: dict[str, Callable[[], Generator]] = {
        "truth": lambda: zoo.get("heston_sv").generator,
        "fit": fitted,
        "paper": lambda: fitted(recipe="paper"),
        "line": on_a_line,
        "space": in_space,
    }
    generator = MADE[name] if name in MADE else others[name]()
    html = generator._repr_html_()
    root = parsed(html)
    assert not re.search(r"<script|javascript:|\son\w+=|https?://(?!www\.w3\.org/2000/svg)", html)
    assert len(html) < 60_000
    assert (root.find(f".//{SVG}svg") is None) == (generator.region is None)


def test_every_equation_stands_in_the_html_with_its_errors() -> None:
    generator = fitted()
    rows = parsed(generator._repr_html_()).findall(".//div[@class='equations']/div")
    written = mathml_equations(generator)
    assert len(rows) == len(written) == 5
    for row, equation in zip(rows, written, strict=True):
        symbol, *terms = row.findall(".//math")
        index = named_fields(equation.name, generator.names)[1:].strip("[]")
        assert words(symbol).replace("\u00a0", " ") == equation.name[0] + index
        assert words(terms[0]) == "="
        assert [words(term) for term in terms[1:]] == [
            words(parsed(str(term))) for term in equation.terms
        ]
    assert "±" in words(rows[0])


def test_a_coefficient_of_one_is_not_written() -> None:
    x, y = sympy.symbols("x y")
    truth = Generator.from_sympy(("x", "y"), [x - y, 1 + 2 * x], [[1, 0], [0, 1]])
    first, second = mathml_equations(truth)[:2]
    assert [words(parsed(str(term))) for term in first.terms] == ["x", "\N{MINUS SIGN}y"]
    assert words(parsed(str(second.terms[0]))) == "1"


def test_what_is_known_of_the_fit_stands_beside_the_heading_as_text() -> None:
    generator = replace(fitted(), info={"recipe": "<b>bold</b>", "library": "x" * 1000})
    root = parsed(generator._repr_html_())
    assert root.find(".//b") is None
    heading = root.find("header")
    assert heading is not None
    assert words(heading).startswith("Generator of (x, y) recipe <b>bold</b>, library xxx")
    assert len(words(heading)) < 150


def test_a_fragment_takes_text_as_text_and_markup_as_markup() -> None:
    root = parsed(fragment("<i>title</i>", Markup("<p>{}</p>").format("a < b"), note="&c"))
    assert root.attrib == {"class": "wgsindy"}
    assert "<i>title</i>" in words(root)
    assert [words(part) for part in root.findall("p")] == ["a < b"]
    # Nothing outside the fragment takes its style.
    style = root.find("style")
    assert style is not None
    assert style.text is not None
    assert all(rule.startswith(".wgsindy") for rule in style.text.split("}")[:-1])


@pytest.mark.parametrize("make", [fitted, on_a_line, in_space])
def test_a_picture_is_small_transparent_and_says_what_it_shows(make: Any) -> None:
    root = drawing(make())
    assert float(root.attrib["width"]) <= 420
    assert root.attrib["role"] == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text
    assert root[1].tag == f"{SVG}desc"
    assert "currentColor" in small_drawing(make())
    assert root.find(f".//{SVG}rect") is None  # no background of its own
    assert caption(make()).endswith(".")


def arrow_starts_and_ends(generator: Generator) -> Any:
    """Arrows ``(n, 2, 2)`` of a picture, in pixels, read from its last path."""
    path = drawing(generator).findall(f"{SVG}path")[-1].attrib["d"]
    lines = [re.findall(r"-?[\d.]+", line)[:4] for line in path.split("M")[1::2]]
    return np.array(lines, dtype=np.float64).reshape(-1, 2, 2)


def test_arrows_point_where_the_drift_does() -> None:
    # x moves to the right at constant speed; the second axis of a picture points down.
    x, y = sympy.symbols("x y")
    for drift, wanted in (([1, 0], (1, 0)), ([0, 3], (0, -1)), ([0, -3], (0, 1))):
        truth = Generator.from_sympy(("x", "y"), drift, [[1, 0], [0, 1]])
        arrows = arrow_starts_and_ends(replace(truth, region=Frame.identity(2)))
        along = np.diff(arrows, axis=1)[:, 0]
        np.testing.assert_allclose(
            along / np.linalg.norm(along, axis=1, keepdims=True), [wanted] * 15**2, atol=0.02
        )
    sink = Generator.from_sympy(("x", "y"), [-x, -y], [[1, 0], [0, 1]])
    starts, ends = arrow_starts_and_ends(replace(sink, region=Frame.identity(2))).swapaxes(0, 1)
    middle = (starts.max(axis=0) + starts.min(axis=0)) / 2
    near, away = (np.linalg.norm(one - middle, axis=1) for one in (ends, starts))
    assert (near[away > 10] < away[away > 10]).all()


def test_ellipses_are_a_standard_deviation_after_the_time_of_the_caption() -> None:
    truth = Generator.from_sympy(("x", "y"), [0, 0], [[4, 0], [0, 0]])
    flat = replace(truth, region=Frame(np.zeros(2), np.array([2.0, 1.0])))
    assert caption(flat).startswith("No drift. Ellipses")
    time = float(re.findall(r"after ([\d.e-]+)\.", caption(flat))[0])
    path = drawing(flat).findall(f"{SVG}path")[1]
    ring = np.array(re.findall(r"[\d.]+", path.attrib["d"].split("M")[1]), dtype=float)
    across, up = ring.reshape(-1, 2).T
    # 270 pixels for 2 * 2 * 2 units of x; no noise along y. The caption has two digits.
    assert np.ptp(across) == pytest.approx(2 * 2 * np.sqrt(time) * 270 / 8, rel=0.03)
    assert np.ptp(up) == 0.0


def test_more_coordinates_than_two_are_shown_at_their_mean() -> None:
    assert caption(in_space()).endswith("Shown at the middle of z.")
    elsewhere = replace(in_space(), region=Frame(np.array([1.0, 2.0, 9.0]), np.ones(3)))
    assert small_drawing(elsewhere) != small_drawing(in_space())


def test_a_picture_stops_where_terms_do() -> None:
    basis = library(["1", "x", "sqrt(x)"]).bind(("x", "y"))
    field = TensorField("entries", np.eye(3), 0.0, np.ones(2))
    generator = Generator(basis, np.ones((2, 3)), field, region=Frame(np.zeros(2), np.ones(2)))
    # Eight columns of fifteen have x >= 0, the middle one included.
    assert len(arrow_starts_and_ends(generator)) == 8 * 15
    line = library(["sqrt(x)"]).bind(("x",))
    field = TensorField("entries", np.ones((1, 1)), 0.0, np.ones(1))
    nowhere = Generator(line, np.ones((1, 1)), field, region=Frame(np.array([-9.0]), np.ones(1)))
    assert small_pictures(nowhere) == []
    assert small_drawing(nowhere) == ""


def test_a_known_truth_has_no_region_and_no_picture() -> None:
    assert small_pictures(zoo.get("duffing").generator) == []


def test_bands_are_drawn_if_there_are_error_bars() -> None:
    unsure = replace(on_a_line(), uncertainty=None)
    assert "bands" in caption(on_a_line())
    assert "bands" not in caption(unsure)
    assert "fill-opacity" in small_drawing(on_a_line())
    assert "fill-opacity" not in small_drawing(unsure)


def test_latex_is_one_display_of_all_equations() -> None:
    text = fitted()._repr_latex_()
    assert text.startswith(r"$\displaystyle \begin{aligned}")
    assert text.endswith(r"\end{aligned}$")
    assert text.count("&=") == 5
    assert text.count("$") == 2
