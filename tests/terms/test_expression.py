"""Formulas: right numbers, right derivatives, and no code."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wgsindy.data.arrays import FloatArray
from wgsindy.errors import LibraryError
from wgsindy.terms.derivatives import FUNCTIONS
from wgsindy.terms.expression import MAX_LENGTH, Expression

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


def in_sympy(text: str) -> Any:
    table = {**dict(zip(NAMES, SYMBOLS, strict=True)), "abs": sympy.Abs}
    table |= {"min": sympy.Min, "max": sympy.Max}
    return sympy.parse_expr(text.replace("^", "**"), local_dict=table)


def evaluated(expression: Any, points: FloatArray) -> FloatArray:
    """Evaluate with SymPy in 30 digits; kinks are not among the points."""
    smooth = sympy.sympify(expression).replace(sympy.DiracDelta, lambda *_: sympy.Integer(0))
    return np.array(
        [
            float(smooth.subs(dict(zip(SYMBOLS, map(sympy.Float, row), strict=True))).evalf(30))
            for row in points.tolist()
        ]
    )


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
        found = Expression.parse(text, NAMES).value(POINTS)
    # Without subtraction no error is amplified but by powers, at most 3 ** 7 = 2187 of them: the
    # worst case is 2187 roundings of 1.1e-16 for each of 8 leaves, 2e-12.
    np.testing.assert_allclose(found, wanted, rtol=2e-12)


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
    formula = Expression.parse(text, NAMES)
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


def test_constants_have_no_derivatives() -> None:
    jet = Expression.parse("3.5", NAMES).jet(POINTS)
    assert jet.value.tolist() == [3.5] * 4
    assert not jet.gradient.any()
    assert not jet.hessian.any()
