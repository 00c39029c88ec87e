"""A fit in units of ``KMeans(64, n_init=10)`` of scikit-learn on the same cloud, one thread."""

from __future__ import annotations

from statistics import median
from typing import Any

from threadpoolctl import threadpool_limits

from wgsindy import zoo
from wgsindy.estimator import WGSINDy
from wgsindy.passes.summary import data_summary
from wgsindy_evidence.speed.stopwatch import seconds_of

SYSTEM, TRAJECTORIES = "rotational_ou", 16


def measure(recipe: str, samples: int, library: str, repeats: int) -> dict[str, Any]:
    """Time fit and yardstick in turns, so that noise hits both alike."""
    from sklearn.cluster import KMeans

    data = zoo.get(SYSTEM).simulate(0, trajectories=TRAJECTORIES, steps=samples // TRAJECTORIES)
    cloud = data_summary(data, standardise=True).frame.standardise(data.states)
    with threadpool_limits(1):
        WGSINDy(library, recipe).fit(data)  # imports and caches are not what is measured
        fits, yardsticks = [], []
        for _ in range(repeats):
            fits.append(seconds_of(lambda: WGSINDy(library, recipe).fit(data)))
            yardsticks.append(seconds_of(lambda: KMeans(64, n_init=10, random_state=0).fit(cloud)))
    return {"seconds": median(fits), "yardstick": median(yardsticks)}
