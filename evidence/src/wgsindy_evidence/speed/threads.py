"""What a second thread gains, beside what it could gain at most on this machine just now."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from wgsindy.estimator import WGSINDy
from wgsindy.files import stream
from wgsindy_evidence.speed.long_trajectory import DT, write_trajectory
from wgsindy_evidence.speed.scale import LIBRARY
from wgsindy_evidence.speed.stopwatch import seconds_of

ROUNDS = 200  # of the control


def measure(recipe: str, samples: int, repeats: int) -> dict[str, Any]:
    """Fit with one thread and with two, in turns; and let two threads do twice the work of one."""
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        path = Path(folder) / "path.npy"
        write_trajectory(path, samples)
        data = stream(path, dt=DT)

        def fit(threads: int) -> Callable[[], object]:
            return lambda: WGSINDy(LIBRARY, recipe, threads=threads).fit(data)

        fit(2)()  # imports and caches
        tasks = {"one": fit(1), "two": fit(2), "alone": _alone, "both": _both}
        times: dict[str, list[float]] = {name: [] for name in tasks}
        for _ in range(repeats):
            for name, task in tasks.items():
                times[name].append(seconds_of(task))
    seconds = {name: median(found) for name, found in times.items()}
    return {
        "one": seconds["one"],
        "two": seconds["two"],
        "possible": 2 * seconds["alone"] / seconds["both"],
    }


def _alone() -> None:
    """Arithmetic within one core's cache: no thread waits for another, nor for memory."""
    numbers = np.linspace(0.0, 1.0, 20_000)
    matrix = numbers[:10_000].reshape(100, 100)
    for _ in range(ROUNDS):
        np.exp(numbers)
        matrix @ matrix


def _both() -> None:
    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(_alone) for _ in range(2)]:
            future.result()
