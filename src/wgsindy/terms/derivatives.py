"""Values that carry their first and second derivatives: exact differentiation of formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wgsindy.data import FloatArray

Derivatives = tuple[FloatArray, FloatArray, FloatArray]


def _sqrt(u: FloatArray) -> Derivatives:
    root = np.sqrt(u)
    return root, 0.5 / root, -0.25 / (root * u)


def _sin(u: FloatArray) -> Derivatives:
    value = np.sin(u)
    return value, np.cos(u), -value


def _cos(u: FloatArray) -> Derivatives:
    value = np.cos(u)
    return value, -np.sin(u), -value


def _exp(u: FloatArray) -> Derivatives:
    value = np.exp(u)
    return value, value, value


def _tan(u: FloatArray) -> Derivatives:
    value = np.tan(u)
    slope = 1 + value**2
    return value, slope, 2 * value * slope


def _tanh(u: FloatArray) -> Derivatives:
    value = np.tanh(u)
    slope = 1 - value**2
    return value, slope, -2 * value * slope


def _asinh(u: FloatArray) -> Derivatives:
    root = np.sqrt(1 + u**2)
    return np.arcsinh(u), 1 / root, -u / root**3


# name -> (value, first derivative, second derivative)
FUNCTIONS: dict[str, Callable[[FloatArray], Derivatives]] = {
    "sqrt": _sqrt,
    "sin": _sin,
    "cos": _cos,
    "tan": _tan,
    "exp": _exp,
    "log": lambda u: (np.log(u), 1 / u, -1 / u**2),
    "sinh": lambda u: (np.sinh(u), np.cosh(u), np.sinh(u)),
    "cosh": lambda u: (np.cosh(u), np.sinh(u), np.cosh(u)),
    "tanh": _tanh,
    "asinh": _asinh,
    "abs": lambda u: (np.abs(u), np.sign(u), np.zeros_like(u)),
}


@dataclass(frozen=True)
class Jet:
    """A value ``(n,)`` with its gradient ``(n, d)`` and Hessian ``(n, d, d)``."""

    value: FloatArray
    gradient: FloatArray
    hessian: FloatArray

    def __add__(self, other: Jet) -> Jet:
        return Jet(
            self.value + other.value, self.gradient + other.gradient, self.hessian + other.hessian
        )

    def __mul__(self, other: Jet) -> Jet:
        cross = self.gradient[:, :, None] * other.gradient[:, None, :]
        u, v = self.value[:, None], other.value[:, None]
        return Jet(
            self.value * other.value,
            u * other.gradient + v * self.gradient,
            u[:, None] * other.hessian
            + v[:, None] * self.hessian
            + cross
            + cross.transpose(0, 2, 1),
        )

    def chain(self, value: FloatArray, first: FloatArray, second: FloatArray) -> Jet:
        """Compose with a scalar function given by its value and two derivatives here."""
        outer = self.gradient[:, :, None] * self.gradient[:, None, :]
        return Jet(
            value,
            first[:, None] * self.gradient,
            first[:, None, None] * self.hessian + second[:, None, None] * outer,
        )

    def power(self, p: float) -> Jet:
        """Raise to a constant power."""
        u = self.value
        first = p * u ** (p - 1) if p != 0 else np.zeros_like(u)
        second = p * (p - 1) * u ** (p - 2) if p not in (0, 1) else np.zeros_like(u)
        return self.chain(u**p, first, second)

    def where(self, condition: Any, other: Jet) -> Jet:
        """Take this jet where ``condition`` holds and ``other`` elsewhere."""
        return Jet(
            np.where(condition, self.value, other.value),
            np.where(condition[:, None], self.gradient, other.gradient),
            np.where(condition[:, None, None], self.hessian, other.hessian),
        )
