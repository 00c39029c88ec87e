"""What a fit costs: time relative to a yardstick of the same run, memory, and growth with N.

The yardstick is ``KMeans(64, n_init=10)`` of scikit-learn on the same standardised cloud, one
thread. Ratios travel between machines; seconds do not.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from wgsindy import zoo
from wgsindy.estimator import WGSINDy
from wgsindy.survey import survey
from wgsindy.trajectories import Trajectories

SYSTEM = "rotational_ou"
LIBRARY = "poly2"


@dataclass(frozen=True)
class Timing:
    """Median seconds of the fit and of the yardstick, measured in turns."""

    increments: int
    fit: float
    yardstick: float

    @property
    def ratio(self) -> float:
        """Cost of the fit in yardsticks."""
        return self.fit / self.yardstick


@dataclass(frozen=True)
class Growth:
    """Seconds of one fit, and the most memory it holds beyond the data."""

    increments: int
    seconds: float
    megabytes: float


def _data(increments: int) -> Trajectories:
    return zoo.get(SYSTEM).simulate(0, trajectories=16, steps=increments // 16)


def _seconds(task: Callable[[], object]) -> float:
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def time_fit(
    recipe: str, increments: int = 25_600, repeats: int = 5, library: str = LIBRARY
) -> Timing:
    """Time fit and yardstick alternately on one thread, so that noise hits both alike."""
    from sklearn.cluster import KMeans

    data = _data(increments)
    cloud = survey(data, standardise=True).frame.standardise(data.states)
    with threadpool_limits(1):
        WGSINDy(library, recipe).fit(data)  # imports and caches are not what is measured
        fits, yardsticks = [], []
        for _ in range(repeats):
            fits.append(_seconds(lambda: WGSINDy(library, recipe).fit(data)))
            yardsticks.append(_seconds(lambda: KMeans(64, n_init=10, random_state=0).fit(cloud)))
    return Timing(data.n_increments, median(fits), median(yardsticks))


def first_fit(recipe: str, increments: int = 25_600) -> float:
    """Seconds from the start of a fresh process to its first result, imports included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "paths.npy"
        np.save(path, np.array(list(_data(increments))))
        code = (
            "import sys, numpy, wgsindy\n"
            f"wgsindy.WGSINDy({LIBRARY!r}, {recipe!r}).fit(list(numpy.load(sys.argv[1])), dt=0.01)"
        )
        command = [sys.executable, "-c", code, str(path)]
        return _seconds(lambda: subprocess.run(command, check=True))


def measure_growth(recipe: str, increments: int) -> Growth:
    """Fit in a fresh process: once for the time, once more to trace what it allocates."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        seconds, megabytes = pool.submit(_growth_worker, recipe, increments).result()
    return Growth(increments, seconds, megabytes)


def _growth_worker(recipe: str, increments: int) -> tuple[float, float]:
    with threadpool_limits(1):
        WGSINDy(LIBRARY, recipe).fit(_data(3200))
        data = _data(increments)
        seconds = _seconds(lambda: WGSINDy(LIBRARY, recipe).fit(data))
        return seconds, added_megabytes(recipe, data)


def added_megabytes(recipe: str, data: Trajectories) -> float:
    """Most memory that a fit holds beyond the data; NumPy reports its arrays to tracemalloc."""
    tracemalloc.start()
    try:
        with ThreadPoolExecutor(1) as fresh:  # a thread without scratch space from earlier fits
            fresh.submit(lambda: WGSINDy(LIBRARY, recipe).fit(data)).result()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
