"""Formulas in x and y, one for each operation, and their values by SymPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from wgsindy.data import FloatArray
from wgsindy.terms import FUNCTIONS

NAMES = ("x", "y")
SYMBOLS = sympy.symbols("x y", real=True)
POINTS = np.array([[0.3, 0.9], [0.8, 0.25], [1.1, 1.4], [0.55, 0.6]])
# A dozen operations, each right to 1.1e-16, on well-conditioned formulas: 1e-13 with room.
RTOL = 1e-13
# One formula per operator and function, each with a curved argument in both states, so that
# first and second derivatives of the outer and of the inner function all count.
INNER = "(0.4*x*y + y**2 + 0.5)"
FORMULAS: dict[str, str] = {
    "constant": "2.5",
    "variable": "y",
    "plus": "x**3 + x*y**2 + 1",
    "minus": "x**2 - y - x*y",
    "unary": "-x**2*y + (+y)**3 - (-x*y)",
    "times": "(x + y)*(x - 2*y)*x",
    "divide": "(1 + x*y)/(2 + x**2 + y)/3",
    "power": "(1 + x*y)**3",
    "negative power": "(1 + x*y)**-2",
    "fractional power": "(1 + x*y**2)**2.5",
    "zeroth power": "(x + y**2)**0*x**2",
    "first power": "(x + y**2)**1*y",
    "caret": "(x + y)^3",
    "min": "min(x*y, 0.4*y**2)",
    "max": "max(x*y, 0.4*y**2)",
    "both signs": "abs(x*y - 0.4*y**2)*x",
    **{name: f"{name}({INNER})*(x + 2*y)" for name in FUNCTIONS},
}


def evaluated(expression: Any, points: FloatArray) -> FloatArray:
    """Evaluate with SymPy in 30 digits; kinks are not among the points."""
    smooth = sympy.sympify(expression).replace(sympy.DiracDelta, lambda *_: sympy.Integer(0))
    return np.array(
        [
            float(smooth.subs(dict(zip(SYMBOLS, map(sympy.Float, row), strict=True))).evalf(30))
            for row in points.tolist()
        ]
    )
