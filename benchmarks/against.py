"""How long a fit takes beside another version of the code, in one run.

    git worktree add /tmp/before REVISION
    python benchmarks/against.py /tmp/before/src [--repeats 15]

Both versions take turns in processes of their own, so that a slow minute is one for both; a row has
the median of the ratios of neighbouring runs. One thread, data of the zoo, 25,600 samples.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[1] / "src"
CASES = [("rotational_ou", "poly2"), ("van_der_pol", "poly3"), ("nondiag_cholesky", "poly4")]
RECIPES = ("sharp-euler", "paper")
WORK = """
import json, sys, time
import numpy as np
import wgsindy as wg
import wgsindy.recipes
case, library, recipe = sys.argv[1:]
if recipe not in wg.recipes.names():
    recipe = "sharp"  # what sharp-euler was called once
system = wg.zoo.get(case)
data = system.simulate(seed=0, trajectories=16, steps=1600)
fit = lambda: wg.WGSINDy(library, recipe).fit(data)
fit()
times = []
for _ in range(5):
    started = time.process_time()
    fit()
    times.append(time.process_time() - started)
print(json.dumps(min(times)))
"""


def seconds(source: Path, *case: str) -> float:
    """Best processor time of a fit by the code at ``source``."""
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WORK, *case],
        env={**os.environ, **single, "PYTHONPATH": str(source)},
        capture_output=True,
        check=True,
    )
    return float(json.loads(run.stdout))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("before", type=Path, help="folder that holds the other wgsindy package")
    parser.add_argument("--repeats", type=int, default=7)
    asked = parser.parse_args()
    print("case                             before     now   ratio")
    for system, library in CASES:
        for recipe in RECIPES:
            case = (system, library, recipe)
            pairs = [
                (seconds(asked.before, *case), seconds(HERE, *case)) for _ in range(asked.repeats)
            ]
            before, now = (median(column) for column in zip(*pairs, strict=True))
            ratio = median(b / a for a, b in pairs)
            print(
                f"{library} {recipe:11} {system:18} {before:7.4f} {now:7.4f}  {ratio:6.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
