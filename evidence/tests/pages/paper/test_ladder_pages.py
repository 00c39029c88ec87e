"""Ladder and ablation: medians of their cases beside the figures of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from invented_lines import NOTHING, changed, content_of, csv_rows, lines_of, middle, panels, shown

from wgsindy_evidence.experiments.paper import ablation, ladder
from wgsindy_evidence.pages import PAGES
from wgsindy_evidence.pages.paper import ladder as ladder_page
from wgsindy_evidence.scope import Scope


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
            assert row[0].removeprefix("(added: ").removesuffix(")") == component.label
            assert row[0].startswith("(added") == component.added
            assert row[6:8] == [shown(whole["condition"], 1), shown(whole["score"])]
            assert row[9:] == [shown(whole["score"]), shown(part)]  # both systems are the paper's


def test_components_left_out_are_compared_over_the_papers_systems() -> None:
    systems = ("indep_ou", "stuart_landau")  # the second is in scope, but not one of the 13
    lines = lines_of("ablation", Scope(seeds=(1, 2, 3), systems=systems))
    row = PAGES["ablation"](lines).grids["ablation-sharp-euler"].rows[0]
    wanted = {"recipe": "sharp-euler", "trajectories": 16}
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
    for cells in content_of("ablation").grids["ablation-sharp-euler"].rows:
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
