"""A fit of positions in units of ``KMeans(64, n_init=10)`` on positions and their differences."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from threadpoolctl import threadpool_limits

from wgsindy.data import Trajectories
from wgsindy.estimator import WGSINDy
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.hidden.motions import MOTIONS, TRAJECTORIES, noisy, states
from wgsindy_evidence.scope import Scope

EXPERIMENT, RECIPE, SYSTEM = "positions-speed", "sharp", "bistable"
DT, NOISES, REPEATS = 0.05, (0.0, 0.01, 0.05), 3


def speed_cases(scope: Scope) -> list[Case]:
    """One motion, clean and with noise."""
    return [
        Case(EXPERIMENT, system, RECIPE, seed, TRAJECTORIES, options=(("noise", noise),))
        for system in scope.of_systems((SYSTEM,))
        for seed in scope.of_seeds(range(1000, 1004))
        for noise in (NOISES[:1] if scope.quick else NOISES)
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Time both in turns, in seconds of the processor, so that other work does not count."""
    from sklearn.cluster import KMeans

    clean = states(case.system, DT, case.seed)
    seen = noisy(clean, case.settings["noise"], case.seed)[:, :, :1]
    data = Trajectories(list(seen), DT, names=("x",))
    with_differences = data.with_velocities().states
    cloud = (with_differences - with_differences.mean(axis=0)) / with_differences.std(axis=0)
    tasks: dict[str, Callable[[], object]] = {
        "seconds": lambda: WGSINDy(MOTIONS[case.system].library, case.recipe, order=2).fit(data),
        "seconds_yardstick": lambda: KMeans(64, n_init=10, random_state=0).fit(cloud),
    }
    times: dict[str, list[float]] = {name: [] for name in tasks}
    with threadpool_limits(1):
        tasks["seconds"]()  # imports and caches are not what is measured
        for _ in range(REPEATS):
            for name, task in tasks.items():
                started = time.process_time()
                task()
                times[name].append(time.process_time() - started)
    return {name: median(found) for name, found in times.items()} | {"samples": len(cloud)}
