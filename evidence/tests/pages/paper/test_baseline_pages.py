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
