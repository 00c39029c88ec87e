"""Leverage, circulation, errata and further seeds: medians beside the figures of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from invented_lines import NOTHING, changed, content_of, csv_rows, invented, lines_of, middle, shown

from wgsindy import zoo
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.experiments.paper import leverage
from wgsindy_evidence.experiments.paper.errata import QUICK_SLIPS, SLIPS
from wgsindy_evidence.pages import PAGES
from wgsindy_evidence.pages.paper import leverage as leverage_page
from wgsindy_evidence.published import table_row
from wgsindy_evidence.scope import Scope


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
            (-0.5, "sharp-euler"): [-0.5, -0.5, -0.4],
            (0.2, "paper"): [0.3, -0.1, 0.2],
            (0.2, "sharp-euler"): [0.2, 0.3, -0.9],
            (0.1, "paper"): [-9.0, -9.0, -9.0],  # too small to have a sign that counts
            (0.1, "sharp-euler"): [-9.0, -9.0, -9.0],
        }
    )
    content = PAGES["leverage"](lines)
    # Errors of paper: 0.1, 0.6, 0.1, 0.1, 0.3, 0; of sharp-euler: 0, 0, 0.1, 0, 0.1, 1.1.
    assert content.sentences["leverage"] == (
        "paper: sign right in 4 of 6 cases, median absolute error 0.100; "
        "sharp-euler: sign right in 5 of 6 cases, median absolute error 0.050."
    )
    rows = {(row[0], row[1]): row for row in content.grids["leverage"].rows}
    assert rows["-0.50", "paper"][2:4] == ["-0.400", "0.100"]
    assert rows["-0.50", "paper"][5] == "67 %"
    assert rows["+0.10", "sharp-euler"][5] == "0 %"


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
    point = leverage_page.Point(0.5, "sharp-euler", (0.0, 0.4), {})
    assert point.signs == 0.5
    assert point.error == pytest.approx(0.3)


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


def test_slips_stand_beside_the_same_fit_without_them() -> None:
    lines = lines_of("errata", Scope(seeds=(1, 2, 3)))
    rows = PAGES["errata"](lines).grids["errata"].rows
    builtin = {"paper-diagonal-kernel", "paper-no-shrinkage", "paper-separate-rows"}
    columns = {"drift": "objective_drift_median", "tensor": "diffusion_median"}
    expected = []
    for slip in SLIPS:
        figures = {
            "paper-diagonal-kernel": ("drift", "tensor"),
            "paper-separate-rows": ("drift", "tensor"),
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
                theirs = table_row(system).get(columns.get(figure, ""), NOTHING)
                expected.append(
                    [zoo.get(system).title, f"error of {figure}", *medians, shown(theirs)]
                )
    assert [[row[0], *row[2:]] for row in rows] == expected
    # A look has the first slips only; of the others at most what they would be compared with.
    words = {row[1] for row in content_of("errata").grids["errata"].rows if row[4] != "-"}
    assert len(words) == QUICK_SLIPS


def test_doubtful_rows_stand_beside_the_papers_intervals() -> None:
    cases = [
        Case("table", system, recipe, seed)
        for system in ("heston_logsv", "sabr")
        for recipe in ("sharp-euler", "paper", "paper-cv-minimum")
        for seed in (1, 2, 3)
    ]
    lines = [invented(case) for case in cases]
    content = PAGES["further-seeds"](lines)
    rows = {(row[0], row[1]): row[2:] for row in content.grids["further-seeds"].rows}
    assert {recipe for _, recipe in rows} == {"paper", "paper-cv-minimum"}
    assert len(rows) == 4
    for system in ("heston_logsv", "sabr"):
        theirs = table_row(system)
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
    # The sentences are about sharp-euler alone.
    drift = middle(lines, "drift", recipe="sharp-euler", system="heston_logsv")
    assert f"Median drift error {drift:.4f}" in content.sentences["further-seeds"]
