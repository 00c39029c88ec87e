"""What the direct regressions share: the way in, least squares by blocks of rows, the way out.

A block of rows is ``[design | targets]``, ``(M, K + T)``. All that least squares needs of it is the
triangle R of its QR factorisation, and the triangle of two blocks follows from their triangles:
rows can be added up like sums, without squaring the condition number as normal equations do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wgsindy.data import FloatArray, Trajectories, frozen
from wgsindy.errors import NotEnoughDataError
from wgsindy.estimate.result import FEWEST_INCREMENTS
from wgsindy.estimate.weak_form import Rows, solve
from wgsindy.model import Generator, TensorField
from wgsindy.passes import DataSummary, data_summary, warn_of_samples
from wgsindy.terms import Basis, Library
from wgsindy.terms import library as library_of
from wgsindy_evidence.recipes import PAPER


@dataclass(frozen=True)
class Problem:
    """Data, candidate terms, and what the samples look like."""

    data: Trajectories
    basis: Basis
    summary: DataSummary

    def generator(self, baseline: str, drift: FloatArray, entries: FloatArray) -> Generator:
        """Wrap drift ``(d, K)`` and tensor entries ``(E, K)``, neither of them constrained."""
        units = frozen(np.ones(self.data.dimension))
        info = {
            "baseline": baseline,
            "increments": self.data.n_increments,
            "trajectories": len(self.data),
        }
        field = TensorField("entries", frozen(entries), 0.0, units)
        return Generator(self.basis, frozen(drift), field, info, self.summary.region)


def pose(
    data: Trajectories, library: str | Sequence[str] | Library, *, standardise: bool
) -> Problem:
    """Bind the library and survey the data; polynomials may go into standardised coordinates.

    Raises
    ------
    NotEnoughDataError
        If there are fewer increments than terms, or too few to tell anything.
    DataError
        If a coordinate never changes.
    """
    basis = library_of(library).bind(data.names)
    fewest = max(len(basis), FEWEST_INCREMENTS)
    if data.n_increments < fewest:
        raise NotEnoughDataError(
            f"{data.n_increments} increments are too few for {len(basis)} terms a field; give at "
            f"least {fewest}, or a smaller library."
        )
    summary = data_summary(data, standardise=standardise)
    warn_of_samples(summary, data.names)
    if basis.is_closed:
        basis = basis.in_frame(summary.frame)
    return Problem(data, basis, summary)


def add_rows(triangle: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the triangle, at most ``(K + T, K + T)``, of the rows of both."""
    return np.asarray(np.linalg.qr(np.concatenate([triangle, rows]), mode="r"))


def fit_targets(rows: FloatArray, n_terms: int, *, threshold: float) -> FloatArray:
    """Least squares for each target of ``rows (M, K + T)``; returns ``(T, K)``.

    Terms that contribute less than ``threshold`` of the largest one are dropped and the others
    fitted again, until none is left to drop (STLSQ); a threshold of zero keeps every term.

    Raises
    ------
    NotEnoughDataError
        If there are fewer rows than terms.
    LibraryError
        If a term vanishes on all data.
    """
    recipe = replace(PAPER, solver="stlsq", threshold=threshold)
    together = np.zeros(len(rows), dtype=np.int64)  # thresholding holds no rows out
    design, targets = rows[:, :n_terms], rows[:, n_terms:]
    return np.stack([solve(Rows(design, target, together), recipe) for target in targets.T])
