"""Files of a million samples and more: time a sample, peak memory, against reading the file."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from wgsindy.bench.speed.longpath import DRIFT, DT, TENSOR, write_path
from wgsindy.bench.speed.stopwatch import in_fresh_process, seconds_of
from wgsindy.estimator import WGSINDy
from wgsindy.files import stream
from wgsindy.trajectories import Trajectories

LIBRARY = "poly3"
SHORT, REPEATS = 1_000_000, 3  # what takes a second is timed several times
BLOCK = 100_000  # samples that the yardstick reads at a time


def measure(recipe: str, samples: int, threads: int) -> dict[str, Any]:
    """Write a file, read it once as a yardstick, fit it, and read it again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "path.npy"
        write_path(path, samples)
        repeats = REPEATS if samples <= SHORT else 1
        readings, fits = [], []
        for _ in range(repeats):
            readings.append(in_fresh_process(seconds_to_read, path))
            fits.append(in_fresh_process(fit_file, path, recipe, threads))
        readings.append(in_fresh_process(seconds_to_read, path))
    middle = median(fit["seconds"] for fit in fits)
    chosen = next(fit for fit in fits if fit["seconds"] == middle)
    return {**chosen, "yardstick": median(readings)}


def seconds_to_read(path: Path) -> float:
    """Seconds to read the file once with NumPy and to compute the ten terms of poly3 on it."""

    def read() -> None:
        data = np.load(path, mmap_mode="r")
        for first in range(0, len(data), BLOCK):
            x, y = np.ascontiguousarray(data[first : first + BLOCK].T)
            xx, xy, yy = x * x, x * y, y * y
            np.stack([np.ones_like(x), x, y, xx, xy, yy, x * xx, x * xy, x * yy, y * yy])

    return seconds_of(read)


def fit_file(path: Path, recipe: str, threads: int) -> dict[str, Any]:
    """Open, check and fit a file; seconds, peak memory of the process, and errors of the fields."""
    few = Trajectories(np.load(path, mmap_mode="r")[:5000], DT)
    WGSINDy(LIBRARY, recipe).fit(few)  # imports are not what is measured
    wall, processor = time.perf_counter(), time.process_time()
    estimate = WGSINDy(LIBRARY, recipe, threads=threads).fit(stream(path, dt=DT)).generator_
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    drift = few.states @ DRIFT.T
    tensor = np.broadcast_to(TENSOR, (len(drift), 2, 2))
    return {
        "seconds": wall,
        "processor": processor,
        "peak_mib": peak_memory(),
        "drift_error": _relative(estimate.drift(few.states), drift),
        "tensor_error": _relative(estimate.diffusion(few.states), tensor),
    }


def peak_memory() -> float:
    """Most memory that this process ever held, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _relative(found: Any, truth: Any) -> float:
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))
