"""Pages of the evidence, from invented lines: every figure against its definition."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import isnan
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wgsindy import zoo
from wgsindy.model import linear_form as symbolic
from wgsindy.terms.library import library
from wgsindy_evidence import published
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.experiments.paper import ablation, ladder, leverage, nulls
from wgsindy_evidence.experiments.paper import baselines as proxies
from wgsindy_evidence.experiments.paper.convergence import HORIZONS, QUICK_HORIZONS
from wgsindy_evidence.experiments.paper.errata import QUICK_SLIPS, SLIPS
from wgsindy_evidence.grid import Grid, number, percent
from wgsindy_evidence.pages import PAGES, Content
from wgsindy_evidence.pages.heatmap import plot_heatmap
from wgsindy_evidence.pages.paper import coefficients as coefficients_page
from wgsindy_evidence.pages.paper import convergence as convergence_page
from wgsindy_evidence.pages.paper import ladder as ladder_page
from wgsindy_evidence.pages.paper import leverage as leverage_page
from wgsindy_evidence.pages.paper import nulls as nulls_page
from wgsindy_evidence.pages.summary import Index, median, spread
from wgsindy_evidence.registry import EXPERIMENTS
from wgsindy_evidence.scope import Scope

Result = dict[str, Any]
NOTHING = float("nan")
QUICK = Scope(quick=True)
LOOK = tuple(name for name in PAGES if name in EXPERIMENTS)
FIELDS = ("b1", "b2", "a11", "a12", "a22")


# --- invented results ---


def fit_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("drift", "whole_drift", "tensor", "cosine", "psd", "score", "condition", "seconds")
    return dict(zip(keys, rng.uniform(0.05, 0.9, len(keys)).tolist(), strict=True)) | {
        "fields": dict(zip(FIELDS, rng.uniform(size=5).tolist(), strict=True)),
        "time": 16.0,
    }


def leverage_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("rho_spread", "tensor", "kappa", "theta", "xi", "rho_parametric")
    rho = case.settings["rho"] + 0.3 * rng.standard_normal()
    return dict(zip(keys, rng.uniform(size=6).tolist(), strict=True)) | {"rho": float(rho)}


def circulation_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("antisymmetric", "current", "current_error", "paper_direction", "curl", "true_curl")
    return dict(zip(keys, rng.uniform(size=6).tolist(), strict=True))


def coefficient_result(case: Case, rng: np.random.Generator) -> Result:
    """Every true term in half of the seeds, every other one in a tenth."""
    system = zoo.get(case.system)
    terms = library(system.library).bind(system.names).terms
    true = system.true_coefficients()
    assert true is not None
    drift, entries = symbolic.field_names(2)
    selected: dict[str, dict[str, float]] = {}
    errors: dict[str, dict[str, float]] = {}
    for target, row in zip([*drift, *entries], true, strict=True):
        errors[target] = {}
        for term, value in zip(terms, row, strict=True):
            if rng.uniform() < (0.8 if value else 0.1):
                estimate = float(value * rng.uniform(0.8, 1.2) or rng.normal())
                selected.setdefault(target, {})[term] = estimate
            if value:
                errors[target][term] = float(rng.uniform(0.01, 0.5))
    return {"selected": selected} | ({"errors": errors} if case.recipe == "sharp" else {})


def table_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("drift", "tensor", "cosine", "psd", "psd_far", "action", "score", "floor_drift")
    more = ("floor_tensor", "held_out_drift", "held_out_tensor", "seconds_fit")
    result: Result = dict(zip((*keys, *more), rng.uniform(0.1, 0.9, 12).tolist(), strict=True))
    support = {"support": rng.uniform(size=(5, 6)), "true_support": rng.uniform(size=(5, 6))}
    terms = {"terms_present": 6, "terms_found": 5, "terms_absent": 24, "terms_false": 1}
    counted = terms if case.recipe == "sharp" else {}
    return result | {key: value.tolist() for key, value in support.items()} | counted


def calibration_result(case: Case, rng: np.random.Generator) -> Result:
    return {
        **{key: rng.normal(size=5).tolist() for key in ("given", "clustered", "selected")},
        "missed": int(rng.integers(3)),
        "inclusion": rng.uniform(size=30).tolist(),
        "present": rng.integers(2, size=30).tolist(),
    }


def step_result(case: Case, rng: np.random.Generator) -> Result:
    return {"drift": rng.normal(size=50).tolist(), "tensor": rng.normal(size=100).tolist()}


def verdict_result(case: Case, rng: np.random.Generator) -> Result:
    axis = str(rng.choice(["", "hidden coordinate", str(zoo.get(case.system).limitation)]))
    return {"verdict": "identified", "axis": axis, "axes": [axis] if axis else []}


INVENTED: dict[str, Callable[[Case, np.random.Generator], Result]] = {
    "fit": fit_result,
    "leverage": leverage_result,
    "circulation": circulation_result,
    "noise": fit_result,
    "errata": fit_result,
    "coefficients": coefficient_result,
    "table": table_result,
    "calibration": calibration_result,
    "steps": step_result,
    "uneven": fit_result,
    "verdict": verdict_result,
}


def invented(case: Case) -> Line:
    """A line with figures that depend on the case and on nothing else."""
    key = zlib.crc32(json.dumps(case.to_json()).encode())
    return Line(case, "test", INVENTED[case.experiment](case, np.random.default_rng(key)), None)


@cache
def lines_of(name: str, scope: Scope = QUICK) -> tuple[Line, ...]:
    return tuple(invented(case) for case in dict.fromkeys(EXPERIMENTS[name].cases(scope)))


@cache
def content_of(name: str) -> Content:
    return PAGES[name](lines_of(name))


def failed(line: Line) -> Line:
    return line._replace(result=None, error="DataError: invented.")


def changed(line: Line, **figures: Any) -> Line:
    assert line.result is not None
    return line._replace(result=line.result | figures)


# --- what a median is, written out ---


def middle(lines: Sequence[Line], key: str, **wanted: Any) -> float:
    """Median of a figure over the lines whose case has the wanted attributes or options."""
    values = []
    for line in lines:
        given = line.case.settings | vars(line.case)
        if line.result is not None and all(given[name] == value for name, value in wanted.items()):
            values.append(line.result[key])
    values = sorted(value for value in values if not isnan(value))
    if not values:
        return NOTHING
    n = len(values)
    return float((values[(n - 1) // 2] + values[n // 2]) / 2)


def shown(value: float, digits: int = 3) -> str:
    return "-" if isnan(value) else f"{value:.{digits}f}"


def csv_rows(name: str, **wanted: str) -> list[dict[str, str]]:
    rows = published.rows(name)
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def panels(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.get_subplotspec() is not None]


# --- every page ---

PANELS = {
    "ladder": 1,
    "ablation": 8,
    "baselines": 1,
    "method-heatmap": 3,
    "naive": 3,
    "coefficients": 1,
    "convergence": 4,
    "nulls": 2,
    "leverage": 2,
    "circulation": 2,
    "noise": 4,
    "reliability": 1,
}


@pytest.mark.parametrize("name", LOOK)
def test_tables_are_complete_and_say_no_nan(name: str) -> None:
    content = content_of(name)
    assert content.grids
    for key, grid in content.grids.items():
        assert grid.title
        assert 0 < grid.left <= len(grid.headings) or key == "reliability"
        assert grid.rows or name == "further-seeds"  # of which a look has the sentences only
        for row in grid.rows:
            assert len(row) == len(grid.headings)
            assert all(isinstance(cell, str) for cell in row)
            assert row[0]
            assert not any("nan" in cell.lower().split() or "|" in cell for cell in row)


@pytest.mark.parametrize("name", LOOK)
def test_figures_are_labelled_and_their_legends_name_everything_once(name: str) -> None:
    for key, figure in content_of(name).figures.items():
        found = panels(figure)
        assert len(found) == PANELS[key], key
        around = figure.get_supxlabel() or figure.get_supylabel()
        bars = [axes.get_xlabel() for axes in figure.axes if axes not in found]
        if key in ("naive", "method-heatmap"):  # the colour bar says what the panel shows
            assert len(bars) == len(set(bars)) == len(found)
            assert all(bars)
        for axes in found:
            assert axes.get_xlabel() or axes.get_ylabel() or axes.get_title() or around or bars
            assert axes.has_data()
        if key not in ("naive", "method-heatmap"):  # words at the ticks, figures in the cells
            assert around or any(axes.get_xlabel() for axes in found)
        own = [legend for axes in found if (legend := axes.get_legend()) is not None]
        for legend in [*own, *figure.legends]:
            texts = [text.get_text() for text in legend.get_texts()]
            assert texts
            assert len(texts) == len(set(texts))
        figure.draw_without_rendering()  # nothing warns


def test_the_look_draws_every_figure_that_has_a_number_of_panels() -> None:
    assert {key for name in LOOK for key in content_of(name).figures} == set(PANELS)


@pytest.mark.parametrize("name", LOOK)
def test_a_page_depends_on_its_lines_alone(name: str) -> None:
    again = PAGES[name](lines_of(name))
    assert again.grids == content_of(name).grids
    assert again.sentences == content_of(name).sentences


@pytest.mark.parametrize("name", LOOK)
def test_a_failed_case_is_left_out(name: str) -> None:
    """The page is that of the lines without it, except where failures are counted."""
    first, *others = lines_of(name)
    content = PAGES[name]([failed(first), *others])
    without = PAGES[name](others)
    if name not in ("table", "further-seeds"):  # there a failed case fails the gate
        assert content.grids == without.grids


def whole_method_fails(name: str) -> list[Line]:
    """Lines of a campaign in which the first method of the first system never came through."""
    first = lines_of(name)[0].case
    return [
        failed(line)
        if (line.case.system, line.case.recipe) == (first.system, first.recipe)
        else line
        for line in lines_of(name)
    ]


@pytest.mark.parametrize("name", LOOK)
def test_a_method_that_never_comes_through_leaves_dashes(name: str) -> None:
    content = PAGES[name](whole_method_fails(name))
    for grid in content.grids.values():
        assert not any("nan" in cell for row in grid.rows for cell in row)


# --- ladder ---


def test_rungs_have_the_medians_of_their_cases_beside_the_papers() -> None:
    lines = lines_of("ladder", Scope(seeds=(1, 2, 3), systems=("indep_ou", "stuart_landau")))
    rows = PAGES["ladder"](lines).grids["ladder"].rows
    theirs = csv_rows("ladder")
    columns = (
        "raw_median_inscope_score",
        "median_objective_drift_rel_l2",
        "median_diffusion_rel_l2",
    )
    assert len(rows) == len(ladder.RUNGS) == 9
    for place, (row, rung) in enumerate(zip(rows, ladder.RUNGS, strict=True)):
        wanted = {"recipe": rung.method, "trajectories": rung.trajectories}
        # Of the two systems only the first is one of the paper's thirteen.
        own = {
            key: middle(lines, key, system="indep_ou", **wanted)
            for key in ("score", "drift", "tensor", "psd")
        }
        known = [float(theirs[place][c]) if place < len(theirs) else NOTHING for c in columns]
        assert row == [
            rung.label,
            str(rung.trajectories),
            shown(own["score"]),
            shown(known[0]),
            shown(middle(lines, "score", **wanted)),
            shown(own["drift"]),
            shown(known[1]),
            shown(own["tensor"]),
            shown(known[2]),
            shown(own["psd"]),
        ]
    # The paper has seven rungs; ours beyond them have dashes.
    assert [row[3] == "-" for row in rows] == [False] * 7 + [True] * 2


def test_nothing_in_the_ladder_is_a_running_maximum() -> None:
    falling = {
        (rung.method, rung.trajectories): 0.9 - 0.1 * place
        for place, rung in enumerate(ladder.RUNGS)
    }
    lines = [
        changed(line, score=falling[line.case.recipe, line.case.trajectories])
        for line in lines_of("ladder")
    ]
    steps = ladder_page.summarise(lines)
    expected = list(falling.values())
    assert [step.score.median for step in steps] == pytest.approx(expected)
    figure = ladder_page.plot_ladder(steps)
    widths = [patch.get_width() for patch in panels(figure)[0].patches]  # type: ignore[attr-defined]
    assert widths == pytest.approx(expected)
    # The published ladder goes down at its third rung, and is shown so.
    marks = panels(figure)[0].get_lines()[-2].get_xdata()
    raw = [float(row["raw_median_inscope_score"]) for row in csv_rows("ladder")]
    assert raw[2] < raw[1]
    np.testing.assert_array_equal(np.asarray(marks, dtype=float)[:7], raw)


# --- ablation ---


def test_components_left_out_have_the_medians_of_their_cases() -> None:
    lines = lines_of("ablation")
    for recipe, components in ablation.COMPONENTS.items():
        rows = content_of("ablation").grids[f"ablation-{recipe}"].rows
        for row, component in zip(rows, components, strict=True):
            wanted = {"recipe": component.method, "trajectories": component.trajectories}
            whole = {
                key: middle(lines, key, steps=0, **wanted)
                for key in ("drift", "tensor", "psd", "condition", "score")
            }
            if component.trajectories == 16:
                part = middle(lines, "score", recipe=component.method, trajectories=4)
            else:
                part = middle(lines, "score", steps=400, **wanted)  # a quarter of 1,600
            cells = [shown(whole["drift"]), shown(whole["tensor"], 4), shown(whole["psd"], 2)]
            assert [row[1], row[3], row[5]] == cells
            assert row[0] == component.label
            assert row[6:8] == [shown(whole["condition"], 1), shown(whole["score"])]
            assert row[9:] == [shown(whole["score"]), shown(part)]  # both systems are the paper's


def test_components_left_out_are_compared_over_the_papers_systems() -> None:
    systems = ("indep_ou", "stuart_landau")  # the second is in scope, but not one of the 13
    lines = lines_of("ablation", Scope(seeds=(1, 2, 3), systems=systems))
    row = PAGES["ablation"](lines).grids["ablation-sharp"].rows[0]
    wanted = {"recipe": "sharp", "trajectories": 16}
    assert row[7] == shown(middle(lines, "score", system="indep_ou", **wanted))
    assert row[9] == shown(middle(lines, "score", **wanted))
    assert row[7] != row[9]


def test_published_ablations_stand_in_the_rows_of_their_mechanism() -> None:
    rows = {row[0]: row for row in content_of("ablation").grids["ablation-paper"].rows}
    theirs = {
        "pooling of trajectories": "multi-trajectory pooling",
        "GLS drift weights": "GLS-whitening",
        "local polynomial": "local-poly (order 2)",
        "anisotropic kernels": "anisotropic (cov) bandwidth",
        "adaptive lasso": "adaptive-LASSO",
        "Cholesky tensor": "Cholesky-PSD",
    }
    assert {row["ingredient"] for row in csv_rows("leave_one_out")} == set(theirs.values())
    places = {"drift recovery": (2, 3), "tensor recovery": (4, 4), "sample efficiency": (8, 3)}
    for capability, (place, digits) in places.items():
        for label, name in theirs.items():
            (row,) = csv_rows("leave_one_out", ingredient=name, capability=capability)
            assert rows[label][place] == shown(float(row["leave_one_out_metric"]), digits)
            assert rows["complete"][place] == shown(float(row["baseline_metric"]), digits)
    for cells in content_of("ablation").grids["ablation-sharp"].rows:
        assert [cells[2], cells[4], cells[8]] == ["-", "-", "-"]


def test_bars_of_the_ablation_are_ratios_to_the_complete_recipe() -> None:
    lines = lines_of("ablation")
    first = panels(content_of("ablation").figures["ablation"])[0]
    complete = middle(lines, "drift", recipe="paper", trajectories=16)
    ends = [p.get_x() + p.get_width() for p in first.patches]  # type: ignore[attr-defined]
    expected = [
        middle(lines, "drift", recipe=item.method, trajectories=item.trajectories, steps=0)
        / complete
        for item in ablation.COMPONENTS["paper"][1:]
    ]
    assert ends == pytest.approx(expected)


# --- baselines and the naive port ---


@pytest.mark.parametrize("equal", [False, True])
def test_entrants_have_the_medians_of_their_budget(equal: bool) -> None:
    scope = Scope(seeds=(1, 2, 3), systems=("correlated_ou", "stuart_landau"))
    lines = lines_of("baselines", scope)
    rows = PAGES["baselines"](lines).grids["baselines-equal" if equal else "baselines"].rows
    names = {
        "paper": "WG_SINDY_FROZEN",
        "naive": "B0_NAIVE_1D_PORT",
        "kramers-moyal": "KM_LOCAL_MOMENT",
        "temporal-weak": "WEAK_SINDY_TEMPORAL_PROXY",
        "gedmd": "GEDMD_DENSE_PROXY",
    }
    for row, entrant in zip(rows, proxies.entrants(equal=equal), strict=True):
        method, budget = entrant.method, 16 if equal else entrant.trajectories
        wanted = {"system": "correlated_ou", "recipe": method, "trajectories": budget}
        scores = [
            float(r["median_inscope_score"])
            for r in csv_rows("head_to_head", variant_id=names.get(method, ""))
        ]
        theirs = float(np.median(scores)) if scores and not equal else NOTHING
        keys = ("drift", "tensor", "cosine", "psd", "seconds")
        figures = [shown(middle(lines, k, **wanted), 4 if k == "tensor" else 3) for k in keys]
        assert row[0].split(":")[0] == method
        assert row[1:] == [
            str(budget),
            shown(middle(lines, "score", **wanted)),
            shown(theirs),
            *figures,
        ]


def test_the_map_of_methods_shows_the_errors_of_equal_budgets() -> None:
    lines = lines_of("baselines")
    figure = content_of("baselines").figures["method-heatmap"]
    systems = list(dict.fromkeys(line.case.system for line in lines))
    methods = [entrant.method for entrant in proxies.entrants(equal=True)]
    for axes, key in zip(panels(figure), ("drift", "tensor", "cosine"), strict=True):
        cells = np.array(
            [
                [middle(lines, key, system=s, recipe=m, trajectories=16) for m in methods]
                for s in systems
            ]
        )
        cells = 1 - cells if key == "cosine" else cells
        shades = np.asarray(axes.get_images()[0].get_array())
        np.testing.assert_allclose(shades, cells)
        assert len(axes.texts) == cells.size


def test_a_map_writes_figures_and_leaves_gaps() -> None:
    values = np.array([[123.4, 12.34], [1.234, 0.01234], [NOTHING, 1e-5]])
    figure = plot_heatmap({"errors": values}, ["a", "b", "c"], ["one", "two"])
    (axes,) = panels(figure)
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written == {
        (0, 0): "123",
        (1, 0): "12.3",
        (0, 1): "1.23",
        (1, 1): "0.012",
        (1, 2): "0.000",
    }


def test_the_naive_port_stands_beside_the_papers_row() -> None:
    lines = lines_of("naive", Scope(seeds=(1, 2, 3)))
    theirs = {row["system"]: row for row in csv_rows("naive_port")}
    content = PAGES["naive"](lines)
    rows = content.grids["naive"].rows
    systems = list(dict.fromkeys(line.case.system for line in lines))
    columns = {
        "score": "median_inscope_score",
        "drift": "median_objective_drift_rel_l2",
        "tensor": "median_diffusion_rel_l2",
        "psd": "median_psd_valid_pct",
    }
    assert set(theirs) < set(systems)
    for row, system in zip(rows, systems, strict=True):
        expected = [zoo.get(system).title]
        for key, column in columns.items():
            known = float(theirs[system][column]) if system in theirs else NOTHING
            expected += [shown(middle(lines, key, system=system)), shown(known)]
        assert row == expected
    # The map shows two errors and the share of points where the tensor is not semidefinite.
    for axes, key in zip(panels(content.figures["naive"]), ("drift", "tensor", "psd"), strict=True):
        cells = np.array([[middle(lines, key, system=system)] for system in systems])
        cells = 1 - cells if key == "psd" else cells
        np.testing.assert_allclose(np.asarray(axes.get_images()[0].get_array()), cells)


# --- coefficients ---

SOME = Scope(seeds=(1, 2, 3, 4), systems=("correlated_ou", "maier_stein"))


def test_selection_rates_and_conditional_medians_are_counted() -> None:
    lines = lines_of("coefficients", SOME)
    usual = [line for line in lines if line.case.trajectories == 32]
    terms = coefficients_page.summarise(usual)
    systems = {zoo.get(name).title: name for name in SOME.systems or ()}
    seen = set()
    for term in terms:
        name = systems[term.system]
        for method, estimate in term.found.items():
            results = [
                line.result or {}
                for line in usual
                if (line.case.system, line.case.recipe) == (name, method)
            ]
            values = [
                r["selected"][term.target][term.name]
                for r in results
                if term.name in r["selected"].get(term.target, {})
            ]
            assert estimate.rate == len(values) / 4
            seen.add(estimate.rate)
            np.testing.assert_equal(estimate.value, np.median(values) if values else NOTHING)
        errors = [
            (line.result or {})["errors"][term.target][term.name]
            for line in usual
            if line.case.system == name and line.case.recipe == "sharp"
        ]
        assert term.worth == pytest.approx(abs(term.true) / np.median(errors))
    assert len(seen) > 2  # rates of all kinds, or the test could not fail
    # b1, b2 of the linear process have one term each, its tensor three constants.
    assert sum(term.system == "Correlated OU" for term in terms) == 5


def test_terms_that_are_not_there_are_counted_as_false() -> None:
    lines = lines_of("coefficients", SOME)
    rows = PAGES["coefficients"](lines).grids["coefficients-summary"].rows
    for method, count, always, error, false in rows:
        wrong, fits_, rates, errors = 0, 0, [], []
        own = [
            line.case.system
            for line in lines
            if line.case.recipe == method and line.case.trajectories == 32
        ]
        for system in dict.fromkeys(own):
            truth = zoo.get(system)
            true = truth.true_coefficients()
            assert true is not None
            names = library(truth.library).bind(truth.names).terms
            table = dict(zip(FIELDS, true, strict=True))
            results = [
                line.result or {}
                for line in lines
                if (line.case.system, line.case.recipe, line.case.trajectories)
                == (system, method, 32)
            ]
            fits_ += len(results)
            for target, row in table.items():
                for term, value in zip(names, row, strict=True):
                    found = [
                        r["selected"][target][term]
                        for r in results
                        if term in r["selected"].get(target, {})
                    ]
                    if not value:
                        wrong += len(found)
                        continue
                    rates.append(len(found) / len(results))
                    if rates[-1] == 1:
                        errors.append(abs(np.median(found) / value - 1))
        assert wrong > 0
        assert count == str(len(rates))
        assert always == str(rates.count(1.0))
        assert error == (f"{100 * np.median(errors):.2f} %" if errors else "-")
        assert false == f"{wrong / fits_:.1f} a fit"


def test_false_terms_are_counted_over_the_fits_that_came_through() -> None:
    lines = list(lines_of("coefficients", SOME))
    place = next(n for n, line in enumerate(lines) if line.case.recipe == "paper")
    summaries = [
        PAGES["coefficients"](kept).grids["coefficients-summary"].rows[1]
        for kept in (lines[:place] + lines[place + 1 :],)
    ]
    truth = {name: zoo.get(name) for name in SOME.systems or ()}
    wrong, total = 0, 0
    for n, line in enumerate(lines):
        if n == place or line.case.recipe != "paper":
            continue
        total += 1
        system = truth[line.case.system]
        true = system.true_coefficients()
        assert true is not None
        names = library(system.library).bind(system.names).terms
        there = {
            (target, names[k])
            for target, row in zip(FIELDS, true, strict=True)
            for k in np.flatnonzero(row)
        }
        selected = (line.result or {})["selected"]
        wrong += sum((t, term) not in there for t, terms in selected.items() for term in terms)
    assert summaries[0][4] == f"{wrong / total:.1f} a fit"


def test_published_coefficients_stand_in_the_rows_of_their_terms() -> None:
    lines = lines_of("coefficients", Scope(seeds=(1,)))
    found = {
        (row[0], row[1], row[2].strip("`").replace("**", "^").replace("*", "")): row
        for row in PAGES["coefficients"](lines).grids["coefficients"].rows
    }
    theirs = csv_rows("coefficients")
    assert len(theirs) > 60
    for row in theirs:
        cells = found[row["system"], row["target"], row["term"]]
        rate = float(row["selection_rate"])
        assert cells[10] == f"{rate:.2f}"
        assert cells[9] == (f"{float(row['wg_sindy']):+.4f}" if rate else "-")
    known = {(row["system"], row["target"], row["term"]) for row in theirs}
    others = [row for key, row in found.items() if key not in known]
    assert others
    assert all(row[9:11] == ["-", "-"] for row in others)


def test_more_data_have_a_table_of_their_own() -> None:
    lines = lines_of("coefficients", SOME)
    grid = PAGES["coefficients"](lines).grids["coefficients-more"]
    assert "16 times" in grid.title
    assert {row[0] for row in grid.rows} == {"Maier-Stein"}
    (row,) = [row for row in grid.rows if row[1:3] == ["b1", "`x*y**2`"]]
    values = [
        (line.result or {})["selected"].get("b1", {}).get("x*y**2")
        for line in lines
        if line.case.trajectories == 512
    ]
    chosen = [value for value in values if value is not None]
    assert row[6] == f"{len(chosen) / 4:.2f}"
    assert row[5] == (f"{np.median(chosen):+.4f}" if chosen else "-")
    assert "coefficients-more" not in content_of("coefficients").grids


# --- convergence ---


def test_curves_have_the_median_of_each_horizon_and_its_slope() -> None:
    lines = lines_of("convergence")
    grid = content_of("convergence").grids["convergence"]
    times = HORIZONS[:QUICK_HORIZONS]
    assert grid.headings[3:-1] == [f"T = {time:g}" for time in times]
    titles = {zoo.get(name).title: name for name in {line.case.system for line in lines}}
    ours = [row for row in grid.rows if not row[2].startswith("published")]
    assert len(ours) == len(titles) * 3 * 2
    for title, target, method, *cells in ours:
        method = "oracle" if method == "information floor" else method
        errors = [
            middle(
                lines, target, system=titles[title], recipe=method, trajectories=1, steps=100 * time
            )
            for time in times
        ]
        slope = np.polyfit(np.log(times), np.log(errors), 1)[0]
        assert cells == [*(shown(error, 4) for error in errors), shown(float(slope), 2)]


def test_the_published_curve_stands_under_the_papers_recipe() -> None:
    rows = content_of("convergence").grids["convergence"].rows
    times = HORIZONS[:QUICK_HORIZONS]
    for system in ("correlated_ou", "diag_multiplicative"):
        for target, word in (("drift", "drift"), ("tensor", "diffusion")):
            known = csv_rows("convergence", system=system, target=word)
            errors = {float(row["T_eff"]): float(row["error"]) for row in known}
            place = next(
                n
                for n, row in enumerate(rows)
                if row[:3] == [zoo.get(system).title, target, "published (1 seed)"]
            )
            assert rows[place - 1][2] == "paper"
            assert rows[place][3:] == [
                *(shown(errors.get(time, NOTHING), 4) for time in times),
                shown(float(known[0]["log_slope"]), 2),
            ]


def test_slopes_of_noise_and_of_bias() -> None:
    times = (1.0, 4.0, 16.0)
    noise = convergence_page.Curve("s", "sharp", "drift", times, (1.0, 0.5, 0.25))
    assert noise.slope == pytest.approx(-0.5)
    bias = convergence_page.Curve("s", "sharp", "drift", times, (0.3, 0.3, 0.3))
    assert bias.slope == pytest.approx(0)
    assert isnan(convergence_page.Curve("s", "sharp", "drift", (1.0,), (0.3,)).slope)


def test_a_horizon_that_failed_leaves_its_column_empty() -> None:
    lines = [
        failed(line) if line.case.recipe == "sharp" and line.case.steps == 1200 else line
        for line in lines_of("convergence")
    ]
    grid = PAGES["convergence"](lines).grids["convergence"]
    for row in grid.rows:
        assert len(row) == len(grid.headings)
        if row[2] == "sharp":
            assert row[3] == "-"


# --- nulls ---


def limit(system: str, sharp: float, oracle: float, wrong_library: str = "") -> str:
    """The cause that the page reads off lines with these drift errors."""
    drift = {"sharp": sharp, "paper": 5.0, "oracle": oracle}
    null = nulls.Null(system, wrong_library)
    lines = [
        changed(invented(case), whole_drift=drift[method])
        for method in nulls.METHODS
        for case in [nulls.null_case(null, method, 1)]
    ]
    (row,) = PAGES["nulls"](lines).grids["nulls"].rows[:1]
    return row[-1]


def test_the_cause_of_a_limit_is_read_off_the_oracle() -> None:
    # Terms are given and still wrong by more than the gate: the data.
    assert limit("gbm_2d", 3.0, 0.9) == "data"
    assert limit("gbm_2d", 0.9, 0.9) == "data"
    # Given the terms all is well, but none of them is on offer: the library.
    assert limit("mueller_brown", 0.5, 0.1) == "library"
    assert limit("nonpoly_drift", 0.5, 0.1, "poly2") == "library"
    # They were on offer and not taken.
    assert limit("gbm_2d", 0.5, 0.1) == "weak terms"
    # As good as the oracle.
    assert limit("gbm_2d", 0.15, 0.1) == "nothing: recovered"
    assert limit("sabr", NOTHING, NOTHING) == "no drift to find"


def test_without_an_oracle_nothing_is_called_recovered() -> None:
    assert "recovered" not in limit("gbm_2d", 3.0, NOTHING)


def test_an_error_beyond_the_gate_is_not_called_recovered() -> None:
    assert "recovered" not in limit("gbm_2d", 1.3, 0.7)


def test_limits_have_the_medians_of_whole_drift_and_tensor() -> None:
    lines = lines_of("nulls", Scope(seeds=(1, 2, 3)))
    rows = PAGES["nulls"](lines).grids["nulls"].rows
    assert len(rows) == len(nulls.NULLS)
    theirs = {
        (row["system"], row["failure_mode"] == "wrong_library"): row
        for row in csv_rows("honest_nulls")
    }
    assert len(theirs) == 8
    seen = set()
    for row, null in zip(rows, nulls.NULLS, strict=True):

        def of(key: str, method: str, null: nulls.Null = null) -> float:
            kept = [
                line
                for line in lines
                if line.case.settings.get("library", "") == (null.library, "")[method == "oracle"]
            ]
            return middle(kept, key, system=null.system, recipe=method)

        known = theirs.get((null.system, bool(null.library)))
        seen |= {(null.system, bool(null.library))} if known else set()
        order = ("sharp", "paper", "oracle")
        system = zoo.get(null.system)
        assert row[0] == system.title
        assert row[2] == str(system.limitation)
        assert row[3:6] == [shown(of("whole_drift", method)) for method in order]
        assert row[6] == shown(float(known["drift_rel_l2"]) if known else NOTHING)
        assert row[7:10] == [shown(of("tensor", method), 4) for method in order]
        assert row[10] == shown(float(known["diffusion_rel_l2"]) if known else NOTHING)
    assert seen == set(theirs)  # every published figure is somewhere


# --- leverage ---


def leverage_lines(found: dict[tuple[float, str], Sequence[float]]) -> list[Line]:
    return [
        changed(invented(case), rho=value)
        for (rho, method), values in found.items()
        for seed, value in enumerate(values)
        for case in [Case("leverage", "heston_logsv", method, seed, 4, 3000, (("rho", rho),))]
    ]


def test_signs_are_counted_where_the_correlation_is_large_enough() -> None:
    lines = leverage_lines(
        {
            (-0.5, "paper"): [-0.4, 0.1, -0.6],
            (-0.5, "sharp"): [-0.5, -0.5, -0.4],
            (0.2, "paper"): [0.3, -0.1, 0.2],
            (0.2, "sharp"): [0.2, 0.3, -0.9],
            (0.1, "paper"): [-9.0, -9.0, -9.0],  # too small to have a sign that counts
            (0.1, "sharp"): [-9.0, -9.0, -9.0],
        }
    )
    content = PAGES["leverage"](lines)
    # Errors of paper: 0.1, 0.6, 0.1, 0.1, 0.3, 0; of sharp: 0, 0, 0.1, 0, 0.1, 1.1.
    assert content.sentences["leverage"] == (
        "paper: sign right in 4 of 6 cases, median absolute error 0.100; "
        "sharp: sign right in 5 of 6 cases, median absolute error 0.050."
    )
    rows = {(row[0], row[1]): row for row in content.grids["leverage"].rows}
    assert rows["-0.50", "paper"][2:4] == ["-0.400", "0.100"]
    assert rows["-0.50", "paper"][5] == "67 %"
    assert rows["+0.10", "sharp"][5] == "0 %"


def test_points_have_medians_and_the_papers_figures() -> None:
    lines = lines_of("leverage", Scope(seeds=(1, 2, 3)))
    rows = PAGES["leverage"](lines).grids["leverage"].rows
    assert [row[0] for row in rows[::2]] == [f"{rho:+.2f}" for rho in leverage.CORRELATIONS]
    for row in rows:
        rho, method = float(row[0]), row[1]
        known = [r for r in csv_rows("leverage") if float(r["rho_true"]) == rho]
        assert bool(known) == (rho < 0)  # the paper sweeps negative ones only
        digits = {"kappa": 2, "theta": 4, "xi": 3, "rho_parametric": 3}
        assert (
            row[7:]
            == [
                shown(middle(lines, key, rho=rho, recipe=method), places)
                for key, places in digits.items()
            ]
            or "rho" not in lines[0].case.settings
        )
        if not known or method != "paper":
            assert (row[4], row[6]) == ("-", "-")
            continue
        errors = sorted(float(r["rho_tensor_abs_error"]) for r in known)
        assert row[4] == shown(float(np.median(errors)))
        right = np.mean([r["rho_sign_correct"] == "True" for r in known])
        assert row[6] == f"{100 * right:.0f} %"


def test_a_recovered_zero_has_no_sign() -> None:
    point = leverage_page.Point(0.5, "sharp", (0.0, 0.4), {})
    assert point.signs == 0.5
    assert point.error == pytest.approx(0.3)


# --- circulation, noise, errata ---


def test_turns_have_the_median_and_the_worst_seed() -> None:
    lines = lines_of("circulation")
    rows = content_of("circulation").grids["circulation"].rows
    titles = {zoo.get(name).title: name for name in {line.case.system for line in lines}}
    assert len(rows) == 12
    for row in rows:
        wanted = {"system": titles[row[0]], "omega": float(row[1]), "recipe": row[2]}

        def worst(key: str, wanted: dict[str, Any] = wanted) -> float:
            return min(
                (line.result or {})[key]
                for line in lines
                if all((line.case.settings | vars(line.case))[k] == v for k, v in wanted.items())
            )

        known = [
            float(r["current_cosine"])
            for r in csv_rows("circulation", system=titles[row[0]])
            if float(r["omega"]) == wanted["omega"] and row[2] == "paper"
        ]
        assert row[3:] == [
            shown(middle(lines, "curl", **wanted)),
            shown(middle(lines, "true_curl", **wanted)),
            shown(middle(lines, "antisymmetric", **wanted), 4),
            shown(worst("antisymmetric"), 4),
            shown(known[0] if known else NOTHING, 4),
            shown(middle(lines, "current", **wanted), 4),
            shown(worst("current"), 4),
            shown(middle(lines, "current_error", **wanted)),
        ]
    assert sum(row[7] != "-" for row in rows) == len(csv_rows("circulation"))


def test_levels_of_noise_have_medians_and_the_papers_figures() -> None:
    lines = lines_of("noise", Scope(seeds=(1, 2, 3)))
    rows = PAGES["noise"](lines).grids["noise"].rows
    titles = {zoo.get(name).title: name for name in {line.case.system for line in lines}}
    methods = ("paper", "paper-noise", "sharp", "sharp-noise")
    found = 0
    for title, label, *cells in rows:
        size, kind = label.split(" % ") if label != "none" else ("0", "gaussian")
        wanted = {"system": titles[title], "kind": kind, "level": float(size) / 100}
        known = [
            [
                float(r["diffusion_rel_l2"])
                for r in csv_rows(
                    "fluctuation", system=titles[title], noise_kind=kind, noise_correct=corrected
                )
                if float(r["noise_to_signal_ratio"]) == wanted["level"]
            ]
            for corrected in ("False", "True")
        ]
        found += sum(map(len, known))
        assert cells == [
            *(shown(middle(lines, "tensor", recipe=m, **wanted)) for m in methods),
            *(shown(values[0] if values else NOTHING) for values in known),
            *(shown(middle(lines, "drift", recipe=m, **wanted)) for m in methods),
        ]
    assert len(rows) == 3 * 5
    assert found == len(csv_rows("fluctuation"))


def test_slips_stand_beside_the_same_fit_without_them() -> None:
    lines = lines_of("errata", Scope(seeds=(1, 2, 3)))
    rows = PAGES["errata"](lines).grids["errata"].rows
    builtin = {"paper-diagonal-kernel", "paper-no-shrinkage"}
    columns = {"drift": "objective_drift_median", "tensor": "diffusion_median"}
    expected = []
    for slip in SLIPS:
        figures = {
            "paper-diagonal-kernel": ("drift", "tensor"),
            "padded": ("tensor", "drift"),
            "shrinkage in raw units": ("a22", "tensor"),
            "paper-no-shrinkage": ("tensor", "a22"),
        }.get(slip.name, ("tensor",))
        for system in slip.systems:
            for figure in figures:
                medians = []
                for slipped in (False, True):
                    recipe = slip.name if slipped and slip.name in builtin else "paper"
                    option = slip.name if slipped and slip.name not in builtin else None
                    values = [
                        (line.result or {})["fields"].get(figure, (line.result or {}).get(figure))
                        for line in lines
                        if (line.case.system, line.case.recipe) == (system, recipe)
                        and line.case.settings.get("slip") == option
                    ]
                    assert len(values) == 3
                    medians.append(shown(float(np.median(values))))
                theirs = (zoo.get(system).published or {}).get(columns.get(figure, ""), NOTHING)
                expected.append(
                    [zoo.get(system).title, f"error of {figure}", *medians, shown(theirs)]
                )
    assert [[row[0], *row[2:]] for row in rows] == expected
    # A look has the first slips only; of the others at most what they would be compared with.
    words = {row[1] for row in content_of("errata").grids["errata"].rows if row[4] != "-"}
    assert len(words) == QUICK_SLIPS


# --- further seeds ---


def test_doubtful_rows_stand_beside_the_papers_intervals() -> None:
    cases = [
        Case("table", system, recipe, seed)
        for system in ("heston_logsv", "sabr")
        for recipe in ("sharp", "paper", "paper-cv-minimum")
        for seed in (1, 2, 3)
    ]
    lines = [invented(case) for case in cases]
    content = PAGES["further-seeds"](lines)
    rows = {(row[0], row[1]): row[2:] for row in content.grids["further-seeds"].rows}
    assert {recipe for _, recipe in rows} == {"paper", "paper-cv-minimum"}
    assert len(rows) == 4
    for system in ("heston_logsv", "sabr"):
        theirs = zoo.get(system).published or {}
        for recipe in ("paper", "paper-cv-minimum"):
            wanted = {"system": system, "recipe": recipe}
            low = [theirs.get(f"{key}_ci_low", NOTHING) for key in ("objective_drift", "diffusion")]
            high = [
                theirs.get(f"{key}_ci_high", NOTHING) for key in ("objective_drift", "diffusion")
            ]
            worst = min(
                (line.result or {})["psd"]
                for line in lines
                if (line.case.system, line.case.recipe) == (system, recipe)
            )
            assert rows[zoo.get(system).title, recipe] == [
                shown(middle(lines, "drift", **wanted)),
                f"{shown(low[0])} - {shown(high[0])}",
                shown(middle(lines, "tensor", **wanted)),
                f"{shown(low[1])} - {shown(high[1])}",
                shown(worst, 2),
            ]
    # The sentences are about sharp alone.
    drift = middle(lines, "drift", recipe="sharp", system="heston_logsv")
    assert f"Median drift error {drift:.4f}" in content.sentences["further-seeds"]


# --- dashes, medians, grids ---


@pytest.mark.parametrize(
    ("name", "key", "method", "grid", "row", "place"),
    [
        ("ladder", "drift", "naive", "ladder", 0, 5),
        ("ablation", "condition", "paper-no-gls", "ablation-paper", 2, 6),
        ("baselines", "cosine", "sharp", "baselines", 0, 6),
        ("naive", "psd", "naive", "naive", 0, 7),
        ("nulls", "tensor", "sharp", "nulls", 0, 7),
        ("noise", "drift", "paper", "noise", 0, 8),
        ("leverage", "theta", "paper", "leverage", 0, 8),
        ("circulation", "current", "paper", "circulation", 0, 8),
    ],
)
def test_what_is_not_defined_is_a_dash(
    name: str, key: str, method: str, grid: str, row: int, place: int
) -> None:
    lines = [
        changed(line, **{key: NOTHING}) if line.case.recipe == method else line
        for line in lines_of(name)
    ]
    assert PAGES[name](lines).grids[grid].rows[row][place] == "-"
    assert content_of(name).grids[grid].rows[row][place] != "-"


def test_figures_and_shares_as_text() -> None:
    assert (number(0.12345), number(2, 1), number(NOTHING)) == ("0.123", "2.0", "-")
    assert (percent(0.125), percent(0.1234, 1), percent(NOTHING)) == ("12 %", "12.3 %", "-")


def test_quartiles_pass_over_what_is_not_defined() -> None:
    results = [{"x": value} for value in (1.0, NOTHING, 2.0, 4.0, 3.0, 5.0)]
    assert spread(results, "x") == (2.0, 3.0, 4.0)
    assert median(results, "x") == 3.0
    assert all(isnan(value) for value in spread([], "x"))
    assert all(isnan(value) for value in spread([{"x": NOTHING}], "x"))


def test_an_index_answers_with_the_cases_that_have_a_result() -> None:
    cases = [Case("fit", system, "paper", seed) for seed in (5, 3) for system in ("b", "a")]
    lines = [Line(case, "c", {"x": n}, None) for n, case in enumerate(cases)]
    index = Index([*lines[:3], failed(lines[3])])
    assert index.systems == ["b", "a"]
    assert index.seeds == [3, 5]
    unknown = replace(cases[0], seed=99)
    assert index.results([cases[2], unknown, cases[3], cases[0]]) == [{"x": 2}, {"x": 0}]


def test_a_grid_is_the_same_table_everywhere() -> None:
    from rich.console import Console

    grid = Grid("Title", ("a", "b", "c"), [["x", "1", "2"], ["x", "3", "4"], ["y", "5", "-"]])
    assert grid.markdown() == (
        "| a | b | c |\n|---|---:|---:|\n| x | 1 | 2 |\n| x | 3 | 4 |\n| y | 5 | - |\n"
    )
    assert "|---|---|---:|" in replace(grid, left=2).markdown()
    console = Console(width=60, record=True, file=io.StringIO())
    table = grid.terminal()
    console.print(table)
    text = console.export_text()
    for cell in ("Title", "x", "3", "5", "-"):
        assert cell in text
    # A line under each group of equal first cells.
    assert [row.end_section for row in table.rows] == [False, True, False]
    assert not Grid("Title", ("a", "b"), []).terminal().rows


def test_published_files_name_their_source_and_are_read_once() -> None:
    from importlib import resources

    folder = resources.files("wgsindy_evidence.published")
    names = [item.name.removesuffix(".csv") for item in folder.iterdir() if ".csv" in item.name]
    assert len(names) >= 10
    for name in names:
        text = folder.joinpath(f"{name}.csv").read_text(encoding="utf-8")
        assert text.startswith("# Source:")
        rows = published.rows(name)
        plain = [line for line in text.splitlines() if not line.startswith("#")]
        assert len(rows) == len(plain) - 1 > 0
        assert list(rows[0]) == plain[0].split(",")
        assert published.rows(name) is rows
    assert published.figure({"x": "0.25"}, "x") == 0.25
    assert isnan(published.figure({"x": ""}, "x"))


# --- limits read off the summaries ---


def test_the_label_of_a_limit_names_another_library() -> None:
    plain = nulls_page.Limit(nulls.Null("nonpoly_drift"), {}, {})
    other = nulls_page.Limit(nulls.Null("nonpoly_drift", "poly2"), {}, {})
    assert plain.label == "Non-polynomial drift"
    assert other.label == "Non-polynomial drift, poly2"
