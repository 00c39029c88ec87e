"""The recovered terms of a system over the seeds, beside the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isnan, log10
from typing import Any, NamedTuple

import numpy as np

from wgsindy.model import Generator, field_names, normal_quantile
from wgsindy.model.notation import join_terms
from wgsindy.terms import library
from wgsindy.zoo import System
from wgsindy_evidence.grid import number

UNKNOWN = float("nan")


def _terms(system: System) -> tuple[str, ...]:
    return library(system.library).bind(system.names).terms


class Term(NamedTuple):
    """One term of one field over the seeds: ``values`` of those that select it.

    ``true`` is NaN where no term of the library has a true coefficient; value, standard error and
    inclusion probability are those of the drawn seed, NaN if it leaves the term out.
    """

    field: str
    term: str
    true: float
    values: tuple[float, ...]
    value: float
    error: float
    inclusion: float

    @property
    def remark(self) -> str:
        """Whether a term of the truth was never found, or one was found that is not there."""
        if self.true == 0:
            return "false"
        return "" if self.values or isnan(self.true) else "missed"


def recovered_terms(
    system: System, results: Sequence[dict[str, Any]], drawn: dict[str, Any]
) -> list[Term]:
    """Terms of the truth and all that some seed selects, by field, in the library's order."""
    terms = _terms(system)
    fields = [name for names in field_names(len(system.names)) for name in names]
    truth = {(c.target, c.term): c.value for c in system.generator.coefficients}
    beyond = unspanned_fields(system)
    found: dict[tuple[str, str], list[float]] = {key: [] for key in truth if key[1] in terms}
    for result in results:
        for field, term, value, *_ in result["coefficients"]:
            found.setdefault((field, term), []).append(value)
    shown = {(field, term): rest for field, term, *rest in drawn["coefficients"]}
    order = sorted(found, key=lambda key: (fields.index(key[0]), terms.index(key[1])))
    return [
        Term(
            *key,
            truth.get(key, UNKNOWN if key[0] in beyond else 0.0),
            tuple(found[key]),
            *shown.get(key, [UNKNOWN] * 3),
        )
        for key in order
    ]


def unspanned_fields(system: System) -> list[str]:
    """Fields of the truth with terms that the library does not have."""
    terms = _terms(system)
    outside = [c.target for c in system.generator.coefficients if c.term not in terms]
    return list(dict.fromkeys(outside))


def term_cells(row: Term, seeds: int) -> list[str]:
    """Cells of one term; ``seeds`` is how many could have selected it."""
    digits = _decimals(row.error)
    ends = [row.value + side * normal_quantile(0.95) * row.error for side in (-1, 1)]
    low, high = (_fixed(end, digits) for end in ends)
    return [
        row.field,
        f"`{row.term}`",
        "-" if isnan(row.true) else f"{row.true:.6g}",
        f"{np.median(row.values):.4g}" if row.values else "-",
        f"{len(row.values)} of {seeds}",
        _fixed(row.value, digits),
        "-" if isnan(row.error) else f"[{low}, {high}]",
        number(row.inclusion, 2),
        row.remark,
    ]


def _decimals(error: float) -> int | None:
    """Decimals that show two digits of a standard error; None if there is none."""
    return max(1 - floor(log10(error)), 0) if error > 0 else None


def _fixed(value: float, decimals: int | None) -> str:
    if isnan(value):
        return "-"
    # Adding zero takes the sign from a negative value that is rounded to zero.
    return f"{value:.4g}" if decimals is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def written_equations(result: dict[str, Any]) -> list[str]:
    """The equations that the fit printed.

    The stored model has no error bars, and without them the drift would be written as the average
    over supports that is drawn, not as the selected terms; those stand in the coefficients.
    """
    model = Generator.from_dict(result["model"])
    if "coefficients" not in result:
        return model.equations()
    drift, entries = field_names(model.dimension)
    return [
        f"{name} = " + join_terms(_pairs(result["coefficients"], name), model.names, digits=3)
        for name in (*drift, *entries)
    ]


def _pairs(coefficients: Sequence[Sequence[Any]], field: str) -> list[tuple[float, str]]:
    return [(value, term) for target, term, value, *_ in coefficients if target == field]
