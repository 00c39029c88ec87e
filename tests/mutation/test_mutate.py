"""Which tests a line has, and when an error counts as noticed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import mutate
import pytest
from mutants import count, mutant
from mutate import Lines, Outcome


def database(folder: Path, passed: dict[str, list[int]]) -> Path:
    """Coverage's database of one module: the lines that each test passes."""
    path = folder / "contexts.db"
    rows = sqlite3.connect(path)
    rows.execute("create table file (id integer, path text)")
    rows.execute("create table context (id integer, context text)")
    rows.execute(
        "create table arc (file_id integer, context_id integer, fromno integer, tono integer)"
    )
    rows.execute("insert into file values (1, '/tmp/x/src/wgsindy/data/holes.py')")
    for number, (name, lines) in enumerate(passed.items()):
        rows.execute("insert into context values (?, ?)", (number, f"{name}|run" if name else ""))
        for line in lines:
            rows.execute("insert into arc values (1, ?, -1, ?)", (number, line))
    rows.commit()
    rows.close()
    return path


def test_tests_of_a_module_come_first_and_narrow_ones_before_wide_ones(tmp_path: Path) -> None:
    passed = {
        "": [7],  # while modules are loaded
        "tests/model/test_a.py::test_narrow": [7],
        "tests/data/test_stream.py::test_b": [7, 8],
        "tests/data/test_holes.py::test_wide": [6, 7, 8],
        "tests/data/test_holes.py::test_c[NaN|inf]": [7, 8],
        "tests/data/test_holes.py::test_elsewhere": [8],
    }
    assert Lines(database(tmp_path, passed)).tests("data/holes.py", 7) == [
        "tests/data/test_holes.py::test_c[NaN|inf]",
        "tests/data/test_holes.py::test_wide",
        "tests/data/test_stream.py::test_b",
        "tests/model/test_a.py::test_narrow",
    ]


@pytest.mark.parametrize(
    ("outcomes", "noticed"),
    [
        ([Outcome.FAILED], True),
        ([Outcome.PASSED, Outcome.FAILED], True),
        ([Outcome.PASSED, Outcome.PASSED], False),
        ([Outcome.PASSED, Outcome.SLOW, Outcome.PASSED], True),
        ([Outcome.PASSED, Outcome.SLOW, Outcome.SLOW], False),
        ([Outcome.SLOW, Outcome.PASSED], True),
        ([Outcome.SLOW, Outcome.SLOW, Outcome.PASSED], False),
        ([Outcome.SLOW, Outcome.SLOW, Outcome.FAILED], True),
    ],
)
def test_slow_tests_notice_an_error_only_if_they_are_not_slow_without_it(
    outcomes: list[Outcome], noticed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "module.py"
    seen: list[bool] = []
    path.write_text("with the error")

    def outcome(_: Path, __: list[str], patience: int = mutate.PATIENCE) -> Outcome:
        again = patience < mutate.PATIENCE
        assert path.read_text() == ("without it" if again else "with the error")
        seen.append(again)
        return outcomes[len(seen) - 1]

    monkeypatch.setattr(mutate, "_outcome", outcome)
    assert mutate.killed(tmp_path, ["a test"] * 100, path, "without it") == noticed
    slow = [one is Outcome.SLOW for one in outcomes]
    assert seen == [k > 0 and slow[k - 1] and not seen[k - 1] for k in range(len(outcomes))]
    assert path.read_text() == "with the error"


def test_goldens_are_asked_after_the_few_tests_that_are_most_to_the_point() -> None:
    near, wide = [f"tests/data/test_a.py::test_{k}" for k in range(mutate.FIRST)], ["tests/b.py"]
    golden = [f"{mutate.GOLDEN}/test_goldens.py::test_{k}" for k in range(mutate.BATCH + 1)]
    batches = [golden[: mutate.BATCH], golden[mutate.BATCH :]]
    assert mutate._groups(golden + near + wide) == [near, *batches, wide]
    assert mutate._groups(golden[:1]) == [golden[:1]]
    assert mutate._groups([]) == []


def test_a_length_that_is_left_open_has_no_other_number() -> None:
    code = "def f(x):\n    return x.reshape(2, -1) - g(-1)"
    made = [mutant(code, number).after for number in range(count(code))]
    changed = ["reshape(2, -1) + g(-1)", "reshape(3, -1) - g(-1)", "reshape(2, +1) - g(-1)",
               "reshape(2, -1) - g(+1)", "reshape(2, -1) - g(-2)"]  # fmt: skip
    assert made == [f"return x.{one}" for one in changed]


def test_a_run_goes_on_where_one_of_the_same_mutants_was_stopped(tmp_path: Path) -> None:
    code, out = "def f(x):\n    return x + 1 > 2", tmp_path / "out.jsonl"
    drawn = [("data/holes.py", mutant(code, number)) for number in range(3)]
    assert mutate._done(None, drawn) == mutate._done(out, drawn) == []
    done = [{**mutate._entry(*one), "killed": True} for one in drawn[:2]]
    out.write_text("".join(json.dumps(entry) + "\n" for entry in done))
    assert mutate._done(out, drawn) == done
    assert mutate._done(out, drawn[1:]) == []
