"""What read-outs cost: seconds of one thread and memory, on 128 x 128 cells.

    OMP_NUM_THREADS=1 python benchmarks/readouts.py

A generator recovered from 16 x 1600 samples; each stage includes what it needs
for the first time. Asked for: density and current under 1 s, six eigenpairs under 3 s, intervals
from 50 draws under 30 s, memory under 500 MiB.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np

import wgsindy as wg
from wgsindy.model import Generator

SYSTEM, CELLS, DRAWS = "nongradient_circulation", 128, 50


def recovered() -> Generator:
    """Fit the system once."""
    data = wg.zoo.get(SYSTEM).simulate(seed=0)
    return wg.WGSINDy("poly3", "sharp-euler").fit(data).generator_


def seconds(work: Callable[[], object]) -> float:
    """Processor time of this process: others may be busy meanwhile."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Print one line a stage."""
    generator = recovered()
    box = [(-2.5, 2.5), (-2.5, 2.5)]
    points = np.zeros((1, 2))
    bare = generator.readouts(box=box, cells=CELLS, draws=0)
    found = {
        "box found": seconds(lambda: generator.readouts(cells=CELLS).grid),
        "density and current, two grids": seconds(
            lambda: (bare.density(points), bare.current(points))
        ),
        "six eigenpairs, one grid": seconds(lambda: bare.modes(points)),
    }
    told = generator.readouts(box=box, cells=CELLS, draws=DRAWS)
    found["density, gap and passage time with intervals"] = seconds(
        lambda: (told.density(points), told.gap, told.passage_time([-1, 0], "x > 0"))
    )
    for stage, cost in found.items():
        print(f"{stage:<46} {cost:6.2f} s")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'largest memory of the process':<46} {memory:6.0f} MiB")


if __name__ == "__main__":
    main()
