"""Nulls whose drift or noise no library holds."""

from __future__ import annotations

import numpy as np
import sympy

from wgsindy.data.arrays import FloatArray
from wgsindy.model.generator import Generator
from wgsindy_evidence.experiments.ours.gallery_data.kind import (
    ALONE,
    Field,
    Kind,
    Make,
    simulate,
)
from wgsindy_evidence.experiments.ours.unseen import X


def _with(drift: Field, noise: Field | float = 1.0, start: float = 0.0) -> Make:
    # Steep fields want fine steps.
    return lambda rng, r, n: simulate(drift, noise, rng, r, n, substeps=20, start=start)


def _step_noise(x: FloatArray, t: float) -> FloatArray:
    return np.asarray(0.6 + 0.4 * np.tanh(10 * x))


def _kink_noise(x: FloatArray, t: float) -> FloatArray:
    return np.asarray(np.sqrt(0.1 + np.abs(x)))


def _bump(x: FloatArray, t: float) -> FloatArray:
    return -x + 6 * x * np.exp(-4 * x**2)


_OUTSIDE: tuple[Kind, ...] = (
    Kind(
        "tanh",
        "drift -2 tanh(8 x)",
        _with(lambda x, t: -2 * np.tanh(8 * x)),
        "a step is no polynomial",
    ),
    Kind("sign", "drift -sign(x)", _with(lambda x, t: -np.sign(x)), "a jump in the drift", ALONE),
    Kind("bump", "drift with Gaussian bumps", _with(_bump), "bumps are no polynomial"),
    Kind(
        "inverse",
        "drift 2 / x - x",
        _with(lambda x, t: 2 / x - x, start=1.5),
        "a pole at zero",
        ALONE,
    ),
    Kind(
        "ripples",
        "drift -x + 2 sin(7 x)",
        _with(lambda x, t: -x + 2 * np.sin(7 * x)),
        "two scales",
        ALONE,
    ),
    Kind("step_noise", "noise that steps", _with(lambda x, t: -x, _step_noise), "no polynomial"),
    Kind(
        "kink_noise", "noise 0.1 + |x|", _with(lambda x, t: -x, _kink_noise), "no polynomial", ALONE
    ),
)
# Drift and tensor; sign(x) is nothing that a generator can be written with.
FORMULAS = {
    "tanh": (-2 * sympy.tanh(8 * X), 1),
    "bump": (-X + 6 * X * sympy.exp(-4 * X**2), 1),
    "inverse": (2 / X - X, 1),
    "ripples": (-X + 2 * sympy.sin(7 * X), 1),
    "step_noise": (-X, (0.6 + 0.4 * sympy.tanh(10 * X)) ** 2),
    "kink_noise": (-X, 0.1 + sympy.Abs(X)),
}


def _truth(key: str) -> Generator | None:
    if key not in FORMULAS:
        return None
    drift, tensor = FORMULAS[key]
    return Generator.from_sympy(("x",), [drift], [[tensor]])


KINDS: tuple[Kind, ...] = tuple(kind._replace(truth=_truth(kind.key)) for kind in _OUTSIDE)
