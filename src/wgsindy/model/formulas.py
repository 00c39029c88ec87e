"""The fields of a generator as they are written: coefficients, equations, SymPy.

A fitted field is a list of coefficients in some frame, and a tensor may be stored through its
factor. Here both become plain sums of terms in the physical states: a :class:`LinearForm`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from markupsafe import Markup

from wgsindy.data import BoolArray, FloatArray, Frame
from wgsindy.errors import MissingPackageError
from wgsindy.model import tensor
from wgsindy.model.notation import field_names, join_terms, rounded
from wgsindy.model.tensor import TensorField
from wgsindy.model.uncertainty import Uncertainty, normal_quantile
from wgsindy.terms import Basis, Expression, Monomials, collect_terms, constant, product_of, sum_of

if TYPE_CHECKING:
    import polars
    import sympy


class Tabular:
    """What has columns, and so gives data frames; polars is always there, pandas may be."""

    def columns(self) -> Mapping[str, Any]:
        """All of it by columns."""
        raise NotImplementedError

    def to_polars(self) -> polars.DataFrame:
        """Return a data frame."""
        import polars

        return polars.DataFrame(self.columns())

    def to_pandas(self) -> Any:
        """Return a data frame; pandas has to be installed.

        Raises
        ------
        MissingPackageError
            If it is not.
        """
        try:
            import pandas
        except ModuleNotFoundError:
            raise MissingPackageError(
                "pandas is not installed; use to_polars(), or pip install pandas."
            ) from None
        return pandas.DataFrame(self.columns())


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
        return join_terms([(float(row[k]), self.terms[k]) for k in kept], self.names, digits, bars)

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


WIDEST_LINE, MOST_LINES = 110, 24  # of a summary


class Coefficient(NamedTuple):
    """One term of one field in the physical states; NaN where the recipe gives no error bar."""

    target: str  # the field: b1, a12
    term: str  # as a formula in the state names
    value: float
    std_error: float  # with the other terms left open
    low: float  # ends of the 95 % interval
    high: float
    inclusion: float  # probability that the term belongs to the field


class Coefficients(tuple[Coefficient, ...], Tabular):
    """Coefficients, which a notebook shows as a table.

    >>> Coefficients([Coefficient("b1", "x", -2.0, 0.1, -2.2, -1.8, 1.0)]).to_polars().shape
    (1, 7)
    """

    def columns(self) -> dict[str, list[Any]]:
        """All of it by columns, a row for each term."""
        return {name: [getattr(one, name) for one in self] for name in Coefficient._fields}

    def _repr_html_(self) -> str:
        rows = Markup("").join(
            Markup("<tr><td>{}</td><td>{}</td>{}</tr>").format(
                one.target,
                one.term,
                Markup("").join(
                    Markup("<td style='text-align:right'>{}</td>").format(
                        "" if np.isnan(number) else rounded(number, 4)
                    )
                    for number in one[2:]
                ),
            )
            for one in self
        )
        head = Markup("").join(Markup("<th>{}</th>").format(name) for name in Coefficient._fields)
        return str(Markup("<table><tr>{}</tr>{}</table>").format(head, rows))


class Alternative(NamedTuple):
    """Another set of terms for one field.

    ``log_evidence`` is that of this formula minus that of the written one: above zero if the data
    prefer this one, -1 if they prefer the written one by a factor of e. ``library`` says what its
    terms would have to be added to the candidates, and is empty if they were among them.

    >>> Alternative("b1", ("1", "x"), -0.7).formula
    'b1 ~ 1, x'
    """

    target: str  # the field: b1, a12
    terms: tuple[str, ...]
    log_evidence: float
    library: str = ""

    @property
    def formula(self) -> str:
        """The field and its terms, without their coefficients."""
        return f"{self.target} ~ {', '.join(self.terms) or '0'}"


class SymbolicGenerator(NamedTuple):
    """Drift ``(d, 1)`` and tensor ``(d, d)`` as SymPy matrices."""

    symbols: tuple[sympy.Symbol, ...]
    drift: sympy.Matrix
    diffusion: sympy.Matrix


@dataclass(frozen=True)
class Formulas:
    """Drift components and tensor entries as linear forms in the physical states.

    Parameters
    ----------
    names : of the coordinates
    drift, entries : ``d`` and ``E`` fields
    region : mean and spread of the data, if a term may be left out that does not matter there
    uncertainty : error bars of the same terms; then every term was selected, and all are written
    """

    names: tuple[str, ...]
    drift: LinearForm
    entries: LinearForm
    region: Frame | None
    uncertainty: Uncertainty | None
    inputs: int = 0  # how many of the last coordinates have no equation

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    def _fields(self) -> Iterator[tuple[str, LinearForm, int]]:
        """Each field by its name, with the form it is in and its row there."""
        forms = (self.drift, self.entries)
        for names, form in zip(field_names(self.dimension), forms, strict=True):
            for row, name in enumerate(names):
                yield name, form, row

    def coefficients(self) -> Coefficients:
        """Every term of every field that is not zero."""
        width = normal_quantile(0.95)
        found = []
        for number, (target, form, row) in enumerate(self._fields()):
            values = form.coefficients[row]
            errors, inclusion = self._error_bars(number, len(values))
            for term, value, error, sure in zip(form.terms, values, errors, inclusion, strict=True):
                low, high = value - width * error, value + width * error
                numbers = map(float, (value, error, low, high, sure))
                found += [Coefficient(target, term, *numbers)] if value != 0 else []
        return Coefficients(found)

    def _error_bars(self, number: int, terms: int) -> tuple[FloatArray, FloatArray]:
        """Standard errors and inclusion probabilities of one field, NaN if unknown."""
        if self.uncertainty is None:
            return np.full(terms, np.nan), np.full(terms, np.nan)
        return self.uncertainty.std_errors()[number], self.uncertainty.inclusion[number]

    def equations(self, digits: int, cutoff: float, *, errors: bool) -> list[str]:
        """Write each field; see :meth:`wgsindy.Generator.equations`."""
        shown = self._worth_printing(cutoff)
        written = {name for names in field_names(self.dimension, self.inputs) for name in names}
        bars = self.uncertainty.std_errors() if errors and self.uncertainty is not None else None
        return [
            f"{target} = "
            + form.text(row, shown[target], digits, None if bars is None else bars[number])
            for number, (target, form, row) in enumerate(self._fields())
            if target in written
        ]

    def summary(self) -> str:
        """Write the equations under a heading, short enough to be read in a terminal."""
        lines = self.equations(3, 0.02, errors=True)
        shown = [
            line if len(line) <= WIDEST_LINE else f"{line[:WIDEST_LINE].rsplit(' ', 1)[0]} ..."
            for line in lines[:MOST_LINES]
        ]
        if len(lines) > MOST_LINES:
            shown.append(f"... and {len(lines) - MOST_LINES} more; see equations()")
        states = ", ".join(self.names[: self.dimension - self.inputs])
        driven = f", driven by {', '.join(self.names[-self.inputs :])}" if self.inputs else ""
        return "\n  ".join([f"Generator of ({states}){driven}", *shown])

    def written(self, cutoff: float) -> Coefficients:
        """Those of the coefficients that :meth:`equations` writes."""
        shown = self._worth_printing(cutoff)
        terms = {target: form.terms for target, form, _ in self._fields()}
        return Coefficients(
            found
            for found in self.coefficients()
            if shown[found.target][terms[found.target].index(found.term)]
        )

    def _worth_printing(self, cutoff: float) -> dict[str, BoolArray]:
        """For each field the terms ``(K,)`` that matter where the data are."""
        if self.region is None or self.uncertainty is not None:
            return {name: np.ones(len(form.terms), dtype=bool) for name, form, _ in self._fields()}
        drift, entries = field_names(self.dimension)
        drift_sizes = self.drift.contributions(self.region)
        entry_sizes = self.entries.contributions(self.region)
        pairs = tensor.pairs(self.dimension)
        variance = [entry_sizes[tensor.entry_number(p, p)].max() for p in range(self.dimension)]
        shown = {
            target: sizes >= cutoff * sizes.max()
            for target, sizes in zip(drift, drift_sizes, strict=True)
        }
        for target, sizes, (p, q) in zip(entries, entry_sizes, pairs, strict=True):
            shown[target] = sizes >= cutoff * np.sqrt(variance[p] * variance[q])
        return shown

    def to_sympy(self) -> SymbolicGenerator:
        """Drift and tensor as SymPy matrices, every term kept."""
        import sympy

        matrix = sympy.zeros(self.dimension, self.dimension)
        pairs = tensor.pairs(self.dimension)
        for entry, (p, q) in zip(self.entries.to_sympy(), pairs, strict=True):
            matrix[p, q] = matrix[q, p] = entry
        symbols = tuple(sympy.Symbol(name, real=True) for name in self.names)
        return SymbolicGenerator(symbols, sympy.Matrix(self.drift.to_sympy()), matrix)

    def shortened(self, digits: int, cutoff: float) -> tuple[LinearForm, LinearForm]:
        """Drift and tensor with the terms and the digits that :meth:`equations` gives them."""
        shown = self._worth_printing(cutoff)
        drift, entries = (
            np.array([shown[target] for target in targets])
            for targets in field_names(self.dimension)
        )
        return self.drift.shortened(drift, digits), self.entries.shortened(entries, digits)
