"""Nulls that were thought of after most checks had been made.

Three of them have had their share in later ones, on other seeds: the rows that are gone, the centre
and the rate that wander.
"""

from __future__ import annotations

import numpy as np

from wgsindy.data import FloatArray
from wgsindy_evidence.experiments.ours.gallery_data.kind import (
    ALONE,
    DT,
    Kind,
    Make,
    relaxation,
    simulate,
)
from wgsindy_evidence.experiments.ours.gallery_data.spoilt import RELAXATION, spoilt

Rng = np.random.Generator


def _maximum(rng: Rng, r: int, n: int) -> FloatArray:
    return np.maximum(relaxation(rng, r, n), relaxation(rng, r, n))


def _product(rng: Rng, r: int, n: int) -> FloatArray:
    return relaxation(rng, r, n) * relaxation(rng, r, n)


def _two_of_three(rng: Rng, r: int, n: int) -> FloatArray:
    cycle = np.array([[-1.0, 1.0, 0.0], [-1.0, -1.0, 1.0], [0.0, -1.0, -0.5]])
    return simulate(lambda x, t: x @ cycle, 0.65, rng, r, n, d=3)[..., :2]


def _wandering_rate(rng: Rng, r: int, n: int) -> FloatArray:
    noise = np.array([1.0, 0.45])

    def drift(x: FloatArray, t: float) -> FloatArray:
        return np.column_stack([-np.exp(x[:, 1]) * x[:, 0], -0.2 * x[:, 1]])

    return simulate(drift, lambda x, t: noise, rng, r, n, d=2)[..., :1]


def _wandering_centre(rng: Rng, r: int, n: int) -> FloatArray:
    noise, pull = np.array([1.0, 0.3]), np.array([[-2.0, 0.0], [2.0, -0.1]])
    return simulate(lambda x, t: x @ pull, lambda x, t: noise, rng, r, n, d=2)[..., :1]


def _switched(rng: Rng, x: FloatArray) -> FloatArray:
    """On and off, a hundred samples each on average."""
    return (np.cumsum(rng.uniform(size=x.shape) < 0.01, axis=1) % 2).astype(np.float64)


def _telegraph(rng: Rng, x: FloatArray) -> FloatArray:
    return x + _switched(rng, x)


def _loud_at_times(rng: Rng, x: FloatArray) -> FloatArray:
    return x + 0.3 * _switched(rng, x) * rng.standard_normal(x.shape)


def _laplace(rng: Rng, x: FloatArray) -> FloatArray:
    return x + 0.2 * rng.laplace(size=x.shape)


def _median(rng: Rng, x: FloatArray) -> FloatArray:
    padded = np.pad(x, ((0, 0), (1, 1), (0, 0)), mode="edge")
    return np.median(np.stack([padded[:, :-2], x, padded[:, 2:]]), axis=0)


def _gain(rng: Rng, x: FloatArray) -> FloatArray:
    """An amplifier that is half as strong again from the middle on."""
    return x * (1 + 0.5 * (np.arange(x.shape[1]) >= x.shape[1] // 2))[:, None]


def _slack(rng: Rng, x: FloatArray) -> FloatArray:
    """A pointer that follows with a play of 0.3 to either side."""
    seen = np.zeros_like(x)
    for n in range(1, x.shape[1]):
        seen[:, n] = np.clip(seen[:, n - 1], x[:, n] - 0.3, x[:, n] + 0.3)
    return seen


def _dropped(rng: Rng, r: int, n: int) -> FloatArray:
    """One row in ten is gone, and the clock does not say which."""
    paths = relaxation(rng, r, n + n // 5 + 50)
    kept = [np.flatnonzero(rng.uniform(size=len(path)) > 0.1)[: n + 1] for path in paths]
    return np.stack([path[rows] for path, rows in zip(paths, kept, strict=True)])


def _kind(key: str, title: str, make: Make, why: str, *, behind: bool = False) -> Kind:
    """``behind``: a relaxation was spoilt."""
    truth = RELAXATION if behind else None
    return Kind(key, title, make, why, ALONE, DT, "later", truth)


KINDS: tuple[Kind, ...] = (
    _kind("maximum", "the larger of two", _maximum, "the smaller one is not seen"),
    _kind("product", "product of two", _product, "neither of them is seen"),
    _kind("two_of_three", "two of three coordinates", _two_of_three, "the third one acts on them"),
    _kind("wandering_rate", "rate that wanders", _wandering_rate, "the rate is not seen"),
    _kind("wandering_centre", "centre that wanders", _wandering_centre, "the centre is not seen"),
    _kind("telegraph", "shifted at times", spoilt(_telegraph), "two centres", behind=True),
    _kind("loud", "noise at times", spoilt(_loud_at_times), "noise comes and goes", behind=True),
    _kind("laplace", "noise with tails", spoilt(_laplace), "noise is not normal", behind=True),
    _kind("median", "median of three", spoilt(_median), "samples share values", behind=True),
    _kind("gain", "another gain from the middle on", spoilt(_gain), "two scales", behind=True),
    _kind("slack", "pointer with play", spoilt(_slack), "it follows late", behind=True),
    _kind("dropped", "a tenth of the rows is gone", _dropped, "steps are uneven", behind=True),
)
