"""Nulls that change: with time, with a hidden regime, between trajectories."""

from __future__ import annotations

from functools import partial

import numpy as np

from wgsindy.data import FloatArray
from wgsindy_evidence.experiments.ours.gallery_data.kind import (
    ALONE,
    DT,
    SUBSTEPS,
    Kind,
    double_well,
    relaxation,
    rotation,
    simulate,
)

Rng = np.random.Generator


def _about(rng: Rng, r: int, n: int, centre: FloatArray) -> FloatArray:
    """A relaxation that follows a centre, which is given at times ``(steps,)``."""

    def drift(x: FloatArray, t: float) -> FloatArray:
        return centre[min(max(int(t / DT), 0), n)] - x

    return simulate(drift, 0.5, rng, r, n)


def _times(n: int) -> FloatArray:
    return DT * np.arange(n + 1.0)


def _seasonal(rng: Rng, r: int, n: int) -> FloatArray:
    return _about(rng, r, n, np.sin(2 * np.pi * _times(n) / 10))


def _diurnal(rng: Rng, r: int, n: int) -> FloatArray:
    t = _times(n)
    centre = 0.7 * np.sin(2 * np.pi * t / 24) + 0.7 * np.sin(2 * np.pi * t / 3) + 2 * t / t[-1]
    return _about(rng, r, n, centre)


def _trend(rng: Rng, r: int, n: int) -> FloatArray:
    return _about(rng, r, n, np.linspace(-1, 1, n + 1))


def _switched(rng: Rng, r: int, n: int) -> FloatArray:
    """The drift is six times as strong from the middle of each record on."""
    end = n * DT / 2
    return simulate(lambda x, t: -(0.5 if t < end else 3.0) * x, 1.0, rng, r, n)


def _hidden_regime(rng: Rng, r: int, n: int) -> FloatArray:
    """Centres at -1 and 1 that change places at random, every three units of time."""
    state = rng.choice([-1.0, 1.0], (r, 1))

    def drift(x: FloatArray, t: float) -> FloatArray:
        nonlocal state
        # This is called once a substep.
        leaves = rng.uniform(size=(r, 1)) < DT / SUBSTEPS / 3
        state = np.where(leaves, -state, state)
        return 2 * (state - x)

    return simulate(drift, 0.5, rng, r, n)


def _half(r: int) -> FloatArray:
    """One for every other trajectory, zero for the rest."""
    return (np.arange(r) % 2).astype(np.float64)[:, None]


def _two_drifts(rng: Rng, r: int, n: int) -> FloatArray:
    rate = 0.5 + 2.5 * _half(r)
    return simulate(lambda x, t: -rate * x, 1.0, rng, r, n)


def _two_centres(rng: Rng, r: int, n: int) -> FloatArray:
    centre = 1.5 * _half(r)
    return simulate(lambda x, t: centre - x, 0.7, rng, r, n)


def _two_noises(rng: Rng, r: int, n: int) -> FloatArray:
    size = 0.5 + 0.5 * _half(r)
    return simulate(lambda x, t: -x, lambda x, t: size, rng, r, n)


def _odd(rng: Rng, r: int, n: int) -> FloatArray:
    path = relaxation(rng, r, n)
    path[-1] = 1 + relaxation(rng, 1, n, rate=5.0)[0]
    return path


def _units(rng: Rng, r: int, n: int, factor: float) -> FloatArray:
    path = rotation(rng, r, n)
    path[-1] *= factor
    return path


def _swapped(rng: Rng, r: int, n: int) -> FloatArray:
    path = rotation(rng, r, n)
    path[-1] = path[-1, :, ::-1]
    return path


def _joined(rng: Rng, r: int, n: int) -> FloatArray:
    first = double_well(rng, r, n // 2)
    return np.concatenate([first, rotation(rng, r, n - n // 2 - 1)[..., :1]], axis=1)


def _moved(rng: Rng, r: int, n: int) -> FloatArray:
    """The sensor is mounted anew in the middle: the second half of a record is shifted."""
    path = relaxation(rng, r, n)
    path[:, n // 2 :] += 1.5
    return path


KINDS: tuple[Kind, ...] = (
    Kind("seasonal", "about a sine", _seasonal, "the drift has a season", ALONE),
    Kind("diurnal", "two seasons and a trend", _diurnal, "the drift depends on time", ALONE),
    Kind("trend", "about a straight line", _trend, "the centre moves", ALONE),
    Kind("switched", "another drift from the middle on", _switched, "two drifts", ALONE),
    Kind("hidden_regime", "two hidden regimes", _hidden_regime, "the regime is not seen", ALONE),
    Kind("two_drifts", "trajectories with two rates", _two_drifts, "there are two drifts"),
    Kind("two_centres", "trajectories about two centres", _two_centres, "there are two drifts"),
    Kind("two_noises", "trajectories with two noises", _two_noises, "there are two tensors"),
    Kind("odd", "one odd trajectory", _odd, "one trajectory is of another process"),
    Kind(
        "inches",
        "one trajectory in inches",
        partial(_units, factor=1 / 2.54),
        "one trajectory has another tensor",
    ),
    Kind(
        "millimetres",
        "one trajectory in millimetres",
        partial(_units, factor=1000.0),
        "one trajectory has another scale",
    ),
    Kind("swapped", "columns of one trajectory swapped", _swapped, "it turns the other way"),
    Kind("joined", "two records joined to one", _joined, "there are two processes", ALONE),
    Kind("moved", "sensor moved in the middle", _moved, "there are two centres", ALONE),
)
