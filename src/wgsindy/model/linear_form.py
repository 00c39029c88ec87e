"""Coefficients in physical coordinates, and how equations are written.

A fitted field is a list of coefficients in some frame, and a tensor may be stored through its
factor. Here both become plain sums of terms in the physical states: a :class:`LinearForm`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray
from wgsindy.data.frame import Frame
from wgsindy.model import tensor
from wgsindy.terms.basis import Basis, basis_of
from wgsindy.terms.expression import Expression
from wgsindy.terms.monomials import Monomials

if TYPE_CHECKING:
    import sympy

LONGEST_LINE = 160  # characters of LaTeX, about half as many on paper
# A number inside a term is part of what the term means: rounded as coarsely as a coefficient, the
# centre of a Gaussian would move.
DIGITS_INSIDE_TERMS = 6


@dataclass(frozen=True)
class LinearForm:
    """Fields ``coefficients (F, K) @ terms`` in the physical states."""

    names: tuple[str, ...]
    terms: tuple[str, ...]
    coefficients: FloatArray

    def contributions(self, region: Frame) -> FloatArray:
        """Size of each term of each field on the data, ``(F, K)``: up to two deviations out."""
        points = np.abs(region.centre) + np.outer([0.0, 1.0, 2.0], region.scale)
        values = [Expression.parse(term, self.names).value(points) for term in self.terms]
        return np.abs(self.coefficients) * np.abs(values).max(axis=1)

    def text(
        self, field: int, shown: BoolArray, digits: int, errors: FloatArray | None = None
    ) -> str:
        """Write one field as a formula of the terms that are ``shown (K,)``."""
        row = self.coefficients[field]
        kept = np.flatnonzero(shown & (row != 0))
        bars = None if errors is None else [float(errors[k]) for k in kept]
        return join_terms([(float(row[k]), self.terms[k]) for k in kept], digits, bars)

    def _symbolic_terms(self) -> list[Any]:
        return [Expression.parse(term, self.names).to_sympy() for term in self.terms]

    def to_sympy(self) -> list[Any]:
        """Return every field as a SymPy sum, coefficients as they are."""
        import sympy

        terms = self._symbolic_terms()
        return [
            sympy.Add(*(float(c) * t for c, t in zip(row, terms, strict=True) if c != 0))
            for row in self.coefficients
        ]

    def shortened(self, shown: BoolArray, digits: int) -> LinearForm:
        """Return the form with the terms that are ``shown (F, K)``, coefficients to ``digits``."""
        rows = [[float(f"{c:.{digits}g}") for c in row] for row in self.coefficients * shown]
        return replace(self, coefficients=np.array(rows))

    def printable(self) -> list[Any]:
        """Return every field as a SymPy sum whose numbers are short decimals."""
        import sympy

        terms = [round_numbers(term, DIGITS_INSIDE_TERMS) for term in self._symbolic_terms()]
        numbers = [[round_numbers(sympy.Float(c), 12) for c in row] for row in self.coefficients]
        return [sympy.Add(*map(sympy.Mul, row, terms)) for row in numbers]


def join_terms(
    terms: Sequence[tuple[float, str]], digits: int, errors: Sequence[float] | None = None
) -> str:
    """Write a sum of coefficient and term pairs, with standard errors if given.

    >>> join_terms([(1.0, "1"), (-0.51234, "x*y")], digits=3)
    '1 - 0.512*x*y'
    >>> join_terms([(1.0, "1"), (-0.51234, "x*y")], digits=3, errors=[0.012, 0.3])
    '(1 ± 0.012) - (0.512 ± 0.3)*x*y'
    """
    text = ""
    for position, (value, term) in enumerate(terms):
        name = f"({term})" if " + " in term else term
        number = f"{abs(value):.{digits}g}"
        if errors is not None:
            number = f"({number} ± {errors[position]:.2g})"
        factor = number if name == "1" else name if number == "1" else f"{number}*{name}"
        sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
        text += sign + factor
    return text or "0"


def round_numbers(expression: Any, digits: int) -> Any:
    """Round the floats of a SymPy expression; whole ones become integers, which print without .0.

    >>> import sympy
    >>> round_numbers(0.12249999999999998 * sympy.Symbol("x") + 2.0, 6)
    0.1225*x + 2
    """
    import sympy

    def shortened(number: Any) -> Any:
        value = float(f"{float(number):.{digits}g}")
        return sympy.Integer(int(value)) if value.is_integer() else sympy.Float(value)

    return expression.xreplace({n: shortened(n) for n in expression.atoms(sympy.Float)})


def write_latex(expression: Any) -> str:
    """Write a SymPy expression; a sum that is too long for a line takes one for each term."""
    import sympy

    text = str(sympy.latex(expression))
    if len(text) <= LONGEST_LINE:
        return text
    if expression.is_Add:
        terms = [write_latex(term) for term in expression.as_ordered_terms()]
        return aligned([f"&{term}" for term in _signed(terms)])
    if isinstance(expression, sympy.Min | sympy.Max):
        arguments = sorted(expression.args, key=sympy.default_sort_key)
        inside = ", ".join(write_latex(argument) for argument in arguments)
        return rf"\{expression.func.__name__.lower()}\left({inside}\right)"
    return text


def _signed(terms: Sequence[str]) -> list[str]:
    """Give each term after the first the sign that joins it to those before."""
    return [t if i == 0 or t.startswith("-") else f"+ {t}" for i, t in enumerate(terms)]


def aligned(lines: Sequence[str]) -> str:
    """Return lines of LaTeX as one ``aligned`` block."""
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _matrix(rows: Sequence[Sequence[Any]]) -> str:
    body = r" \\ ".join(" & ".join(write_latex(entry) for entry in row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _symbols(names: Sequence[str]) -> list[str]:
    import sympy

    return [str(sympy.latex(sympy.Symbol(name))) for name in names]


def sde_latex(drift: LinearForm, entries: LinearForm) -> str:
    """Write dX = b dt + sigma dW, the vector b and the matrix a = sigma sigma'.

    The tensor stands for sigma, because every sigma with the same tensor is the same process.
    """
    d = len(drift.names)
    written = dict(zip(tensor.pairs(d), entries.printable(), strict=True))
    square = [[written[max(p, q), min(p, q)] for q in range(d)] for p in range(d)]
    at = f"({', '.join(_symbols(drift.names))})"
    return aligned(
        [
            r"\mathrm{d}X_t &= b(X_t)\,\mathrm{d}t + \sigma(X_t)\,\mathrm{d}W_t,"
            r"\quad \sigma\sigma^\top = a",
            f"b{at} &= {_matrix([[component] for component in drift.printable()])}",
            f"a{at} &= {_matrix(square)}",
        ]
    )


def generator_latex(drift: LinearForm, entries: LinearForm) -> str:
    """Write L f = b . grad f + (1/2) a : Hess f, one line for each derivative that occurs."""
    names, pairs = drift.names, tensor.pairs(len(drift.names))
    # A mixed derivative occurs twice in the contraction, so it keeps the whole entry.
    share = np.array([[0.5 if p == q else 1.0] for p, q in pairs])
    second = replace(entries, coefficients=share * entries.coefficients)
    partial = [rf"\partial_{{{symbol}}}" for symbol in _symbols(names)]
    twice = [f"{partial[p]}^{{2}}" if p == q else f"{partial[q]} {partial[p]}" for p, q in pairs]
    function = r"\varphi" if "f" in names else "f"
    parts = zip([*drift.printable(), *second.printable()], [*partial, *twice], strict=True)
    terms = [_applied(factor, f"{by} {function}") for factor, by in parts if factor != 0]
    start, *others = _signed(terms) or ["0"]
    return aligned(
        [rf"\mathcal{{L}} {function} &= {start}", *(rf"&\quad {term}" for term in others)]
    )


def _applied(factor: Any, derivative: str) -> str:
    if factor.is_Add:
        return rf"\left({write_latex(factor)}\right) {derivative}"
    if abs(factor) == 1:
        return derivative if factor == 1 else f"- {derivative}"
    return f"{write_latex(factor)} {derivative}"


def linear_fields(basis: Basis, coefficients: FloatArray) -> LinearForm:
    """Express fields ``coefficients (F, K)`` of a basis in the physical states, exactly."""
    return LinearForm(basis.names, basis.terms, coefficients @ basis.to_physical)


def factor_products(basis: Basis, factor: FloatArray, mixture: FloatArray) -> LinearForm:
    """Expand ``sum_ij mixture[e, i, j] l_i l_j`` for factor fields ``l = factor (E, K) @ theta``.

    ``mixture (E, E, E)`` says how each tensor entry is made of products of factor entries.
    """
    products = np.einsum("eij,ik,jl->ekl", mixture, factor, factor, optimize=True)
    if basis.is_polynomial:
        return _polynomial_products(basis, products)
    return _symbolic_products(basis, products)


def _polynomial_products(basis: Basis, products: FloatArray) -> LinearForm:
    degree = 2 * int(basis.monomials.powers.sum(axis=1).max(initial=0))
    wide = Monomials.up_to(degree, dimension=len(basis.names))
    coefficients = np.zeros((len(products), len(wide)))
    index = basis.monomials.product_index(wide).ravel()
    for row, product in zip(coefficients, products, strict=True):
        np.add.at(row, index, product.ravel())
    return linear_fields(Basis(basis.names, wide, frame=basis.frame), coefficients)


def _symbolic_products(basis: Basis, products: FloatArray) -> LinearForm:
    import sympy

    # Where a state's own root or logarithm is a term the state is positive: sqrt(x*y) simplifies.
    positive = {
        sympy.Symbol(name, real=True): sympy.Symbol(name, positive=True)
        for name in basis.names
        if {f"sqrt({name})", f"log({name})"} & set(basis.terms)
    }
    terms = [term.subs(positive) for term in basis.to_sympy()]
    rows: list[dict[Any, float]] = []
    for product in products:
        row: dict[Any, float] = {}
        for k, m in np.argwhere(product != 0):
            term = sympy.powsimp(sympy.expand(terms[k] * terms[m]))
            row[term] = row.get(term, 0.0) + float(product[k, m])
        rows.append(row)
    found = list(dict.fromkeys(term for row in rows for term in row)) or [sympy.Integer(1)]
    names = tuple(Expression.from_sympy(term, basis.names).text for term in found)
    coefficients = np.array([[row.get(term, 0.0) for term in found] for row in rows])
    return LinearForm(basis.names, names, coefficients)


def shrunk_entries(coefficients: FloatArray, weight: float, units: FloatArray) -> FloatArray:
    """Apply ``tensor.shrink``, which is linear, to coefficients ``(E, ...)`` of tensor entries."""
    columns = coefficients.reshape(len(coefficients), -1).T
    shrunk = tensor.shrink(tensor.symmetric(columns, len(units)), weight, units)
    return tensor.entries_of(shrunk).T.reshape(coefficients.shape)


def outer_mixture(place: Sequence[int]) -> FloatArray:
    """Make-up ``(E, E, E)`` of the entries of L L' from products of entries of L.

    Coordinate p has row ``place[p]`` of L.
    """
    pairs = tensor.pairs(len(place))
    position = {pair: e for e, pair in enumerate(pairs)}
    mixture = np.zeros((len(pairs), len(pairs), len(pairs)))
    for e, (p, q) in enumerate(pairs):
        for k in range(min(place[p], place[q]) + 1):
            mixture[e, position[place[p], k], position[place[q], k]] = 1.0
    return mixture


def split_sympy(fields: Sequence[sympy.Expr], names: Sequence[str]) -> tuple[Basis, FloatArray]:
    """Write SymPy expressions as ``coefficients (F, K)`` of a basis of their own terms."""
    import sympy

    # Sums are multiplied out; exp(a + b) stays whole, for its factors may overflow.
    rows = [
        sympy.expand(sympy.sympify(field), power_exp=False, power_base=False, log=False)
        for field in fields
    ]
    parts = [
        [
            (Expression.from_sympy(term, names), float(c))
            for term, c in row.as_coefficients_dict().items()
            if c != 0
        ]
        for row in rows
    ]
    basis = basis_of([expression for part in parts for expression, _ in part], names)
    position = {term: k for k, term in enumerate(basis.terms)}
    coefficients = np.zeros((len(fields), len(basis)))
    for row, part in zip(coefficients, parts, strict=True):
        for expression, value in part:
            single = basis_of([expression], names).terms[0]
            row[position[single]] += value
    return basis, coefficients


def field_names(dimension: int) -> tuple[list[str], list[str]]:
    """Names of the drift components and of the tensor entries: b1, b2, a11, a12, a22.

    >>> field_names(2)
    (['b1', 'b2'], ['a11', 'a12', 'a22'])
    """
    comma = "," if dimension > 9 else ""
    drift = [f"b{p + 1}" for p in range(dimension)]
    return drift, [f"a{q + 1}{comma}{p + 1}" for p, q in tensor.pairs(dimension)]
