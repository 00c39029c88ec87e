"""Formulas: right numbers, right derivatives, text that is read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from formulas import FORMULAS, NAMES, POINTS, RTOL, SYMBOLS, evaluated
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wgsindy.data import FloatArray
from wgsindy.errors import LibraryError
from wgsindy.terms import FUNCTIONS, Expression
from wgsindy.terms.expression import _powers
from wgsindy.terms.parsing import parse


def in_sympy(text: str) -> Any:
    table = {**dict(zip(NAMES, SYMBOLS, strict=True)), "abs": sympy.Abs}
    table |= {"min": sympy.Min, "max": sympy.Max}
    return sympy.parse_expr(text.replace("^", "**"), local_dict=table)


@pytest.mark.parametrize("text", FORMULAS.values(), ids=FORMULAS.keys())
def test_value_gradient_and_hessian_are_those_of_sympy(text: str) -> None:
    formula, truth = Expression.parse(text, NAMES), in_sympy(text)
    value = evaluated(truth, POINTS)
    jet = formula.jet(POINTS)
    np.testing.assert_allclose(formula.value(POINTS), value, rtol=RTOL)
    np.testing.assert_allclose(jet.value, value, rtol=RTOL)
    for p, s in enumerate(SYMBOLS):
        slope = sympy.diff(truth, s)
        np.testing.assert_allclose(
            jet.gradient[:, p], evaluated(slope, POINTS), rtol=RTOL, atol=RTOL
        )
        for q, t in enumerate(SYMBOLS):
            bend = evaluated(sympy.diff(slope, t), POINTS)
            np.testing.assert_allclose(jet.hessian[:, p, q], bend, rtol=RTOL, atol=RTOL)


def test_every_whitelisted_function_is_tested_above() -> None:
    assert {"sqrt", "sin", "cos", "tan", "exp", "log", "tanh", "abs"} <= set(FUNCTIONS)
    assert set(FUNCTIONS) <= set(FORMULAS)


Pair = tuple[str, Callable[[FloatArray, FloatArray], Any]]


def _join(symbol: str, combine: Callable[[Any, Any], Any]) -> Callable[[tuple[Pair, Pair]], Pair]:
    def joined(both: tuple[Pair, Pair]) -> Pair:
        (left, f), (right, g) = both
        return f"({left}){symbol}({right})", lambda x, y: combine(f(x, y), g(x, y))

    return joined


def _raised(pair: Pair, power: float) -> Pair:
    text, f = pair
    return f"({text})**{power}", lambda x, y: f(x, y) ** power


def _called(pair: Pair, name: str) -> Pair:
    text, f = pair
    return f"{name}({text})", lambda x, y: getattr(np, name)(f(x, y))


def _grown(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(_join("+", lambda a, b: a + b)),
        two.map(_join("*", lambda a, b: a * b)),
        two.map(_join("/", lambda a, b: a / b)),
        st.builds(_raised, inner, st.sampled_from([2.0, 3.0, -1.0, 0.5])),
        st.builds(_called, inner, st.sampled_from(["sqrt"])),
    )


def _number(value: float) -> Pair:
    return repr(value), lambda x, y: np.full_like(x, value)


LEAVES: st.SearchStrategy[Pair] = st.one_of(
    st.sampled_from([("x", lambda x, y: x), ("y", lambda x, y: y)]),
    st.floats(0.5, 2.0).map(_number),
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.recursive(LEAVES, _grown, max_leaves=8))
def test_random_formulas_of_positive_numbers_have_the_value_of_numpy(pair: Pair) -> None:
    text, f = pair
    with np.errstate(all="ignore"):
        wanted = np.asarray(f(POINTS[:, 0], POINTS[:, 1]))
        assume(np.isfinite(wanted).all() and (wanted > 1e-200).all())
        try:
            found = Expression.parse(text, NAMES).value(POINTS)
        except LibraryError as error:
            assume("powers of powers" not in str(error))
            raise
    # Without subtraction no error is amplified but by powers, at most 100 of them: the
    # worst case is 100 roundings of 1.1e-16 for each of 8 leaves, 9e-14.
    np.testing.assert_allclose(found, wanted, rtol=9e-14)


@pytest.mark.parametrize("text", FORMULAS.values(), ids=FORMULAS.keys())
def test_text_keeps_the_value(text: str) -> None:
    formula = Expression.parse(text, NAMES)
    again = Expression.parse(formula.text, NAMES)
    np.testing.assert_allclose(again.value(POINTS), formula.value(POINTS), rtol=1e-15)


def _text_grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    functions = st.sampled_from(sorted(FUNCTIONS))
    powers = st.sampled_from(["2", "3", "-1", "0.5", "-2.5", "0"])
    return st.one_of(
        st.builds("({})+({})".format, inner, inner),
        st.builds("({})-({})".format, inner, inner),
        st.builds("({})*({})".format, inner, inner),
        st.builds("({})/({})".format, inner, inner),
        st.builds("{}*{}".format, inner, inner),
        st.builds("{}-{}".format, inner, inner),
        st.builds("-({})".format, inner),
        st.builds("({})**{}".format, inner, powers),
        st.builds("{}({})".format, functions, inner),
        st.builds("min({}, {})".format, inner, inner),
        st.builds("max({}, {})".format, inner, inner),
    )


# Eight numbers of this size neither overflow nor vanish when they are multiplied together.
NUMBERS = st.tuples(st.sampled_from(["", "-"]), st.floats(1e-3, 1e3).map(repr)).map("".join)
TEXT_LEAVES = st.one_of(st.sampled_from(["x", "y", "0", "1", "1e-3"]), NUMBERS)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.recursive(TEXT_LEAVES, _text_grown, max_leaves=8))
def test_text_is_read_back_exactly(text: str) -> None:
    try:
        formula = Expression.parse(text, NAMES)
    except LibraryError as error:  # 1/0, log(-1), a power of a power of a power
        assume("no finite one" not in str(error) and "powers of powers" not in str(error))
        raise
    again = Expression.parse(formula.text, NAMES)
    # Model files identify terms by their text, so it must be a fixed point.
    assert again.text == formula.text
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(again.value(POINTS), formula.value(POINTS))


@pytest.mark.parametrize("text", ["sin(x - 2*y)", "-(-x)", "0.3*(0.7*x)*y", "x/(2*y)"])
def test_text_of_everyday_formulas_is_a_fixed_point(text: str) -> None:
    once = Expression.parse(text, NAMES)
    twice = Expression.parse(once.text, NAMES)
    assert twice.text == once.text
    np.testing.assert_array_equal(twice.value(POINTS), once.value(POINTS))


def test_constants_have_no_derivatives() -> None:
    jet = Expression.parse("3.5", NAMES).jet(POINTS)
    assert jet.value.tolist() == [3.5] * 4
    assert not jet.gradient.any()
    assert not jet.hessian.any()


@pytest.mark.parametrize("text", ["x**0.25", "x**3", "x**(-2)", "x**(-0.5)"])
def test_only_an_exponent_below_zero_stands_in_brackets(text: str) -> None:
    assert Expression.parse(text, ("x",)).text == text


def test_the_own_jet_has_the_coordinates_that_occur() -> None:
    formula = Expression.parse("x2*sin(x0)", ("x0", "x1", "x2"))
    points = np.array([[0.5, 7.0, 2.0], [1.5, 8.0, -1.0]])
    own, jet = formula.own_jet(points)
    assert own.tolist() == [0, 2]
    np.testing.assert_array_equal(jet.gradient, formula.jet(points).gradient[:, own])
    assert not formula.jet(points).gradient[:, 1].any()
    whole = formula.jet(points).hessian
    np.testing.assert_array_equal(whole[:, own[:, None], own], jet.hessian)
    assert whole[:, 0, 2].all()
    assert not whole[:, 1].any()
    assert jet.gradient[:, 0].tolist() == (points[:, 2] * np.cos(points[:, 0])).tolist()
    assert jet.hessian.shape == (2, 2, 2)
    np.testing.assert_array_equal(jet.hessian[:, 0, 1], np.cos(points[:, 0]))


@pytest.mark.parametrize(
    ("text", "powers"),
    [("x**0", (0, 0)), ("(x*y)**2", (2, 2)), ("x", (1, 0)), ("x**0.5", None), ("x**(-1)", None)],
)
def test_a_formula_is_a_monomial_if_its_powers_are_whole(
    text: str, powers: tuple[int, int] | None
) -> None:
    assert _powers(parse(text, ("x", "y")), ("x", "y")) == powers
