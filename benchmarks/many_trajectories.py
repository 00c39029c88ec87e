"""Whether work grows in proportion to the number of trajectories: seconds for few and for many.

Each trajectory has 30 samples of a two-dimensional linear process. Five times as many should take
about five times the time of the processor; a ratio well above 6 says that something is done anew
for every trajectory.

    python benchmarks/many_trajectories.py [FEW MANY]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

import wgsindy as wg
from wgsindy.data import FloatArray

SAMPLES, DT = 30, 0.05
Result = TypeVar("Result")


def simulated(count: int) -> FloatArray:
    """Return states ``(count, SAMPLES, 2)``."""
    rng = np.random.default_rng(0)
    x = np.empty((count, SAMPLES, 2))
    x[:, 0] = rng.normal(size=(count, 2))
    for n in range(SAMPLES - 1):
        pull = np.stack([x[:, n, 1] - x[:, n, 0], -x[:, n, 0] - x[:, n, 1]], axis=1)
        x[:, n + 1] = x[:, n] + pull * DT + np.sqrt(DT) * rng.normal(size=(count, 2))
    return x


def as_frame(states: FloatArray) -> pd.DataFrame:
    """Return a long table: id, t, x, y."""
    count, samples, _ = states.shape
    return pd.DataFrame(
        {
            "id": np.repeat(np.arange(count), samples),
            "t": np.tile(np.arange(samples) * DT, count),
            "x": states[:, :, 0].ravel(),
            "y": states[:, :, 1].ravel(),
        }
    )


def measured(count: int) -> dict[str, float]:
    """Return the seconds that each thing takes with ``count`` trajectories."""
    seconds: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Result], repeats: int = 1) -> Result:
        seconds[name] = np.inf
        for _ in range(repeats):
            start = time.process_time()  # of this process: others may be busy meanwhile
            result = work()
            seconds[name] = min(seconds[name], time.process_time() - start)
        return result

    states = simulated(count)
    frame = as_frame(states)
    listed = list(states)
    data = timed("construct", lambda: wg.Trajectories(listed, DT), 3)
    times = [np.arange(SAMPLES) * DT] * count
    timed("construct with times", lambda: wg.Trajectories(listed, times=times), 3)
    timed("iterate", lambda: sum(len(one) for one in data), 3)
    timed("subset", lambda: data.subset(range(0, count, 2)), 3)
    timed("thin", lambda: data.thinned(2), 3)
    timed("read a data frame", lambda: wg.read(frame))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.csv"
        frame.to_csv(path, index=False)
        timed("read a CSV", lambda: wg.read(path))
        stream = timed("stream a CSV", lambda: wg.stream(path))
        timed("read the stream", lambda: sum(len(chunk.dt) for chunk in stream.chunks()), 3)
    fitted = timed("fit", lambda: wg.WGSINDy(library="poly2", recipe="sharp").fit(data))
    timed("diagnostics", lambda: fitted.diagnostics_)
    return seconds


def main(few: int = 20_000, many: int = 100_000) -> None:
    """Print the table."""
    measured(200)  # imports are no work
    one, other = measured(few), measured(many)
    print(f"| seconds | {few:,} | {many:,} | ratio |\n|---|---|---|---|")
    for name in one:
        print(f"| {name} | {one[name]:.2f} | {other[name]:.2f} | {other[name] / one[name]:.1f} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
