"""Equations as MathML, which browsers draw by themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from markupsafe import Markup

from wgsindy.model.display.latex import DIGITS_INSIDE_TERMS, round_numbers
from wgsindy.model.display.numbers import rounded, typographic, with_error
from wgsindy.model.display.units import named_fields
from wgsindy.model.formulas import Coefficient, field_names, join_terms
from wgsindy.model.generator import Generator
from wgsindy.terms import Expression

TIMES = Markup("<mo>&InvisibleTimes;</mo>")
DOT = "<mo>&sdot;</mo>"
LONGEST_TERM = 120  # characters; beyond, a formula is wider than a page
LONG_SYMBOL = re.compile(r"<mi>\w{2,}</mi>")
BRACKETS = Markup("<mrow><mo stretchy='false'>(</mo>{}<mo stretchy='false'>)</mo></mrow>")


@dataclass(frozen=True)
class Equation:
    """One field: its name and its terms, each an element of its own, so that lines break between.

    Terms are ``math``; one that is wider than a page is text.
    """

    name: str
    symbol: Markup
    terms: tuple[Markup, ...]
    unit: str = ""  # of the field, if it is known


def equations(generator: Generator, digits: int = 3) -> list[Equation]:
    """The equations of the drift and of the tensor, with standard errors if there are any."""
    drift, entries = field_names(generator.dimension, len(generator.inputs))
    shown = generator.written()
    return [
        Equation(
            name,
            field_symbol(name, generator.names),
            _sum([found for found in shown if found.target == name], generator.names, digits),
            generator.units.field(name),
        )
        for name in (*drift, *entries)
    ]


def field_symbol(field: str, names: Sequence[str]) -> Markup:
    """Write a field, b1 or a12, with the names of its coordinates below."""
    index = named_fields(field, names)[1:].strip("[]").replace(" ", "\u00a0")  # on one line
    return _math(Markup("<msub><mi>{}</mi><mi>{}</mi></msub>").format(field[0], index))


def term_formula(term: str, names: Sequence[str]) -> Markup:
    """Write a term of a library."""
    return _math(_term(term, names))


def _math(inside: Markup) -> Markup:
    return Markup("<math>{}</math>").format(inside)


def _term(term: str, names: Sequence[str], *, bracketed: bool = False) -> Markup:
    """Write a term; ``bracketed`` if it is a factor, which a sum cannot be as it is."""
    import sympy

    expression = round_numbers(Expression.parse(term, tuple(names)).to_sympy(), DIGITS_INSIDE_TERMS)
    # The printer builds a tree of elements: names are text in it, whatever they are.
    text = str(sympy.mathml(expression, printer="presentation")).replace("<mo>-<", "<mo>&minus;<")
    if LONG_SYMBOL.search(text):  # mx my would look like one symbol
        text = text.replace(str(TIMES), DOT)
    written = Markup(text.replace("&ExponentialE;", "e"))  # double-struck is not how people write
    return BRACKETS.format(written) if bracketed and expression.is_Add else written


def _sum(terms: Sequence[Coefficient], names: Sequence[str], digits: int) -> tuple[Markup, ...]:
    parts = [
        _spelt_out(found, names, digits, first=place == 0)
        if len(found.term) > LONGEST_TERM
        else _math(_sign(found.value, first=place == 0) + _product(found, names, digits))
        for place, found in enumerate(terms)
    ]
    return tuple(parts) or (_math(Markup("<mn>0</mn>")),)


def _spelt_out(found: Coefficient, names: Sequence[str], digits: int, *, first: bool) -> Markup:
    """Write a term as text, which breaks anywhere: browsers never break a formula."""
    text = join_terms([(found.value, found.term)], names, digits, _error_of(found))
    if not first:
        text = f"- {text[1:]}" if text.startswith("-") else f"+ {text}"
    return Markup("<code class='long'>{}</code>").format(typographic(text))


def _error_of(found: Coefficient) -> list[float] | None:
    return None if isnan(found.std_error) else [found.std_error]


def _sign(value: float, *, first: bool) -> Markup:
    if value < 0:
        return Markup(
            "<mo form='prefix'>&minus;</mo>" if first else "<mo form='infix'>&minus;</mo>"
        )
    return Markup("" if first else "<mo form='infix'>+</mo>")


def _product(found: Coefficient, names: Sequence[str], digits: int) -> Markup:
    plain = rounded(abs(found.value), digits)
    number = _number(plain)
    if not isnan(found.std_error) and found.std_error:
        value, error = map(_number, with_error(abs(found.value), found.std_error))
        number = BRACKETS.format(value + Markup("<mo>±</mo>") + error)
    elif plain == "1" and found.term != "1":
        return _term(found.term, names, bracketed=True)
    if found.term == "1":
        return number
    return number + TIMES + _term(found.term, names, bracketed=True)


def _number(text: str) -> Markup:
    mantissa, _, exponent = text.partition("e")
    plain = Markup("<mn>{}</mn>").format(mantissa)
    if not exponent:
        return plain
    power = Markup("<mo>&times;</mo><msup><mn>10</mn><mn>{}</mn></msup>").format(
        typographic(str(int(exponent)))
    )
    return plain + power
