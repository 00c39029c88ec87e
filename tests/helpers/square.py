"""Known fields on a square of known states."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import sympy

from wgsindy.data import FloatArray
from wgsindy.model import Generator

X, Y = sympy.symbols("x y", real=True)


def generator(drift: list[Any], a11: Any, a12: Any, a22: Any) -> Generator:
    return Generator.from_sympy(("x", "y"), drift, [[a11, a12], [a12, a22]])


@cache
def square_states() -> FloatArray:
    """States whose 2-98 % range is [-1, 1] in both coordinates: 96 % of [-25/24, 25/24]."""
    line = np.linspace(-25 / 24, 25 / 24, 1001)
    return np.column_stack([line, line[::-1]])


def mean_square(function: Any) -> float:
    """Mean of a function over the 15 x 15 grid on [-1, 1]^2, one point at a time."""
    axis = np.linspace(-1, 1, 15)
    return float(np.mean([function(x, y) ** 2 for x in axis for y in axis]))
