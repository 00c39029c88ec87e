"""Convergence: medians of each horizon, and slopes."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from invented_lines import NOTHING, content_of, csv_rows, failed, lines_of, middle, shown

from wgsindy import zoo
from wgsindy_evidence.experiments.paper.convergence import HORIZONS, QUICK_HORIZONS
from wgsindy_evidence.pages import PAGES
from wgsindy_evidence.pages.paper import convergence as convergence_page


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
    noise = convergence_page.Curve("s", "sharp-euler", "drift", times, (1.0, 0.5, 0.25))
    assert noise.slope == pytest.approx(-0.5)
    bias = convergence_page.Curve("s", "sharp-euler", "drift", times, (0.3, 0.3, 0.3))
    assert bias.slope == pytest.approx(0)
    assert isnan(convergence_page.Curve("s", "sharp-euler", "drift", (1.0,), (0.3,)).slope)


def test_a_horizon_that_failed_leaves_its_column_empty() -> None:
    lines = [
        failed(line) if line.case.recipe == "sharp-euler" and line.case.steps == 1200 else line
        for line in lines_of("convergence")
    ]
    grid = PAGES["convergence"](lines).grids["convergence"]
    for row in grid.rows:
        assert len(row) == len(grid.headings)
        if row[2] == "sharp-euler":
            assert row[3] == "-"
