"""What is tried against the program: bad input, faults, errors in its own code; one case a kind.

Each case runs a command of the checkout and stores how many inputs or moments it tried and how they
ended, or fails with the sentence of what was not answered well.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wgsindy_evidence.campaign import Case
from wgsindy_evidence.errors import CampaignError

ROOT = Path(__file__).parents[3]
FUZZ, PYTEST, PYTHONS = "python tests/fuzz/fuzz.py", "pytest", ".ci/pythons"
LOST = "dies or killed or nobody or scheduler or something"
WIDTH = 100  # characters of a sentence that are kept


@dataclass(frozen=True)
class Check:
    """A kind of bad input or fault, the command that tries it, and what turns it red.

    ``broken_by`` is the name of the break in tests/breaks, which ``control`` describes.
    """

    kind: str
    command: str
    broken_by: str
    control: str


KILLED = "python tests/helpers/killed_writes.py OUT"
ROOM_FIRST = "a writer that makes room first"
NO_BREAK = "any test; it found a date without a unit, which NumPy 2.5 no longer likes"
CHECKS = (
    Check(
        "formulas, spoilt",
        f"{FUZZ} --target formulas",
        "evaluating-parser",
        "a parser that evaluates",
    ),
    Check(
        "model files, spoilt",
        f"{FUZZ} --target models",
        "running-reader",
        "a reader that starts a program",
    ),
    Check(
        "lines of results, spoilt",
        f"{FUZZ} --target stores",
        "dying-store",
        "a store that dies of a line",
    ),
    Check(
        "data files, spoilt",
        f"{FUZZ} --target readers",
        "raw-errors",
        "a reader that lets errors of libraries through",
    ),
    Check("kill -9 while a result is written", f"{KILLED} SIGKILL", "room-first-kill", ROOM_FIRST),
    Check("SIGTERM while a result is written", f"{KILLED} SIGTERM", "room-first-term", ROOM_FIRST),
    Check("Ctrl-C while a result is written", f"{KILLED} SIGINT", "room-first-int", ROOM_FIRST),
    Check(
        "full and closed disks, two runs in one folder",
        f"{PYTEST} tests/faults/test_disks.py",
        "in-place",
        "a writer without drafts",
    ),
    Check(
        "files that shrink or change while read",
        f"{PYTEST} tests/faults/test_changed_files.py",
        "unnoticed-change",
        "a stream without a sentence for it",
    ),
    Check(
        "Ctrl-C and SIGTERM at any moment of a fit",
        f"{PYTEST} tests/faults/test_signals.py",
        "deaf",
        "a command without a handler",
    ),
    Check(
        "lost workers and schedulers, strangers at a port",
        f"{PYTEST} tests/passes/test_dask_cluster.py -k '{LOST}'",
        "unforgiving",
        "a cluster that forgives no lost worker",
    ),
    Check(
        "small files that unpack to large ones",
        f"{PYTEST} tests/files/formats/test_loading.py -k 'stands_for or members'",
        "unbounded",
        "arrays of any size",
    ),
    Check(
        "numbers, terms and arguments that make no sense",
        f"{PYTEST} tests/estimate/test_bad_input.py",
        "any-step",
        "steps that nobody checks",
    ),
    Check(
        "properties of random systems, 10 to 60 each",
        f"{PYTEST} tests/properties",
        "spoilt-fit",
        "a drift that is off by 0.001",
    ),
    Check(
        "scikit-learn's checks of estimators",
        f"{PYTEST} tests/estimator/test_estimator_checks.py",
        "overwritten",
        "a fit that overwrites a parameter",
    ),
    Check(
        "versions, hashes and licences",
        f"{PYTEST} tests/house/test_supply_chain.py",
        "changed-lock",
        "a lock without NumPy",
    ),
    Check(
        "small errors in the core, each made on its own",
        "python tests/mutation/mutate.py --sample 100 --seed 3200",
        "",
        "tests that notice nothing: it counts those",
    ),
    Check("Python 3.12", f"{PYTHONS} 3.12", "", NO_BREAK),
    Check("Python 3.13", f"{PYTHONS} 3.13", "", NO_BREAK),
    Check("lowest versions that are allowed", f"{PYTHONS} lowest", "", "any test"),
)


def trust_cases(count: int) -> list[Case]:
    """One case a check; ``count`` inputs of each kind that is fuzzed."""
    return [
        Case(
            "trust", check.kind, "fuzz" if check.command.startswith(FUZZ) else "tests", 1000,
            options=(("count", count),) if check.command.startswith(FUZZ) else (),
        )
        for check in CHECKS
    ]  # fmt: skip


def check_of(kind: str) -> Check:
    """Return the check of a kind."""
    return next(check for check in CHECKS if check.kind == kind)


def run_case(case: Case) -> dict[str, Any]:
    """Run the command of a check.

    Raises
    ------
    CampaignError
        If anything was not answered as it should, with what the command said last.
    """
    command = check_of(case.system).command
    with tempfile.TemporaryDirectory() as folder:
        words = command.replace("OUT", f"{folder}/results/out").replace("'", "").split(" ")
        program = [sys.executable, *words[1:]]
        if command.startswith(FUZZ):
            program += ["--count", str(int(case.settings["count"]))]
        elif command.startswith(PYTEST):
            program = pytest_of(command)
        elif command.startswith(PYTHONS):
            program = words
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "evidence/src")])
        env = {**os.environ, "PYTHONPATH": paths}
        ended = subprocess.run(program, cwd=ROOT, env=env, capture_output=True, text=True)
    if ended.returncode:
        last = [line for line in (ended.stdout + ended.stderr).splitlines() if line.strip()][-3:]
        raise CampaignError(f"{case.system}: {' '.join(last)[-WIDTH:]}")
    return answers(ended.stdout)


def pytest_of(command: str) -> list[str]:
    """Split a command of pytest, whose choice of tests may have blanks."""
    place, _, chosen = command.removeprefix(f"{PYTEST} ").partition(" -k ")
    more = ["-k", chosen.strip("'")] if chosen else []
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", place, *more]


def answers(text: str) -> dict[str, Any]:
    r"""Read what a command printed: how many were tried, and how they ended.

    >>> answers("...\n12 passed, 3 deselected in 1.0s")
    {'tried': 12, 'ended': {'passed': 12}}
    >>> answers('{"tried": 9, "noticed": 7, "harmless": 2, "unnoticed": 0}')
    {'tried': 9, 'ended': {'noticed': 7, 'harmless': 2, 'unnoticed': 0}}
    """
    last = text.strip().splitlines()[-1]
    if not last.startswith("{"):
        counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|skipped)", last)}
        return {"tried": counts.get("passed", 0), "ended": counts}
    found = json.loads(last)
    if "touches" in found:
        wrong = set(found["after"]) - {"old", "new"}
        if wrong:
            raise CampaignError(f"after a kill there was {sorted(wrong)[0]}.")
        return {"tried": sum(found["after"].values()), "ended": found["after"]}
    words = ("value", "sentence", "noticed", "harmless", "unnoticed")
    kept = {word: found[word] for word in words if word in found}
    memory = {"mebibytes": found["mebibytes"]} if "mebibytes" in found else {}
    return {"tried": found["tried"], "ended": kept, **memory}
