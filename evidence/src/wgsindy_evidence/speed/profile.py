"""Where the time of a fit goes, pass by pass, beside what the machine would need at least.

A pass must read the samples, and do its matrix products and exponentials. All else (copies,
temporary arrays, Python) is what a faster program could save.
"""

from __future__ import annotations

import tempfile
from functools import singledispatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wgsindy.estimate.likelihood.normal_equations import NormalPass, ScorePass
from wgsindy.estimate.weak_form import GramPass, ProjectionPass
from wgsindy.estimator import WGSINDy
from wgsindy.files import stream
from wgsindy.passes import PassPair
from wgsindy.passes.summary import MomentPass
from wgsindy_evidence.speed.long_trajectory import BYTES, DT, write_trajectory
from wgsindy_evidence.speed.scale import LIBRARY
from wgsindy_evidence.speed.stopwatch import Lap, Stopwatch, in_fresh_process, seconds_of

GEMM = 256
CACHED = 20_000  # numbers that stay in one core's cache
ROUNDS = 50


class Labour(NamedTuple):
    """What one increment costs a pass: operations of matrix products, and exponentials."""

    flops: float = 0.0
    exponentials: float = 0.0


class Machine(NamedTuple):
    """Seconds that one thread needs for a byte of a file, an operation, an exponential."""

    byte: float
    flop: float
    exponential: float

    def limit(self, labour: Labour) -> float:
        """Least seconds for one increment."""
        work = labour.flops * self.flop + labour.exponentials * self.exponential
        return BYTES * self.byte + work


@singledispatch
def labour_of(step: object) -> Labour:
    """Count the matrix products and exponentials of a pass, for one increment."""
    return Labour()


@labour_of.register(PassPair)
def _(step: PassPair[Any, Any]) -> Labour:
    one, other = labour_of(step.one), labour_of(step.other)
    return Labour(one.flops + other.flops, one.exponentials + other.exponentials)


@labour_of.register
def _(step: MomentPass) -> Labour:
    return Labour(2.0 * len(step.origin) ** 2)


@labour_of.register
def _(step: NormalPass) -> Labour:
    d, k = step.model.drift.shape
    fields = d + len(step.model.entries)
    return Labour(2 * k * (2 * len(step.model.entries) * k + 2 * fields))


@labour_of.register
def _(step: ScorePass) -> Labour:
    d, k = step.model.drift.shape
    return Labour(2 * k * 2 * (d + len(step.model.entries)))


@labour_of.register
def _(step: GramPass) -> Labour:
    j, d = step.centres.shape
    return Labour(2 * j * (d + 2 + len(step.wide)), j)


@labour_of.register
def _(step: ProjectionPass) -> Labour:
    smoother = step.smoothers[0]
    j, d = smoother.centres.shape
    return Labour(2 * j * (d + 2 + len(smoother.local) + step.shape[2]), j)


def measure(recipe: str, samples: int) -> dict[str, Any]:
    """Fit a file once in a fresh process, with one thread."""
    return in_fresh_process(_measure, recipe, samples)


def _measure(recipe: str, samples: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "path.npy"
        write_trajectory(path, samples)
        data = stream(path, dt=DT)
        WGSINDy(LIBRARY, recipe).fit(data)  # imports and caches are not what is measured
        machine = measure_machine(path)
        watch = Stopwatch()
        total = seconds_of(lambda: WGSINDy(LIBRARY, recipe, engine=watch).fit(data))
    between = total - sum(lap.wall for lap in watch.laps)
    return {
        "passes": [_row(lap, machine) for lap in watch.laps],
        "between": between,
        "machine": machine._asdict(),
    }


def name_of(step: object) -> str:
    """Return what to call a pass; both, if there are two in one."""
    if isinstance(step, PassPair):
        return f"{name_of(step.one)} + {name_of(step.other)}"
    return type(step).__name__


def _row(lap: Lap, machine: Machine) -> dict[str, Any]:
    labour = labour_of(lap.step)
    return {
        "name": name_of(lap.step),
        "increments": lap.increments,
        "seconds": lap.wall,
        "flops": labour.flops,
        "exponentials": labour.exponentials,
        "least": machine.limit(labour) * lap.increments,
    }


def measure_machine(path: Path) -> Machine:
    """Time a file that was read before, a product of matrices, an exponential."""
    read = min(seconds_of(lambda: np.load(path)) for _ in range(3)) / path.stat().st_size
    matrix = np.linspace(0.0, 1.0, GEMM**2).reshape(GEMM, GEMM)
    product = min(seconds_of(lambda: matrix @ matrix) for _ in range(ROUNDS))
    numbers = np.linspace(-4.0, 0.0, CACHED)
    out = np.empty_like(numbers)
    exponential = min(seconds_of(lambda: np.exp(numbers, out=out)) for _ in range(ROUNDS))
    return Machine(read, product / (2 * GEMM**3), exponential / CACHED)
