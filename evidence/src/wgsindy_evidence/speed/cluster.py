"""A Dask cluster of two processes on this machine, beside two threads of one process."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from wgsindy.data import Trajectories
from wgsindy.estimator import WGSINDy
from wgsindy.files import stream
from wgsindy.passes import reduce
from wgsindy.passes.dask_cluster import Cluster
from wgsindy.passes.summary import MomentPass
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.speed.long_trajectory import DT, write_trajectory
from wgsindy_evidence.speed.scale import LIBRARY
from wgsindy_evidence.speed.stopwatch import in_fresh_process, seconds_of

WORKERS = 2
FEW, ROUNDS = 20_000, 20  # samples of a small dataset, and passes over them
SPAWN = "distributed.nanny.pre-spawn-environ"
# Dask has workers hand memory back at once: every temporary array then asks for it again.
KEEP_MEMORY = {
    f"{SPAWN}.MALLOC_TRIM_THRESHOLD_": 512 * 2**20,
    f"{SPAWN}.MALLOC_MMAP_THRESHOLD_": 32 * 2**20,
}


def measure(recipe: str, samples: int) -> dict[str, Any]:
    """Fit a file with two threads, and with two workers as Dask starts them and with memory kept.

    Raises
    ------
    CampaignError
        If Dask is not installed.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "path.npy"
        in_fresh_process(write_trajectory, path, samples)
        threads = in_fresh_process(_with_threads, path, recipe)
        usual = in_fresh_process(_on_cluster, path, recipe, {})
        kept = in_fresh_process(_on_cluster, path, recipe, KEEP_MEMORY)
    return {"threads": threads, "usual": usual["fit"], "kept": kept["fit"], "pass": kept["pass"]}


def _with_threads(path: Path, recipe: str) -> float:
    return _second_of_two(WGSINDy(LIBRARY, recipe, threads=WORKERS), path)


def _on_cluster(path: Path, recipe: str, config: Mapping[str, Any]) -> dict[str, float]:
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise CampaignError(
            "Dask is not installed, so it is not timed: "
            'pip install "dask[array,dataframe]" distributed.'
        ) from None
    with (
        dask.config.set(config),
        Client(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as client,
    ):
        seconds = _second_of_two(WGSINDy(LIBRARY, recipe, engine=client), path)
        few, engine = Trajectories(np.load(path, mmap_mode="r")[:FEW], DT), Cluster(client)
        step = MomentPass(few)
        passes = [seconds_of(lambda: reduce(step, few, engine=engine)) for _ in range(ROUNDS)]
    return {"fit": seconds, "pass": median(passes)}


def _second_of_two(estimator: WGSINDy, path: Path) -> float:
    """Seconds of a fit; imports are not what is measured, so it is not the first one."""
    data = stream(path, dt=DT)
    estimator.fit(data)
    return seconds_of(lambda: estimator.fit(data))
