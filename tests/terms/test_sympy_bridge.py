"""Formulas to SymPy and back: the same values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from formulas import FORMULAS, NAMES, POINTS, RTOL, SYMBOLS, evaluated

from wgsindy.errors import LibraryError
from wgsindy.terms import Expression


def test_text_of_sympy_formulas_is_a_fixed_point() -> None:
    x, y = SYMBOLS
    once = Expression.from_sympy(x * y * (1 - x**2 - y**2) * sympy.exp(-x - y - 1), NAMES)
    twice = Expression.parse(once.text, NAMES)
    assert twice.text == once.text
    np.testing.assert_array_equal(twice.value(POINTS), once.value(POINTS))


@pytest.mark.parametrize("text", FORMULAS.values(), ids=FORMULAS.keys())
def test_sympy_and_back_keeps_the_value(text: str) -> None:
    formula = Expression.parse(text, NAMES)
    symbolic = formula.to_sympy()
    np.testing.assert_allclose(evaluated(symbolic, POINTS), formula.value(POINTS), rtol=RTOL)
    back = Expression.from_sympy(symbolic, NAMES)
    np.testing.assert_allclose(back.value(POINTS), formula.value(POINTS), rtol=RTOL)


def test_from_sympy_reads_what_sympy_writes() -> None:
    x, y = SYMBOLS
    truth = sympy.sqrt(x) * sympy.exp(-y) + sympy.pi * x ** sympy.Rational(-3, 2) - x / 3
    found = Expression.from_sympy(truth, NAMES).value(POINTS)
    np.testing.assert_allclose(found, evaluated(truth, POINTS), rtol=RTOL)


def test_nested_minima_survive_sympy_which_flattens_them() -> None:
    formula = Expression.parse("min(x, min(y, 0.5)) + max(max(x, 1), y)", NAMES)
    back = Expression.from_sympy(formula.to_sympy(), NAMES)
    np.testing.assert_array_equal(back.value(POINTS), formula.value(POINTS))


@pytest.mark.parametrize("power", [0.1, 1 / 3, -1.5, 2**0.5, 1.2345678901234567])
def test_exponents_survive_sympy(power: float) -> None:
    # 2**0.5 looks like an irrational number to SymPy, and then is no number any more.
    formula = Expression.parse(f"x**{power!r}", NAMES)
    back = Expression.from_sympy(formula.to_sympy(), NAMES)
    np.testing.assert_allclose(back.value(POINTS), formula.value(POINTS), rtol=1e-14)


@pytest.mark.parametrize(
    ("expression", "offender"),
    [
        (sympy.Symbol("w"), "w"),
        (sympy.gamma(SYMBOLS[0]), "gamma"),
        (SYMBOLS[0] ** SYMBOLS[1], "x"),
        (sympy.I * SYMBOLS[0], "I"),
    ],
)
def test_from_sympy_refuses_what_no_formula_can_say(expression: Any, offender: str) -> None:
    with pytest.raises(LibraryError, match=offender):
        Expression.from_sympy(expression, NAMES)
