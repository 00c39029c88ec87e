"""Baselines and the naive port: medians, budgets, maps of errors."""

from __future__ import annotations

import numpy as np
import pytest
from invented_lines import NOTHING, content_of, csv_rows, lines_of, middle, panels, shown

from wgsindy import zoo
from wgsindy_evidence.experiments.paper import baselines as proxies
from wgsindy_evidence.pages import PAGES
from wgsindy_evidence.pages.heatmap import plot_heatmap
from wgsindy_evidence.scope import Scope


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


@pytest.mark.parametrize("equal", [True, False])
def test_the_maps_of_methods_show_the_errors_of_their_budgets(equal: bool) -> None:
    lines = lines_of("baselines")
    name = "method-heatmap" if equal else "method-heatmap-paper"
    figure = content_of("baselines").figures[name]
    systems = list(dict.fromkeys(line.case.system for line in lines))
    methods = proxies.entrants(equal=equal)
    for axes, key in zip(panels(figure), ("drift", "tensor", "cosine"), strict=True):
        cells = np.array(
            [
                [
                    middle(lines, key, system=s, recipe=m.method, trajectories=m.trajectories)
                    for m in methods
                ]
                for s in systems
            ]
        )
        cells = 1 - cells if key == "cosine" else cells
        shades = np.asarray(axes.get_images()[0].get_array())
        np.testing.assert_allclose(shades, cells)
        assert len(axes.texts) == cells.size


def test_the_paper_s_colours_follow_the_logarithm_of_one_more() -> None:
    values = np.array([[0.0, 1.0, 3.0]])
    figure = plot_heatmap({"errors": values}, ["a"], ["1", "2", "3"], one_more=True)
    norm = panels(figure)[0].get_images()[0].norm
    np.testing.assert_allclose(np.asarray(norm(values), float), np.log1p(values) / np.log(4))


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
        assert row[:-1] == expected
        assert row[-1] == shown(middle(lines, "condition", system=system), 1)
    # The map shows two errors, the share of points where the tensor is not semidefinite, and the
    # condition number.
    keys = ("drift", "tensor", "psd", "condition")
    for axes, key in zip(panels(content.figures["naive"]), keys, strict=True):
        cells = np.array([[middle(lines, key, system=system)] for system in systems])
        cells = 1 - cells if key == "psd" else cells
        np.testing.assert_allclose(np.asarray(axes.get_images()[0].get_array()), cells)


def test_weak_rows_have_the_medians_of_their_cases() -> None:
    lines = lines_of("weak-rows", Scope(seeds=(1, 2, 3), systems=("indep_ou", "heston_sv")))
    grids = PAGES["weak-rows"](lines).grids
    first = {"system": "indep_ou", "trajectories": 1}
    for place, (method, key) in enumerate(
        [(m, k) for m in ("naive", "paper") for k in ("raw_condition", "condition")], start=1
    ):
        value = middle(lines, key, recipe=method, **first)
        expected = f"{value:.1f}" if value < 1e4 else f"{value:.0e}"
        assert grids["conditioning"].rows[0][place] == expected
    full = {"system": "heston_sv", "recipe": "paper", "trajectories": 16}
    assert grids["coverage"].rows[1][3] == f"{middle(lines, 'time_least', **full):.2g}"
    growth = {row[0]: row for row in grids["coverage-growth"].rows}
    assert list(growth) == ["1", "4", "16", "64"]
    largest = middle(lines, "largest", recipe="paper", trajectories=64)
    assert growth["64"][4] == f"{largest:.2g}"
