"""Reading formulas: arithmetic as everybody writes it, and no code."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from formulas import NAMES, POINTS

from wgsindy.data import FloatArray
from wgsindy.errors import LibraryError
from wgsindy.terms import Expression
from wgsindy.terms.parsing import MAX_DEPTH, MAX_LENGTH

X, Y = np.array([-1.7, -0.2, 0.4, 2.3]), np.array([0.6, -1.1, 1.9, -0.8])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-x**2", -(X**2)),
        ("2 - x - y", 2 - X - Y),
        ("x/y/2", X / Y / 2),
        ("x/(y/2)", X / (Y / 2)),
        ("x - (y - 1)", X - (Y - 1)),
        ("2*x**3*y", 2 * X**3 * Y),
        ("-2**2*x", -4 * X),
        ("x**-1", 1 / X),
        ("2e-3*x + .5", 0.002 * X + 0.5),
        ("abs(x)*x", np.abs(X) * X),
        ("max(x, min(y, 0))", np.maximum(X, np.minimum(Y, 0))),
        (" ( x ) ", X),
        ("7", np.full(4, 7.0)),
    ],
)
def test_precedence_and_signs_are_those_of_arithmetic(text: str, value: FloatArray) -> None:
    found = Expression.parse(text, NAMES).value(np.column_stack([X, Y]))
    np.testing.assert_allclose(found, value, rtol=1e-15)


@pytest.mark.parametrize(
    ("caret", "stars"),
    [
        ("x^2", "x**2"),
        ("3*x^2", "3*x**2"),
        ("x*y^2", "x*y**2"),
        ("-x^2", "-x**2"),
        ("x^2 + 1", "x**2 + 1"),
        ("x^2*y", "x**2*y"),
        ("x^-2/y", "x**-2/y"),
    ],
)
def test_a_caret_binds_like_a_power(caret: str, stars: str) -> None:
    # Python's own ^ binds looser than +, which would turn x*y^2 into (x*y)**2 without a word.
    points = np.column_stack([X, Y])
    found, wanted = (Expression.parse(text, NAMES).value(points) for text in (caret, stars))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("text", "offender"),
    [
        ("__import__('os')", "os"),
        ("__import__('os').system('true')", "system"),
        ("x.real", "x.real"),
        ("().__class__.__bases__", "__bases__"),
        ("x[0]", r"x\[0\]"),
        ("lambda: x", "lambda"),
        ("(lambda: 1)()", "lambda"),
        ("[x for x in y]", "for"),
        ("{x: y}", "{x: y}"),
        ("(x, y)", r"\(x, y\)"),
        ("'x'", "'x'"),
        ("f'{x}'", "f'{x}'"),
        ("True", "True"),
        ("None", "None"),
        ("1j*x", "1j"),
        ("x < y", "x < y"),
        ("x and y", "x and y"),
        ("not x", "not x"),
        ("~x", "~x"),
        ("x % y", "x % y"),
        ("x // y", "x // y"),
        ("x @ y", "x @ y"),
        ("x << 2", "x << 2"),
        ("x if y else 1", "if"),
        ("(x := 1)", ":="),
        ("sin(*x)", r"\*x"),
        ("sin(x=1)", "x=1"),
        ("sin(x, y=1)", "y=1"),
        ("x; y", "x; y"),
        ("x = y", "x = y"),
        ("import os", "import os"),
        ("x +", r"x \+"),
        ("", "not a formula"),
        ("x\x00", "null"),
    ],
)
def test_anything_but_a_formula_is_refused(text: str, offender: str) -> None:
    with pytest.raises(LibraryError, match=offender):
        Expression.parse(text, NAMES)


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("x + w", r"'w'.*\['x', 'y'\]"),
        ("pi*x", r"'pi'.*\['x', 'y'\]"),
        ("sin", r"'sin'.*\['x', 'y'\]"),
        ("gamma(x)", r"'gamma'.*'cosh'"),
        ("print(x)", r"'print'.*'cosh'"),
        ("eval(x)", r"'eval'.*'cosh'"),
        ("sin(x, y)", r"'sin' with 2 arguments"),
        ("min(x)", r"'min' with 1 arguments"),
        ("x**y", "exponent"),
        ("2**x", "exponent"),
        ("x**sin(1)", "exponent"),
    ],
)
def test_unknown_names_functions_and_exponents_are_named(text: str, way_out: str) -> None:
    with pytest.raises(LibraryError, match=way_out):
        Expression.parse(text, NAMES)


def test_the_length_of_a_formula_is_limited() -> None:
    longest = "x" + " " * (MAX_LENGTH - 1)
    assert Expression.parse(longest, NAMES).text == "x"
    with pytest.raises(LibraryError, match=str(MAX_LENGTH)):
        Expression.parse(longest + " ", NAMES)


def test_a_term_that_is_not_text_is_refused() -> None:
    with pytest.raises(LibraryError, match="12"):
        Expression.parse(12, NAMES)  # type: ignore[arg-type]


DEEP: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "(" * n + "x" + ")" * n,
    "signs": lambda n: "-" * n + "x",
    "functions": lambda n: "sin(" * n + "x" + ")" * n,
    "sum": lambda n: "x + " * n + "y",
    "product": lambda n: "x*" * n + "y",
    "powers": lambda n: "(" * n + "x" + ")**2" * n,
}


@pytest.mark.parametrize("depth", [150, 300, 600, 900, 2400])
@pytest.mark.parametrize("shape", DEEP)
def test_a_deep_formula_works_or_is_refused_with_a_sentence(shape: str, depth: int) -> None:
    try:
        formula = Expression.parse(DEEP[shape](depth), NAMES)
    except LibraryError:
        return
    # What was accepted must be of use to the end: no stack overflow later, far from its cause.
    with np.errstate(all="ignore"):
        assert formula.value(POINTS).shape == (4,)
        assert formula.jet(POINTS).hessian.shape == (4, 2, 2)
    assert Expression.parse(formula.text, NAMES).text == formula.text


def test_the_deepest_formula_is_as_deep_as_the_sentence_says() -> None:
    Expression.parse(DEEP["functions"](MAX_DEPTH - 1), NAMES)
    with pytest.raises(LibraryError, match=f"more than {MAX_DEPTH} levels deep"):
        Expression.parse(DEEP["functions"](MAX_DEPTH), NAMES)


@pytest.mark.parametrize("text", ["1" + "0" * 400, "x + 1e999", "x**1e999", "1e300*1e300*x"])
def test_numbers_beyond_floating_point_are_refused(text: str) -> None:
    with pytest.raises(LibraryError, match="1"):
        Expression.parse(text, NAMES)


def test_a_tower_of_powers_is_refused_at_once() -> None:
    # In its own process: a parser that folded it would never come back.
    code = (
        "from wgsindy.errors import LibraryError\n"
        "from wgsindy.terms.expression import Expression\n"
        "try:\n"
        "    Expression.parse('9**9**9**9', ('x',))\n"
        "except LibraryError as error:\n"
        "    assert 'exponent' in str(error)\n"
        "else:\n"
        "    raise SystemExit('accepted')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)


HOSTILE = [
    "tanh((((0-1e300)**100)**100)**100)*x",
    "((0-10)**100)**100*x",
    "((10*x)**100)**100",
    "max(1e300, (0-1e300)**100)*x",
    "exp(exp(exp(exp(9))))*x",
    "log(0-1)*x",
    "1/0*x",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_numbers_that_leave_floating_point_on_the_way_are_refused(text: str) -> None:
    with pytest.raises(LibraryError, match=r"powers of powers together|no finite one"):
        Expression.parse(text, NAMES)


@pytest.mark.parametrize("text", ["(1e300*x)**100", "(1e14*x)**100", "exp(700)*exp(700)*x"])
def test_what_is_accepted_is_small_in_sympy_too(text: str) -> None:
    assert len(str(Expression.parse(text, NAMES).to_sympy())) < 2000
