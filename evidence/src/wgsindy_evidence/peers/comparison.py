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
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy.data import BoolArray, FloatArray, Trajectories
from wgsindy.model import Generator, tensor
from wgsindy.terms import Basis, library
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
# Method: what it imports.
RIVALS = {
    **dict.fromkeys(("sfi", "sfi-parametric", "sfi-underdamped"), "SFI"),
    **{"pydaddy": "pydaddy", "pysindy": "pysindy"},
}
COMPILED = ("sfi-parametric", "sfi-underdamped")  # which keep what they compile on disk
METHODS = ("sharp-euler", "paper", "sfi", "pydaddy", "pysindy")
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


def check_choice(
    methods: Iterable[str], systems: Iterable[str], known: Sequence[str], what: str
) -> None:
    """Refuse methods and systems that nobody can compare; ``what`` the ``known`` ones have."""
    for method in methods:
        check_method(method)
    for name in systems:
        if name not in known:
            raise CampaignError(f"{name} has no {what}; choose among {list(known)}.")


def basis_of(system: System) -> Basis:
    """Return the system's library; rivals take polynomials only."""
    basis = library(system.library).bind(system.names)
    if system.generator.dimension != 2 or system.observed is not None or not basis.is_polynomial:
        raise CampaignError(
            f"{system.key} cannot be given to the rivals: they need two observed coordinates and a "
            "polynomial library."
        )
    return basis


def interpreters(texts: Sequence[str]) -> dict[str, str]:
    """Read ``PATH`` (for every rival) and ``METHOD=PATH`` (for one package, whatever the order)."""
    found = dict.fromkeys(RIVALS, sys.executable)
    named: dict[str, str] = {}
    for text in texts:
        method, equals, path = text.partition("=")
        if not equals:
            found = dict.fromkeys(RIVALS, text)
        elif method in RIVALS:
            named |= {name: path for name in RIVALS if RIVALS[name] == RIVALS[method]}
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
    outcome = run_worker(zoo_task(case, data), pythons)
    return {"seconds_cold": outcome["seconds_cold"], **score(system, data, outcome)}


def run_worker(task: Task, pythons: Mapping[str, str]) -> dict[str, Any]:
    """Fit in a fresh process; what it wrote, or a failure, and its seconds less further fits."""
    with tempfile.TemporaryDirectory() as folder:
        file, result = Path(folder, "task.npz"), Path(folder, "result.npz")
        write_task(file, task)
        command, environment = worker_command(task.method, pythons), with_compiled_code(task.method)
        seconds, failure = _run(command, environment, file, result)
        outcome = read_result(result) if result.exists() else {"failure": failure}
    return {**outcome, "seconds_cold": seconds - float(outcome.get("seconds_repeats", 0.0))}


def worker_command(method: str, pythons: Mapping[str, str]) -> list[str]:
    """Return the command that starts the worker of a method."""
    if method in RIVALS:
        return [pythons[method], str(WORKER), method.replace("-", "_")]
    return [sys.executable, str(WORKER), "wgsindy"]


def worker_environment() -> dict[str, str]:
    """One thread for linear algebra, no accelerator, no window."""
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **one, "JAX_PLATFORMS": "cpu", "MPLBACKEND": "Agg"}


def with_compiled_code(method: str) -> dict[str, str]:
    """The environment of a worker; SFI's parametric fits keep what they compile on disk."""
    if method not in COMPILED:
        return worker_environment()
    folder = Path(tempfile.gettempdir(), "wgsindy-evidence-sfi-code")
    return {**worker_environment(), "SFI_JAX_CACHE_DIR": str(folder)}


def _run(
    command: list[str], environment: dict[str, str], task: Path, result: Path
) -> tuple[float, str]:
    """Wall time of the whole process, and what to say if it leaves no result."""
    started = time.perf_counter()
    try:
        done = subprocess.run(
            [*command, str(task), str(result)],
            capture_output=True,
            env=environment,
            text=True,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return time.perf_counter() - started, f"no result after {TIMEOUT:.0f} s"
    last = (done.stderr.strip() or "no message").splitlines()[-1]
    return time.perf_counter() - started, f"the process ended with {done.returncode}: {last}"


class Task(NamedTuple):
    """What a worker needs to know, and nothing of the truth.

    ``points (P, d)`` is where the fields are wanted; ``drift_only`` saves time where only the
    terms of the drift are asked for.
    """

    method: str
    seed: int
    data: Trajectories
    basis: Basis
    points: FloatArray
    drift_only: bool = False


def zoo_task(case: Case, data: Trajectories, *, drift_only: bool = False) -> Task:
    """Return the task of a case on a system of the zoo."""
    basis, points = basis_of(zoo.get(case.system)), metrics.central_grid(data.states)
    return Task(case.recipe, case.seed, data, basis, points, drift_only)


def write_task(path: Path, task: Task) -> None:
    """Write the file that a worker reads."""
    data = task.data
    np.savez(
        path,
        paths=data.states.reshape(len(data), -1, data.dimension),
        dt=data.mean_dt,
        powers=task.basis.monomials.powers,
        points=task.points,
        seed=task.seed,
        recipe=task.method,
        repeats=0 if task.drift_only else 1 if task.method in RIVALS else OWN_REPEATS,
        drift_only=task.drift_only,
    )


def read_result(path: Path) -> dict[str, Any]:
    """Read what a worker wrote."""
    with np.load(path, allow_pickle=False) as file:
        content = {name: file[name] for name in file.files}
    return {name: value if value.ndim else value.item() for name, value in content.items()}


def score(system: System, data: Trajectories, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Compare fields and drift support with the truth; a failure keeps its sentence."""
    grid = metrics.central_grid(data.states)
    return score_fields(system.generator, basis_of(system), grid, outcome, kept=system.scored)


def score_fields(
    truth: Generator,
    basis: Basis,
    grid: FloatArray,
    outcome: Mapping[str, Any],
    *,
    kept: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Compare what a worker wrote with a truth; ``kept`` are the drift components that count."""
    if "failure" in outcome:
        return {"failure": str(outcome["failure"])}
    drift, field = outcome["drift"], outcome["tensor"]
    if not (np.isfinite(drift).all() and np.isfinite(field).all()):
        return {"failure": "the fields are not finite"}
    counted = list(kept or range(truth.dimension))
    return {
        "failure": None,
        "drift": metrics.relative_error(drift[:, counted], truth.drift(grid)[:, counted]),
        "tensor": metrics.relative_error(field, truth.diffusion(grid)),
        "psd": float(tensor.is_semidefinite(field).mean()),
        **compare_support(outcome["support"][counted], support_of(truth, basis)[counted]),
        "seconds_first": outcome["seconds_first"],
        "seconds_warm": outcome["seconds_warm"],
        "version": outcome["version"],
    }


def true_support(system: System) -> BoolArray:
    """Monomials of the true drift of a system of the zoo ``(2, K)``."""
    return support_of(system.generator, basis_of(system))


def support_of(truth: Generator, basis: Basis) -> BoolArray:
    """Monomials of a drift ``(d, K)`` in the order of the library."""
    true = {(c.target, c.term) for c in truth.coefficients}
    targets = [f"b{number + 1}" for number in range(truth.dimension)]
    return np.array([[(target, term) in true for term in basis.terms] for target in targets])


def compare_support(found: BoolArray, true: BoolArray) -> dict[str, Any]:
    """Share of true terms found, number of others found, and whether the two sets are equal."""
    return {
        "recall": float(found[true].mean()) if true.any() else float("nan"),
        "false_positives": int(np.sum(found & ~true)),
        "exact": bool(np.array_equal(found, true)),
    }
