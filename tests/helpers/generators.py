"""Generators of every form of tensor, as a fit would leave them, and points to evaluate them at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

from wgsindy import zoo
from wgsindy.data import FloatArray, Frame
from wgsindy.model import Generator, TensorField, tensor
from wgsindy.model.tensor import TensorForm
from wgsindy.terms import library

SYSTEMS = zoo.names(variants=True)


def near_start(name: str, n: int = 6, seed: int = 0) -> FloatArray:
    """Points beside the start of a system, where every term of its fields is defined."""
    start = np.array(zoo.get(name).start, dtype=np.float64)
    return start + np.random.default_rng(seed).uniform(0.01, 0.2, size=(n, len(start)))


def evaluated(expressions: Any, names: Sequence[str], points: FloatArray) -> FloatArray:
    """Evaluate an array of SymPy expressions point by point."""
    symbols = sympy.symbols(names, real=True)
    f = sympy.lambdify(symbols, sympy.Array(expressions).tolist())
    return np.array([f(*row) for row in points.tolist()], dtype=np.float64)


def in_space() -> Generator:
    """Three coordinates, correlated state-dependent noise."""
    x, y, z = sympy.symbols("x y z", real=True)
    root = sympy.Matrix([[1 + x**2, 0, 0], [y, 2, 0], [x * z, sympy.cos(y), 1]])
    return Generator.from_sympy(
        ("x", "y", "z"), [y - x * z, sympy.sin(x) - y, -(z**3)], (root * root.T).tolist()
    )


def made(
    spec: str | Sequence[str],
    names: tuple[str, ...],
    form: TensorForm,
    *,
    shrinkage: float = 0.0,
    framed: bool = False,
    seed: int = 0,
) -> Generator:
    """Make a generator with random coefficients, as a fit would leave it."""
    rng = np.random.default_rng(seed)
    d = len(names)
    basis = library(spec).bind(names)
    if framed:
        basis = basis.in_frame(
            Frame(np.array([0.4, -1.3, 2.0])[:d], np.array([0.7, 2.0, 1.1])[:d] / 0.9)
        )
    field = TensorField(
        form,
        rng.normal(size=(len(tensor.pairs(d)), len(basis))),
        shrinkage,
        np.array([0.5, 3.0, 1.7])[:d],
    )
    return Generator(basis, rng.normal(size=(d, len(basis))), field, {"made": "by hand"})


XY = ("x", "y")
MADE: dict[str, Generator] = {
    "entries": made("poly2", XY, "entries", framed=True),
    "entries, shrunk": made("poly2", XY, "entries", shrinkage=0.2, framed=True),
    "entries, trig": made("trig", XY, "entries"),
    "clipped": made("poly2", XY, "clipped", framed=True),
    "factor": made("poly2", XY, "factor", framed=True),
    "factor, shrunk": made("poly2", XY, "factor", shrinkage=0.2, framed=True),
    "factor, 1-D": made("poly3", ("x",), "factor", shrinkage=0.2, framed=True),
    "factor, 3-D": made("poly1", ("x", "y", "z"), "factor", shrinkage=0.2, framed=True),
    "factor, sqrt": made("sqrt", XY, "factor", shrinkage=0.2),
    "factor, trig": made("trig", XY, "factor", shrinkage=0.2),
    "factor, gaps": made(["1", "x**2", "x*y"], XY, "factor"),
}
# Functions that SymPy simplifies once it believes that states are positive.
KINKED: dict[str, Generator] = {
    "factor, abs": made(["1", "abs(x)", "y"], XY, "factor", shrinkage=0.2),
    "factor, max": made(["1", "max(x, 0)", "min(y, 0)"], XY, "factor"),
    "factor, sum": made(["x", "x + sin(y)"], XY, "factor"),
}
EVERY = {**MADE, **KINKED}


def points_for(name: str) -> FloatArray:
    d = EVERY[name].dimension
    x = np.random.default_rng(3).normal(size=(8, d))
    return np.abs(x) if "sqrt" in name else x
