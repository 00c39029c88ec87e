"""Coefficients in physical coordinates, and how a sum of terms is written.

A fitted field is a list of coefficients in some frame, and a tensor may be stored through its
factor. Here both become plain sums of terms in the physical states: a :class:`LinearForm`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wgsindy.data import BoolArray, FloatArray, Frame
from wgsindy.model import tensor
from wgsindy.model.display.numbers import rounded, with_error
from wgsindy.model.tensor import TensorField
from wgsindy.terms import Basis, Expression, Monomials, collect_terms, constant, product_of, sum_of

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True)
class LinearForm:
    """Fields ``coefficients (F, K) @ terms`` in the physical states."""

    names: tuple[str, ...]
    terms: tuple[str, ...]
    coefficients: FloatArray
    origin: FloatArray  # (d,) from where the terms measure the states

    def contributions(self, region: Frame) -> FloatArray:
        """Size of each term of each field on the data, ``(F, K)``: up to two deviations out."""
        points = np.abs(region.centre - self.origin) + np.outer([0.0, 1.0, 2.0], region.scale)
        points += self.origin
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

    def expressions(self) -> list[Expression]:
        """Return every field as one formula, with every term and every digit."""
        terms = [Expression.parse(term, self.names).root for term in self.terms]
        return [
            Expression(
                sum_of(*(product_of(constant(c), t) for c, t in zip(row, terms, strict=True) if c)),
                self.names,
            )
            for row in self.coefficients.tolist()
        ]

    def sympy_terms(self) -> list[Any]:
        """Return the terms as SymPy expressions."""
        return [Expression.parse(term, self.names).to_sympy() for term in self.terms]

    def to_sympy(self) -> list[Any]:
        """Return every field as a SymPy sum, coefficients as they are."""
        import sympy

        def product(number: float, term: Any) -> Any:
            # SymPy would make 2*x - 1000000 of 2*(x - 500000), a small difference of large numbers.
            return sympy.Mul(number, term, evaluate=not term.is_Add)

        terms = self.sympy_terms()
        return [
            sympy.Add(*(product(float(c), t) for c, t in zip(row, terms, strict=True) if c != 0))
            for row in self.coefficients
        ]

    def shortened(self, shown: BoolArray, digits: int) -> LinearForm:
        """Return the form with the terms that are ``shown (F, K)``, coefficients to ``digits``."""
        rows = [[float(rounded(c, digits)) for c in row] for row in self.coefficients * shown]
        return replace(self, coefficients=np.array(rows))


def join_terms(
    terms: Sequence[tuple[float, str]], digits: int, errors: Sequence[float] | None = None
) -> str:
    """Write a sum of coefficient and term pairs, with standard errors if given.

    >>> join_terms([(1.0, "1"), (-0.51234, "x*y")], digits=3)
    '1 - 0.512*x*y'
    >>> join_terms([(1.0, "1"), (-0.51234, "x*y")], digits=3, errors=[0.012, 0.3])
    '(1.000 ± 0.012) - (0.5 ± 0.3)*x*y'
    """
    text = ""
    for position, (value, term) in enumerate(terms):
        name = f"({term})" if _is_sum(term) else term
        number = rounded(abs(value), digits)
        if errors is not None and errors[position] != 0:  # else it is known
            number = "({} ± {})".format(*with_error(abs(value), errors[position]))
        factor = number if name == "1" else name if number == "1" else f"{number}*{name}"
        sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
        text += sign + factor
    return text or "0"


def _is_sum(term: str) -> bool:
    root = ast.parse(term, mode="eval").body
    return isinstance(root, ast.BinOp) and isinstance(root.op, ast.Add | ast.Sub)


def linear_fields(basis: Basis, coefficients: FloatArray) -> LinearForm:
    """Express fields ``coefficients (F, K)`` of a basis in the physical states, exactly."""
    physical = coefficients @ basis.to_physical
    return LinearForm(basis.names, basis.formulas, physical, basis.origin)


def tensor_fields(basis: Basis, a: TensorField) -> LinearForm:
    """Express the entries of a tensor in the physical states; before the clip, if it is clipped."""
    if a.form != "factor":
        entries = _shrunk_entries(a.coefficients, a.shrinkage, a.units)
        return linear_fields(basis, entries)
    mixture = _shrunk_entries(_outer_mixture(a.place), a.shrinkage, a.units)
    return _factor_products(basis, a.coefficients, mixture)


def _factor_products(basis: Basis, factor: FloatArray, mixture: FloatArray) -> LinearForm:
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
    return linear_fields(Basis(basis.names, wide, (), basis.frame, basis.origin), coefficients)


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
    formulas = [Expression.from_sympy(term, basis.names).about(basis.origin) for term in found]
    coefficients = np.array([[row.get(term, 0.0) for term in found] for row in rows])
    return LinearForm(basis.names, tuple(f.text for f in formulas), coefficients, basis.origin)


def _shrunk_entries(coefficients: FloatArray, weight: float, units: FloatArray) -> FloatArray:
    """Apply ``tensor.shrink``, which is linear, to coefficients ``(E, ...)`` of tensor entries."""
    columns = coefficients.reshape(len(coefficients), -1).T
    shrunk = tensor.shrink(tensor.symmetric(columns, len(units)), weight, units)
    return tensor.entries_of(shrunk).T.reshape(coefficients.shape)


def _outer_mixture(place: Sequence[int]) -> FloatArray:
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
    return collect_terms(
        [
            [
                (float(c), Expression.from_sympy(term, names))
                for term, c in row.as_coefficients_dict().items()
                if c != 0
            ]
            for row in rows
        ],
        names,
    )


def field_names(dimension: int, inputs: int = 0) -> tuple[list[str], list[str]]:
    """Names of the drift components and of the tensor entries: b1, b2, a11, a12, a22.

    Without those of the last ``inputs``, which have no equation.

    >>> field_names(2)
    (['b1', 'b2'], ['a11', 'a12', 'a22'])
    """
    comma = "," if dimension > 9 else ""
    states = dimension - inputs
    drift = [f"b{p + 1}" for p in range(states)]
    return drift, [f"a{q + 1}{comma}{p + 1}" for p, q in tensor.pairs(states)]
