"""Rivals on identical trajectories: errors, support and time of this package and of others.

Each fit runs in a fresh process of the interpreter that has the method's package; what it must
read and write is in :mod:`wgsindy_evidence.peers.workers.run`. Cold seconds are the wall time of
that process, imports and compilation included, less its further fits; warm seconds are those of
a further fit.
NumPy is held to one thread everywhere; the rivals' other thread pools (XLA) are left as they are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data.arrays import BoolArray
from wgsindy.data.trajectories import Trajectories
from wgsindy.model import tensor
from wgsindy.terms.basis import Basis
from wgsindy.terms.library import library
from wgsindy.zoo import System
from wgsindy.zoo import scores as metrics
from wgsindy_evidence import recipes
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.peers import workers

SYSTEMS = (
    *("correlated_ou", "rotational_ou", "double_well_transverse", "maier_stein"),
    *("diag_multiplicative", "nondiag_cholesky", "van_der_pol", "heston_logsv"),
)
RIVALS = {"sfi": "SFI", "pydaddy": "pydaddy", "pysindy": "pysindy"}  # method: what it imports
METHODS = ("sharp", "paper", *RIVALS)
WORKER = Path(workers.__file__).with_name("run.py")
TIMEOUT = 600.0
OWN_REPEATS = 5  # our fits take milliseconds: one would measure the machine's mood


def peer_cases(
    methods: Sequence[str], seeds: Sequence[int], systems: Sequence[str] | None = None
) -> list[Case]:
    """Cases system by system and seed by seed, so that the methods take turns."""
    chosen = SYSTEMS if systems is None else systems
    for name in chosen:
        basis_of(zoo.get(name))  # what cannot be run is refused before anything runs
    for method in methods:
        check_method(method)
    return [
        Case("peers", name, method, seed) for name in chosen for seed in seeds for method in methods
    ]


def check_method(method: str) -> None:
    """Refuse a method that is neither a rival nor a recipe."""
    if method not in RIVALS:
        recipes.get(method)


def basis_of(system: System) -> Basis:
    """Return the system's library; rivals take polynomials only."""
    basis = library(system.library).bind(system.names)
    if system.generator.dimension != 2 or system.observe is not None or not basis.is_polynomial:
        raise CampaignError(
            f"{system.key} cannot be given to the rivals: they need two observed coordinates and a "
            "polynomial library."
        )
    return basis


def interpreters(texts: Sequence[str]) -> dict[str, str]:
    """Read ``PATH`` (for every rival) and ``METHOD=PATH`` (for one, whatever the order)."""
    found = dict.fromkeys(RIVALS, sys.executable)
    named = {}
    for text in texts:
        method, equals, path = text.partition("=")
        if not equals:
            found = dict.fromkeys(RIVALS, text)
        elif method in RIVALS:
            named[method] = path
        else:
            raise CampaignError(f"--python takes PATH or METHOD=PATH with {list(RIVALS)}: {text!r}")
    return found | named


def check_interpreters(methods: Sequence[str], pythons: Mapping[str, str]) -> None:
    """Say what to install if an interpreter lacks its rival."""
    rivals = [method for method in methods if method in RIVALS]
    present = installed(rivals, pythons)
    for method in rivals:
        if method not in present:
            raise CampaignError(
                f"{pythons[method]} has no package {RIVALS[method]}, which method {method!r} "
                "needs: install wgsindy-evidence[rivals] there, or name an interpreter that has it "
                f"with --python {method}=PATH."
            )


def installed(rivals: Sequence[str], pythons: Mapping[str, str]) -> list[str]:
    """Those of the rivals that their interpreters have."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
    found = []
    for method in rivals:
        command = [pythons[method], "-c", code, RIVALS[method]]
        try:
            done = subprocess.run(command, capture_output=True, timeout=60)
        except OSError as error:
            raise CampaignError(f"{pythons[method]} cannot be run: {error.strerror}.") from None
        if done.returncode == 0:
            found.append(method)
    return found


def run_case(case: Case, *, pythons: Mapping[str, str]) -> dict[str, Any]:
    """Simulate, fit in a fresh process, and score. A fit that fails is a result as well."""
    system = zoo.get(case.system)
    data = system.simulate(case.seed, trajectories=case.trajectories)
    with tempfile.TemporaryDirectory() as folder:
        task, result = Path(folder, "task.npz"), Path(folder, "result.npz")
        write_task(task, case, data)
        seconds, failure = _run(worker_command(case.recipe, pythons), task, result)
        outcome = read_result(result) if result.exists() else {"failure": failure}
    further = float(outcome.get("seconds_repeats", 0.0))
    return {"seconds_cold": seconds - further, **score(system, data, outcome)}


def worker_command(method: str, pythons: Mapping[str, str]) -> list[str]:
    """Return the command that starts the worker of a method."""
    if method in RIVALS:
        return [pythons[method], str(WORKER), method]
    return [sys.executable, str(WORKER), "wgsindy"]


def worker_environment() -> dict[str, str]:
    """One thread for linear algebra, no accelerator, no window."""
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **one, "JAX_PLATFORMS": "cpu", "MPLBACKEND": "Agg"}


def _run(command: list[str], task: Path, result: Path) -> tuple[float, str]:
    """Wall time of the whole process, and what to say if it leaves no result."""
    started = time.perf_counter()
    try:
        done = subprocess.run(
            [*command, str(task), str(result)],
            capture_output=True,
            env=worker_environment(),
            text=True,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return time.perf_counter() - started, f"no result after {TIMEOUT:.0f} s"
    last = (done.stderr.strip() or "no message").splitlines()[-1]
    return time.perf_counter() - started, f"the process ended with {done.returncode}: {last}"


def write_task(path: Path, case: Case, data: Trajectories, *, drift_only: bool = False) -> None:
    """Write what the worker needs to know, and nothing of the truth."""
    system = zoo.get(case.system)
    np.savez(
        path,
        paths=data.states.reshape(len(data), -1, data.dimension),
        dt=system.dt,
        powers=basis_of(system).monomials.powers,
        points=metrics.central_grid(data.states),
        seed=case.seed,
        recipe=case.recipe,
        repeats=0 if drift_only else 1 if case.recipe in RIVALS else OWN_REPEATS,
        drift_only=drift_only,
    )


def read_result(path: Path) -> dict[str, Any]:
    """Read what a worker wrote."""
    with np.load(path, allow_pickle=False) as file:
        content = {name: file[name] for name in file.files}
    return {name: value if value.ndim else value.item() for name, value in content.items()}


def score(system: System, data: Trajectories, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Compare fields and drift support with the truth; a failure keeps its sentence."""
    if "failure" in outcome:
        return {"failure": str(outcome["failure"])}
    drift, field = outcome["drift"], outcome["tensor"]
    if not (np.isfinite(drift).all() and np.isfinite(field).all()):
        return {"failure": "the fields are not finite"}
    grid, truth = metrics.central_grid(data.states), system.generator
    kept = list(system.scored or range(2))
    return {
        "failure": None,
        "drift": metrics.relative_error(drift[:, kept], truth.drift(grid)[:, kept]),
        "tensor": metrics.relative_error(field, truth.diffusion(grid)),
        "psd": float(tensor.is_semidefinite(field).mean()),
        **compare_support(outcome["support"][kept], true_support(system)[kept]),
        "seconds_first": outcome["seconds_first"],
        "seconds_warm": outcome["seconds_warm"],
        "version": outcome["version"],
    }


def true_support(system: System) -> BoolArray:
    """Monomials of the true drift ``(2, K)`` in the order of the library."""
    true = {(c.target, c.term) for c in system.generator.coefficients}
    terms = basis_of(system).terms
    return np.array([[(target, term) in true for term in terms] for target in ("b1", "b2")])


def compare_support(found: BoolArray, true: BoolArray) -> dict[str, Any]:
    """Share of true terms found, number of others found, and whether the two sets are equal."""
    return {
        "recall": float(found[true].mean()) if true.any() else float("nan"),
        "false_positives": int(np.sum(found & ~true)),
        "exact": bool(np.array_equal(found, true)),
    }
