"""The fields of a generator as they are written: coefficients, equations, SymPy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from markupsafe import Markup

from wgsindy.data import BoolArray, FloatArray, Frame
from wgsindy.model import tensor
from wgsindy.model.display.numbers import rounded
from wgsindy.model.export.frames import pandas_frame
from wgsindy.model.linear_form import LinearForm, field_names
from wgsindy.model.uncertainty import Uncertainty, normal_quantile

if TYPE_CHECKING:
    import polars
    import sympy


WIDEST, MOST_LINES = 110, 24  # of a summary


class Coefficient(NamedTuple):
    """One term of one field in the physical states; NaN where the recipe gives no error bar."""

    target: str  # the field: b1, a12
    term: str  # as a formula in the state names
    value: float
    std_error: float  # with the other terms left open
    low: float  # ends of the 95 % interval
    high: float
    inclusion: float  # probability that the term belongs to the field


class Coefficients(tuple[Coefficient, ...]):
    """Coefficients, which a notebook shows as a table.

    >>> Coefficients([Coefficient("b1", "x", -2.0, 0.1, -2.2, -1.8, 1.0)]).to_polars().shape
    (1, 7)
    """

    def to_polars(self) -> polars.DataFrame:
        """Return a data frame, a row for each term."""
        import polars

        return polars.DataFrame(list(self), schema=list(Coefficient._fields), orient="row")

    def to_pandas(self) -> Any:
        """Return a data frame, a row for each term; pandas has to be installed.

        Raises
        ------
        MissingPackageError
            If it is not.
        """
        return pandas_frame(list(self), columns=list(Coefficient._fields))

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
            line if len(line) <= WIDEST else f"{line[:WIDEST].rsplit(' ', 1)[0]} ..."
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
