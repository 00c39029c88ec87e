"""Nulls by what is not seen: hidden coordinates, delays, copies, maps, clocks and counters."""

from __future__ import annotations

from functools import partial

import numpy as np

from wgsindy.data import FloatArray
from wgsindy_evidence.experiments.ours.gallery_data.kind import (
    ALONE,
    DT,
    SUBSTEPS,
    Kind,
    relaxation,
    rotation,
    simulate,
)

Rng = np.random.Generator
LAG = 5


def _delay(rng: Rng, r: int, n: int) -> FloatArray:
    """``dx = -x(t - 1) dt + dW``."""
    h = DT / SUBSTEPS
    back = round(1 / h)
    fine = np.zeros((n * SUBSTEPS + 10 * back + 1, r))
    shocks = np.sqrt(h) * rng.standard_normal(fine.shape)
    for k in range(back, len(fine)):
        fine[k] = fine[k - 1] - h * fine[k - back] + shocks[k]
    return fine[-(n * SUBSTEPS + 1) :: SUBSTEPS].T[..., None]


def _lagged(rng: Rng, r: int, n: int, noise: float = 0.0) -> FloatArray:
    x = relaxation(rng, r, n + LAG)
    pair = np.concatenate([x[:, LAG:], x[:, :-LAG]], axis=2)
    pair[..., 1] += noise * rng.standard_normal(pair.shape[:2])
    return pair


def _copied(rng: Rng, r: int, n: int) -> FloatArray:
    x = relaxation(rng, r, n)
    return np.concatenate([x, x + 1e-3 * rng.standard_normal(x.shape)], axis=2)


def _summed(rng: Rng, r: int, n: int) -> FloatArray:
    pair = rotation(rng, r, n)
    return np.concatenate([pair, pair.sum(axis=2, keepdims=True)], axis=2)


def _velocity(rng: Rng, r: int, n: int) -> FloatArray:
    """Position of a damped, noisy oscillator; its velocity is not seen."""
    turn, noise = np.array([[0.0, -1.0], [1.0, -1.0]]), np.array([0.0, 1.4])
    return simulate(lambda x, t: x @ turn, lambda x, t: noise, rng, r, n, d=2)[..., :1]


def _fast(rng: Rng, r: int, n: int) -> FloatArray:
    """A relaxation pushed by noise that lasts four steps."""
    pull, noise = np.array([[-1.0, 0.0], [1.0, -5.0]]), np.array([0.0, 5.0])
    return simulate(lambda x, t: x @ pull, lambda x, t: noise, rng, r, n, d=2)[..., :1]


def _projection(rng: Rng, r: int, n: int) -> FloatArray:
    return rotation(rng, r, n)[..., :1]


def _past(rng: Rng, r: int, n: int) -> FloatArray:
    """Drawn to its own mean of the last two units of time."""
    pull = np.array([[-3.0, 0.5], [2.5, -0.5]])
    noise = np.array([1.0, 0.0])
    return simulate(lambda x, t: x @ pull - 0.1 * x, lambda x, t: noise, rng, r, n, d=2)[..., :1]


def _growth(rng: Rng, r: int, n: int) -> FloatArray:
    """Grows ten-thousandfold and more at a rate that wanders and is not seen."""
    noise = np.array([1.0, 1.0])

    def drift(x: FloatArray, t: float) -> FloatArray:
        return np.column_stack([x[:, 0] * (1 + x[:, 1]), -2 * x[:, 1]])

    return simulate(drift, lambda x, t: noise, rng, r, n, d=2, dt=0.01, settling=0.0)[..., :1]


def _folded(rng: Rng, r: int, n: int) -> FloatArray:
    """Distance from zero in a double well that is not symmetric: the side is not seen."""
    path = simulate(lambda x, t: x - x**3 + 0.3, 0.8, rng, r, n)
    return np.abs(path)


def _aliased(rng: Rng, r: int, n: int) -> FloatArray:
    """A relaxation oscillator that turns in less than two sampling steps."""

    def drift(x: FloatArray, t: float) -> FloatArray:
        y = x[:, 1]
        return np.column_stack([y, -x[:, 0] + 2 * (y - y**3)])

    return simulate(drift, 0.3, rng, r, n, d=2, dt=4.5, substeps=150, start=0.5, settling=20)


def _aliased_alone(rng: Rng, r: int, n: int) -> FloatArray:
    turn = np.array([[-0.2, 8.0], [-8.0, -0.2]])
    return simulate(lambda x, t: x @ turn, 0.5, rng, r, n, d=2, dt=0.5, substeps=200)[..., :1]


def _counter(rng: Rng, r: int, n: int) -> FloatArray:
    return np.cumsum(rng.poisson(20 * DT, (r, n + 1, 1)), axis=1).astype(np.float64)


def _counted(rng: Rng, r: int, n: int) -> FloatArray:
    x = relaxation(rng, r, n)
    return np.concatenate([x, np.cumsum(rng.poisson(100 * DT * np.exp(x / 2)), axis=1)], axis=2)


def _clock(rng: Rng, r: int, n: int) -> FloatArray:
    x = relaxation(rng, r, n)
    return np.concatenate([x, np.broadcast_to(DT * np.arange(n + 1.0)[:, None], x.shape)], axis=2)


def _wrapped(rng: Rng, r: int, n: int) -> FloatArray:
    steps = DT + 0.5 * np.sqrt(DT) * rng.standard_normal((r, n + 1, 1))
    start = rng.uniform(0, 2 * np.pi, (r, 1, 1))
    return np.mod(start + np.cumsum(steps, axis=1), 2 * np.pi)


def _births(rng: Rng, r: int, n: int) -> FloatArray:
    """Exact samples of births at rate five and deaths at rate one each."""
    kept = np.exp(-DT)
    counts = np.empty((n + 1, r), dtype=np.int64)
    counts[0] = rng.poisson(5.0, r)
    for k in range(n):
        counts[k + 1] = rng.binomial(counts[k], kept) + rng.poisson(5 * (1 - kept), r)
    return counts.T[..., None].astype(np.float64)


KINDS: tuple[Kind, ...] = (
    Kind("delay", "delayed feedback", _delay, "the drift is one of the past", ALONE),
    Kind("lagged", "a column and its copy five steps late", _lagged, "the copy has no drift"),
    Kind(
        "lagged_noisy",
        "the same, with noise on the copy",
        partial(_lagged, noise=0.2),
        "the copy follows the past, not the state",
        ALONE,
    ),
    Kind("copied", "a column and its copy", _copied, "two columns of one coordinate"),
    Kind("summed", "two columns and their sum", _summed, "terms cannot be told apart"),
    Kind("velocity", "hidden velocity", _velocity, "the position alone is no diffusion", ALONE),
    Kind("fast", "hidden fast variable", _fast, "the noise lasts four steps"),
    Kind("projection", "one of two coordinates", _projection, "the other one turns it", ALONE),
    Kind("past", "drawn to its own past", _past, "the mean of the past is not seen", ALONE),
    Kind(
        "growth",
        "explosive growth at a hidden rate",
        _growth,
        "the rate is no function of the state",
        dt=0.01,
    ),
    Kind("folded", "distance from zero", _folded, "the side is not seen", ALONE),
    Kind("aliased", "oscillator, a turn in 1.7 steps", _aliased, "turns are not seen", dt=4.5),
    Kind(
        "aliased_alone",
        "one coordinate of a turn in 1.6 steps",
        _aliased_alone,
        "neither the turns nor the other coordinate are seen",
        dt=0.5,
    ),
    Kind("counter", "a counter", _counter, "whole numbers that only grow", ALONE),
    Kind("counted", "a column and a counter", _counted, "the counter jumps"),
    Kind("clock", "a column and a clock", _clock, "the clock is no state", ALONE),
    Kind("wrapped", "angle between 0 and 2 pi", _wrapped, "it jumps at the end", ALONE),
    Kind("births", "births and deaths, five on average", _births, "whole numbers that jump", ALONE),
)
