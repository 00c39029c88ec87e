"""Generator EDMD: all terms, all samples, least squares.

Klus et al. (2020) project the action of the generator onto the span of a dictionary. Drift and
tensor are the generator acting on coordinates and on their products,

    b_p = L x_p,        a_pq = L(x_p x_q) - x_p L x_q - x_q L x_p,

and a finite difference along the data turns the two into dX_p / dt and dX_p dX_q / dt: in the
increments of one step the second identity is exact. The tensor is therefore fitted to squared
increments directly. Projecting L(x_p x_q) first and subtracting afterwards would need products
that lie outside the dictionary.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wgsindy.data import Chunk, FloatArray, Trajectories
from wgsindy.model import Generator, tensor
from wgsindy.passes import reduce
from wgsindy.terms import Basis, Library
from wgsindy_evidence.baselines.regression import add_rows, fit_targets, pose


class TrianglePass:
    """Triangle of the rows ``sqrt(dt) [theta | dX / dt | dX dX' / dt]`` of all samples."""

    def __init__(self, basis: Basis) -> None:
        self.basis = basis
        d = len(basis.names)
        self.width = len(basis) + d + len(tensor.pairs(d))

    def empty(self) -> FloatArray:
        return np.empty((0, self.width))

    def add(self, total: FloatArray, chunk: Chunk) -> FloatArray:
        root = np.sqrt(chunk.dt)[:, None]
        theta = self.basis.values(chunk.states) * root
        square = tensor.outer_entries(chunk.increments)
        return add_rows(total, np.hstack([theta, chunk.increments / root, square / root]))

    def merge(self, left: FloatArray, right: FloatArray) -> FloatArray:
        return add_rows(left, right)


def fit_gedmd(
    data: Trajectories, library: str | Sequence[str] | Library, *, seed: int = 0
) -> Generator:
    """Regress dX / dt and dX dX' / dt of every sample on all terms, without selection.

    Each sample counts by its share of time. Polynomials are fitted in standardised coordinates,
    which changes the span by nothing and its conditioning by much. Every coefficient carries noise,
    and the tensor is neither corrected for b b' dt nor kept semidefinite. Nothing is random:
    ``seed`` is there for a common signature.

    Raises
    ------
    NotEnoughDataError
        If there are fewer samples than terms.
    DataError, LibraryError
        If a coordinate or a term is constant at zero.
    """
    problem = pose(data, library, standardise=True)
    triangle = reduce(TrianglePass(problem.basis), data)
    fields = fit_targets(triangle, len(problem.basis), threshold=0.0)
    return problem.generator("gedmd", fields[: data.dimension], fields[data.dimension :])
