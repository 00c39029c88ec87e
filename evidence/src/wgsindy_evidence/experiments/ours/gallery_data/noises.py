"""Nulls by their noise: it has memory, heavy tails or jumps, or it is all there is."""

from __future__ import annotations

from functools import partial

import numpy as np

from wgsindy.data import FloatArray
from wgsindy_evidence.experiments.ours.gallery_data.kind import (
    ALONE,
    DT,
    FORGOTTEN,
    SUBSTEPS,
    Kind,
    normals,
    recursion,
    simulate,
)

Rng = np.random.Generator
KEPT = float(np.exp(-DT))  # of a deviation, in a step of the relaxation


def _white(rng: Rng, r: int, n: int) -> FloatArray:
    return rng.standard_normal((r, n + 1, 1))


def _white_pair(rng: Rng, r: int, n: int) -> FloatArray:
    return rng.uniform(-1, 1, (r, n + 1, 2))


def _ar2(rng: Rng, r: int, n: int) -> FloatArray:
    # Roots 0.95 exp(+-i 2 pi / 20).
    return recursion(normals(rng, r, n), 2 * 0.95 * np.cos(2 * np.pi / 20), -(0.95**2))


def _arma(rng: Rng, r: int, n: int) -> FloatArray:
    shocks = normals(rng, r, n)
    shocks[:, 1:] += 0.5 * shocks[:, :-1].copy()
    return recursion(shocks, 0.97 + 0.6, -0.97 * 0.6)


def _moving(rng: Rng, r: int, n: int) -> FloatArray:
    shocks = rng.standard_normal((r, n + 6, 1))
    return np.asarray(sum(shocks[:, k : k + n + 1] for k in range(6)))


def fractional_noise(rng: Rng, r: int, n: int, hurst: float) -> FloatArray:
    """Exact increments of fractional Brownian motion, ``(r, n)``, by a circulant covariance."""
    lags = np.arange(n + 1.0)
    powers = [np.abs(lags + k) ** (2 * hurst) for k in (-1, 0, 1)]
    covariance = (powers[0] - 2 * powers[1] + powers[2]) / 2
    circle = np.concatenate([covariance, covariance[-2:0:-1]])
    weights = np.sqrt(np.maximum(np.fft.fft(circle).real, 0.0) / len(circle))
    shocks = rng.standard_normal((2, r, len(circle)))
    return np.asarray(np.fft.fft(weights * (shocks[0] + 1j * shocks[1])).real[:, :n])


def _fractional_motion(rng: Rng, r: int, n: int, hurst: float) -> FloatArray:
    return DT**hurst * np.cumsum(fractional_noise(rng, r, n + 1, hurst), axis=1)[..., None]


def _fractional_relaxation(rng: Rng, r: int, n: int, hurst: float) -> FloatArray:
    h = DT / SUBSTEPS
    shocks = h**hurst * fractional_noise(rng, r, (n + 1 + FORGOTTEN) * SUBSTEPS, hurst)
    fine = recursion(shocks[..., None], 1 - h)
    return fine[:, -(n * SUBSTEPS + 1) :: SUBSTEPS]


def _jumps(rng: Rng, r: int, n: int) -> FloatArray:
    shape = (r, n + 1 + FORGOTTEN, 1)
    # One jump in a unit of time, of size one.
    jumps = rng.poisson(DT, shape) * rng.standard_normal(shape)
    return recursion(np.sqrt(DT) * 0.7 * rng.standard_normal(shape) + jumps, KEPT)


def stable(rng: Rng, shape: tuple[int, ...], alpha: float) -> FloatArray:
    """Symmetric alpha-stable numbers, after Chambers, Mallows and Stuck."""
    angle, size = rng.uniform(-np.pi / 2, np.pi / 2, shape), rng.standard_exponential(shape)
    ratio = np.cos((1 - alpha) * angle) / size
    return np.asarray(
        np.sin(alpha * angle) / np.cos(angle) ** (1 / alpha) * ratio ** ((1 - alpha) / alpha)
    )


def _levy(rng: Rng, r: int, n: int) -> FloatArray:
    shocks = DT ** (1 / 1.5) * stable(rng, (r, n + 1 + FORGOTTEN, 1), 1.5)
    return recursion(0.5 * shocks, KEPT)


def _student(rng: Rng, r: int, n: int) -> FloatArray:
    shocks = rng.standard_t(3, (r, n + 1 + FORGOTTEN, 1)) / np.sqrt(3)
    return recursion(np.sqrt(DT) * shocks, KEPT)


def _compound(rng: Rng, r: int, n: int) -> FloatArray:
    shape = (r, n + 1, 1)
    return np.cumsum(rng.poisson(4 * DT, shape) * rng.standard_normal(shape), axis=1)


def _shots(rng: Rng, r: int, n: int) -> FloatArray:
    shape = (r, n + 1 + FORGOTTEN, 1)
    return recursion(rng.poisson(4 * DT, shape) * rng.standard_exponential(shape), KEPT)


def _garch(rng: Rng, r: int, n: int) -> FloatArray:
    shocks = normals(rng, r, n)
    variance = np.ones((r, 1))
    for k in range(shocks.shape[1]):
        shocks[:, k] *= np.sqrt(variance * DT)
        variance = 0.05 + 0.25 * shocks[:, k] ** 2 / DT + 0.7 * variance
    return recursion(shocks, KEPT)


def _volatility(rng: Rng, r: int, n: int) -> FloatArray:
    """A relaxation in x whose log-noise v wanders on its own; v is not seen."""

    def noise(x: FloatArray, t: float) -> FloatArray:
        return np.column_stack([np.exp(x[:, 1]), np.ones(r)])

    return simulate(lambda x, t: -x, noise, rng, r, n, d=2)[..., :1]


KINDS: tuple[Kind, ...] = (
    Kind("white", "white noise", _white, "samples know nothing of each other", ALONE),
    Kind("white_pair", "uniform white noise, two columns", _white_pair, "no path at all"),
    Kind("ar2", "AR(2), complex roots", _ar2, "two steps of memory in one coordinate", ALONE),
    Kind("arma", "ARMA(2, 1)", _arma, "memory of shocks and of two samples"),
    Kind("ma5", "MA(5)", _moving, "an average of six shocks has no drift", ALONE),
    Kind(
        "fbm_rough",
        "fractional Brownian motion, H = 0.3",
        partial(_fractional_motion, hurst=0.3),
        "increments push back: noise, not drift",
    ),
    Kind(
        "fbm_smooth",
        "fractional Brownian motion, H = 0.7",
        partial(_fractional_motion, hurst=0.7),
        "increments carry on for ever",
        ALONE,
    ),
    Kind(
        "fou_rough",
        "fractional relaxation, H = 0.3",
        partial(_fractional_relaxation, hurst=0.3),
        "the noise has memory",
        ALONE,
    ),
    Kind(
        "fou_smooth",
        "fractional relaxation, H = 0.7",
        partial(_fractional_relaxation, hurst=0.7),
        "the noise has long memory",
    ),
    Kind("jumps", "relaxation with Poisson jumps", _jumps, "jumps are no diffusion"),
    Kind("levy", "Levy-driven relaxation, alpha = 1.5", _levy, "no variance, only jumps", ALONE),
    Kind("student", "relaxation with Student t(3) shocks", _student, "increments have heavy tails"),
    Kind("compound", "compound Poisson path", _compound, "stands still, then jumps", ALONE),
    Kind("shots", "shot noise", _shots, "decays without noise, then jumps"),
    Kind("garch", "GARCH(1, 1) noise", _garch, "the noise depends on past shocks", ALONE),
    Kind(
        "volatility",
        "hidden volatility",
        _volatility,
        "the noise is no function of the state",
    ),
)
