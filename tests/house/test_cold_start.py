"""What is loaded when, and how long that takes: nobody waits for what they do not use."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

COMMAND_LINE = {"rich", "typer"}
PICTURES = {"jinja2", "matplotlib", "numpy", "sympy"}
# scikit-learn itself loads every data frame package that is installed.
WITH_SKLEARN = {"narwhals", "numpy", "pandas", "pyarrow", "scipy", "sklearn"}
HEAVY = COMMAND_LINE | PICTURES | WITH_SKLEARN | {"dask", "distributed", "h5py", "polars", "zarr"}

FIT = """
import numpy as np
from wgsindy.estimate.fit import fit_recording
from wgsindy.data.trajectories import Trajectories
noise = np.random.default_rng(0).normal(0, 0.1, (4, 2000, 2))
paths = np.zeros_like(noise)
for n in range(1, 2000):
    paths[:, n] = 0.98 * paths[:, n - 1] + noise[:, n]
fitted = fit_recording(Trajectories(list(paths), 0.01), "poly2", "sharp")
assert fitted.diagnostics.verdict
assert fitted.generator.equations(errors=True)
"""
HELP = """
import io
from contextlib import redirect_stdout, suppress
from wgsindy.cli import app
with redirect_stdout(io.StringIO()) as text, suppress(SystemExit):
    app({arguments!r})
assert "Usage" in text.getvalue()
"""
DEMO = """
from contextlib import suppress
from tempfile import TemporaryDirectory
from wgsindy.cli import app
with TemporaryDirectory() as folder, suppress(SystemExit):
    app(["demo", "--out", folder])
"""


def python(code: str) -> str:
    # With bytecode kept, as for everybody: else each start compiles the package anew.
    kept = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, timeout=60, env=kept
    )
    return run.stdout.decode().splitlines()[-1]


def packages_after(code: str) -> set[str]:
    loaded = json.loads(python(f"{code}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"))
    return {name.split(".")[0] for name in loaded}


def processor_seconds(statement: str) -> float:
    """Of a fresh interpreter with its start, which no other program on the machine prolongs."""
    return float(python(f"{statement}\nimport time\nprint(time.process_time())"))


def cost_ratio(statement: str, yardstick: str, rounds: int) -> float:
    """Best time of each; they take turns, so that a slow minute is one for both."""
    pairs = [(processor_seconds(statement), processor_seconds(yardstick)) for _ in range(rounds)]
    ours, theirs = zip(*pairs, strict=True)
    return min(ours) / min(theirs)


def test_the_package_alone_loads_only_the_standard_library() -> None:
    # What any interpreter of this environment loads (editable installs, coverage) is not ours.
    found = packages_after("import wgsindy") - packages_after("pass") - sys.stdlib_module_names
    assert found == {"wgsindy"}


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("from wgsindy import WGSINDy, Recipe, Trajectories, Generator, Change", WITH_SKLEARN),
        ("from wgsindy import *", WITH_SKLEARN | {"sympy"}),
        ("from wgsindy import read, stream, library, recipes", {"numpy"}),
        ("import wgsindy.cli", COMMAND_LINE),
        pytest.param(HELP.format(arguments=["--help"]), COMMAND_LINE, id="help"),
        pytest.param(HELP.format(arguments=["fit", "--help"]), COMMAND_LINE, id="help of fit"),
        pytest.param(HELP.format(arguments=["bench", "--help"]), COMMAND_LINE, id="help of bench"),
        pytest.param(FIT, {"numpy"}, id="fit"),
        pytest.param(DEMO, COMMAND_LINE | PICTURES, id="demo"),
    ],
)
def test_nothing_is_loaded_before_it_is_used(code: str, allowed: set[str]) -> None:
    assert packages_after(code) & HEAVY <= allowed


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("import wgsindy\nwgsindy.zoo", "sympy"),
        ("import wgsindy\nwgsindy.WGSINDy", "sklearn"),
    ],
)
def test_what_is_loaded_would_be_seen(code: str, needed: str) -> None:
    assert needed in packages_after(code)


def test_the_package_alone_starts_sooner_than_numpy() -> None:
    # Half a second is allowed, and NumPy takes a tenth: whatever imports an array package from
    # the root is above 1. Python and the root alone are at 0.3.
    assert cost_ratio("import wgsindy", "import numpy", rounds=5) < 0.7


def test_a_fit_is_loaded_in_half_the_time_of_scikit_learn() -> None:
    # Measured 0.15 to 0.25. Half leaves room for a slow disk, and with scikit-learn among what a
    # command loads, as it once was, the ratio is above 1.
    assert cost_ratio("import wgsindy.estimate.fit", "import numpy, sklearn.base", rounds=2) < 0.5
