"""Pages of what verdicts say of known processes: each rule, by lines made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from wgsindy import zoo
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.experiments.judged.linear_forms import linear_case
from wgsindy_evidence.experiments.judged.zoo_verdicts import AUTO, OWN, zoo_verdict_case
from wgsindy_evidence.experiments.ours.gallery_data.everything import KINDS, keys_of
from wgsindy_evidence.experiments.ours.gallery_data.kind import SMALL
from wgsindy_evidence.pages.judged import identified, linear_forms, zoo_verdicts

HELD: dict[str, Any] = dict.fromkeys(
    ("covered", "drift_covered", "tensor_covered", "grid_covered"), 0.95
) | dict.fromkeys(("drift", "tensor"), 0.1)


def result(verdict: str = "identified", *limitations: str, **figures: Any) -> dict[str, Any]:
    first = limitations[0] if limitations else ""
    said = {"verdict": verdict, "limitations": list(limitations), "handled": [], "first": first}
    return said | HELD | figures


def line(system: str, library: str, seed: int, found: dict[str, Any]) -> Line:
    return Line(zoo_verdict_case(system, library, seed), "code", found, None)


@pytest.mark.parametrize(
    ("system", "found", "judgement"),
    [
        ("duffing", result(), "right"),
        ("duffing", result("not identified", "jumps or outliers"), "right"),
        ("duffing", result(covered=0.7), "wrong"),
        # A constant tensor that is held must not hide a drift that is not.
        ("duffing", result(covered=0.8, drift_covered=0.6), "wrong"),
        ("duffing", result("partly identified", "large error bars", covered=0.7), "named"),
        ("duffing", result("identified", "several formulas", covered=0.7), "wrong"),
        ("duffing", result("identified", "extrapolated field", covered=0.7), "named"),
        # What is noted must be the limitation of this system.
        ("near_singular", result("identified", "near-singular tensor", covered=0.7), "named"),
        ("duffing", result("identified", "near-singular tensor", covered=0.7), "wrong"),
        ("duffing", {"verdict": "refused", "limitations": [], "first": "refused: x"}, "named"),
    ],
)
def test_right_named_or_wrong(system: str, found: dict[str, Any], judgement: str) -> None:
    assert zoo_verdicts.judgement(system, found) == judgement


@pytest.mark.parametrize(
    ("found", "unsaid"),
    [
        (result(), False),
        (result(grid_covered=0.5), True),
        (result("identified", "several formulas", grid_covered=0.5), True),
        (result("identified", "extrapolated field", grid_covered=0.5), False),
        (result("partly identified", "large error bars", grid_covered=0.5), False),
    ],
)
def test_what_is_false_beyond_the_data_must_be_said(found: dict[str, Any], unsaid: bool) -> None:
    assert zoo_verdicts.is_unsaid(found) == unsaid


def wrong_in(count: int, system: str = "mueller_brown", library: str = OWN) -> list[Line]:
    return [line(system, library, n, result(covered=0.5 if n < count else 1.0)) for n in range(10)]


def failing(lines: Sequence[Line]) -> list[str]:
    return [row[0] for row in zoo_verdicts.build(lines).grids["zoo-verdicts-failing"].rows]


def test_a_row_may_be_wrong_once_in_ten() -> None:
    assert failing(wrong_in(1)) == ["none"]
    assert failing(wrong_in(2)) == [zoo.get("mueller_brown").title]


def test_the_headline_counts_rows_and_finds_the_worst_of_the_delicate() -> None:
    lines = [*wrong_in(1), *wrong_in(3, library=AUTO), *wrong_in(4, "duffing")]
    sentence = zoo_verdicts.build(lines).sentences["zoo-verdicts-sum"]
    assert sentence.startswith("Called identified: 30 of 30. Wrong: 8")
    assert "2 of 3 rows" in sentence
    assert "worst row: 70 %" in sentence  # not that of Duffing, which is none of them


def test_a_table_has_both_libraries_of_a_system_in_one_row() -> None:
    refused = {"verdict": "refused", "limitations": [], "handled": [], "first": "refused: no."}
    lines = [*wrong_in(2)[:9], line("mueller_brown", AUTO, 0, refused)]
    content = zoo_verdicts.build(lines)
    (row,) = content.grids["zoo-verdicts"].rows
    assert row[2:6] == ["nothing", "9", "7 / 0 / 2", "0.95"]
    assert row[6:] == ["refused", "0", "0 / 1 / 0", "-"]
    assert len(content.grids["zoo-verdicts-delicate"].rows) == 2


def linear(seed: int, *limitations: str, **standing: str) -> Line:
    found = result("identified", *limitations, linear=standing)
    return Line(linear_case("birth_death", "auto", SMALL, seed), "code", found, None)


def test_the_worst_component_counts_and_missing_terms_are_wrong() -> None:
    lines = [
        linear(0, b1="written", a11="written"),
        linear(1, b1="written", b2="equal", a11="written"),
        linear(2, b1="written", b2="absent", a11="equal"),
        linear(3, "missing library terms", b1="written", a11="written"),
        linear(4, b1="written", a11="absent"),
    ]
    content = linear_forms.build(lines)
    (row,) = content.grids["linear-forms"].rows
    assert row[3:8] == ["5", "3 / 1 / 1", "3 / 1 / 1", "1", "5"]
    assert "in 2 of 5 fits (worst row 40%)" in content.sentences["linear-forms-sum"]


NULL = next(key for key in keys_of("null") if KINDS[key].truth is not None)
CONTROL = keys_of("control")[0]


def other(experiment: str, key: str, seed: int, found: dict[str, Any]) -> Line:
    return Line(Case(experiment, key, "sharp", seed), "code", found, None)


def test_only_what_is_identified_and_has_a_truth_counts() -> None:
    without = {key: value for key, value in result().items() if "covered" not in key}
    lines = [
        line("duffing", OWN, 0, result(covered=0.7)),
        line("duffing", OWN, 1, result(covered=0.8)),
        line("duffing", OWN, 2, result("partly identified", covered=0.0)),
        line("duffing", AUTO, 0, result(covered=1.0)),
        other("gallery", CONTROL, 0, result(covered=1.0)),
        other("gallery", NULL, 0, result(covered=0.9)),
        other("gallery", NULL, 1, without),
        other("gallery", "a kind of the past", 1, result(covered=0.0)),
        other("measured", "ou", 0, result(covered=1.0)),
        other("measured", "ou", 1, result(covered=1.0))._replace(result=None, error="x"),
    ]
    content = identified.build(lines)
    rows = {row[0]: row[1:4] for row in content.grids["identified"].rows}
    assert rows == {
        identified.ZOO: ["2", "1", "0.750"],
        identified.DEFAULT: ["1", "1", "1.000"],
        identified.GENUINE: ["1", "1", "1.000"],
        identified.NULLS: ["1", "1", "0.900"],
        identified.MEASURED: ["1", "1", "1.000"],
    }
    (low,) = content.grids["identified-low"].rows
    assert low[:4] == [zoo.get("duffing").title, identified.ZOO, "2", "0.75"]
    sentence = content.sentences["identified-sum"]
    assert sentence.startswith("Of 6 fits called identified, bands hold 90.0% of the truth")
    assert "Systems below 80%: 1 of 5" in sentence


def test_nothing_identified_is_said() -> None:
    content = identified.build([line("duffing", OWN, 0, result("not identified"))])
    assert content.sentences["identified-sum"] == "Nothing was called identified."
    assert content.grids["identified-low"].rows[0][0] == "none"
