"""A fit in units of ``KMeans(64, n_init=10)`` of scikit-learn on the same cloud, one thread.

And in units of a fit that takes the same samples for Euler steps.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from threadpoolctl import threadpool_limits

from wgsindy import zoo
from wgsindy.estimator import WGSINDy
from wgsindy.passes import data_summary
from wgsindy_evidence.experiments.ours.observation_noise import observed
from wgsindy_evidence.recipes import SHARP_EULER
from wgsindy_evidence.speed.stopwatch import seconds_of

SYSTEM, TRAJECTORIES = "rotational_ou", 16


def measure(
    recipe: str, samples: int, library: str, repeats: int, noise: float = 0.0
) -> dict[str, Any]:
    """Time fit and yardsticks in turns, so that a slow moment hits all alike.

    ``noise`` on every sample is a share of the standard deviation of its coordinate.
    """
    from sklearn.cluster import KMeans

    data = zoo.get(SYSTEM).simulate(0, trajectories=TRAJECTORIES, steps=samples // TRAJECTORIES)
    data = observed(data, "gaussian", noise, seed=0) if noise else data
    cloud = data_summary(data, standardise=True).frame.standardise(data.states)
    tasks: dict[str, Callable[[], object]] = {
        "seconds": lambda: WGSINDy(library, recipe).fit(data),
        "yardstick": lambda: KMeans(64, n_init=10, random_state=0).fit(cloud),
    }
    if recipe != SHARP_EULER.name:
        tasks["chain"] = lambda: WGSINDy(library, SHARP_EULER).fit(data)
    with threadpool_limits(1):
        tasks["seconds"]()  # imports and caches are not what is measured
        times: dict[str, list[float]] = {name: [] for name in tasks}
        for _ in range(repeats):
            for name, task in tasks.items():
                times[name].append(seconds_of(task))
    return {name: median(found) for name, found in times.items()}
