"""Equations as LaTeX: of each field, of the bracketed process, of the generator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wgsindy.model import tensor
from wgsindy.model.formulas import LinearForm, field_names

LONGEST_LINE = 160  # characters of LaTeX, about half as many on paper
# A number inside a term is part of what the term means: rounded as coarsely as a coefficient, the
# centre of a Gaussian would move.
DIGITS_INSIDE_TERMS = 6
DIGITS_OF_DISTANCES = 12  # of x - 1234567.8


def printable(form: LinearForm) -> list[Any]:
    """Return every field as a SymPy sum whose numbers are short decimals."""
    import sympy

    terms = [bracketed(round_numbers(term, DIGITS_INSIDE_TERMS)) for term in form.sympy_terms()]
    numbers = [[round_numbers(sympy.Float(c), 12) for c in row] for row in form.coefficients]
    return [sympy.Add(*map(sympy.Mul, row, terms)) for row in numbers]


def bracketed(term: Any) -> Any:
    """Return a term that stays in its brackets: SymPy would multiply out 2 (x - 500000)."""
    import sympy

    return sympy.Symbol(rf"\left({{{sympy.latex(term)}}}\right)") if term.is_Add else term


def round_numbers(expression: Any, digits: int) -> Any:
    """Round the floats of a SymPy expression; whole ones become integers, which print without .0.

    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> round_numbers(0.12249999999999998 * x + 2.0, 6), round_numbers(x / 7.0 - 1234567.8, 6)
    (0.1225*x + 2, 0.142857*x - 1234567.8)
    """
    import sympy

    added = {part for found in expression.atoms(sympy.Add) for part in found.args}

    def shortened(number: Any) -> Any:
        places = max(digits, DIGITS_OF_DISTANCES) if number in added else digits
        value = float(f"{float(number):.{places}g}")
        return sympy.Integer(int(value)) if value.is_integer() else sympy.Float(value)

    return expression.xreplace({n: shortened(n) for n in expression.atoms(sympy.Float)})


def _written(expression: Any) -> str:
    """Write a SymPy expression; a sum that is too long for a line takes one for each term."""
    import sympy

    text = str(sympy.latex(expression))
    if len(text) <= LONGEST_LINE:
        return text
    if expression.is_Add:
        terms = [_written(term) for term in expression.as_ordered_terms()]
        return _aligned([f"&{term}" for term in _signed(terms)])
    if isinstance(expression, sympy.Min | sympy.Max):
        arguments = sorted(expression.args, key=sympy.default_sort_key)
        inside = ", ".join(_written(argument) for argument in arguments)
        return rf"\{expression.func.__name__.lower()}\left({inside}\right)"
    return text


def _signed(terms: Sequence[str]) -> list[str]:
    """Give each term after the first the sign that joins it to those before."""
    return [t if i == 0 or t.startswith("-") else f"+ {t}" for i, t in enumerate(terms)]


def _aligned(lines: Sequence[str]) -> str:
    """Return lines of LaTeX as one ``aligned`` block."""
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _matrix(rows: Sequence[Sequence[Any]]) -> str:
    body = r" \\ ".join(" & ".join(_written(entry) for entry in row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _symbols(names: Sequence[str]) -> list[str]:
    import sympy

    return [str(sympy.latex(sympy.Symbol(name))) for name in names]


def equations_latex(drift: LinearForm, entries: LinearForm) -> str:
    """Write one equation for each drift component and each tensor entry."""
    names = [name for names in field_names(len(drift.names)) for name in names]
    fields = [*printable(drift), *printable(entries)]
    return _aligned(
        [
            f"{name[0]}_{{{name[1:]}}} &= {_written(field)}"
            for name, field in zip(names, fields, strict=True)
        ]
    )


def sde_latex(drift: LinearForm, entries: LinearForm) -> str:
    """Write dX = b dt + sigma dW, the vector b and the matrix a = sigma sigma'.

    The tensor stands for sigma, because every sigma with the same tensor is the same process.
    """
    d = len(drift.names)
    written = dict(zip(tensor.pairs(d), printable(entries), strict=True))
    square = [[written[max(p, q), min(p, q)] for q in range(d)] for p in range(d)]
    at = f"({', '.join(_symbols(drift.names))})"
    return _aligned(
        [
            r"\mathrm{d}X_t &= b(X_t)\,\mathrm{d}t + \sigma(X_t)\,\mathrm{d}W_t,"
            r"\quad \sigma\sigma^\top = a",
            f"b{at} &= {_matrix([[component] for component in printable(drift)])}",
            f"a{at} &= {_matrix(square)}",
        ]
    )


def generator_latex(drift: LinearForm, entries: LinearForm) -> str:
    """Write L f = b . grad f + (1/2) a : Hess f, one line for each derivative that occurs."""
    names, pairs = drift.names, tensor.pairs(len(drift.names))
    # A mixed derivative occurs twice in the contraction, so it keeps the bracketed entry.
    share = np.array([[0.5 if p == q else 1.0] for p, q in pairs])
    second = replace(entries, coefficients=share * entries.coefficients)
    partial = [rf"\partial_{{{symbol}}}" for symbol in _symbols(names)]
    twice = [f"{partial[p]}^{{2}}" if p == q else f"{partial[q]} {partial[p]}" for p, q in pairs]
    function = r"\varphi" if "f" in names else "f"
    parts = zip([*printable(drift), *printable(second)], [*partial, *twice], strict=True)
    terms = [_applied(factor, f"{by} {function}") for factor, by in parts if factor != 0]
    start, *others = _signed(terms) or ["0"]
    return _aligned(
        [rf"\mathcal{{L}} {function} &= {start}", *(rf"&\quad {term}" for term in others)]
    )


def _applied(factor: Any, derivative: str) -> str:
    if factor.is_Add:
        return rf"\left({_written(factor)}\right) {derivative}"
    if abs(factor) == 1:
        return derivative if factor == 1 else f"- {derivative}"
    return f"{_written(factor)} {derivative}"
