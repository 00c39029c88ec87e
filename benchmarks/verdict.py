"""What the verdict costs beside the fit, on fine clean data: seconds of one thread, and the ratio.

    OMP_NUM_THREADS=1 python benchmarks/verdict.py [SYSTEM ...]

Processes of 16 x 1600 samples, ten steps of the simulator between two of them. Asked for: a ratio
of at most 1, with a library that is given and with one that is grown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import wgsindy as wg
from wgsindy.diagnostics import diagnose

SYSTEMS = ("van_der_pol", "double_well_transverse", "rotational_ou")
LIBRARIES = ("poly2", "poly3", "poly4", "auto")
TRAJECTORIES, STEPS, SUBSTEPS, REPEATS = 16, 1600, 10, 7
Result = TypeVar("Result")


def fastest(work: Callable[[], Result]) -> tuple[float, Result]:
    """Least processor time of several calls, and what the last returned: others may be busy."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
    return best, found


def main() -> None:
    """Print one line for each system and library."""
    for system in sys.argv[1:] or SYSTEMS:
        data = wg.zoo.get(system).simulate(
            seed=0, trajectories=TRAJECTORIES, steps=STEPS, substeps=SUBSTEPS
        )
        for library in LIBRARIES:
            estimator = wg.WGSINDy(library)
            fit, _ = fastest(partial(estimator.fit, data))
            verdict, found = fastest(partial(diagnose, estimator.fit_))
            print(
                f"{system:<24} {library:<6} fit {fit:6.3f} s   verdict {verdict:6.3f} s   "
                f"ratio {verdict / fit:4.2f}   {found.verdict}",
                flush=True,
            )


if __name__ == "__main__":
    main()
