"""Medians over lines, and the cases that an index knows."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

from invented_lines import NOTHING, failed

from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.pages.summary import Index, median, spread


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
