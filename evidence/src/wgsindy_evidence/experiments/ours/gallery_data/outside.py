"""Nulls whose drift or noise no library holds."""

from __future__ import annotations

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy_evidence.experiments.ours.gallery_data.kind import (
    ALONE,
    Field,
    Kind,
    Make,
    simulate,
)


def _with(drift: Field, noise: Field | float = 1.0, start: float = 0.0) -> Make:
    # Steep fields want fine steps.
    return lambda rng, r, n: simulate(drift, noise, rng, r, n, substeps=20, start=start)


def _step_noise(x: FloatArray, t: float) -> FloatArray:
    return np.asarray(0.6 + 0.4 * np.tanh(10 * x))


def _kink_noise(x: FloatArray, t: float) -> FloatArray:
    return np.asarray(np.sqrt(0.1 + np.abs(x)))


def _bump(x: FloatArray, t: float) -> FloatArray:
    return -x + 6 * x * np.exp(-4 * x**2)


KINDS: tuple[Kind, ...] = (
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
