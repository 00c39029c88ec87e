"""Equations as MathML, which browsers draw by themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, isnan, log10

from markupsafe import Markup

from wgsindy.model.equations import Coefficient
from wgsindy.model.generator import Generator
from wgsindy.model.linear_form import DIGITS_INSIDE_TERMS, field_names, round_numbers
from wgsindy.report.page_text import MINUS
from wgsindy.terms.expression import Expression

TIMES = Markup("<mo>&InvisibleTimes;</mo>")
DOT = "<mo>&sdot;</mo>"
LONG_SYMBOL = re.compile(r"<mi>\w{2,}</mi>")
BRACKETED = Markup(
    "<mrow><mo stretchy='false'>(</mo>{}<mo>±</mo>{}<mo stretchy='false'>)</mo></mrow>"
)
MOST_DECIMALS = 6


@dataclass(frozen=True)
class Equation:
    """One field: its name and its terms, each a ``math`` element, so that lines break between."""

    name: str
    symbol: Markup
    terms: tuple[Markup, ...]


def equations(generator: Generator, digits: int = 3) -> list[Equation]:
    """The equations of the drift and of the tensor, with standard errors if there are any."""
    drift, entries = field_names(generator.dimension)
    shown = generator.written()
    return [
        Equation(
            name,
            field_symbol(name),
            _sum([found for found in shown if found.target == name], generator.names, digits),
        )
        for name in (*drift, *entries)
    ]


def field_symbol(name: str) -> Markup:
    """Write the name of a field, b1 or a12, with its index below."""
    return _math(_symbol(name))


def term_formula(term: str, names: Sequence[str]) -> Markup:
    """Write a term of a library."""
    return _math(_term(term, names))


def _math(inside: Markup) -> Markup:
    return Markup("<math>{}</math>").format(inside)


def _symbol(name: str) -> Markup:
    return Markup("<msub><mi>{}</mi><mn>{}</mn></msub>").format(name[0], name[1:])


def _term(term: str, names: Sequence[str]) -> Markup:
    import sympy

    expression = round_numbers(Expression.parse(term, tuple(names)).to_sympy(), DIGITS_INSIDE_TERMS)
    # The printer builds a tree of elements: names are text in it, whatever they are.
    text = str(sympy.mathml(expression, printer="presentation"))
    if LONG_SYMBOL.search(text):  # mx my would look like one symbol
        text = text.replace(str(TIMES), DOT)
    return Markup(text.replace("&ExponentialE;", "e"))  # double-struck is not how people write it


def _sum(terms: Sequence[Coefficient], names: Sequence[str], digits: int) -> tuple[Markup, ...]:
    parts = [
        _math(_sign(found.value, first=place == 0) + _product(found, names, digits))
        for place, found in enumerate(terms)
    ]
    return tuple(parts) or (_math(Markup("<mn>0</mn>")),)


def _sign(value: float, *, first: bool) -> Markup:
    if value < 0:
        return Markup(
            "<mo form='prefix'>&minus;</mo>" if first else "<mo form='infix'>&minus;</mo>"
        )
    return Markup("" if first else "<mo form='infix'>+</mo>")


def _product(found: Coefficient, names: Sequence[str], digits: int) -> Markup:
    number = _number(f"{abs(found.value):.{digits}g}")
    if not isnan(found.std_error):
        value, error = map(_number, rounded_alike(abs(found.value), found.std_error))
        number = BRACKETED.format(value, error)
    if found.term == "1":
        return number
    return number + TIMES + _term(found.term, names)


def rounded_alike(value: float, error: float) -> tuple[str, str]:
    """Write an error to two digits and its value to the same place.

    >>> rounded_alike(0.98664, 0.020416), rounded_alike(1234.5, 61.2), rounded_alike(2e-9, 3e-10)
    (('0.987', '0.020'), ('1234', '61'), ('2e-09', '3e-10'))
    """
    if not error > 0:
        return f"{value:.4g}", f"{error:.2g}"
    decimals = max(0, 1 - floor(log10(error)))
    if decimals > MOST_DECIMALS or value >= 10**MOST_DECIMALS:
        return f"{value:.3g}", f"{error:.2g}"
    return f"{value:.{decimals}f}", f"{error:.{decimals}f}"


def _number(text: str) -> Markup:
    mantissa, _, exponent = text.partition("e")
    plain = Markup("<mn>{}</mn>").format(mantissa)
    if not exponent:
        return plain
    power = Markup("<mo>&times;</mo><msup><mn>10</mn><mn>{}</mn></msup>").format(
        str(int(exponent)).replace("-", MINUS)
    )
    return plain + power
