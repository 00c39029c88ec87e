"""Files of a million samples and more: time a sample, peak memory, against reading the file."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from wgsindy.data import FloatArray, Trajectories
from wgsindy.estimator import WGSINDy
from wgsindy.files import stream
from wgsindy_evidence.speed.long_trajectory import DRIFT, DT, TENSOR, write_trajectory
from wgsindy_evidence.speed.stopwatch import in_fresh_process, seconds_of

LIBRARY = "poly3"
SHORT, REPEATS = 1_000_000, 3  # what takes a second is timed several times
BLOCK = 100_000  # samples that the yardstick reads at a time


def measure(recipe: str, samples: int, threads: int, noise: float = 0.0) -> dict[str, Any]:
    """Write a file, read it as a yardstick, fit it, and read it again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "path.npy"
        in_fresh_process(write_trajectory, path, samples, 0, noise)
        repeats = REPEATS if samples <= SHORT else 1
        plain, tight, fits = [], [], []
        for number in range(repeats + 1):
            plain.append(in_fresh_process(seconds_to_read, path, plainly))
            tight.append(in_fresh_process(seconds_to_read, path, tightly))
            if number < repeats:
                fits.append(in_fresh_process(fit_file, path, recipe, threads))
    middle = median(fit["seconds"] for fit in fits)
    chosen = next(fit for fit in fits if fit["seconds"] == middle)
    return {**chosen, "yardstick": median(plain), "tight": median(tight)}


def seconds_to_read(path: Path, library: Callable[[FloatArray, FloatArray], object]) -> float:
    """Seconds to read the file once with NumPy and to compute a library on it, block by block."""
    space = np.ones((10, BLOCK))

    def read() -> None:
        data = np.load(path, mmap_mode="r")
        for first in range(0, len(data), BLOCK):
            block = data[first : first + BLOCK]
            library(block, space[:, : len(block)])

    return seconds_of(read)


def plainly(states: FloatArray, space: FloatArray) -> FloatArray:
    """Return poly3 of ``(n, 2)``, ``(n, 10)``, as one writes it down, in fresh memory."""
    x, y = states.T
    cubic = [x**3, x**2 * y, x * y**2, y**3]
    return np.column_stack([np.ones(len(x)), x, y, x**2, x * y, y**2, *cubic])


def tightly(states: FloatArray, space: FloatArray) -> FloatArray:
    """Return the same in ``space (10, n)`` as fast as NumPy can; its first row is one already."""
    space[1:3] = states.T
    for term, (known, factor) in enumerate(
        [(1, 1), (1, 2), (2, 2), (3, 1), (4, 1), (5, 1), (5, 2)]
    ):
        np.multiply(space[known], space[factor], out=space[3 + term])
    return space


def fit_file(path: Path, recipe: str, threads: int) -> dict[str, Any]:
    """Open, check and fit a file; seconds, peak memory of the process, and errors of the fields."""
    few = Trajectories(np.load(path, mmap_mode="r")[:5000], DT)
    with tempfile.TemporaryDirectory() as folder:  # imports are not what is measured
        np.save(Path(folder) / "few.npy", few.states)
        WGSINDy(LIBRARY, recipe, threads=threads).fit(stream(Path(folder) / "few.npy", dt=DT))
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
    """Most memory that this program ever held, in MiB."""
    try:
        # What getrusage says begins with the memory of the process that started this one.
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 2**10
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _relative(found: Any, truth: Any) -> float:
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))
