"""What is loaded when: nobody waits for what they do not use."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

COMMAND_LINE = {"rich", "typer"}
PAGE = {"jinja2", "numpy", "sympy"}
PICTURES = {"matplotlib", "numpy"}
# scikit-learn itself loads every data frame package that is installed.
WITH_SKLEARN = {"narwhals", "numpy", "pandas", "pyarrow", "scipy", "sklearn"}
HEAVY = (
    COMMAND_LINE
    | PAGE
    | PICTURES
    | WITH_SKLEARN
    | {"dask", "distributed", "h5py", "polars", "zarr"}
)

FIT = """
import numpy as np
from wgsindy.diagnostics import diagnose
from wgsindy.estimate.fit import fit_dataset
from wgsindy.data.trajectories import Trajectories
noise = np.random.default_rng(0).normal(0, 0.1, (4, 2000, 2))
paths = np.zeros_like(noise)
for n in range(1, 2000):
    paths[:, n] = 0.98 * paths[:, n - 1] + noise[:, n]
fitted = fit_dataset(Trajectories(list(paths), 0.01), "poly2", "sharp")
assert diagnose(fitted).verdict
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
FIT_FILE = """
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from wgsindy.cli import app
with TemporaryDirectory() as folder:
    for words in (["demo", "--csv", f"{folder}/demo.csv"], ["fit", f"{folder}/demo.csv"]):
        with suppress(SystemExit):
            app([*words, *(["--library", "poly3", "--out", f"{folder}/out"] * (words[0] == "fit"))])
    assert (Path(folder) / "out" / "report.html").exists()
"""
NOTEBOOK = f"{FIT}assert '<svg' in fitted.generator._repr_html_()"
PLOT = f"{FIT}assert fitted.generator.plot().lines"


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


def test_the_package_alone_loads_only_the_standard_library() -> None:
    # What any interpreter of this environment loads (editable installs, coverage) is not ours.
    found = packages_after("import wgsindy") - packages_after("pass") - sys.stdlib_module_names
    assert found == {"wgsindy"}


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("from wgsindy import WGSINDy, Trajectories, Generator, Change", WITH_SKLEARN),
        ("from wgsindy import *", WITH_SKLEARN),
        ("from wgsindy import read, stream, library, recipes", {"numpy"}),
        ("import wgsindy.cli", COMMAND_LINE),
        pytest.param(HELP.format(arguments=["--help"]), COMMAND_LINE, id="help"),
        pytest.param(HELP.format(arguments=["fit", "--help"]), COMMAND_LINE, id="help of fit"),
        pytest.param(HELP.format(arguments=["bench", "--help"]), COMMAND_LINE, id="help of bench"),
        pytest.param(FIT, {"numpy"}, id="fit"),
        # The report reads out the stationary law, which takes sparse matrices; its pictures are
        # drawn by the page itself.
        pytest.param(DEMO, COMMAND_LINE | PAGE | {"scipy"}, id="demo"),
        pytest.param(FIT_FILE, COMMAND_LINE | PAGE | {"polars", "scipy"}, id="fit of a file"),
        pytest.param(NOTEBOOK, PAGE, id="notebook"),
        pytest.param(PLOT, PICTURES, id="plot"),
    ],
)
def test_nothing_is_loaded_before_it_is_used(code: str, allowed: set[str]) -> None:
    assert packages_after(code) & HEAVY <= allowed


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("import wgsindy\nwgsindy.zoo.get('duffing').generator.to_sympy()", "sympy"),
        ("import wgsindy\nwgsindy.WGSINDy", "sklearn"),
        (PLOT, "matplotlib"),
    ],
)
def test_what_is_loaded_would_be_seen(code: str, needed: str) -> None:
    assert needed in packages_after(code)


def test_the_package_alone_is_one_module() -> None:
    # Whatever else the root imported would be paid for by everybody who starts.
    loaded = json.loads(python("import wgsindy, json, sys\nprint(json.dumps(list(sys.modules)))"))
    assert [name for name in loaded if name.split(".")[0] == "wgsindy"] == ["wgsindy"]
