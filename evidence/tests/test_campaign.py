"""The runner: nothing is lost, nothing is done twice."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from wgsindy.errors import DataError
from wgsindy_evidence import campaign
from wgsindy_evidence.campaign import Case, Line, Store, rounded, run_campaign
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.fingerprint import code_version

CASES = [Case("test", "nothing", "paper", seed) for seed in range(4)]


@pytest.fixture
def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    from thread_pool import InThreads  # here: workers import this module without the helpers

    monkeypatch.setattr(campaign, "ProcessPoolExecutor", InThreads)


def square(case: Case) -> dict[str, Any]:
    return {"square": case.seed**2}


def square_unless_two(case: Case) -> dict[str, Any]:
    if case.seed == 2:
        raise DataError("two is not welcome.")
    return square(case)


def slow_square(case: Case) -> dict[str, Any]:
    time.sleep(0.3)
    return square(case)


def forbidden(case: Case) -> dict[str, Any]:
    raise RuntimeError(f"case {case.seed} was run again")


def run_slowly(path: str) -> None:
    """Entry point of the process that the test kills."""
    run_campaign([Case("test", "nothing", "paper", s) for s in range(12)], slow_square, Store(path))


def test_results_come_back_in_the_order_of_the_cases(tmp_path: Path) -> None:
    lines = run_campaign(CASES, square, Store(tmp_path / "r.jsonl"), jobs=2)
    assert [line.case for line in lines] == CASES
    assert [line.result for line in lines] == [{"square": s**2} for s in range(4)]


@pytest.mark.usefixtures("in_threads")
def test_a_finished_campaign_runs_nothing_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.jsonl")
    first = run_campaign(CASES, square, store)
    assert run_campaign(CASES, forbidden, store) == first


@pytest.mark.usefixtures("in_threads")
def test_lines_of_other_code_do_not_count(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.jsonl")
    for case in CASES:
        store.append(Line(case, "0.0.0+other", {"square": -1}, None))
    lines = run_campaign(CASES, square, store)
    assert all(line.code == code_version(square) for line in lines)
    assert [line.result for line in lines] == [{"square": s**2} for s in range(4)]


@pytest.mark.usefixtures("in_threads")
def test_a_case_that_fails_is_stored_with_its_sentence_and_tried_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.jsonl")
    lines = run_campaign(CASES, square_unless_two, store)
    assert lines[2].error == "DataError: two is not welcome."
    assert [line.error for line in lines if line.case.seed != 2] == [None] * 3
    assert run_campaign(CASES, square, store)[2].result == {"square": 4}


def test_a_line_cut_short_is_passed_over_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.jsonl")
    store.append(Line(CASES[0], code_version(square), {"square": 0}, None))
    whole = store.path.read_bytes()
    store.path.write_bytes(whole + whole[: len(whole) // 2])
    store.append(Line(CASES[1], code_version(square), {"square": 1}, None))
    assert [line.case.seed for line in store.lines()] == [0, 1]


def is_running(pid: int) -> bool:
    """Whether the process is there and not a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def note_pid(case: Case) -> dict[str, Any]:
    (Path(case.system) / f"{os.getpid()}.pid").touch()
    time.sleep(60)
    return {}


def run_forever(folder: str) -> None:
    """Entry point of the process whose workers must not outlive it."""
    cases = [Case("test", folder, "paper", seed) for seed in range(2)]
    run_campaign(cases, note_pid, Store(Path(folder) / "r.jsonl"))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are seen in /proc")
def test_workers_end_with_a_killed_campaign(tmp_path: Path) -> None:
    code = f"import test_campaign; test_campaign.run_forever({str(tmp_path)!r})"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parent)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(list(tmp_path.glob("*.pid"))) < 2:
        time.sleep(0.05)
    workers = [int(path.stem) for path in tmp_path.glob("*.pid")]
    assert len(workers) == 2
    assert all(is_running(pid) for pid in workers)
    process.kill()  # only the parent: nobody tells the workers
    process.wait()
    while time.monotonic() < deadline and any(is_running(pid) for pid in workers):
        time.sleep(0.05)
    assert not any(is_running(pid) for pid in workers)


def test_options_survive_the_file_and_tell_cases_apart(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.jsonl")
    cases = [
        Case("test", "x", "paper", 0, 4, 300, (("kind", "laplace"), ("level", level)))
        for level in (0.05, 0.1)
    ]
    for number, case in enumerate(cases):
        store.append(Line(case, code_version(square), {"number": number}, None))
    assert [line.case for line in store.lines()] == cases
    assert run_campaign(cases, forbidden, store)[1].result == {"number": 1}


def test_defaults_are_not_written_and_old_lines_are_read(tmp_path: Path) -> None:
    assert CASES[0].to_json() == {
        "experiment": "test",
        "system": "nothing",
        "recipe": "paper",
        "seed": 0,
    }
    assert Case.from_json({**CASES[0].to_json(), "trajectories": 16}) == CASES[0]


def test_a_compact_store_keeps_the_last_line_of_each_case(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.jsonl")
    for value in (1, 2):
        for case in reversed(CASES):
            store.append(Line(case, f"0.0.{value}", {"square": value}, None))
    store.compact()
    assert [(line.case, line.result) for line in store.lines()] == [
        (case, {"square": 2}) for case in CASES
    ]
    before = store.path.read_bytes()
    store.compact()
    assert store.path.read_bytes() == before


def test_the_last_line_of_a_case_counts_whatever_code_made_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.jsonl")
    for value in (1, 2):
        store.append(Line(CASES[1], f"0.0.{value}", {"square": value}, None))
    assert [line.result for line in store.latest(CASES)] == [{"square": 2}]


def test_numbers_are_kept_to_six_digits() -> None:
    found = rounded({"a": [1.23456789, 7], "b": (1e-20, float("nan")), "c": "text", "d": None})
    assert found["a"] == [1.23457, 7]
    assert found["b"][0] == 1e-20
    assert math.isnan(found["b"][1])
    assert (found["c"], found["d"]) == ("text", None)


@pytest.mark.usefixtures("in_threads")  # what is left to do; what is killed has processes
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a matter of POSIX systems")
def test_kill_9_loses_only_the_cases_under_way(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    code = f"import test_campaign; test_campaign.run_slowly({str(path)!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(Store(path).lines()) < 3:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = Store(path).lines()
    assert 3 <= len(kept) < 12
    cases = [Case("test", "nothing", "paper", s) for s in range(12)]
    ran: list[int] = []
    lines = run_campaign(cases, square, Store(path), progress=lambda done, total: ran.append(done))
    assert ran[0] == len(kept)  # the rest was not run again
    assert [line.result for line in lines] == [{"square": s**2} for s in range(12)]


@pytest.mark.usefixtures("in_threads")
def test_progress_counts_up_to_the_total(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    run_campaign(
        CASES, square, Store(tmp_path / "r.jsonl"), progress=lambda d, t: seen.append((d, t))
    )
    assert seen == [(done, 4) for done in range(5)]


def test_no_jobs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="jobs must be at least 1, got 0"):
        run_campaign(CASES, square, Store(tmp_path / "r.jsonl"), jobs=0)


def test_a_stamp_is_rewritten_for_the_cases_asked_for_and_the_rest_stays(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.jsonl")
    for case in CASES:
        store.append(Line(case, "old", {"square": float("nan"), "list": [1.25, None]}, None))
    store.append(Line(CASES[1], "old", None, "DataError: no."))
    before = store.path.read_text().splitlines()
    store.restamp(CASES[:2], "new")
    after = store.path.read_text().splitlines()
    assert after[:2] == [text.replace('"old"', '"new"') for text in before[:2]]
    assert after[2:] == before[2:]  # other cases, and what failed


@pytest.mark.usefixtures("in_threads")
def test_each_line_is_one_json_object(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.jsonl")
    run_campaign(CASES, square, store)
    content = [json.loads(text) for text in store.path.read_text().splitlines()]
    assert sorted(item["case"]["seed"] for item in content) == [0, 1, 2, 3]
    assert {item["code"] for item in content} == {code_version(square)}


OTHER_SHAPES = [
    "3",
    "[]",
    '"text"',
    "null",
    '{"case": 3, "code": "c", "result": {}}',
    '{"case": {"experiment": "toy"}, "code": "c", "result": {}}',
    '{"case": {"experiment": "e", "system": "s", "recipe": "r", "seed": [1]}, "code": "c", '
    '"result": {}}',
    '{"case": {"experiment": "e", "system": "s", "recipe": "r", "seed": 1, "options": [1]}, '
    '"code": "c", "result": {}}',
    '{"case": {"experiment": "e", "system": "s", "recipe": "r", "seed": 1, "options": '
    '{"a": [1]}}, "code": "c", "result": {}}',
    '{"case": {"experiment": "e", "system": "s", "recipe": "r", "seed": 1}, "code": 5, '
    '"result": {}}',
    '{"case": {"experiment": "e", "system": "s", "recipe": "r", "seed": 1}, "code": "c", '
    '"result": [1]}',
    '{"case": {"experiment": "e", "system": "s", "recipe": "r", "seed": 1}, "code": "c"}',
    "[" * 100_000,
    "1" * 10_000,
]


@pytest.mark.parametrize("text", OTHER_SHAPES, ids=lambda text: text[:40])
def test_lines_of_another_shape_do_not_stop_a_campaign(text: str, tmp_path: Path) -> None:
    store = Store(tmp_path / "a.jsonl")
    store.path.write_text(text + "\n")
    assert store.lines() == []
    good = Line(Case("e", "s", "r", 1), "c", {"x": 1.0}, None)
    store.append(good)
    assert store.latest([good.case]) == [good]
