"""From nothing: importing the package, and the first result of a fresh process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy_evidence.speed.stopwatch import seconds_of
from wgsindy_evidence.speed.yardstick import SYSTEM

HEAVY = ("matplotlib", "plotly", "dask", "polars", "pandas", "sympy")
IMPORT = "import wgsindy"
FIT = (
    "import sys, numpy, wgsindy\n"
    "wgsindy.WGSINDy('poly2', 'sharp-euler').fit(list(numpy.load(sys.argv[1])), dt=0.01)"
)
LOADED = f"import json, sys, wgsindy; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"


def measure(repeats: int) -> dict[str, Any]:
    """Seconds of processes from start to end: the bare interpreter, import, first fit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "paths.npy"
        np.save(path, np.array(list(zoo.get(SYSTEM).simulate(0))))
        codes = {"interpreter": "pass", "import": IMPORT, "first_fit": FIT}
        times: dict[str, list[float]] = {name: [] for name in codes}
        for _ in range(repeats):
            for name, code in codes.items():
                times[name].append(seconds_of(partial(_python, code, str(path))))
    heavy = json.loads(_python(LOADED))
    return {name: median(found) for name, found in times.items()} | {"heavy": heavy}


def _python(code: str, *arguments: str) -> str:
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    command = [sys.executable, "-c", code, *arguments]
    environment = {**os.environ, **one}
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment
    ).stdout
