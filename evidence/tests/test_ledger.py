"""The ledger of the master table: medians, gates, terms, and what rows add up to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from table_result import result

from wgsindy_evidence import ledger
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.pages.paper.table import master_grid, overall_sentences


def lines(system: str, drifts: list[float], **changes: Any) -> list[Line]:
    return [
        Line(Case("table", system, "paper", seed), "x", result(drift=drift, **changes), None)
        for seed, drift in enumerate(drifts)
    ]


def test_a_row_holds_medians_and_the_papers_figures() -> None:
    row = ledger.summarise(lines("rotational_ou", [0.1, 0.3, 0.2]))[0]
    assert row.drift == pytest.approx(0.2)
    assert row.drift_ci[0] >= 0.1
    assert row.drift_ci[1] <= 0.3
    assert row.paper["objective_drift_median"] == pytest.approx(0.0576, abs=1e-4)
    assert row.passes
    assert not row.within_paper("drift")  # the paper's interval ends at 0.073
    assert row.within_paper("tensor")


@pytest.mark.parametrize(
    "broken", [{"tensor": 0.46}, {"psd": 0.98}, {"cosine": 0.8}, {"drifts": [0.81]}]
)
def test_each_gate_can_fail(broken: dict[str, Any]) -> None:
    drifts = broken.pop("drifts", [0.1])
    assert not ledger.summarise(lines("rotational_ou", drifts, **broken))[0].passes


def test_a_failed_case_fails_the_row() -> None:
    failed = Line(Case("table", "rotational_ou", "paper", 9), "x", None, "DataError: no.")
    row = ledger.summarise([*lines("rotational_ou", [0.1]), failed])[0]
    assert (row.n, row.failed, row.passes) == (1, 1, False)


def test_overall_takes_in_scope_rows_only() -> None:
    rows = ledger.summarise(lines("rotational_ou", [0.1]) + lines("gbm_2d", [5.0]))
    summary = ledger.overall(rows)
    assert summary is not None
    assert (summary.systems, summary.passed) == (1, 1)
    assert summary.ratio_drift == pytest.approx(2.0)
    assert "1 of 1" in overall_sentences(summary)[0]
    assert ledger.overall(ledger.summarise(lines("gbm_2d", [5.0]))) is None


def test_markdown_marks_rows_above_the_papers_interval() -> None:
    rows = ledger.summarise(lines("rotational_ou", [0.2]) + lines("sabr", [math.nan]))
    ours, sabr = master_grid(rows, "title").markdown().splitlines()[2:]
    assert "0.200*" in ours
    assert ours.endswith("| pass |")
    assert "| - |" in sabr  # a driftless system has no drift error


def test_a_system_that_is_not_in_the_paper_has_a_row_without_its_figures() -> None:
    row = ledger.summarise(lines("duffing_degenerate", [0.1]))[0]
    assert math.isnan(row.published("drift", "median"))
    assert row.within_paper("drift")
    assert "| 0.100 | - |" in master_grid([row], "title").markdown()


def test_all_rows_of_the_table_count_for_the_gates_and_all_but_two_for_the_floor() -> None:
    rows = ledger.summarise(
        lines("rotational_ou", [0.1])  # twice its floor
        + lines("gbm_2d", [0.9])  # 18 times, and through the gate
        + lines("sabr", [5.0])  # outside its library
        + lines("sabr_spanned", [0.1])  # beside the table
    )
    summary = ledger.overall(rows)
    assert summary is not None
    assert (summary.rows, summary.held) == (3, 1)
    assert summary.spanned_ratio_drift == pytest.approx(np.sqrt(2 * 18))


def test_terms_are_counted_against_the_truth() -> None:
    counts = {"terms_present": 4, "terms_found": 3, "terms_absent": 10, "terms_false": 1}
    rows = ledger.summarise(
        lines("rotational_ou", [0.1, 0.2], **counts) + lines("van_der_pol", [0.1])
    )
    summary = ledger.overall(rows)
    assert summary is not None
    assert summary.terms == ledger.Terms(present=8, found=6, absent=20, false=2)
    assert "6 of 8 true ones found (75.0%), 2 of 20 others" in overall_sentences(summary)[-1]
