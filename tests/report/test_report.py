"""report.html: its numbers are those of the fit, its text is never markup, its checks can fail."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import fields, replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from wgsindy import Generator, Trajectories, WGSINDy, zoo
from wgsindy.data import FloatArray, Frame
from wgsindy.diagnostics import Diagnostics, Finding, Limitation, diagnose, weak_fields
from wgsindy.draw.fields import relative_errors
from wgsindy.draw.flow import arrow_outlines, ellipse_outlines
from wgsindy.draw.planes import StateCloud, data_planes
from wgsindy.errors import DataError, RepeatedSamplesWarning, SimulationError
from wgsindy.estimate import Fit
from wgsindy.model import (
    Change,
    Observation,
    field_symbol,
    mathml_equations,
    named_equations,
    named_fields,
    rounded,
    term_formula,
)
from wgsindy.passes import data_summary
from wgsindy.recipes import PAPER
from wgsindy.report import PlotSample, render_report, residual_series, write_report
from wgsindy.report.checks import (
    LONGEST_SEGMENT,
    MOST_REPLICA_STEPS,
    REPLICAS,
    autocorrelation,
    check_by_simulation,
    comparable_segments,
)
from wgsindy.report.facts import DIVERGING, NEXT_STEP, Origin, fit_facts, measured, unbroken
from wgsindy.report.figures import fit_figures
from wgsindy.report.law import law_numbers
from wgsindy.report.page import json_markup, package_text, unwritten
from wgsindy.terms import library
from wgsindy.zoo import demo_data

ORIGIN = Origin("A fit", "wgsindy demo", "model.json", ())
LARGEST_PAGE = 1_000_000
# What the script of the page draws; it would not see anything else.
TRACES = {
    "scatter": {"mode", "line", "marker", "fill", "fillcolor"},
    "bar": {"width", "marker"},
    "heatmap": {"z", "zmin", "zmax", "colorscale", "colorbar", "showscale", "text"},
}
EVERY_TRACE = {"type", "x", "y", "name", "showlegend", "customdata", "hovertemplate", "hoverinfo"}


class Page(HTMLParser):
    """The elements of a page: tags with attributes, and the text inside of some."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[int] = []
        self.rows: dict[tuple[str, str], list[float]] = {}
        self.facts: dict[str, list[float]] = {}
        self.scripts: dict[str, str] = {}
        self._row: list[float] | None = None
        self._script = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.elements.append((tag, found))
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "tr":
            self._row = None
        if tag == "tr" and "data-target" in found:
            self._row = self.rows.setdefault(
                (str(found["data-target"]), str(found["data-term"])), []
            )
        if tag == "tr" and "data-fact" in found:
            self._row = self.facts.setdefault(str(found["data-fact"]), [])
        if tag == "data" and self._row is not None:
            self._row.append(float(str(found["value"])))
        self._script = str(found.get("id", "")) if tag == "script" else ""

    def handle_data(self, data: str) -> None:
        if self._script:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._script = ""

    def ids(self) -> set[str]:
        return {str(found["id"]) for _, found in self.elements if "id" in found}

    def specs(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.scripts["pictures"])
        return found


def cloud(data: Trajectories) -> StateCloud:
    return StateCloud(data.names, data.states)


def euler(
    drift: Any, noise: Any, start: list[float], *, paths: int, steps: int, dt: float, seed: int
) -> tuple[Trajectories, FloatArray]:
    """Paths of a process with independent noises, and these noises ``(paths * steps, d)``."""
    rng = np.random.default_rng(seed)
    x = np.tile(np.array(start), (paths, 1))
    states, shocks = [x], []
    for _ in range(steps):
        shocks.append(rng.standard_normal(x.shape))
        x = x + drift(x) * dt + noise(x) * np.sqrt(dt) * shocks[-1]
        states.append(x)
    order = np.array(shocks).swapaxes(0, 1).reshape(paths * steps, -1)
    return Trajectories(list(np.array(states).swapaxes(0, 1)), dt), order


def well(x: FloatArray) -> FloatArray:
    return x - x**3


def triple(x: FloatArray) -> FloatArray:
    return np.stack([-x[:, 0] + x[:, 1], -x[:, 1] - x[:, 0], -2 * x[:, 2] + x[:, 0] ** 2], axis=1)


def half(x: FloatArray) -> FloatArray:
    return np.full_like(x, 0.5)


@pytest.fixture(scope="module")
def demo() -> tuple[WGSINDy, Trajectories]:
    data = demo_data()
    return WGSINDy("poly3", "sharp").fit(data), data


@pytest.fixture(scope="module")
def line() -> tuple[WGSINDy, Trajectories]:
    data, _ = euler(well, half, [0.5], paths=8, steps=800, dt=0.01, seed=1)
    return WGSINDy("poly3", "sharp").fit(data), data


@pytest.fixture(scope="module")
def space() -> tuple[WGSINDy, Trajectories]:
    data, _ = euler(triple, half, [0.5, 0.0, 0.0], paths=8, steps=800, dt=0.01, seed=1)
    return WGSINDy("poly2", "sharp").fit(data), data


@pytest.fixture(scope="module")
def demo_text(demo: tuple[WGSINDy, Trajectories]) -> str:
    fitted, data = demo
    return render_report(fitted.generator_, data, fitted.diagnostics_, ORIGIN)


def rendered(case: tuple[WGSINDy, Trajectories], origin: Origin = ORIGIN) -> str:
    fitted, data = case
    return render_report(fitted.generator_, data, fitted.diagnostics_, origin)


def test_the_table_holds_the_coefficients_bit_for_bit(
    demo: tuple[WGSINDy, Trajectories], demo_text: str
) -> None:
    rows = Page(demo_text).rows
    expected = {
        (found.target, found.term): [
            found.value,
            found.std_error,
            found.low,
            found.high,
            found.inclusion,
        ]
        for found in demo[0].generator_.coefficients
    }
    assert rows == expected


def test_the_equations_are_those_of_the_generator(demo: tuple[WGSINDy, Trajectories]) -> None:
    generator = demo[0].generator_
    written = {equation.name: equation for equation in mathml_equations(generator)}
    assert list(written) == ["b1", "b2", "a11", "a12", "a22"]
    for name, equation in written.items():
        found = [item for item in generator.coefficients if item.target == name]
        assert len(equation.terms) == max(len(found), 1)
        for item, term in zip(found, equation.terms, strict=False):
            value, error = map(float, re.findall(r"<mn>([\d.]+)</mn>", term)[:2])
            assert value == pytest.approx(abs(item.value), abs=item.std_error / 10)
            assert error == pytest.approx(item.std_error, rel=0.05)
            assert ("&minus;" in term) == (item.value < 0)
    assert "<mn>0</mn>" in written["a12"].terms[0]


def test_terms_are_written_by_their_own_names() -> None:
    x, volume = sympy.symbols("x volume_2")
    truth = Generator.from_sympy(("x", "volume_2"), [sympy.sqrt(x), -(volume**2)], [[1, 0], [0, 1]])
    first, second = mathml_equations(truth)[:2]
    assert "<msqrt><mi>x</mi></msqrt>" in first.terms[0]
    assert "<mi>volume</mi><mi>2</mi></msub>" in second.terms[0]


def test_symbols_of_several_letters_are_kept_apart_in_products() -> None:
    assert "<mi>mx</mi><mo>&sdot;</mo><mi>my</mi>" in term_formula("mx*my", ("mx", "my"))
    assert "<mi>x</mi><mo>&InvisibleTimes;</mo><mi>y</mi>" in term_formula("x*y", ("x", "y"))


def test_small_terms_stand_apart_from_the_written_ones(
    demo: tuple[WGSINDy, Trajectories],
) -> None:
    generator = WGSINDy("poly3", "paper").fit(demo[1]).generator_
    small = unwritten(generator)
    written = generator.written()
    assert len(small) + len(written) == len(generator.coefficients)
    assert small
    texts = dict(line.split(" = ") for line in generator.equations())
    for target in texts:
        count = sum(item.target == target for item in written)
        assert count == (0 if texts[target] == "0" else len(re.split(r" [+-] ", texts[target])))


def driftless() -> tuple[WGSINDy, Trajectories]:
    noise, _ = euler(np.zeros_like, half, [0.0, 0.0], paths=4, steps=500, dt=0.01, seed=3)
    fitted = WGSINDy("poly1", "sharp").fit(noise)
    assert fitted.diagnostics_.verdict == "not identified"
    return fitted, noise


def test_the_summary_and_every_finding_with_its_advice_are_on_the_page() -> None:
    fitted, noise = driftless()
    text = rendered((fitted, noise))
    summary = named_fields(fitted.diagnostics_.summary, noise.names)
    assert f'<p class="summary">{summary}</p>' in text
    assert NEXT_STEP["not identified"] in text
    cards = findings_of(text)
    assert len(cards) == len(fitted.diagnostics_.findings) == 2
    for card, finding in zip(cards, fitted.diagnostics_.findings, strict=True):
        card = in_words(card)
        assert finding.limitation[1:] in card
        assert finding.sentence[1:] in card
        assert finding.advice in card
        assert [str(field_symbol(name, noise.names)) in card for name in finding.fields] == [True]
        assert "the fit allows for it" not in card


def in_words(text: str) -> str:
    """A page without the marks that keep its numbers on one line."""
    return re.sub(r'<span class="whole">(.*?)</span>', r"\1", text)


def test_numbers_are_kept_on_one_line_and_text_stays_text() -> None:
    for number in ("0.5", "\N{MINUS SIGN}1.2e\N{MINUS SIGN}05", "95 %", "1.20 ± 0.03", "16000"):
        marked = str(unbroken(f"so {number} it <is>"))
        assert marked == f'so <span class="whole">{number}</span> it &lt;is&gt;'
    assert in_words(str(unbroken("from 1 to 2."))) == "from 1 to 2."
    assert str(unbroken("of b1 and x2y")) == "of b1 and x2y"  # names


def findings_of(text: str) -> list[str]:
    return re.findall(r'<li class="finding.*?</li>', text, re.DOTALL)


def test_what_the_fit_allows_for_is_marked_and_kept_from_becoming_markup(
    line: tuple[WGSINDy, Trajectories],
) -> None:
    fitted, data = line
    found = (
        Finding(Limitation.NOISE, ("a11",), "<b>one</b>", "Do <i>this</i>.", handled=True),
        Finding(Limitation.COVERAGE, ("b1",), "the two", "Do that."),
    )
    worried = replace(fitted.diagnostics_, findings=found)
    handled, open_one = findings_of(render_report(fitted.generator_, data, worried, ORIGIN))
    assert "the fit allows for it" in handled
    assert "&lt;b&gt;one&lt;/b&gt;" in handled
    assert "&lt;i&gt;this&lt;/i&gt;" in handled
    assert "<strong>Observation noise</strong>" in handled
    assert "the fit allows for it" not in open_one
    assert "The two" in open_one


def test_a_recipe_without_a_verdict_still_shows_its_findings() -> None:
    data, _ = euler(well, half, [0.5], paths=3, steps=300, dt=0.01, seed=1)
    stuck = Trajectories([np.repeat(path, 2, axis=0) for path in data], 0.005)
    with pytest.warns(RepeatedSamplesWarning):
        fitted = WGSINDy("poly3", "paper").fit(stuck)
    text = rendered((fitted, stuck))
    assert NEXT_STEP["not assessed"].replace("'", "&#39;") in text
    assert any("Stalled sensor" in card for card in findings_of(text))
    facts = Page(text).facts
    for fact in ("drift_signal", "drift_error", "clipped_fraction", "rival_log_evidence"):
        assert facts[fact] == []
        row = re.findall(f'<tr data-fact="{fact}">.*?</tr>', text)[0]
        assert "needs recipe=&#39;sharp&#39;" in row


def test_the_error_of_no_drift_at_all_is_not_drawn() -> None:
    fitted, noise = driftless()
    assert "drift-error-0-1" in Page(rendered((fitted, noise))).ids()
    none = replace(
        fitted.generator_, drift_coefficients=np.zeros_like(fitted.generator_.drift_coefficients)
    )
    still = render_report(none, noise, fitted.diagnostics_, ORIGIN)
    assert "drift-error-0-1" not in Page(still).ids()


def test_facts_of_the_fit_have_noise_and_horizon(demo: tuple[WGSINDy, Trajectories]) -> None:
    fitted, _ = demo
    seen = replace(fitted.diagnostics_, observation_noise=(0.0, 0.0625))
    facts = {fact.name: fact.value for fact in fit_facts(fitted.generator_, seen)}
    assert facts["Mean of a[x, x]"] == f"{seen.noise_level[0]:.3g}"
    assert facts["Observation noise of y"] == "0.25"
    assert "Observation noise of x" not in facts
    assert facts["Effective time, worst 5 %"] == f"{seen.horizon:.3g}"


def test_the_table_of_checks_holds_every_fact(
    demo: tuple[WGSINDy, Trajectories], demo_text: str
) -> None:
    found, diagnostics = Page(demo_text).facts, demo[0].diagnostics_
    told = {"n_increments", "n_rows", "n_terms", "noiseless", "rival", "verdict", "findings"}
    told |= {"horizon", "noise_level", "observation_noise"}  # among the facts of the fit
    assert set(found) == {field.name for field in fields(Diagnostics)} - told
    for fact, values in found.items():
        expected = getattr(diagnostics, fact)
        assert values == ([*expected] if isinstance(expected, tuple) else [expected]), fact
    assert f"{diagnostics.rival}: " in in_words(demo_text)


# Of each fact a value just inside of what is normal, one just outside, and how the page names it.
EDGES: dict[str, tuple[Any, Any, str]] = {
    "residual_variance": ((1.19,), (1.21,), "0.8 to 1.2"),
    "excess_kurtosis": ((0.14,), (0.16,), "below 0.15"),
    "lag_one": ((-0.019,), (-0.021,), "above \N{MINUS SIGN}0.02"),
    "memory": ((0.099,), (0.101,), "below 0.1"),
    "low_noise": ((0.149,), (0.151,), "below 15 %"),
    "drift_signal": ((5.01,), (4.99,), "above 5"),
    "drift_error": ((0.49,), (0.51,), "below 50 %"),
    "singular": (0.49, 0.51, "below 50 %"),
    "long_steps": (0.49, 0.51, "below 50 %"),
    "shift": (1.74, 1.76, "below 1.75"),
    "largest_increment": (19.9, 20.1, "below 20"),
    "condition_number": (9e3, 1.1e4, "below 10000"),
    "repeated_samples": (6, 7, "below 0.1 %"),  # of 6400
    "clipped_fraction": (0.049, 0.051, "below 5 %"),
    "rival_log_evidence": (3.9, 4.1, "below 4"),
}


@pytest.mark.parametrize("fact", EDGES)
def test_values_outside_of_what_is_normal_stand_out(
    fact: str, line: tuple[WGSINDy, Trajectories]
) -> None:
    *values, normal = EDGES[fact]
    diagnostics = replace(line[0].diagnostics_, rival="roots")
    for value, expected in zip(values, (True, False), strict=True):
        changed = replace(diagnostics, **{fact: value})
        (row,) = (row for row in measured(changed, ("x",), 8) if row.fact == fact)
        assert [item.normal for item in row.values] == [expected]
        assert row.normal == normal


def test_what_cannot_be_known_is_a_dash_with_its_reason(
    line: tuple[WGSINDy, Trajectories],
) -> None:
    silent = replace(
        line[0].diagnostics_,
        residual_variance=(float("nan"),),
        low_noise=(1.0,),
        noiseless=("x",),
        drift_error=(float("inf"),),
    )
    rows = {row.fact: row.values[0] for row in measured(silent, ("x",), 1)}
    assert rows["residual_variance"].missing == rows["low_noise"].missing == "no noise"
    assert rows["drift_error"].missing == "no drift was found"
    assert rows["holdout"].missing == "there is one trajectory only"
    assert rows["shift"].missing == ""
    text = render_report(line[0].generator_, line[1], silent, ORIGIN)
    row = re.findall('<tr data-fact="residual_variance">.*?</tr>', text)[0]
    assert "&ndash;" in row
    assert "no noise" in row


def test_a_drift_that_is_not_identified_has_no_colours(
    demo: tuple[WGSINDy, Trajectories], line: tuple[WGSINDy, Trajectories], demo_text: str
) -> None:
    def weakened(case: tuple[WGSINDy, Trajectories], field: str) -> str:
        found = (Finding(Limitation.LOW_SIGNAL, (field,), "weak", "Observe for longer."),)
        worried = replace(case[0].diagnostics_, findings=found)
        return render_report(case[0].generator_, case[1], worried, ORIGIN)

    text = weakened(demo, "b2")
    before, after = Page(demo_text).specs(), Page(text).specs()
    assert "Drift of y: b[y] (not identified)" in text
    assert "Drift in x and y (b[y] not identified)" in text
    assert "not identified)" not in demo_text
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"field-b2"}
    assert after["field-b2"]["data"][0]["colorscale"][1][1] == "var(--pale)"
    strip, curve = Page(weakened(line, "b1")).specs()["field-b1"]["data"]
    assert curve["line"]["color"] == "var(--reference)"
    assert strip["fillcolor"] == "var(--reference-soft)"


def test_a_weak_field_is_one_that_the_fit_does_not_allow_for() -> None:
    weak = Finding(Limitation.LOW_SIGNAL, ("b2",), "weak", "Observe for longer.")
    other = Finding(Limitation.COVERAGE, ("b1",), "seen once", "Observe for longer.")
    assert weak_fields([weak, other]) == {"b2"}
    assert weak_fields([weak._replace(handled=True), other]) == set()


def test_figures_of_a_fit_mark_what_is_not_identified(
    demo: tuple[WGSINDy, Trajectories], line: tuple[WGSINDy, Trajectories]
) -> None:
    def titles(figure: Figure) -> list[str]:
        return [axes.get_title() for axes in figure.axes if axes.get_title()]

    plain = fit_figures(demo[0].generator_, PlotSample.of(demo[1]))
    weak = fit_figures(demo[0].generator_, PlotSample.of(demo[1]), {"b2"})
    values = {c.target: c.value for c in demo[0].generator_.coefficients if c.term == "1"}
    assert titles(plain["overview"]) == []
    assert titles(weak["overview"]) == ["not identified: b[y]"]
    assert titles(weak["fields"])[:3] == [
        "Drift of x: b[x]",
        "Drift of y: b[y] (not identified)",
        "Variance of x: a[x, x]",
    ]
    assert "not identified" not in " ".join(titles(plain["fields"]))
    maps = [axes.collections[0].get_cmap() for axes in weak["fields"].axes if axes.collections]
    # Those that vary, each with its bar; the tensor is constant, and written as numbers.
    assert [to_hex(shades(0.0)) for shades in maps[:2]] == ["#440154", "#ffffff"]
    numbers = [text.get_text() for axes in weak["fields"].axes for text in axes.texts]
    assert numbers == [rounded(c, 4) for c in (values["a11"], 0.0, values["a22"])]
    curves = fit_figures(line[0].generator_, PlotSample.of(line[1]), {"b1"})["fields"]
    assert titles(curves) == ["Drift of x: b[x] (not identified)", "Variance of x: a[x, x]"]
    assert [axes.lines[0].get_color() for axes in curves.axes if axes.lines] == ["#565f6e"]


def test_errors_larger_than_the_drift_are_cut_with_a_note() -> None:
    fitted, noise = driftless()
    text = rendered((fitted, noise))
    image = Page(text).specs()["drift-error-0-1"]["data"][0]
    true = 100 * relative_errors(fitted.generator_, cloud(noise), corners(image))
    assert true.max() > 150
    np.testing.assert_allclose(np.ravel(image["z"]), np.minimum(true, 100), rtol=1e-3)
    assert image["zmax"] == 100
    assert np.ravel(image["text"])[int(np.argmax(true))] == "more than 100 %"
    assert "end at 100 %" in in_words(text)


def corners(image: dict[str, Any]) -> FloatArray:
    x, y = np.meshgrid(image["x"], image["y"])
    return np.stack([x.ravel(), y.ravel()], axis=1)


def test_coverage_counts_every_sample_and_marks_the_cells_without(
    demo: tuple[WGSINDy, Trajectories], demo_text: str
) -> None:
    empty, strokes, filled, frame = Page(demo_text).specs()["coverage-0-1"]["data"]
    counts = np.array(filled["customdata"])
    assert counts.sum() == len(demo[1].states)
    marked = np.array([[value is not None for value in row] for row in empty["z"]])
    assert (marked == (counts == 0)).all()
    assert len(strokes["x"]) == 3 * marked.sum()
    low, high = demo[1].states.min(axis=0), demo[1].states.max(axis=0)
    # There is something beyond the data on every side, and it is marked.
    for side in (marked[0], marked[-1], marked[:, 0], marked[:, -1]):
        assert side.all()
    assert filled["x"][0] < low[0] < high[0] < filled["x"][-1]
    central = np.percentile(demo[1].states, (2, 98), axis=0)
    np.testing.assert_allclose([min(frame["x"]), max(frame["x"])], central[:, 0], rtol=1e-3)
    np.testing.assert_allclose([min(frame["y"]), max(frame["y"])], central[:, 1], rtol=1e-3)


def test_coverage_of_a_line_marks_what_lies_beyond(line: tuple[WGSINDy, Trajectories]) -> None:
    left, right, bars = Page(rendered(line)).specs()["coverage-0"]["data"]
    states = line[1].states
    assert sum(bars["y"]) == len(states)
    assert max(left["x"]) == pytest.approx(states.min(), rel=1e-3)
    assert min(right["x"]) == pytest.approx(states.max(), rel=1e-3)


def test_times_carry_their_unit(line: tuple[WGSINDy, Trajectories], demo_text: str) -> None:
    text = rendered(line, ORIGIN._replace(time_unit="years"))
    specs = Page(text).specs()
    assert specs["simulated-trajectory-0"]["layout"]["xaxis"]["title"]["text"] == "time (years)"
    assert specs["simulated-memory-0"]["layout"]["xaxis"]["title"]["text"] == "time apart (years)"
    assert '<th scope="row">Time step</th><td>0.01 years</td>' in in_words(text)
    assert '<th scope="row">Observed time</th><td>64 years</td>' in in_words(text)
    plain = in_words(rendered(line))
    assert "years" not in plain
    assert '<th scope="row">Time step</th><td>0.01</td>' in plain
    assert "units of time. Pale arrows" in demo_text


def measured_in(generator: Generator) -> Generator:
    known = Observation(time_unit="s", units={"x": "um", "y": "um"})
    return replace(generator, observation=known)


def test_names_and_units_stand_at_axes_equations_and_tables(
    demo: tuple[WGSINDy, Trajectories], demo_text: str
) -> None:
    fitted, data = demo
    text = render_report(measured_in(fitted.generator_), data, fitted.diagnostics_, ORIGIN)
    titles = {
        axis["title"]["text"]
        for spec in Page(text).specs().values()
        for axis in (spec["layout"]["xaxis"], spec["layout"]["yaxis"])
    }
    assert {"x (um)", "y (um)", "time (s)"} <= titles
    assert not {"x", "y", "time", "b1", "b2"} & titles
    plain = in_words(text)
    assert "Drift of y: b[y] (um/s)" in plain
    assert "Variance of x: a[x, x] (um^2/s)" in plain
    assert '<td class="unit">1/(um^2 s)</td>' in plain  # of x**2*y
    assert plain.count('<span class="unit">um/s</span>') == 2
    assert '<th scope="row">Range of x (um)</th>' in plain
    assert re.search(r"Curl of x and y</th><td>[^<]* 1/s</td>", plain)
    assert str(field_symbol("a12", ("x", "y"))) in text
    shown = re.sub(r"<(pre|script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    assert not re.search(r"\b(b[12]|a(11|12|22))\b", re.sub(r"<[^>]*>", " ", shown))
    assert "(um" not in demo_text


def test_figures_have_names_and_units(demo: tuple[WGSINDy, Trajectories]) -> None:
    figures = fit_figures(measured_in(demo[0].generator_), PlotSample.of(demo[1]))
    fields = figures["fields"].axes
    assert [fields[0].get_xlabel(), fields[0].get_ylabel()] == ["x (um)", "y (um)"]
    assert fields[0].get_title() == "Drift of x: b[x] (um/s)"
    (written,) = figures["overview"].axes[1].texts
    assert "a[x, y] = 0   [um^2/s]" in written.get_text()


def test_an_index_of_long_names_stays_on_one_line() -> None:
    symbol = str(field_symbol("a12", ("temperature", "pressure")))
    assert "<mi>temperature,\u00a0pressure</mi>" in symbol


def test_a_line_has_no_entropy_production() -> None:
    x = sympy.Symbol("x")
    line = Generator.from_sympy(("x",), [-x], [[1]])
    plane = zoo.get("rotational_ou").generator
    for generator, expected in ((line, False), (plane, True)):
        told = generator.readouts(cells=24, draws=0)
        assert ("entropy production (1/s)" in dict(law_numbers(told, "s"))) is expected


def test_equations_of_the_original_states_stand_beside_the_fitted_ones(
    line: tuple[WGSINDy, Trajectories], demo_text: str
) -> None:
    change = Change.parse("x = log(price)", ("price",))
    mapped = change.undo(line[0].generator_, None)
    text = rendered(line, ORIGIN._replace(mapped=mapped))
    (part,) = re.findall('<section id="original".*?</section>', text, re.DOTALL)
    for equation in named_equations(mapped):
        assert equation in part
    assert part.count('class="equation"') == 2
    assert 'id="original"' not in demo_text


HOSTILE = "</script><script>alert('&1')</script><b onclick=\"x\">{{ 7 * 7 }}"


def test_text_of_the_caller_never_becomes_markup(
    line: tuple[WGSINDy, Trajectories], demo_text: str
) -> None:
    text = rendered(line, Origin(HOSTILE, HOSTILE, HOSTILE, (HOSTILE,)))
    plain = rendered(line)
    tags = [tag for tag, _ in Page(text).elements]
    # One list of notes more, nothing else; the text itself is there, in words.
    for tag in set(tags) | {"script", "b"}:
        expected = sum(found == tag for found, _ in Page(plain).elements)
        numbers = 3  # of the note, each in a span of its own
        notes = {"ul": 1, "li": 1, "h3": 1, "pre": 0, "span": numbers}.get(tag, 0)
        assert tags.count(tag) == expected + notes, tag
    assert "<b onclick" not in text
    assert "alert(&#39;&amp;1&#39;)" in text
    assert "{{ 7 * 7 }}" in in_words(text)


def test_text_in_data_cannot_end_its_element() -> None:
    written = json_markup({"name": "</script><!-- & -->"})
    assert not re.search("[<>&]", written)
    assert json.loads(written) == {"name": "</script><!-- & -->"}


def test_nothing_refers_to_the_network(demo_text: str) -> None:
    page = Page(demo_text)
    loading = {"src", "href", "srcset", "action", "poster", "data", "xlink:href", "background"}
    for tag, found in page.elements:
        for name in loading & set(found):
            assert re.match(r"#|data:", str(found[name])), (tag, name, found[name])
    style = package_text("report.css")
    assert "url(" not in style
    assert "@import" not in style
    policy = [found for tag, found in page.elements if "http-equiv" in found]
    assert "default-src 'none'" in str(policy[0]["content"])


def test_pages_are_small_and_always_the_same(
    demo: tuple[WGSINDy, Trajectories], demo_text: str
) -> None:
    assert len(demo_text.encode()) < LARGEST_PAGE
    assert rendered(demo) == demo_text


def test_the_file_is_the_page_and_nothing_is_left_beside_it(
    demo: tuple[WGSINDy, Trajectories], demo_text: str, tmp_path: Path
) -> None:
    fitted, data = demo
    write_report(
        tmp_path / "report.html",
        fitted.generator_,
        data,
        fitted.diagnostics_,
        title=ORIGIN.title,
        command=ORIGIN.command,
    )
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == demo_text


def test_the_model_in_the_page_is_the_model(
    demo: tuple[WGSINDy, Trajectories], demo_text: str
) -> None:
    links = [found for tag, found in Page(demo_text).elements if "download" in found]
    assert [link["download"] for link in links] == ["model.json"]
    content = str(links[0]["href"]).removeprefix("data:application/json;base64,")
    loaded = Generator.from_dict(json.loads(base64.b64decode(content)))
    assert loaded.coefficients == demo[0].generator_.coefficients


def test_every_dimension_has_its_pictures(
    demo_text: str, line: tuple[WGSINDy, Trajectories], space: tuple[WGSINDy, Trajectories]
) -> None:
    texts = dict(enumerate([rendered(line), demo_text, rendered(space)], 1))
    drawn = {d: set(Page(text).specs()) for d, text in texts.items()}
    constants = {d: text.count("<tr data-constant=") for d, text in texts.items()}
    for d, names in drawn.items():
        fields = {name for name in names if name.startswith("field-")}
        assert len(fields) + constants[d] == d + d * (d + 1) // 2
        assert constants[d] > 0
        for p in range(d):
            for kind in ("histogram", "memory", "mean", "size"):
                assert f"residual-{kind}-{p}" in names
            for kind in ("density", "memory", "trajectory"):
                assert f"simulated-{kind}-{p}" in names
    assert "coverage-0" in drawn[1]
    assert {"arrows-0-1", "ellipses-0-1", "coverage-0-1", "drift-error-0-1"} <= drawn[2]
    assert {f"arrows-{p}-{q}" for p, q in ((0, 1), (0, 2), (1, 2))} <= drawn[3]


@pytest.mark.parametrize("case", ["line", "demo"])
def test_pictures_of_data_far_from_zero_are_those_near_it(
    case: str, request: pytest.FixtureRequest
) -> None:
    est, data = request.getfixturevalue(case)
    near, place = est.generator_, np.array([500_000.0, -1_000_000.5])[: data.dimension]
    assert near.region is not None
    away = Frame(near.region.centre + place, near.region.scale)
    far = replace(near, basis=near.basis.about(place), region=away)
    # Cut to 20 binary places, states are exact here and there.
    paths, dt = [np.round(path * 2.0**20) / 2.0**20 for path in data], float(data.steps(0)[0])
    texts = [
        render_report(
            generator, Trajectories(moved, dt, names=data.names), est.diagnostics_, ORIGIN
        )
        for generator, moved in ((near, paths), (far, [path + place for path in paths]))
    ]
    plain, found = (json.dumps(Page(text).specs(), ensure_ascii=False) for text in texts)
    labels = [name.replace("-", "\N{MINUS SIGN}") for name in far.basis.coordinates]
    assert labels[0] == "x \N{MINUS SIGN} 500000"
    for name, label in zip(data.names, labels, strict=True):
        assert f"Range of {label}" in texts[1]
        assert f'"text": "{label}"' in found
        found = found.replace(label, name)
    assert found == plain


def test_pictures_are_valid_and_have_a_place_and_words(demo_text: str) -> None:
    page = Page(demo_text)
    places = {str(a["id"]): a for _, a in page.elements if a.get("class") == "picture"}
    specs = page.specs()
    assert set(places) == set(specs)
    for name, spec in specs.items():
        assert set(spec) == {"data", "layout", "aspect", "columns"}
        assert set(spec["layout"]) == {"xaxis", "yaxis"}
        for axis in spec["layout"].values():
            assert set(axis) <= {"title", "range"}
        for trace in spec["data"]:
            assert set(trace) <= EVERY_TRACE | TRACES[trace["type"]], name
            assert set(trace.get("line", ())) <= {"color", "width", "dash"}
            assert set(trace.get("marker", ())) <= {"color", "size", "opacity"}
            assert set(trace.get("colorbar", ())) <= {"tickvals", "ticktext"}
        assert len(str(places[name]["aria-label"])) > 30
        assert places[name]["role"] == "img"


def test_the_script_reads_every_property_of_a_picture() -> None:
    script = package_text("report.js")
    for name in EVERY_TRACE.union(*TRACES.values()) - {"text", "x", "y", "z"}:
        assert re.search(rf"\.{name}\b", script), name
    for kind in TRACES:
        assert re.search(rf"^    {kind}\(svg, trace, frame\)", script, re.MULTILINE)


def test_images_show_the_fields(demo: tuple[WGSINDy, Trajectories], demo_text: str) -> None:
    generator, specs = demo[0].generator_, Page(demo_text).specs()
    image = specs["field-b2"]["data"][0]
    x, y = np.meshgrid(image["x"], image["y"])
    states = np.stack([x.ravel(), y.ravel()], axis=1)
    # Numbers in pictures have 5 digits; the drift reaches 15.
    np.testing.assert_allclose(np.ravel(image["z"]), generator.drift(states)[:, 1], atol=5e-3)
    bands = generator.bands(states)
    widths = (bands.drift_high - bands.drift_low)[:, 1] / 2
    np.testing.assert_allclose(np.ravel(image["customdata"]), widths, rtol=2e-3)


def test_every_field_has_a_scale_of_its_own() -> None:
    x, y = sympy.symbols("x y")
    truth = Generator.from_sympy(("x", "y"), [1000 * x, y], [[1e6 + y, 0], [0, 1 + y**2]])
    rng = np.random.default_rng(0)
    data = Trajectories([rng.normal(size=(200, 2)).cumsum(axis=0)], dt=0.01)
    specs = Page(render_report(truth, data, examined(truth, data), ORIGIN)).specs()
    ranges = {
        name: (spec["data"][0]["zmin"], spec["data"][0]["zmax"])
        for name, spec in specs.items()
        if name.startswith("field-")
    }
    values = np.array(specs["field-a22"]["data"][0]["z"])
    assert ranges["field-a22"][1] <= values.max() * 1.0001
    assert ranges["field-a22"][1] > values.max() / 4
    # Nearly a constant: in the middle of its range.
    assert ranges["field-a11"] == pytest.approx((0.75e6, 1.25e6), rel=1e-4)


def test_a_constant_field_is_a_number_and_not_a_picture() -> None:
    x, y = sympy.symbols("x y")
    truth = Generator.from_sympy(("x", "y"), [-x, 3], [[0.25, 0], [0, 1 + y**2]])
    data = Trajectories([np.random.default_rng(0).normal(size=(200, 2)).cumsum(axis=0)], dt=0.01)
    text = render_report(truth, data, examined(truth, data), ORIGIN)
    assert {name for name in Page(text).specs() if name.startswith("field-")} == {
        "field-b1",
        "field-a22",
    }
    rows = dict(re.findall(r'<tr data-constant="(\w+)">.*?<td class="number">(.*?)</td>', text))
    assert set(rows) == {"b2", "a11", "a12"}
    assert "3.000" in rows["b2"]
    assert "0.2500" in rows["a11"]
    assert rows["a12"] == "0"


def test_curves_show_the_fields(line: tuple[WGSINDy, Trajectories]) -> None:
    generator, specs = line[0].generator_, Page(rendered(line)).specs()
    strip, curve = specs["field-b1"]["data"]
    states = np.array(curve["x"])[:, None]
    np.testing.assert_allclose(curve["y"], generator.drift(states)[:, 0], atol=1e-3)
    high = np.array(strip["y"][: len(states)])
    np.testing.assert_allclose(high, generator.bands(states).drift_high[:, 0], atol=1e-3)


def test_arrows_point_along_the_drift_and_are_pale_where_nothing_was(
    demo: tuple[WGSINDy, Trajectories], demo_text: str
) -> None:
    _, pale, dark, points = Page(demo_text).specs()["arrows-0-1"]["data"]
    generator, data = demo[0].generator_, demo[1]
    places = np.stack([points["x"], points["y"]], axis=1)
    np.testing.assert_allclose(points["customdata"], generator.drift(places), atol=5e-3)
    starts = np.array(list(zip(dark["x"][::7], dark["y"][::7], strict=True)))
    tips = np.array(list(zip(dark["x"][1::7], dark["y"][1::7], strict=True)))
    drift = generator.drift(starts)
    turned = drift[:, 0] * (tips - starts)[:, 1] - drift[:, 1] * (tips - starts)[:, 0]
    np.testing.assert_allclose(turned, 0, atol=1e-2)
    assert ((tips - starts) * drift).sum(axis=1).min() >= 0
    plane = data_planes(cloud(data))[0]
    cell = plane.sizes / 15
    for colour, expected in ((dark, True), (pale, False)):
        for place in zip(colour["x"][::7], colour["y"][::7], strict=True):
            near = (np.abs(data.states - np.array(place)) <= cell * 0.5001).all(axis=1).any()
            assert near == expected


def test_heads_of_arrows_are_symmetric() -> None:
    places, arrows = np.zeros((1, 2)), np.array([[2.0, 0.0]])
    outline = arrow_outlines(places, arrows, np.array([1.0, 10.0]))
    assert np.isnan(outline[[2, 6]]).all()
    left, tip, right = outline[3:6]
    assert tip.tolist() == [2.0, 0.0]
    assert left[1] == pytest.approx(-right[1])
    assert left[0] == pytest.approx(right[0])
    assert left[0] < 2.0


def test_outlines_of_ellipses_satisfy_their_equation() -> None:
    tensors = np.array([[[2.0, 0.7], [0.7, 0.5]], [[1.0, 0.0], [0.0, 0.0]]])
    places = np.array([[1.0, -1.0], [5.0, 5.0]])
    full, flat = ellipse_outlines(places, tensors).reshape(2, -1, 2)[:, :-1] - places[:, None]
    form = np.einsum("kp,pq,kq->k", full, np.linalg.inv(tensors[0]), full)
    np.testing.assert_allclose(form, 1)
    assert not flat[:, 1].any()
    assert np.abs(flat[:, 0]).max() == pytest.approx(1)


def examined(generator: Generator, data: Trajectories) -> Diagnostics:
    """The facts about any generator."""
    summary = data_summary(data, standardise=True)
    terms, rows = library(list(generator.basis.terms)), data.n_increments
    return diagnose(Fit(data, summary, terms, PAPER, generator, rows=rows, condition=1.0))


def test_residuals_are_the_noise_that_was_put_in() -> None:
    def noise(x: FloatArray) -> FloatArray:
        return np.stack([0.5 * np.ones(len(x)), np.sqrt(1 + x[:, 0] ** 2)], axis=1)

    def drift(x: FloatArray) -> FloatArray:
        return np.stack([x[:, 1], -x[:, 0]], axis=1)

    data, shocks = euler(drift, noise, [1.0, 0.0], paths=3, steps=200, dt=0.02, seed=5)
    x, y = sympy.symbols("x y")
    truth = Generator.from_sympy(("x", "y"), [y, -x], [[0.25, 0], [0, 1 + x**2]])
    found = residual_series(truth, data, examined(truth, data).noise_level)
    np.testing.assert_allclose(found.values, shocks, atol=1e-9)
    memory = found.autocorrelation()
    paths = shocks.reshape(3, 200, 2)
    np.testing.assert_allclose(memory, autocorrelation(list(paths), 30), atol=1e-9)
    moments = {moment.name: moment for moment in found.moments(0, examined(truth, data))}
    assert moments["mean"].value == pytest.approx(shocks[:, 0].mean())
    assert moments["variance"].value == pytest.approx(np.mean(shocks[:, 0] ** 2))
    profile = found.profile(1, along=0)
    assert profile.counts.sum() == 600
    assert np.average(profile.mean, weights=profile.counts) == pytest.approx(shocks[:, 1].mean())
    square = np.average(profile.size**2, weights=profile.counts)
    assert square == pytest.approx(np.mean(shocks[:, 1] ** 2))
    assert (np.diff(profile.places) > 0).all()


def test_residuals_know_the_step_of_their_own_path() -> None:
    parts = [
        euler(lambda x: -x, half, [1.0], paths=1, steps=50, dt=dt, seed=6) for dt in (0.02, 0.3)
    ]
    data = Trajectories([part[0][0] for part in parts], [0.02, 0.3])
    truth = Generator.from_sympy(("x",), [-sympy.Symbol("x")], [[0.25]])
    shocks = np.concatenate([part[1] for part in parts])
    np.testing.assert_allclose(
        residual_series(truth, data, examined(truth, data).noise_level).values, shocks, atol=1e-9
    )


def test_wrong_equations_fail_their_checks() -> None:
    data, _ = euler(lambda x: -x, half, [0.0], paths=8, steps=2000, dt=0.01, seed=2)
    x = sympy.Symbol("x")
    names = ("mean", "variance", "correlation of neighbours")

    def verdicts(drift: Any, variance: float) -> dict[str, bool]:
        generator = Generator.from_sympy(("x",), [drift], [[variance]])
        seen = examined(generator, data)
        moments = residual_series(generator, data, seen.noise_level).moments(0, seen)
        return {item.name: item.expected for item in moments if item.name in names}

    # A fixed seed; three intervals of 95 % fail together or alone in 14 of 100 right fits.
    assert all(verdicts(-x, 0.25).values())
    assert not verdicts(-x, 0.3)["variance"]
    assert not verdicts(2 - x, 0.25)["mean"]


def test_residuals_agree_with_the_diagnostics() -> None:
    """Low-noise samples are left out of both, a few repeats of none: both have the same moments."""

    def noise(x: FloatArray) -> FloatArray:
        return np.abs(x)

    data, _ = euler(lambda x: 0.5 - x, noise, [1.0], paths=4, steps=2000, dt=0.01, seed=9)
    paths = [np.insert(path, [50, 50, 700], path[[50, 50, 700]], axis=0) for path in data]
    stuck = Trajectories(paths, 0.01)
    x = sympy.Symbol("x")
    truth = Generator.from_sympy(("x",), [0.5 - x], [[x**2]])
    seen = examined(truth, stuck)
    found = residual_series(truth, stuck, seen.noise_level)
    assert seen.repeated_samples == 12
    values = found.of(0)
    assert 0 < len(values) < len(found.values) == stuck.n_increments
    assert 1 - len(values) / len(found.values) == pytest.approx(seen.low_noise[0])
    assert np.mean(values**2) == pytest.approx(seen.residual_variance[0])
    kurtosis = np.mean(values**4) / np.mean(values**2) ** 2 - 3
    assert kurtosis == pytest.approx(seen.excess_kurtosis[0])
    # The autocorrelation is one about the mean, whose square is of order 1 / n.
    lag_one = found.autocorrelation()[1, 0]
    assert lag_one == pytest.approx(seen.lag_one[0], abs=20 / len(values))


def test_a_coordinate_without_noise_has_no_residuals() -> None:
    system = zoo.get("van_der_pol_degenerate")
    data = system.simulate(0, trajectories=8, steps=400)
    fitted = WGSINDy(system.library, "sharp").fit(data)
    assert fitted.diagnostics_.noiseless == ("x",)
    text = rendered((fitted, data))
    assert "According to the fit x has no noise" in text
    names = set(Page(text).specs())
    assert "residual-histogram-0" not in names
    assert "residual-histogram-1" in names


def test_autocorrelation_is_that_of_a_loop() -> None:
    rng = np.random.default_rng(0)
    paths = [rng.normal(size=(n, 2)).cumsum(axis=0) for n in (7, 12, 3, 7)]
    paths[1][4, 0] = np.nan
    mean = np.nanmean(np.concatenate(paths), axis=0)
    expected = np.full((9, 2), np.nan)
    for lag in range(9):
        for p in range(2):
            products = [
                (path[n, p] - mean[p]) * (path[n + lag, p] - mean[p])
                for path in paths
                for n in range(len(path) - lag)
            ]
            expected[lag, p] = np.nanmean(products)
    np.testing.assert_allclose(autocorrelation(paths, 8), expected / expected[0], atol=1e-10)


def test_a_check_by_simulation_has_the_starts_and_lengths_of_the_data(
    demo: tuple[WGSINDy, Trajectories],
) -> None:
    data = Trajectories([demo[1][0][:50], demo[1][1][:80]], dt=0.01)
    played = check_by_simulation(demo[0].generator_, data, random_state=0)
    assert len(played.simulated) == REPLICAS
    for paths in (played.observed, *played.simulated):
        assert [len(path) for path in paths] == [50, 80]
        for path, own in zip(paths, data, strict=True):
            assert path[0].tolist() == own[0].tolist()
    assert played.share == 1.0
    curves = played.density(0)
    width = curves.places[1] - curves.places[0]
    assert curves.observed.sum() * width == pytest.approx(1, abs=0.05)
    assert (curves.low <= curves.high).all()
    memory = played.memory(1)
    assert memory.observed[0] == memory.low[0] == memory.high[0] == 1.0


def test_right_equations_lie_in_the_envelope_and_wrong_ones_do_not() -> None:
    x = sympy.Symbol("x")
    truth = Generator.from_sympy(("x",), [-x], [[1.0]])
    data = truth.simulate(np.zeros(1), dt=0.02, steps=500, trajectories=20, random_state=1)
    right = check_by_simulation(truth, data, random_state=2)
    assert right.density(0).inside > 0.7
    assert right.memory(0).inside > 0.7
    slow = check_by_simulation(
        Generator.from_sympy(("x",), [-x / 3], [[1 / 3]]), data, random_state=2
    )
    # The same stationary density, three times the memory; at long lags both have forgotten.
    assert slow.memory(0).inside < 0.5
    wide = check_by_simulation(Generator.from_sympy(("x",), [-x], [[2.0]]), data, random_state=2)
    assert wide.density(0).inside < 0.5


def test_long_data_are_cut_without_a_gap_and_thinned_evenly() -> None:
    long = np.arange(2.5 * LONGEST_SEGMENT)[:, None]
    pieces, dt = comparable_segments(Trajectories([long], dt=0.5))
    assert dt == 0.5
    assert max(len(piece) - 1 for piece in pieces) <= LONGEST_SEGMENT
    assert sum(len(piece) - 1 for piece in pieces) == len(long) - 1
    assert all(a[-1] == b[0] for a, b in pairwise(pieces))
    many = Trajectories([np.full((LONGEST_SEGMENT, 1), float(n)) for n in range(30)], dt=0.5)
    kept, _ = comparable_segments(many)
    assert sum(map(len, kept)) <= MOST_REPLICA_STEPS
    assert (kept[0][0, 0], kept[-1][0, 0]) == (0.0, 29.0)


def test_paths_with_other_steps_are_not_compared() -> None:
    path = np.arange(20.0)[:, None]
    pieces, dt = comparable_segments(Trajectories([path, path, path[:5]], [0.1, 0.1, 0.3]))
    assert len(pieces) == 2
    assert dt == pytest.approx(0.1)


def test_equations_that_explode_are_a_sentence_on_the_page(
    line: tuple[WGSINDy, Trajectories],
) -> None:
    x = sympy.Symbol("x")
    wild = Generator.from_sympy(("x",), [50 * x**3], [[1.0]])
    text = render_report(wild, line[1], line[0].diagnostics_, ORIGIN)
    (card,) = re.findall(r'<li class="finding" id="diverges">.*?</li>', text, re.DOTALL)
    assert "Simulations diverge" in card
    assert "a trajectory became infinite at step" in in_words(card)
    assert DIVERGING in card
    assert 'id="diverges"' not in rendered(line)
    assert not any(name.startswith("simulated") for name in Page(text).specs())


def test_what_a_path_would_do_after_its_end_is_not_asked() -> None:
    x = sympy.Symbol("x")
    wild = Generator.from_sympy(("x",), [3 * x**3], [[1e-6]])
    short, long = np.full((4, 1), 1.5), np.zeros((400, 1))  # from 1.5 it explodes in 0.07
    data = Trajectories([short, long], dt=0.01)
    check = check_by_simulation(wild, data, random_state=0)
    assert [len(path) for path in check.simulated[0]] == [4, 400]
    with pytest.raises(SimulationError):  # it would, had the data gone on
        check_by_simulation(wild, Trajectories([np.full((40, 1), 1.5), long], 0.01), random_state=0)


def test_paths_that_run_away_are_told_before_numbers_overflow() -> None:
    truth = Generator.from_sympy(("x",), [100 * sympy.Symbol("x")], [[1.0]])
    rng = np.random.default_rng(0)
    data = Trajectories([rng.normal(size=(300, 1))], dt=0.01)
    with pytest.raises(SimulationError, match=r"of x ran 1e\+06 standard deviations away"):
        check_by_simulation(truth, data, random_state=0)


def test_the_error_of_the_drift_is_relative_to_its_size() -> None:
    data, _ = euler(lambda x: -x, half, [0.5, 0.5], paths=8, steps=400, dt=0.01, seed=4)
    generator = WGSINDy("poly1", "sharp").fit(data).generator_
    states = data.states[:5]
    bands = generator.bands(states)
    sizes = [np.sqrt(np.mean(generator.drift(data.states)[:, p] ** 2)) for p in range(2)]
    errors = [
        (bands.drift_high - bands.drift_low)[:, p] / 2 / sizes[p] for p in range(2) if sizes[p] > 0
    ]
    np.testing.assert_allclose(
        relative_errors(generator, cloud(data), states), np.max(errors, axis=0)
    )


def test_planes_pass_through_the_middle_of_the_data(space: tuple[WGSINDy, Trajectories]) -> None:
    data = space[1]
    cut = data_planes(cloud(data))[1]
    assert cut.pair == (0, 2)
    _, _, states = cut.cells(4)
    assert set(states[:, 1]) == {np.median(data.states[:, 1])}
    counts = cut.counts(cloud(data), 4)
    cell = cut.sizes / 8
    for state, count in zip(states, counts, strict=True):
        near = np.abs(data.states - state)[:, [0, 2]] < cell
        assert count == near.all(axis=1).sum()


def test_headings_are_in_order(demo_text: str, line: tuple[WGSINDy, Trajectories]) -> None:
    for text in (demo_text, rendered(line)):
        levels = Page(text).headings
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert max(np.diff(levels)) == 1


def test_contents_lead_to_every_section(demo_text: str) -> None:
    page = Page(demo_text)
    sections = [f"#{found['id']}" for tag, found in page.elements if tag == "section"]
    links = [found["href"] for tag, found in page.elements if tag == "a"]
    assert [link for link in links if link in sections] == sections


def luminance(colour: str) -> float:
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_colours_can_be_told_from_the_page() -> None:
    blocks = re.findall(r":root[^{]*\{([^}]*)\}", package_text("report.css"))
    themes = [dict(re.findall(r"--([\w-]+): (#\w{6});", block)) for block in blocks]
    assert len(themes) == 2
    assert set(themes[0]) == set(themes[1])
    for theme in themes:
        for page in ("page", "card"):
            for ink in ("ink", "muted", "link"):
                light, dark = sorted([luminance(theme[page]), luminance(theme[ink])])[::-1]
                assert (light + 0.05) / (dark + 0.05) >= 4.5  # WCAG 2 AA, text
        for mark in ("observed", "simulated", "third", "fourth", "fifth", "good", "fair", "bad"):
            light, dark = sorted([luminance(theme["page"]), luminance(theme[mark])])[::-1]
            assert (light + 0.05) / (dark + 0.05) >= 3  # the same, graphics


def test_data_of_other_coordinates_are_refused(demo: tuple[WGSINDy, Trajectories]) -> None:
    fitted, data = demo
    other = Trajectories(list(data), 0.01, names=("p", "q"))
    with pytest.raises(DataError, match=r"\['x', 'y'\], the data have \['p', 'q'\]"):
        render_report(fitted.generator_, other, fitted.diagnostics_, ORIGIN)
