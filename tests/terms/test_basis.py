"""Terms of a basis: right values and derivatives, exactly movable between frames."""

from __future__ import annotations

import re
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
import sympy

from wgsindy.data import FloatArray, Frame
from wgsindy.errors import LibraryError
from wgsindy.terms import Basis, library

NAMES = ("x", "y", "z", "w")

# Powers of two and short binary fractions: every entry of the change of variables up to degree
# 4 is a floating-point number, so that exact means exact.
CENTRE = np.array([0.75, -1.25, 3.0])
SCALE = np.array([0.5, 4.0, 2.0])


def positive_points(dimension: int, n: int = 7, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).uniform(0.2, 2.0, size=(n, dimension))


@pytest.mark.parametrize(
    "terms", [["1", "x*y**2", "z"], ["x**2", "sin(y)", "sqrt(x*z)", "exp(x - y)", "2.5*log(z)"]]
)
def test_curvatures_are_second_derivatives_along_a_spread(terms: list[str]) -> None:
    basis = library(terms).bind(NAMES[:3]).in_frame(Frame(np.zeros(3), SCALE))
    root = np.random.default_rng(1).standard_normal((3, 3, 7))
    spread = np.einsum("pin,qin->pqn", root, root)
    points = positive_points(3)
    expected = np.einsum("nkpq,pqn->kn", basis.hessians(points), spread)
    np.testing.assert_allclose(basis.curvatures(points, spread), expected, rtol=1e-12, atol=1e-12)
    assert np.abs(expected).max() > 0.01


def test_a_basis_differs_from_another_in_terms_names_or_frame() -> None:
    basis = library("poly2").bind(("x", "y"))
    assert basis == library("poly2").bind(("x", "y"))
    assert basis != library("poly1").bind(("x", "y"))
    assert basis != library("poly2").bind(("x", "v"))
    assert basis != basis.in_frame(Frame(CENTRE[:2], SCALE[:2]))
    assert basis != basis.in_frame(Frame(np.zeros(2), SCALE[:2]))
    assert basis != basis.in_frame(Frame(CENTRE[:2], np.ones(2)))


def sympy_terms(basis: Basis) -> tuple[list[Any], tuple[Any, ...]]:
    """Write the terms as SymPy functions of x, frame included."""
    symbols = sympy.symbols(basis.names, real=True)
    inside = {
        s: (s - sympy.Float(float(c))) / sympy.Float(float(u))
        for s, c, u in zip(symbols, basis.frame.centre, basis.frame.scale, strict=True)
    }
    terms = [
        sympy.sympify(t, locals=dict(zip(basis.names, symbols, strict=True))) for t in basis.terms
    ]
    return [term.subs(inside, simultaneous=True) for term in terms], symbols


BASES: dict[str, Basis] = {
    "poly4 in 1": library("poly4").bind(("x",)),
    "poly3 in 2": library("poly3").bind(("x", "y")),
    "poly2 in 3": library("poly2").bind(("x", "y", "z")),
    "sqrt": library("sqrt").bind(("x", "y")),
    "trig": library("trig").bind(("x", "y")),
    "gaps": library(["x**3", "x*y**4", "y", "exp(-x*y)/(1 + x**2)", "log(x + y**2)"]).bind(
        ("x", "y")
    ),
}


@pytest.mark.parametrize("name", BASES)
def test_values_and_gradients_in_a_frame_are_those_of_sympy(name: str) -> None:
    plain = BASES[name]
    d = len(plain.names)
    # Negative centres keep the arguments of roots and logarithms positive.
    basis = plain.in_frame(Frame(-np.array([0.3, 0.7, 0.1])[:d], np.array([0.6, 1.7, 3.0])[:d]))
    x = positive_points(d)
    terms, symbols = sympy_terms(basis)
    values, gradients = basis.values(x), basis.gradients(x)
    assert values.shape == (len(x), len(basis))
    assert gradients.shape == (len(x), len(basis), d)
    for k, term in enumerate(terms):
        # A dozen operations of 1.1e-16 each; standardising cancels at most one digit.
        wanted = sympy.lambdify(symbols, term)(*x.T)
        np.testing.assert_allclose(values[:, k], wanted, rtol=1e-13)
        for p, s in enumerate(symbols):
            slope = sympy.lambdify(symbols, sympy.diff(term, s))(*x.T)
            np.testing.assert_allclose(gradients[:, k, p], slope, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", BASES)
def test_gradients_are_the_slopes_of_the_values(name: str) -> None:
    plain = BASES[name]
    d = len(plain.names)
    basis = plain.in_frame(Frame(-np.array([0.3, 0.7, 0.1])[:d], np.array([0.6, 1.7, 3.0])[:d]))
    x, h = positive_points(d, seed=1), 1e-5
    for p in range(d):
        step = h * np.eye(d)[p]
        slope = (basis.values(x + step) - basis.values(x - step)) / (2 * h)
        # Truncation h^2 f''' / 6 and rounding 1e-16 f / h, with f and f''' below 1e3 here.
        np.testing.assert_allclose(basis.gradients(x)[:, :, p], slope, rtol=1e-7, atol=1e-7)


def expansion(powers: list[int], centre: FloatArray, scale: FloatArray) -> dict[Any, Any]:
    """Multiply ((x - c) / s) ** powers out in rational numbers."""
    symbols = sympy.symbols(NAMES[: len(powers)])
    factors = [
        ((s - sympy.Rational(float(c))) / sympy.Rational(float(u))) ** power
        for s, c, u, power in zip(symbols, centre, scale, powers, strict=True)
    ]
    return dict(sympy.Poly(sympy.prod(factors), *symbols).as_dict())


@pytest.mark.parametrize(("degree", "dimension"), list(product((0, 1, 2, 3, 4), (1, 2, 3))))
def test_the_map_to_physical_coordinates_is_exact(degree: int, dimension: int) -> None:
    centre, scale = CENTRE[:dimension], SCALE[:dimension]
    basis = library(f"poly{degree}").bind(NAMES[:dimension]).in_frame(Frame(centre, scale))
    powers = basis.monomials.powers.tolist()
    wanted = np.zeros((len(basis), len(basis)))
    for k, row in enumerate(powers):
        for other, value in expansion(row, centre, scale).items():
            wanted[k, powers.index(list(other))] = float(value)
    np.testing.assert_array_equal(basis.to_physical, wanted)


def test_a_field_is_the_same_function_in_both_frames() -> None:
    rng = np.random.default_rng(4)
    plain = library("poly4").bind(("x", "y", "z"))
    framed = plain.in_frame(Frame(np.array([0.3, -2.0, 5.0]), np.array([0.7, 1.3, 0.2])))
    coefficients, x = rng.normal(size=(2, len(plain))), rng.normal(size=(9, 3))
    field = framed.values(x) @ coefficients.T
    # Powers of (x - 5) / 0.2 cancel when multiplied out: 25 ** 4 roundings of 1e-16.
    size = np.abs(plain.values(np.abs(x))) @ np.abs(coefficients @ framed.to_physical).T
    physical = plain.values(x) @ (coefficients @ framed.to_physical).T
    assert np.all(np.abs(physical - field) <= 1e-14 * size)


def test_terms_that_shifts_leave_stay_in_physical_coordinates() -> None:
    assert not library(["1", "x**2"]).bind(("x",)).is_closed
    assert not library(["1", "x", "x*y"]).bind(("x", "y")).is_closed
    assert not library("trig").bind(("x", "y")).is_closed
    assert library(["1", "x", "y", "x*y"]).bind(("x", "y")).is_closed
    basis = library(["1", "x**2"]).bind(("x",))
    np.testing.assert_array_equal(basis.to_physical, np.eye(2))


@pytest.mark.parametrize("name", BASES)
def test_products_cover_every_pair_of_terms_once(name: str) -> None:
    basis = BASES[name]
    pairs, index = basis.products
    theta = basis.values(positive_points(len(basis.names)))
    distinct = theta[:, pairs[0]] * theta[:, pairs[1]]
    for k, m in product(range(len(basis)), repeat=2):
        np.testing.assert_allclose(distinct[:, index[k, m]], theta[:, k] * theta[:, m], rtol=1e-14)
    assert sorted(set(index.ravel().tolist())) == list(range(pairs.shape[1]))


@pytest.mark.parametrize(("degree", "dimension"), [(1, 1), (2, 2), (3, 2), (2, 3)])
def test_products_of_polynomials_are_counted_as_polynomials(degree: int, dimension: int) -> None:
    pairs, _ = library(f"poly{degree}").bind(NAMES[:dimension]).products
    assert pairs.shape == (2, comb(2 * degree + dimension, dimension))


@pytest.mark.parametrize(
    ("term", "bad", "value"),
    [
        ("sqrt(x)", -0.25, r"x = -0\.25, y = 1"),
        ("log(x)", 0.0, "x = 0, y = 1"),
        ("1/x", 0.0, "x = 0, y = 1"),
        ("x**0.5", -3.0, "x = -3, y = 1"),
        ("exp(x)", 1e4, "x = 10000, y = 1"),
    ],
)
def test_an_undefined_term_is_named_with_the_state(term: str, bad: float, value: str) -> None:
    basis = library(["1", "y", term]).bind(("x", "y"))
    good = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert np.isfinite(basis.values(good)).all()
    sentence = f"term {re.escape(basis.terms[-1])} is not finite at {value}; choose"
    with pytest.raises(LibraryError, match=sentence):
        basis.values(np.vstack([good, [bad, 1.0]]))


def test_the_frame_of_a_basis_is_the_identity_unless_given() -> None:
    x = positive_points(2)
    basis = library("poly1").bind(("x", "y"))
    np.testing.assert_array_equal(basis.values(x)[:, 1:], x)
    np.testing.assert_array_equal(basis.to_physical, np.eye(3))
