"""The worker: read a task, fit it cold and again warm, write what came out or what went wrong.

``python run.py METHOD TASK RESULT`` fits one task. ``python run.py METHOD`` reads further tasks
from its input, one ``TASK<tab>RESULT`` a line, so that compiled code can be used again.

A task is an ``.npz`` file with ``paths (R, n, d)``, ``dt``, the library's exponents
``powers (K, d)``, ``points (P, d)`` at which the fields are wanted, ``seed``, ``repeats`` (number
of warm fits) and ``drift_only``. A result holds ``drift (P, d)``, ``tensor (P, d, d)``,
``support (d, K)`` in the order of ``powers``, ``seconds_first``, ``seconds_warm`` (median) and
``seconds_repeats`` (sum) of the warm fits, ``version``; or only ``failure``, a sentence: a fit
that raises is a result, not a crash.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import statistics
import sys
import time
from types import ModuleType
from typing import Any

import numpy as np

DONE = "@done"  # the reply to a task; packages print what they like around it


def main(arguments: list[str]) -> None:
    """Fit the task of the command line, or those that come in."""
    adapter = importlib.import_module(f"with_{arguments[0]}")
    if len(arguments) == 3:
        serve(adapter, arguments[1], arguments[2])
        return
    for line in sys.stdin:
        task, result = line.rstrip("\n").split("\t")
        serve(adapter, task, result)
        sys.stdout.write(f"\n{DONE}\n")
        sys.stdout.flush()


def serve(adapter: ModuleType, task: str, result: str) -> None:
    """Fit one task and write its result."""
    with np.load(task, allow_pickle=False) as file:
        content = {name: file[name] for name in file.files}
    try:
        outcome = timed_fit(adapter, content)
    except Exception as error:  # whatever a package raises is its result
        outcome = {"failure": " ".join(f"{type(error).__name__}: {error}".split())}
    np.savez(result, **outcome)


def timed_fit(adapter: ModuleType, task: dict[str, Any]) -> dict[str, Any]:
    """Fit once, then ``repeats`` times more; imports are not part of a fit."""
    for package in adapter.PACKAGES:
        importlib.import_module(package)
    seconds = []
    for _ in range(1 + int(task["repeats"])):
        started = time.perf_counter()
        model = adapter.fit(task)
        seconds.append(time.perf_counter() - started)
    drift, tensor, support = adapter.read(model, task)
    return {
        "drift": np.asarray(drift, dtype=np.float64),
        "tensor": np.asarray(tensor, dtype=np.float64),
        "support": np.asarray(support, dtype=bool),
        "seconds_first": seconds[0],
        "seconds_warm": statistics.median(seconds[1:] or seconds),
        "seconds_repeats": sum(seconds[1:]),
        "version": importlib.metadata.version(adapter.DISTRIBUTION),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
