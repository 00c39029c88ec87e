"""Local moments: conditional means of increments in the cells of a grid, then sparse regression.

The first two Kramers-Moyal coefficients by their definition, and the idea of stochastic SINDy
(Boninsegna, Nueske and Clementi 2018) to regress such local estimates on candidate terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wgsindy.data import Chunk, FloatArray, IntArray, Trajectories
from wgsindy.model import Generator, tensor
from wgsindy.passes import DataSummary, reduce
from wgsindy.terms import Library
from wgsindy_evidence.baselines.regression import fit_targets, pose
from wgsindy_evidence.recipes import PAPER

SAMPLES_PER_CELL = 50  # on average over the grid; those in the middle of the data hold more
MOST_CELLS = 2**14
FEWEST_IN_CELL = 10


@dataclass(frozen=True)
class Grid:
    """Equal cells over the range of the data, ``bins`` along each coordinate."""

    low: FloatArray
    high: FloatArray
    bins: int

    @classmethod
    def over(cls, summary: DataSummary, samples: int) -> Grid:
        """Choose as many cells as the samples can fill."""
        d = len(summary.low)
        cells = min(samples / SAMPLES_PER_CELL, MOST_CELLS)
        return cls(summary.low, summary.high, max(1, round(cells ** (1 / d))))

    @property
    def n_cells(self) -> int:
        return int(self.bins ** len(self.low))

    def cell(self, x: FloatArray) -> IntArray:
        """Number of the cell of each state ``(n, d)``."""
        place = ((x - self.low) / (self.high - self.low) * self.bins).astype(np.int64)
        inside = np.clip(place, 0, self.bins - 1)  # the upper end belongs to the last cell
        return np.asarray(inside @ self.bins ** np.arange(len(self.low)))


class CellPass:
    """Sum ``[1, dt, X, dX, dX dX']`` by cell; total ``(n_cells, 2 + 2 d + E)``."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        d = len(grid.low)
        self.width = 2 + 2 * d + len(tensor.pairs(d))

    def empty(self) -> FloatArray:
        return np.zeros((self.grid.n_cells, self.width))

    def add(self, total: FloatArray, chunk: Chunk) -> FloatArray:
        cell = self.grid.cell(chunk.states)
        square = tensor.outer_entries(chunk.increments)
        columns = [np.ones_like(chunk.dt), chunk.dt, *chunk.states.T, *chunk.increments.T]
        for c, column in enumerate([*columns, *square.T]):
            total[:, c] += np.bincount(cell, column, minlength=len(total))
        return total

    def merge(self, left: FloatArray, right: FloatArray) -> FloatArray:
        left += right
        return left


def fit_kramers_moyal(
    data: Trajectories, library: str | Sequence[str] | Library, *, seed: int = 0
) -> Generator:
    """Regress the local moments of each cell on the library at the cell's mean state.

        b = E[dX | cell] / dt,    a = E[dX dX' | cell] / dt,

    each cell weighted by the square root of the time spent there (its count, if steps are equal).
    Biased by the curvature of the fields within a cell and, in the tensor, by b b' dt. Nothing
    keeps the tensor semidefinite. Nothing is random: ``seed`` is there for a common signature.

    Raises
    ------
    NotEnoughDataError
        If fewer cells than terms hold at least ten samples.
    DataError, LibraryError
        If a coordinate or a term is constant at zero.
    """
    problem = pose(data, library, standardise=False)
    d = data.dimension
    grid = Grid.over(problem.summary, data.n_increments)
    sums = reduce(CellPass(grid), data)
    sums = sums[sums[:, 0] >= FEWEST_IN_CELL]
    count, time = sums[:, :1], sums[:, 1:2]
    moments = sums[:, 2 + d :] / time
    rows = np.hstack([problem.basis.values(sums[:, 2 : 2 + d] / count), moments]) * np.sqrt(time)
    fields = fit_targets(rows, len(problem.basis), threshold=PAPER.threshold)
    return problem.generator("kramers-moyal", fields[:d], fields[d:])
