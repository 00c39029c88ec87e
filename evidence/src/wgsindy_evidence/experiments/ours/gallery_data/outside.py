"""Drifts and noises that no library holds.

Nulls are far from every formula of a library. Hard ones are so close to one that these data cannot
tell, or have one that only enough data find: they may be called identified, but bands must hold
them.
"""

from __future__ import annotations

import numpy as np
import sympy

from wgsindy.data import FloatArray
from wgsindy.model import Generator
from wgsindy_evidence.experiments.ours.gallery_data.kind import (
    ALONE,
    Field,
    Kind,
    Make,
    simulate,
)
from wgsindy_evidence.experiments.ours.unseen import X, Y
from wgsindy_evidence.experiments.tensors import diagonal

# Drift and tensor; sign(x) is nothing that a generator can be written with.
FORMULAS = {
    "tanh": (-2 * sympy.tanh(8 * X), 1),
    "bump": (-X + 6 * X * sympy.exp(-4 * X**2), 1),
    "inverse": (2 / X - X, 1),
    "ripples": (-X + 2 * sympy.sin(7 * X), 1),
    "step_noise": (-X, (0.6 + 0.4 * sympy.tanh(10 * X)) ** 2),
    "kink_noise": (-X, 0.1 + sympy.Abs(X)),
    "exponential": (sympy.exp(-X) - 1, 0.64),
    "hill": (0.2 + 4 * X**4 / (1 + X**4) - 1.8 * X, 0.1225),
    "saturation": (1.5 - 3 * X / (0.5 + X), 0.04),
    "bond": (24 * (2 / X**13 - 1 / X**7) / 2 - (X - 1.2), 0.25),
    "yielding": (-2 * sympy.tanh(3 * X), 0.49),
    "escaping": (-4 * X / (1 + X**2), 1),
    "one_sided": (-1.85 * X - 1.15 * sympy.Abs(X), 0.49),
    "drag": (-X * sympy.Abs(X), 0.49),
    "slack_spring": (sympy.Abs(X + 0.5) - sympy.Abs(X - 0.5) - 2 * X, 0.49),
    "small_bump": (-X + 2 * X * sympy.exp(-4 * X**2), 0.36),
}
# In two coordinates: a drift each, and the same noise.
PAIRS = {
    "loop": (1.5 * sympy.tanh(2 * Y) - X, -1.5 * sympy.tanh(2 * X) - Y),
    "toggle": (2 / (1 + Y**2) - X, 2 / (1 + X**2) - Y),
}
PAIR_NOISE = 0.3


def _with(drift: Field, noise: Field | float = 1.0, start: float = 0.0) -> Make:
    # Steep fields want fine steps.
    return lambda rng, r, n: simulate(drift, noise, rng, r, n, substeps=20, start=start)


def _step_noise(x: FloatArray, t: float) -> FloatArray:
    return np.asarray(0.6 + 0.4 * np.tanh(10 * x))


def _kink_noise(x: FloatArray, t: float) -> FloatArray:
    return np.asarray(np.sqrt(0.1 + np.abs(x)))


def _bump(x: FloatArray, t: float) -> FloatArray:
    return -x + 6 * x * np.exp(-4 * x**2)


def _hard(key: str, title: str, why: str, size: float, start: float, dt: float) -> Kind:
    drift = sympy.lambdify(X, FORMULAS[key][0], "numpy")

    def make(rng: np.random.Generator, r: int, n: int) -> FloatArray:
        return simulate(lambda x, t: drift(x), size, rng, r, n, dt=dt, substeps=20, start=start)

    return Kind(key, title, make, why, ALONE, dt, "hard")


def _pair(key: str, title: str, why: str, start: float) -> Kind:
    drift = sympy.lambdify((X, Y), PAIRS[key], "numpy")

    def make(rng: np.random.Generator, r: int, n: int) -> FloatArray:
        def field(x: FloatArray, t: float) -> FloatArray:
            return np.column_stack(drift(*x.T))

        return simulate(field, PAIR_NOISE, rng, r, n, d=2, dt=0.1, substeps=20, start=start)

    return Kind(key, title, make, why, ALONE, 0.1, "hard")


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


def _truth(key: str) -> Generator | None:
    if key in PAIRS:
        return Generator.from_sympy(("x", "y"), PAIRS[key], diagonal(*[PAIR_NOISE**2] * 2))
    if key not in FORMULAS:
        return None
    drift, tensor = FORMULAS[key]
    return Generator.from_sympy(("x",), [drift], [[tensor]])


_CLOSE = (
    _hard("inverse", "drift 2 / x - x", "a pole at zero", 1.0, 1.5, 0.05),
    _hard("exponential", "drift exp(-x) - 1", "close to a parabola", 0.8, 0.0, 0.05),
    _hard("hill", "Hill function", "switches, with decay", 0.35, 1.0, 0.05),
    _hard("saturation", "Michaelis-Menten decay", "saturates", 0.2, 0.5, 0.05),
    _hard("bond", "Lennard-Jones bond", "steep on one side", 0.5, 1.15, 0.002),
    _hard("yielding", "spring that yields, -2 tanh(3 x)", "saturates", 0.7, 0.0, 0.05),
    _hard("escaping", "drift -4 x / (1 + x^2)", "fades far out", 1.0, 0.0, 0.1),
    _hard("one_sided", "stiff on one side", "a kink at zero", 0.7, 0.0, 0.1),
    _hard("drag", "drift -x |x|", "as a turbulent drag", 0.7, 0.0, 0.1),
    _hard("slack_spring", "spring with slack", "no force near zero", 0.7, 0.0, 0.1),
    _hard("small_bump", "well with a bump", "two scales", 0.6, 0.0, 0.05),
    _pair("loop", "two units in a loop", "saturates", 0.5),
    _pair("toggle", "toggle switch", "a pair of Hill functions", 0.5),
)


def _with_truths(kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
    return tuple(kind._replace(truth=_truth(kind.key)) for kind in kinds)


KINDS, HARD = _with_truths(_OUTSIDE), _with_truths(_CLOSE)
