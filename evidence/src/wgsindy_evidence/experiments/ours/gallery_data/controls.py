"""Genuine diffusions within the library: clean ones to be identified, and hard ones.

Hard ones may be identified or not; what may not be is a band that misses the truth.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.signal import lfilter

from wgsindy.data import FloatArray
from wgsindy.model import Generator
from wgsindy_evidence.experiments.ours.gallery_data.kind import ALONE, DT, SEVERAL, Kind, Make, Size
from wgsindy_evidence.experiments.ours.gallery_data.maps import lorenz
from wgsindy_evidence.experiments.ours.unseen import (
    SYSTEMS,
    Process,
    X,
    Y,
    Z,
    fine_path,
    substeps_of,
)
from wgsindy_evidence.experiments.tensors import correlated, diagonal

LARGEST_STEP = 0.005  # of the simulation: half of a percent of the drift


def process(key: str, title: str, drift: Any, tensor: Any, settling: float = 10.0) -> Process:
    """A process that starts near zero."""
    start = (0.5,) * len(drift)
    return Process(key, title, drift, tensor, "poly3", start, settling)


def seen(process: Process, dt: float, noise: float = 0.0, grid: float = 0.0) -> Make:
    """Samples of a process, with noise in spreads, rounded to a grid."""

    def make(rng: np.random.Generator, r: int, n: int) -> FloatArray:
        substeps = substeps_of(dt, LARGEST_STEP)
        fine = fine_path(process, dt=dt, steps=n, substeps=substeps, trajectories=r, rng=rng)
        path = fine[:, ::substeps]
        spread = path.std(axis=(0, 1))
        path = path + noise * spread * rng.standard_normal(path.shape)
        return np.rint(path / grid) * grid if grid else path

    return make


def _control(
    process: Process,
    sizes: tuple[Size, ...] = SEVERAL,
    *,
    dt: float = DT,
    noise: float = 0.0,
    grid: float = 0.0,
    spoilt: tuple[str, str] = ("", ""),
) -> Kind:
    key, title = (f"control_{process.key}{spoilt[0]}", f"{process.title}{spoilt[1]}")
    make = seen(process, dt, noise, grid)
    return Kind(key, title, make, "to be identified", sizes, dt, "control", process.truth)


def _hard(process: Process, dt: float, sizes: tuple[Size, ...], why: str) -> Kind:
    make = seen(process, dt)
    return Kind(process.key, process.title, make, why, sizes, dt, "hard", process.truth)


OU, WELL = SYSTEMS["ou"], SYSTEMS["double_well"]
PULL = X**2 + Y**2


@cache
def lorenz_truth() -> Generator:
    """The Lorenz system, without any noise."""
    drift = (10 * (Y - X), X * (28 - Z) - Y, X * Y - 8 * Z / 3)
    return Generator.from_sympy(("x", "y", "z"), drift, diagonal(0, 0, 0))


GROWTH, GROWTH_STEP = process("explosive", "explosive growth", (X,), ((1,),)), 0.008


def _growth(rng: np.random.Generator, r: int, n: int) -> FloatArray:
    """Exact samples: the rate is known to a millionth, and Euler steps are off by a thousandth."""
    grown = np.exp(GROWTH_STEP)
    start = np.full((r, 1, 1), GROWTH.start[0])
    shocks = np.sqrt((grown**2 - 1) / 2) * rng.standard_normal((r, n, 1))
    return np.asarray(lfilter([1.0], [1.0, -grown], np.concatenate([start, shocks], 1), axis=1))


CONTROLS: tuple[Kind, ...] = (
    _control(OU, ALONE),
    _control(WELL, dt=0.1),
    _control(SYSTEMS["multiplicative"], ALONE),
    _control(SYSTEMS["rotation"]),
    _control(SYSTEMS["oscillator"], ALONE),
    _control(SYSTEMS["cycle"], dt=0.1),
    _control(process("pair", "correlated pair", (-X, -2 * Y), correlated(1, 1, 0.6)), dt=0.1),
    _control(
        process(
            "gradient",
            "gradient in two coordinates",
            (X - X**3 - 0.5 * Y, -0.5 * X - Y),
            diagonal(0.6, 0.6),
        ),
        dt=0.1,
    ),
    _control(
        process(
            "prey",
            "predator and prey about their balance",
            (-0.3 * X - 1.5 * Y - 0.2 * X * Y, 1.2 * X - 0.3 * Y + 0.2 * X * Y),
            diagonal(0.1, 0.1),
        ),
        ALONE,
    ),
    _control(
        process(
            "shaped",
            "linear, tensor of the state",
            (-X + 0.5 * Y, -0.5 * X - Y),
            diagonal(0.3 + 0.2 * X**2, 0.4 + 0.2 * Y**2),
        ),
        dt=0.1,
    ),
    _control(
        process(
            "stuart_landau",
            "Stuart-Landau",
            (X - 2 * Y - X * PULL, 2 * X + Y - Y * PULL),
            diagonal(0.1, 0.1),
        ),
        ALONE,
    ),
    _control(process("tilted", "tilted well", (0.4 - X + 0.3 * X**2 - X**3,), ((1,),)), dt=0.1),
    _control(OU, noise=0.05, dt=0.1, spoilt=("_noisy", ", 5 % sensor noise")),
    _control(OU, ALONE, dt=0.2, spoilt=("_coarse", ", coarse")),
    _control(OU, ALONE, grid=0.05, spoilt=("_rounded", ", rounded to 0.05")),
)
HARD: tuple[Kind, ...] = (
    Kind(
        GROWTH.key,
        GROWTH.title,
        _growth,
        "a genuine drift, seen once on its way out",
        SEVERAL,
        GROWTH_STEP,
        "hard",
        GROWTH.truth,
    ),
    _hard(
        process("infinite_variance", "no variance", (-X,), ((0.1 + 3 * X**2,),)),
        0.02,
        ALONE,
        "a genuine tensor, with a stationary state of infinite variance",
    ),
    Kind(
        "lorenz_all",
        "Lorenz system, all coordinates",
        lorenz,
        "a genuine drift, and no noise at all",
        SEVERAL,
        0.01,
        "hard",
        lorenz_truth(),
    ),
)
