"""Mutation testing of the numeric core: how many small errors do the tests notice?

``python tests/mutation/mutate.py --sample 100`` copies the checkout, finds out which tests run
which line, and then makes one error after the other in the copy and runs the tests of its line:
those of `make test`, and the goldens. A mutant is killed if one of them fails, or no longer comes
to an end. Prints the share, by package, and every survivor; reasons that are known are in
survivors.toml.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from itertools import repeat
from pathlib import Path
from queue import Queue

from mutants import Mutant, count, mutant

ROOT = Path(__file__).parents[2]
ROOMS = ("data", "passes", "terms", "model", "estimate", "diagnostics")
TESTED = (*ROOMS, "estimator", "readouts", "properties", "zoo")
PATIENCE = 60  # seconds of processor time that a group of tests may take: others work, too
WAITING = 1200  # seconds, for what waits without working
FIRST, MOST = 40, 300  # tests that are run at first, and at most
GOLDEN, BATCH = "tests/golden", 20  # what pins all numbers, and how many of them are run at once
KNOWN = Path(__file__).with_name("survivors.toml")


def copied(target: Path) -> Path:
    """Copy what git knows of the checkout: mutants never touch the checkout itself."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split("\n")  # fmt: skip
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name)
    return target


def environment(tree: Path) -> dict[str, str]:
    paths = f"{tree / 'src'}{os.pathsep}{tree / 'evidence' / 'src'}"
    return {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip


def contexts(tree: Path, database: Path, jobs: int) -> None:
    """Run the tests once and store which lines each of them passes."""
    folders = [f"tests/{room}" for room in TESTED if (tree / "tests" / room).is_dir()]
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(jobs), "-p", "no:cacheprovider",
               "--cov=wgsindy", "--cov-branch", "--cov-context=test", "--cov-report=",
               "--cov-append"]  # fmt: skip
    env = {**environment(tree), "COVERAGE_FILE": str(database)}
    for asked in (["-m", "not long", *folders], ["-m", "long", GOLDEN]):
        subprocess.run([*command, *asked], cwd=tree, env=env, check=True)


class Lines:
    """Which tests run which line, from coverage's database."""

    def __init__(self, database: Path) -> None:
        self.rows = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        sizes = "select c.context, count(*) from arc a join context c on c.id = a.context_id group by c.context"  # noqa: E501
        self.sizes = Counter[str]()
        for name, size in self.rows.execute(sizes):
            self.sizes[name.rsplit("|", 1)[0]] += size

    def tests(self, module: str, line: int) -> list[str]:
        """Return the tests of a line; those of its module first, of its package next.

        Among these, those that pass fewer lines first: they are quick, and ask for more of each.
        """
        at = "f.path like ? and (a.tono = ? or a.fromno = ?)"
        query = f"select distinct c.context from arc a join file f on f.id = a.file_id join context c on c.id = a.context_id where {at}"  # noqa: E501
        found = self.rows.execute(query, (f"%/src/wgsindy/{module}", line, line)).fetchall()
        names = sorted({name.rsplit("|", 1)[0] for (name,) in found if name})
        room, own = _room(module), Path(module).stem

        def later(name: str) -> tuple[bool, bool, int]:
            return own not in name, f"tests/{room}/" not in name, self.sizes[name]

        return sorted(names, key=later)


def killed(tree: Path, tests: list[str], path: Path, before: str) -> bool:
    """Whether one of the tests fails, or no longer comes to an end."""
    for group in _groups(tests):
        outcome = _outcome(tree, group)
        if outcome is Outcome.SLOW:  # tests that are slow without the error say nothing about it
            mutated = path.read_text(encoding="utf-8")
            path.write_text(before, encoding="utf-8")
            slow = _outcome(tree, group, PATIENCE // 2) is Outcome.SLOW
            path.write_text(mutated, encoding="utf-8")
            outcome = Outcome.PASSED if slow else Outcome.FAILED
        if outcome is Outcome.FAILED:
            return True
    return False


def _groups(tests: list[str]) -> list[list[str]]:
    """Tests that are run together: a few, then the goldens, then those that are farther off."""
    golden = [test for test in tests if test.startswith(GOLDEN)]
    others = [test for test in tests if not test.startswith(GOLDEN)]
    batches = [golden[k : k + BATCH] for k in range(0, len(golden), BATCH)]
    return [group for group in (others[:FIRST], *batches, others[FIRST:MOST]) if group]


class Outcome(Enum):
    PASSED, FAILED, SLOW = range(3)


def _outcome(tree: Path, tests: list[str], patience: int = PATIENCE) -> Outcome:
    """Run tests until one fails or their time is over."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (patience, patience))

    try:
        run = subprocess.run(command, cwd=tree, env=environment(tree), capture_output=True,
                             timeout=WAITING, preexec_fn=limited)  # fmt: skip
    except subprocess.TimeoutExpired:
        return Outcome.SLOW
    if run.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return Outcome.SLOW
    return Outcome.FAILED if run.returncode else Outcome.PASSED


def sampled(size: int, seed: int) -> list[tuple[str, Mutant]]:
    """Draw mutants evenly from all of the core."""
    texts = {}
    for room in ROOMS:
        for path in sorted((ROOT / "src/wgsindy" / room).rglob("*.py")):
            module = path.relative_to(ROOT / "src/wgsindy").as_posix()
            if not any(part in module for part in ("display", "draw/", "notebook")):
                texts[module] = path.read_text(encoding="utf-8")
    found = [(module, k) for module, text in texts.items() for k in range(count(text))]
    sys.stderr.write(f"{len(found)} mutants in all, {size} of them drawn\n")
    drawn = random.Random(seed).sample(found, min(size, len(found)))
    return [(module, mutant(texts[module], k)) for module, k in drawn]


def _room(module: str) -> str:
    return module.split("/")[0]


def _entry(module: str, one: Mutant) -> dict[str, object]:
    return {"module": module, "line": one.line, "before": one.before, "after": one.after}


def _done(out: Path | None, drawn: list[tuple[str, Mutant]]) -> list[dict[str, object]]:
    """Results of an earlier run that was stopped, as far as it was about the same mutants."""
    lines = out.read_text().splitlines() if out is not None and out.exists() else []
    earlier = [json.loads(line) for line in lines]
    same = [{**_entry(*one), "killed": was["killed"]} == was for one, was in zip(drawn, earlier)]  # noqa: B905
    return earlier if all(same) else []


def tried(module: str, one: Mutant, tests: list[str], trees: Queue[Path]) -> dict[str, object]:
    """Make one error in a tree that nobody uses, and say what became of it."""
    tree = trees.get()
    try:
        path = tree / "src/wgsindy" / module
        before = path.read_text(encoding="utf-8")
        path.write_text(one.source, encoding="utf-8")
        dead = killed(tree, tests, path, before)
        path.write_text(before, encoding="utf-8")
    finally:
        trees.put(tree)
    sys.stderr.write("." if dead else f"\n{module}:{one.line}: {one.before} -> {one.after}\n")
    return {**_entry(module, one), "killed": dead}


def all_tried(
    drawn: list[tuple[str, Mutant]], jobs: int, database: Path | None, out: Path | None
) -> list[dict[str, object]]:
    """Try errors, several at a time, each in a copy of its own; goes on where a run was stopped."""
    listed, trees = _done(out, drawn), Queue[Path]()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        for job in range(jobs):
            trees.put(copied(Path(folder).resolve() / str(job)))
        database = database or Path(folder) / "contexts.db"
        if not database.exists():
            contexts(trees.queue[0], database, jobs)
        lines = Lines(database)
        left = drawn[len(listed) :]
        # Of a statement of many lines, coverage knows some.
        tests = [lines.tests(m, one.line) or lines.tests(m, one.statement) for m, one in left]
        for entry in pool.map(tried, *zip(*left), tests, repeat(trees)) if left else ():  # noqa: B905
            listed.append(entry)
            if out:
                out.write_text("".join(json.dumps(entry) + "\n" for entry in listed))
    return listed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2, help="errors that are tried at a time")
    parser.add_argument("--contexts", type=Path, help="coverage's database, to be made if missing")
    parser.add_argument("--out", type=Path, help="JSON lines, one a mutant; a run goes on there")
    given = parser.parse_args()
    listed = all_tried(sampled(given.sample, given.seed), given.jobs, given.contexts, given.out)
    for room in ROOMS:
        dead_or_alive = [bool(one["killed"]) for one in listed if _room(str(one["module"])) == room]
        if dead_or_alive:
            print(f"{room}: {sum(dead_or_alive)} of {len(dead_or_alive)} killed")
    reasons = tomllib.loads(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else {}
    alive = [one for one in listed if not one["killed"]]
    survivors = [f"{one['module']}: {one['before']} -> {one['after']}" for one in alive]
    for key in survivors:
        print(f"survived: {key}\n    {reasons.get(key, 'no reason is known')}")
    harmless = sum(key in reasons for key in survivors)
    noticed = len(listed) - len(survivors)
    print(f"all: {noticed} of {len(listed)} killed, {noticed / len(listed):.0%}")
    print(json.dumps({"tried": len(listed), "noticed": noticed, "harmless": harmless,
                      "unnoticed": len(survivors) - harmless}))  # fmt: skip


if __name__ == "__main__":
    main()
