"""Larger libraries and more coordinates: time of passes and of selection, memory."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from wgsindy.data import Trajectories
from wgsindy.estimator import WGSINDy
from wgsindy_evidence.speed.stopwatch import Stopwatch, in_fresh_process, seconds_of

RECIPE = "sharp-euler"
TRAJECTORIES, STEPS, DT = 100, 1000, 0.01


def ring(dimension: int) -> Trajectories:
    """Linear springs in a ring, each pulled along by the one before it."""
    rng = np.random.default_rng(dimension)
    x = np.zeros((STEPS + 1, TRAJECTORIES, dimension))
    x[0] = rng.normal(size=x[0].shape)
    for n in range(STEPS):
        pull = 0.5 * np.roll(x[n], 1, axis=1) - x[n]
        x[n + 1] = x[n] + pull * DT + np.sqrt(DT) * rng.normal(size=x[n].shape)
    return Trajectories(list(x.swapaxes(0, 1)), DT)


def measure(dimension: int, degree: int) -> dict[str, Any]:
    """Fit polynomials in a fresh process: once for the time, once more for the memory."""
    return in_fresh_process(_measure, dimension, degree)


def _measure(dimension: int, degree: int) -> dict[str, Any]:
    WGSINDy("poly1", RECIPE).fit(ring(2))  # imports and caches are not what is measured
    data, watch = ring(dimension), Stopwatch()
    estimator = WGSINDy(f"poly{degree}", RECIPE, engine=watch)
    total = seconds_of(lambda: estimator.fit(data))
    passes = sum(lap.wall for lap in watch.laps)
    return {
        "terms": len(estimator.generator_.basis),
        "fields": dimension + dimension * (dimension + 1) // 2,
        "increments": data.n_increments,
        "passes": passes,
        "selection": total - passes,
        "added_mib": added_memory(estimator, data),
    }


def added_memory(estimator: WGSINDy, data: Trajectories) -> float:
    """Most memory in MiB that a fit holds beyond the data; NumPy tells tracemalloc of arrays."""
    tracemalloc.start()
    try:
        with ThreadPoolExecutor(1) as fresh:  # a thread without scratch space from earlier fits
            fresh.submit(estimator.fit, data).result()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
