"""Restamping: what comes out the same gets a new stamp, what does not is named and left alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from wgsindy import cli, zoo
from wgsindy.errors import DataError
from wgsindy_evidence import registry, restamp
from wgsindy_evidence.campaign import Case, Line, Store
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.fingerprint import code_version
from wgsindy_evidence.peers import comparison
from wgsindy_evidence.registry import Experiment
from wgsindy_evidence.restamp import difference, increments, representatives
from wgsindy_evidence.restamp import restamp as stamped
from wgsindy_evidence.scope import Scope

SYSTEM = "rotational_ou"
CASES = [Case("test", SYSTEM, recipe, seed, 1, 10) for recipe in ("a", "b") for seed in range(5)]
HERE = dict.fromkeys(comparison.RIVALS, sys.executable)
ran: list[Case] = []


def work(case: Case) -> dict[str, Any]:
    ran.append(case)
    if case.seed == 7:
        raise DataError("seven is not welcome.")
    figures = {"square": case.seed**2 / 3, "field": [[case.seed, float("nan")], None]}
    return {**figures, "seconds_fit": len(ran)}


def result(case: Case) -> dict[str, Any]:
    """What the store holds: rounded, and another time."""
    return {
        "square": float(f"{case.seed**2 / 3:.6g}"),
        "field": [[case.seed, float("nan")], None],
        "seconds_fit": -1.0,
    }


EXPERIMENT = Experiment("test", lambda scope: CASES, work, "kept")
CODE = code_version(work)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    ran.clear()
    found = Store(tmp_path / "kept.jsonl")
    for case in CASES:
        found.append(Line(case, "0.0.0+old", result(case), None))
    return found


def test_lines_that_come_out_the_same_are_stamped(store: Store, tmp_path: Path) -> None:
    other = Line(Case("other", SYSTEM, "a", 0), "0.0.0+old", {"square": 1}, None)
    failed = Line(CASES[3], "0.0.0+old", None, "DataError: no.")
    before = store.lines()
    store.append(other)
    found = stamped(EXPERIMENT, tmp_path)
    assert (found.stale, found.differences) == (10, ())
    assert ran == [CASES[0], CASES[-1]]
    *lines, left = store.lines()
    assert {line.code for line in lines} == {CODE}
    assert [line._replace(code="") for line in lines[:1]] != before[:1]
    assert [repr(line.result) for line in lines] == [repr(line.result) for line in before]
    assert left == other  # an experiment that shares the file
    assert found.sentence == (
        f"test: 2 cases came out the same digit by digit; 10 lines are stamped {CODE}."
    )
    store.append(failed)
    assert stamped(EXPERIMENT, tmp_path).stale == 0
    assert store.lines()[-1] == failed  # a campaign tries it again in any case
    assert len(ran) == 2  # lines of this code are not run again


def test_one_digit_leaves_the_file_alone_and_is_named(store: Store, tmp_path: Path) -> None:
    wrong = result(CASES[-1]) | {"square": 5.33334}  # 16 / 3 is 5.33333
    store.append(Line(CASES[-1], "0.0.0+old", wrong, None))
    before = store.path.read_bytes()
    found = stamped(EXPERIMENT, tmp_path)
    assert store.path.read_bytes() == before
    assert found.differences == ("rotational_ou by b, seed 4: square was 5.33334, is 5.33333",)
    assert "1 of 2 cases came out differently; 10 lines keep their stamp.\n  rot" in found.sentence


def test_every_code_that_made_lines_is_tried(store: Store, tmp_path: Path) -> None:
    wrong = result(CASES[5]) | {"square": -1.0}
    store.append(Line(CASES[4], "0.0.0+older", result(CASES[4]), None))
    store.append(Line(CASES[5], "0.0.0+older", wrong, None))
    found = stamped(EXPERIMENT, tmp_path)
    assert set(ran) == {CASES[0], CASES[-1], CASES[4], CASES[5]}
    assert len(found.differences) == 1
    assert {line.code for line in store.lines()} == {"0.0.0+old", "0.0.0+older"}


def test_slow_cases_are_not_chosen_unless_there_are_no_others() -> None:
    slow = Line(Case("test", SYSTEM, "a", 0, 512, 8000), "x", {}, None)
    quick = [Line(case, "x", {}, None) for case in CASES[:3]]
    assert representatives([slow, *quick, slow]) == [quick[0], quick[2]]
    assert representatives([slow]) == [slow]
    assert representatives([]) == []
    assert increments(Case("test", SYSTEM, "a", 0)) == 16 * zoo.get(SYSTEM).steps


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({"a": 1.0, "b": [1, 2]}, ""),
        ({"a": 1.0, "b": [1, 2], "seconds": 3.0}, ""),
        ({"a": 1.0, "b": [1, 2], "zero": 0.0}, ""),
        ({"a": 1, "b": [1, 2]}, "a was 1.0, is 1"),
        ({"a": 1.0, "b": [1, 3]}, "b[1] was 2, is 3"),
        ({"a": 1.0, "b": [1]}, "b[1] was 2, is absent"),
        ({"a": 1.0, "b": [1, 2], "c": {"d": "text"}}, 'c.d was absent, is "text"'),
        ({"a": 1.0, "b": list(range(9))}, "b[4] was absent, is 4; 4 more"),
    ],
)
def test_figures_are_compared_one_by_one(now: dict[str, Any], words: str) -> None:
    case = Case("test", SYSTEM, "a", 0, options=(("dt", 0.1),))
    stored = Line(case, "x", {"a": 1.0, "b": [1, 2], "zero": -0.0, "seconds": 2.0}, None)
    now = {"zero": -0.0} | now
    found = difference(stored, Line(case, "y", now, None))
    assert found.endswith(words)
    assert bool(found) == bool(words)
    assert found.startswith("rotational_ou by a, seed 0, dt 0.1: " if words else "")


def test_a_case_that_fails_now_says_so(store: Store, tmp_path: Path) -> None:
    seven = Case("test", SYSTEM, "a", 7, 1, 10)
    store.append(Line(seven, "0.0.0+old", result(seven), None))
    found = stamped(Experiment("test", lambda scope: [seven], work, "kept"), tmp_path)
    assert found.differences[0].endswith("seed 7: DataError: seven is not welcome.")


def test_what_measures_time_or_needs_rivals_is_skipped_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "measures time" in str(restamp.repeatable("speed", tmp_path, HERE))
    monkeypatch.setitem(comparison.RIVALS, "sfi", "no_such_package")
    store = Store(tmp_path / "peers.jsonl")
    store.append(Line(Case("peers", SYSTEM, "sharp", 0), "old", {"failure": None}, None))
    found = restamp.repeatable("peers", tmp_path, HERE)
    assert isinstance(found, Experiment)  # without lines of rivals nobody is missing
    store.append(Line(Case("peers", SYSTEM, "sfi", 0), "old", {"failure": None}, None))
    assert "sfi cannot be run again: not installed" in str(
        restamp.repeatable("peers", tmp_path, HERE)
    )
    monkeypatch.setitem(comparison.RIVALS, "sfi", "numpy")
    found = restamp.repeatable("peers", tmp_path, HERE)
    assert isinstance(found, Experiment)
    assert [case.recipe for case in found.cases(Scope())] == ["sharp", "sfi"]
    assert code_version(found.work) == code_version(comparison.run_case)


def test_an_unknown_experiment_is_refused() -> None:
    assert restamp.chosen(None)[:2] == ["table", "ledger"]
    assert restamp.chosen(["steps"]) == ["steps"]
    with pytest.raises(CampaignError, match=r"no experiment 'tables'; choose among \['table'"):
        restamp.chosen(["tables"])


def test_the_command_stamps_what_agrees_and_fails_for_what_does_not(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setitem(registry.EXPERIMENTS, "steps", EXPERIMENT)

    def run(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["wgsindy", "bench", "restamp", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return int(ended.value.code or 0)

    options = ("--experiment", "steps", "--results", str(tmp_path))
    assert run(*options, "--experiment", "speed") == 0
    assert {line.code for line in store.lines()} == {CODE}
    printed = capsys.readouterr().out
    assert "10 lines are stamped" in printed
    assert "skipped" in printed
    store.append(Line(CASES[0], "0.0.0+old", {"square": 1.0}, None))
    assert run(*options) == 1
    assert "does not reproduce steps" in capsys.readouterr().err.replace("\n", " ")
