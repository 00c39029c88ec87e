"""Datasheets: what the lines say is what the page says, and nothing paints what is not there."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

from wgsindy import zoo
from wgsindy.draw import Plane
from wgsindy.model import Generator
from wgsindy.terms import library
from wgsindy_evidence.campaign import Case, Line, rounded
from wgsindy_evidence.datasheets import datasheet, index_of
from wgsindy_evidence.datasheets.contexts import contexts
from wgsindy_evidence.datasheets.fields import plot_fields
from wgsindy_evidence.datasheets.terms import written_equations
from wgsindy_evidence.documents import as_png
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.ours import datasheets

DRAWN = 1000
FIELDS = ("b1", "b2", "a11", "a12", "a22")
Coefficients = list[list[Any]]


def exact(name: str) -> Coefficients:
    """The true coefficients that the library has, as a fit would store them."""
    terms = library(zoo.get(name).library).bind(zoo.get(name).names).terms
    found = zoo.get(name).generator.coefficients
    return [[c.target, c.term, c.value, 0.01, 0.9] for c in found if c.term in terms]


def sheet_lines(
    name: str, seeds: Sequence[Coefficients], verdicts: Sequence[str] = (), **drawn: Any
) -> list[Line]:
    """Lines of both recipes; the first seed is drawn, with the truth as its model."""
    model = zoo.get(name).generator.to_dict()
    kept = {"model": model, "range": [[-1.0, 0.5], [2.0, 1.5]], "reasons": []} | drawn
    lines = []
    for number, coefficients in enumerate(seeds):
        verdict = verdicts[number] if verdicts else "identified"
        result: dict[str, Any] = {"verdict": verdict, "coefficients": coefficients} | (
            kept if number == 0 else {}
        )
        lines.append(
            Line(Case("datasheet", name, "sharp-euler", DRAWN + number), "x", result, None)
        )
    result = {"verdict": "not assessed"} | kept
    return [*lines, Line(Case("datasheet", name, "paper", DRAWN), "x", result, None)]


def table_lines(name: str, recipe: str, drifts: Sequence[float]) -> list[Line]:
    result = {
        "tensor": 0.02,
        "cosine": math.nan,
        "psd": 1.0,
        "psd_far": 0.5,
        "action": 0.15,
        "score": 0.9,
        "floor_drift": 0.05,
        "floor_tensor": 0.0123,
        "held_out_drift": 0.25,
        "held_out_tensor": 0.0375,
        "support": [[1.0, 0.0]] * 5,
        "true_support": [[1.0, 0.0]] * 5,
        "seconds_fit": 0.1,
    }
    return [
        Line(Case("table", name, recipe, seed), "x", result | {"drift": drift}, None)
        for seed, drift in enumerate(drifts)
    ]


def section(text: str, title: str) -> str:
    return text.split(f"## {title}\n")[1].split("\n## ")[0]


def rows_of(text: str, title: str) -> list[list[str]]:
    """Cells of the first table of a section, headings left out."""
    lines = [line for line in section(text, title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def meshes(figure: Figure) -> list[QuadMesh]:
    found = [axes.collections[0] for axes in figure.axes if axes.get_subplotspec() is not None]
    return [mesh for mesh in found if isinstance(mesh, QuadMesh)][:15]


def values(mesh: QuadMesh) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(mesh.get_array())


def test_rates_and_medians_are_those_of_a_count_by_hand() -> None:
    system = zoo.get("van_der_pol")
    terms = library(system.library).bind(system.names).terms
    rng = np.random.default_rng(3)
    seeds: list[Coefficients] = [
        [
            [field, term, float(rng.normal()), 0.01, 0.9]
            for field in FIELDS
            for term in terms
            if rng.random() < 0.15
        ]
        for _ in range(7)
    ]
    true = {(c.target, c.term): c.value for c in system.generator.coefficients}
    rows = rows_of(
        datasheet("van_der_pol", sheet_lines("van_der_pol", seeds), []).text, "Recovered"
    )
    expected = []
    for field in FIELDS:
        for term in terms:
            chosen = [c[2] for seed in seeds for c in seed if c[:2] == [field, term]]
            value = true.get((field, term), 0.0)
            if chosen or value:
                middle = f"{median(chosen):.4g}" if chosen else "-"
                remark = "false" if not value else "" if chosen else "missed"
                shares = f"{len(chosen)} of 7"
                expected.append([field, f"`{term}`", f"{value:.6g}", middle, shares, remark])
    assert [row[:5] + row[8:] for row in rows] == expected
    remarks = [row[8] for row in rows]
    assert {"missed", "false", ""} == set(remarks)  # the draw has all three kinds


def test_the_drawn_seed_gives_value_interval_and_inclusion() -> None:
    first = [["b1", "y", 1.0234567, 0.0123, 0.987]]
    page = datasheet("van_der_pol", sheet_lines("van_der_pol", [first, exact("van_der_pol")]), [])
    rows = {(row[0], row[1]): row[5:8] for row in rows_of(page.text, "Recovered")}
    # 1.0234567 -+ 1.96 x 0.0123, with two digits of the standard error.
    assert rows["b1", "`y`"] == ["1.023", "[0.999, 1.048]", "0.99"]
    assert rows["b2", "`x`"] == ["-", "-", "-"]  # another seed has it, the drawn one has not


def test_a_truth_beyond_the_library_is_said_to_be() -> None:
    selected = [*exact("sabr"), ["a11", "f*v", 0.3, 0.01, 1.0], ["b1", "1", 0.1, 0.01, 1.0]]
    positive = [[0.1, 0.1], [2.0, 0.8]]  # the truth has roots
    text = datasheet("sabr", sheet_lines("sabr", [selected], range=positive), []).text
    assert "The library does not span a11 and a12:" in text
    rows = {(row[0], row[1]): row for row in rows_of(text, "Recovered")}
    assert (rows["a11", "`f*v`"][2], rows["a11", "`f*v`"][8]) == ("-", "")
    assert rows["a22", "`v**2`"][2] == "0.2025"
    assert (rows["b1", "`1`"][2], rows["b1", "`1`"][8]) == (
        "0",
        "false",
    )  # a drift of zero is spanned
    spanned = datasheet("van_der_pol", sheet_lines("van_der_pol", [exact("van_der_pol")]), []).text
    assert "does not span" not in spanned


def test_head_and_equations_come_from_the_declaration() -> None:
    system = zoo.get("underdamped_langevin")
    text = datasheet(system.key, sheet_lines(system.key, [exact(system.key)]), []).text
    assert text.startswith(f"# {system.title}\n")
    head = text.split("## ")[0]
    for word in (f"`{system.key}`", "Named limits", "limit", "degenerate diffusion"):
        assert word in head
    assert section(text, "Context").strip() == contexts()[system.key]
    equations = section(text, "Equations")
    assert f"$$\n{system.generator.sde_latex()}\n$$\n" in equations
    assert f"$$\n{system.generator.generator_latex()}\n$$\n" in equations
    assert equations.count("$$") == 4
    assert "16 trajectories of 1200 steps of length 0.01, started at (-1, 0)" in equations
    assert "library `poly3` (10 terms)" in equations


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("heston_logsv", "of length 1/252"),
        ("heston_logsv", "Euler-Maruyama (which keeps v at least 1e-10)"),
        ("bad_coverage", "started at (2, 2) with a spread of 0.03"),
        ("gbm_2d", "exact lognormal transitions"),
        ("mueller_brown", "keeps x in [-1.7, 1.3] and y in [-0.4, 2.1]"),
    ],
)
def test_the_protocol_is_told(name: str, words: str) -> None:
    assert words in datasheet(name, sheet_lines(name, [exact(name)]), []).text


def test_equations_are_those_that_the_fit_prints() -> None:
    case = Case("datasheet", "double_well_transverse", "sharp-euler", DRAWN, 4, 400)
    system = zoo.get(case.system)
    fitted = fits.estimator(system, fits.simulate(case, system), case).generator_
    result = rounded(datasheets.run_case(case))
    assert written_equations(result) == fitted.equations()
    # The control: the field averages over supports, and would be written with other terms.
    assert Generator.from_dict(result["model"]).equations() != fitted.equations()


def test_the_table_of_figures_and_the_verdicts_are_counted() -> None:
    name = "rotational_ou"
    verdicts = ["partly identified", "identified", "identified"]
    lines = sheet_lines(name, [exact(name)] * 3, verdicts, reasons=["the drift of x is faint."])
    table = table_lines(name, "sharp-euler", [0.1, 0.3, 0.2]) + table_lines(name, "paper", [0.9])
    figures = section(datasheet(name, lines, table).text, "Figures")
    rows = {row[0]: row[1:] for row in rows_of(f"## Figures\n{figures}", "Figures")}
    assert list(rows) == ["sharp-euler", "paper", "published", "floor"]
    assert rows["sharp-euler"][0] == "0.200 [0.100, 0.300]"
    assert rows["sharp-euler"][2:] == ["-", "1.00 (0.50)", "0.250", "0.0375", "pass"]
    assert (rows["paper"][0], rows["paper"][-1]) == ("0.900 [0.900, 0.900]", "fail")
    assert rows["published"][0] == "0.058 [0.047, 0.073]"
    assert rows["floor"][:2] == ["0.050", "0.0123"]
    assert "over 3 seeds: identified on 2, partly identified on 1, not identified on 0." in figures
    assert "On seed 1000:\n\n- the drift of x is faint.\n" in figures


def test_failed_fits_are_reported_and_do_not_count_as_seeds() -> None:
    name = "rotational_ou"
    failed = Line(Case("datasheet", name, "sharp-euler", 1001), "x", None, "FitError: it ran away.")
    text = datasheet(name, [*sheet_lines(name, [exact(name)]), failed], []).text
    assert "1 of 2 fits failed, the first with: FitError: it ran away." in text
    assert all(row[4] == "1 of 1" for row in rows_of(text, "Recovered"))


def test_lines_without_a_model_are_refused_with_a_sentence() -> None:
    lines = sheet_lines("rotational_ou", [exact("rotational_ou")] * 2)[1:]
    with pytest.raises(
        CampaignError, match="no line of rotational_ou by sharp-euler holds a model"
    ):
        datasheet("rotational_ou", lines, [])


def test_the_picture_has_fifteen_panels_on_shared_scales() -> None:
    name = "nondiag_cholesky"
    other = zoo.get("diag_multiplicative").generator
    figure = datasheet(name, sheet_lines(name, [exact(name)], model=other.to_dict()), []).figure
    panels = meshes(figure)
    assert len(panels) == 15
    for row in range(5):
        recovered, true, error = panels[3 * row : 3 * row + 3]
        assert recovered.get_clim() == true.get_clim()
        assert error.get_clim()[0] == -error.get_clim()[1]
        np.testing.assert_allclose(values(error), values(recovered) - values(true))
    # b1 = -x over the stored range: 31 columns from -1 to 2.
    shown = values(panels[1]).reshape(31, 31)
    np.testing.assert_allclose(shown, np.tile(-np.linspace(-1, 2, 31), (31, 1)), atol=1e-12)
    corners = np.asarray(panels[1].get_coordinates())[
        [0, -1], [0, -1]
    ]  # of the cells around the points
    np.testing.assert_allclose(corners, [[-1.05, 0.5 - 1 / 60], [2.05, 1.5 + 1 / 60]])


def test_a_zero_field_is_blank_even_with_rounding_in_it() -> None:
    truth = zoo.get("rotational_ou").generator
    noisy = truth.to_dict()
    noisy["tensor"]["coefficients"][1] = [1e-17] * len(truth.basis)
    window = Plane((0, 1), ("x", "y"), -np.ones(2), np.ones(2), np.zeros(2))
    figure = plot_fields(Generator.from_dict(noisy), truth, window, points=5, size=(7, 7))
    assert not any(values(mesh).any() for mesh in meshes(figure)[9:12])
    bars = figure.axes[15:]
    written = [[float(t) for t in axes.get_yticks()] for axes in bars]
    assert written[6:8] == [[0.0], [0.0]]  # two bars a row; a12 is the fourth row
    assert all(len(ticks) > 1 for ticks in written[:6] + written[8:])


def test_a_small_covariance_where_there_is_none_looks_small() -> None:
    truth = zoo.get("rotational_ou").generator  # a = identity
    close = truth.to_dict()
    constant = truth.basis.terms.index("1")
    close["tensor"]["coefficients"][1][constant] = 0.01
    window = Plane((0, 1), ("x", "y"), -np.ones(2), np.ones(2), np.zeros(2))
    figure = plot_fields(Generator.from_dict(close), truth, window, points=5, size=(7, 7))
    recovered, _, error = meshes(figure)[9:12]
    assert error.get_clim() == (-0.25, 0.25)
    low, high = recovered.get_clim()
    assert low < -0.2
    assert high > 0.2


def test_the_same_lines_give_the_same_bytes_and_a_small_file() -> None:
    lines = sheet_lines("nondiag_cholesky", [exact("nondiag_cholesky")] * 2)
    first, second = (datasheet("nondiag_cholesky", lines, []) for _ in range(2))
    assert first.text == second.text
    picture = as_png(first.figure)
    assert picture == as_png(second.figure)
    assert len(picture) < 120_000


def test_the_index_lists_every_family_and_links_every_sheet() -> None:
    text = index_of(zoo.names(variants=True))
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == list(zoo.FAMILIES)
    assert re.findall(r"\]\((\w+)\.md\)", text) == zoo.names(variants=True)
    assert "## Variants" not in index_of(zoo.names())
    row = next(line for line in text.splitlines() if "(underdamped_langevin.md)" in line)
    assert "limit" in row
    assert "degenerate diffusion" in row
