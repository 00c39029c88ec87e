"""Fuzzing: spoilt inputs by the hundred thousand, none of which may crash, hang or run anything.

``python tests/fuzz/fuzz.py --count 100000`` tries that many of each kind. Inputs are numbered, so
``--target formulas --first 4711 --count 1`` tries one of them again. An input must be answered
within 2 s, by a value or a sentence, in less than 1 GiB, and without opening a connection, starting
a program, or writing outside of its folder. What failed is kept in tests/fuzz/corpus.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from targets import CORPUS, TARGETS, Target, spoilt, tried

LONGEST = 2.0  # seconds of processor time, since others may use the machine, too
PATIENCE = 60.0  # seconds, for what waits without working
MOST_MEMORY = 2**20  # KiB
BATCH = 2000
FORBIDDEN = (
    "os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "pty.spawn",
    "socket.connect", "pickle.find_class",
)  # fmt: skip


class RunsCode(BaseException):
    """Something that no data may do was about to happen."""


def watch(folder: Path) -> None:
    """Refuse, from now on and for ever in this process, what no data may do."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in FORBIDDEN and watching:
            raise RunsCode(f"{event} {arguments!r:.200}")
        if event == "exec" and watching and not _is_a_module(arguments[0]):
            raise RunsCode(f"{event} {arguments!r:.200}")
        if event == "open" and watching and isinstance(arguments[0], str):
            writes = isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
            if writes and not Path(arguments[0]).is_relative_to(folder):
                raise RunsCode(f"writes to {arguments[0]}")

    sys.addaudithook(hook)


watching: list[bool] = []


def _is_a_module(code: Any) -> bool:
    """Whether code is that of an installed module, which is loaded when it is first needed."""
    return code.co_name == "<module>" and os.path.isfile(code.co_filename)


def batch(name: str, first: int, count: int, results: Any) -> None:
    """Try inputs in a process of its own, which a hang ends."""
    target = TARGETS[name]
    seeds = target.seeds() + [p.read_bytes() for p in sorted(CORPUS.glob(f"{name}-*"))]
    for end in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(end, signal.SIG_DFL)
    memory_disk = "/dev/shm" if os.path.isdir("/dev/shm") else None  # nothing is worth a disk here
    with tempfile.TemporaryDirectory(dir=memory_disk) as folder:
        where = Path(folder).resolve()
        for seed in seeds[:1]:
            tried(target, seed, where)  # what is imported when first used is ours
        watch(where)
        for number in range(first, first + count):
            content = spoilt(seeds, number)
            results.send((number, "began"))
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
            answer = one(target, content, where)
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if memory > MOST_MEMORY:
                answer = f"memory: {memory // 1024} MiB"
            results.send((number, answer))
            if memory > MOST_MEMORY:
                os._exit(3)
    results.send((-1, str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)))


def one(target: Target, content: bytes, where: Path) -> str:
    """Answer of one input: ``value``, ``sentence``, or what went wrong."""
    watching.append(True)
    try:
        return tried(target, content, where)
    except (Exception, RunsCode) as error:
        return f"crash: {type(error).__name__}: {error!s:.200}"
    finally:
        watching.clear()


def run(name: str, first: int, count: int) -> dict[str, Any]:
    """Try ``count`` inputs of a target, and count the answers."""
    answers, failed, memory = Counter[str](), [], 0
    context = multiprocessing.get_context("fork")
    number, end = first, first + count
    while number < end:
        size = min(BATCH, end - number)
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=batch, args=(name, number, size, there))
        child.start()
        there.close()
        current = number - 1
        try:
            while True:
                which, answer = here.recv()
                if which < 0:
                    memory = max(memory, int(answer))
                    break
                current = which
                if answer != "began":
                    kind = answer.split(":")[0]
                    answers[kind] += 1
                    if kind not in ("value", "sentence"):
                        failed.append((which, answer))
        except EOFError:
            child.join()
            if child.exitcode in (-signal.SIGALRM, -signal.SIGPROF):
                answers["hang"] += 1
                failed.append((current, f"hang: over {LONGEST} s"))
            elif child.exitcode != 3:
                answers["crash"] += 1
                failed.append((current, f"crash: the process ended with {child.exitcode}"))
        child.join()
        number = max(current + 1, number + 1)
    return {"target": name, "tried": count, **answers, "failed": failed, "mebibytes": memory}


def keep(name: str, number: int) -> None:
    """Keep an input that failed, for those to come."""
    target = TARGETS[name]
    seeds = target.seeds() + [p.read_bytes() for p in sorted(CORPUS.glob(f"{name}-*"))]
    (CORPUS / f"{name}-{number}").write_bytes(spoilt(seeds, number))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--target", choices=TARGETS, action="append")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of each target")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--keep", action="store_true", help="keep what fails in the corpus")
    given = parser.parse_args()
    bad = 0
    for name in given.target or TARGETS:
        started, total = time.monotonic(), Counter[str]()
        failed: list[Any] = []
        for first in range(given.first, given.first + given.count, 5 * BATCH):
            size = min(5 * BATCH, given.first + given.count - first)
            found = run(name, first, size)
            failed += found.pop("failed")
            memory = max(total["mebibytes"], found.pop("mebibytes"))
            found.pop("target")
            total += Counter(found)
            total["mebibytes"] = memory
            if time.monotonic() - started > given.seconds:
                break
        for number, answer in failed[:20]:
            print(f"{name} {number}: {answer}")
            if given.keep:
                keep(name, number)
        bad += len(failed)
        line = {"target": name, **total}
        print(json.dumps(line), flush=True)
        if given.out:
            with open(given.out, "a") as file:
                file.write(json.dumps(line) + "\n")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
