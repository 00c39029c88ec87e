"""A few hundred spoilt inputs of each kind; ``make fuzz`` tries a hundred thousand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import targets
from targets import TARGETS, Target

import fuzz

FEW = 300


def in_a_fresh_process(code: str) -> dict[str, Any]:
    """Run ``code``, which prints one JSON object.

    Inputs are tried in forks, and a process in which threads of a library run must not fork: what
    other tests have started here would hang there.
    """
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=targets.CORPUS.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", TARGETS)
def test_spoilt_inputs_are_answered_by_a_value_or_a_sentence(name: str) -> None:
    found = in_a_fresh_process(
        f"import fuzz, json; print(json.dumps(fuzz.run({name!r}, 10**6, {FEW})))"
    )
    assert found["failed"] == []
    assert found.get("value", 0) + found.get("sentence", 0) == FEW
    assert found.get("value", 0) > 0  # some are good, or nothing behind the first check is tried


def crash(content: bytes, folder: Path) -> object:
    raise KeyError("a raw error")


def hang(content: bytes, folder: Path) -> object:
    while True:
        pass


def sleep(content: bytes, folder: Path) -> object:
    while True:
        time.sleep(0.01)


def swell(content: bytes, folder: Path) -> object:
    # Of a lower limit: on a busy machine a whole GiB takes longer than an input may.
    fuzz.MOST_MEMORY //= 4
    return b"x" * (fuzz.MOST_MEMORY * 1024)


def die(content: bytes, folder: Path) -> object:
    os._exit(9)


def start(content: bytes, folder: Path) -> object:
    return subprocess.run(["true"], check=False)


def write(content: bytes, folder: Path) -> object:
    return Path("/tmp/outside-of-its-folder").write_text("")


def evaluate(content: bytes, folder: Path) -> object:
    exec("1 + 1")
    return None


BREAKS: dict[Callable[[bytes, Path], object], str] = {
    crash: "crash: KeyError",
    hang: "hang: over",
    sleep: "hang: over",
    swell: "memory: ",
    die: "crash: the process ended with 9",
    start: "crash: RunsCode: subprocess.Popen",
    write: "crash: RunsCode: writes to /tmp/outside",
    evaluate: "crash: RunsCode: exec",
}


def broken(name: str) -> None:
    """Print what a target says that goes wrong in one of these ways."""
    take = next(one for one in BREAKS if one.__name__ == name)
    first = iter([True])

    def after_the_first(content: bytes, folder: Path) -> object:
        return None if next(first, False) else take(content, folder)  # the first is a trial

    vars(fuzz)["TARGETS"] = {"broken": Target(lambda: [b"seed"], after_the_first)}
    fuzz.PATIENCE = 2.0 if take is sleep else 60.0
    print(json.dumps(fuzz.run("broken", 0, 1)))


@pytest.mark.parametrize("take", BREAKS, ids=lambda take: take.__name__)
def test_each_kind_of_failure_would_be_noticed(take: Callable[[bytes, Path], object]) -> None:
    found = in_a_fresh_process(f"import test_fuzz; test_fuzz.broken({take.__name__!r})")
    assert len(found["failed"]) == 1
    assert found["failed"][0][1].startswith(BREAKS[take])


def test_the_command_fails_if_an_input_does() -> None:
    code = "import fuzz; fuzz.run = lambda *_: {'target': 'x', 'tried': 1, 'crash': 1, 'mebibytes': 1, 'failed': [(0, 'crash')]}; fuzz.main()"  # noqa: E501
    arguments = ["--count", "1", "--target", "stores"]
    ended = subprocess.run([sys.executable, "-c", code, *arguments], cwd=targets.CORPUS.parent)
    assert ended.returncode == 1
