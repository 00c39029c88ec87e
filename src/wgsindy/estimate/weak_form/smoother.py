"""The spatial smoother: standardisation, kernel centres, bandwidth, local-polynomial rows.

A smoother is a handful of small arrays; its rows ``Pi (J, n)`` exist only chunk by chunk. In
standardised coordinates z, with kernel w_j(z) = exp(-(z - c_j)' P (z - c_j) / 2) and local basis r,

    Pi_j(z) = w_j(z) e_1' (sum_n w_jn r_jn r_jn' + ridge)^-1 r(z - c_j),

which is w_j(z) times a polynomial in z. Both factors are one matrix product over a chunk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from wgsindy.data import Chunk, Dataset, FloatArray, Frame, HashArray, Scratch, scrambled
from wgsindy.passes import SERIAL, DataSummary, Engine, SumPass, reduce
from wgsindy.recipes import WeakFormRecipe
from wgsindy.terms import Monomials

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

# Of the paper: what is added to local Gram matrices, of their mean diagonal, and to the bandwidth.
LOCAL_RIDGE = BANDWIDTH_RIDGE = 1e-8
EMPTY = 1e-12  # share of the heaviest kernel's weight: rounding, where a kernel sees no sample
SAMPLE_SIZE = 8192  # points for k-means: centres are quadrature nodes, more buys nothing
SAMPLES_PER_CENTRE = 5  # distinct samples, or k-means makes centres of single points

_scratch = Scratch()


Sample = tuple[FloatArray, HashArray]


class SamplePass:
    """Keep the states whose content hashes lowest: a uniform sample that depends on nothing else.

    The same points come out whatever the order of trajectories, the size of chunks, the units
    of the states or the order of the coordinates.
    """

    def __init__(self, frame: Frame, size: int, seed: int) -> None:
        self.frame, self.size, self.seed = frame, size, np.uint64(seed)

    def empty(self) -> Sample:
        return np.empty((0, len(self.frame.centre))), np.empty(0, dtype=np.uint64)

    def add(self, total: Sample, chunk: Chunk) -> Sample:
        z = self.frame.standardise(chunk.states)
        cell = np.round(z * 2.0**20).astype(np.int64).astype(np.uint64)
        key = scrambled(scrambled(cell).sum(axis=1, dtype=np.uint64) + self.seed)
        return self.merge(total, (z, key))

    def merge(self, left: Sample, right: Sample) -> Sample:
        points, keys = np.concatenate([left[0], right[0]]), np.concatenate([left[1], right[1]])
        if len(keys) > 2 * self.size:
            keep = np.argpartition(keys, self.size)[: self.size]
            points, keys = points[keep], keys[keep]
        return points, keys


def place_centres(
    data: Dataset, frame: Frame, n_centres: int, seed: int, engine: Engine = SERIAL
) -> FloatArray:
    """Place kernel centres ``(J, d)`` by k-means in the frame, on a sample of the states."""
    from sklearn.cluster import KMeans

    points, keys = reduce(SamplePass(frame, SAMPLE_SIZE, seed), data, engine=engine)
    points = points[np.argsort(keys, kind="stable")[:SAMPLE_SIZE]]
    distinct = len(np.unique(keys))
    wanted = max(1, min(n_centres, distinct // SAMPLES_PER_CENTRE))
    # scikit-learn's threads add up in any order; one thread makes the centres reproducible.
    with _thread_pools().limit(limits=1):
        means = KMeans(wanted, n_init=1, max_iter=30, random_state=seed).fit(points)
    return np.asarray(means.cluster_centers_, dtype=np.float64)


@cache
def _thread_pools() -> ThreadpoolController:
    """The pools of scikit-learn and BLAS; to look for them again would take 10 ms each fit."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def grid_of_centres(summary: DataSummary, n_centres: int) -> FloatArray:
    """Spread about ``n_centres`` evenly over the range of the states, in the frame; ``(J, d)``."""
    d = len(summary.low)
    side = max(1, round(n_centres ** (1 / d)))
    low, high = summary.frame.standardise(np.array([summary.low, summary.high]))
    return np.array(list(product(*np.linspace(low, high, side).T)))


def bandwidth_matrix(
    centres: FloatArray, covariance: FloatArray, factor: float, *, shaped: bool
) -> FloatArray:
    """Return h0^2 Cov / (tr Cov / d) + 1e-8 I, or h0^2 I for isotropic kernels."""
    from scipy.spatial.distance import cdist

    d = len(covariance)
    if len(centres) > 1:
        distance = cdist(centres, centres)
        np.fill_diagonal(distance, np.inf)
        spacing = float(np.median(distance.min(axis=1)))
    else:
        spacing = float(np.sqrt(np.trace(covariance) / d))
    h0 = factor * spacing
    shape = covariance / (np.trace(covariance) / d) if shaped else np.eye(d)
    return h0**2 * shape + BANDWIDTH_RIDGE * np.eye(d)


@dataclass(frozen=True)
class Smoother:
    """Rows of the weak form: kernels times local-polynomial intercepts.

    ``centres (J, d)`` and ``whitening (d, d)`` with ``whitening' whitening`` = inverse bandwidth
    matrix, both in the frame; ``intercept (J, L)`` holds the coefficients of the polynomial that
    multiplies each kernel, in ``local`` monomials of z.
    """

    frame: Frame
    centres: FloatArray
    whitening: FloatArray
    local: Monomials
    intercept: FloatArray

    def rows(self, chunk: Chunk, mean_dt: float) -> FloatArray:
        """Return ``Pi (J, n)`` at the samples of a chunk; overwritten by the next call."""
        z = self.frame.standardise(chunk.states)
        weights = kernel_weights(z, self.centres, self.whitening, chunk.dt / mean_dt)
        polynomial = _scratch.take("polynomial", *weights.shape)
        np.matmul(self.intercept, self.local.values(z), out=polynomial)
        weights *= polynomial
        return weights


def kernel_weights(
    z: FloatArray, centres: FloatArray, whitening: FloatArray, mass: FloatArray
) -> FloatArray:
    """Gaussian kernels ``(J, n)`` times the mass of each sample (its share of observed time).

    The result is overwritten by the next call.
    """
    y, centre = whitening @ z.T, centres @ whitening.T
    # The whole exponent, mass included, is one matrix product: no other pass over (J, n).
    sample = np.vstack([y, np.ones(len(z)), np.log(mass) - 0.5 * np.einsum("dn,dn->n", y, y)])
    offset = -0.5 * np.einsum("jd,jd->j", centre, centre)
    weights = _scratch.take("weights", len(centres), len(z))
    np.matmul(np.column_stack([centre, offset, np.ones(len(centre))]), sample, out=weights)
    return np.asarray(np.exp(weights, out=weights))


class GramPass(SumPass[FloatArray]):
    """Sum kernel-weighted monomials of z: everything the local Gram matrices need."""

    def __init__(
        self, frame: Frame, centres: FloatArray, whitening: FloatArray, wide: Monomials, dt: float
    ) -> None:
        self.frame, self.centres, self.whitening = frame, centres, whitening
        self.wide, self.mean_dt = wide, dt

    def empty(self) -> FloatArray:
        return np.zeros((len(self.centres), len(self.wide)))

    def add(self, total: FloatArray, chunk: Chunk) -> FloatArray:
        z = self.frame.standardise(chunk.states)
        weights = kernel_weights(z, self.centres, self.whitening, chunk.dt / self.mean_dt)
        total += weights @ self.wide.values(z).T
        return total


def build_smoother(
    data: Dataset,
    summary: DataSummary,
    recipe: WeakFormRecipe,
    seed: int,
    engine: Engine = SERIAL,
    ridge: float = LOCAL_RIDGE,
) -> Smoother:
    """Learn centres, bandwidth and local-polynomial intercepts from the states of ``data``."""
    if recipe.centres == "grid":
        centres = grid_of_centres(summary, recipe.n_centres)
    else:
        centres = place_centres(data, summary.frame, recipe.n_centres, seed, engine)
    bandwidth = bandwidth_matrix(
        centres,
        summary.covariance,
        recipe.bandwidth_factor,
        shaped=recipe.bandwidth == "covariance",
    )
    whitening = np.linalg.inv(np.linalg.cholesky(recipe.kernel_shape(bandwidth)))
    local = Monomials.up_to(recipe.local_order, dimension=data.dimension)
    blank = np.zeros((len(centres), len(local)))
    kernels = Smoother(summary.frame, centres, whitening, local, blank)
    return taught_by(data, kernels, data.mean_dt, engine, ridge)


def taught_by(
    data: Dataset,
    smoother: Smoother,
    mean_dt: float,
    engine: Engine = SERIAL,
    ridge: float = LOCAL_RIDGE,
) -> Smoother:
    """Return the smoother with the local polynomials of these data; its kernels stay.

    ``mean_dt`` is the step of a sample of mass one, as in :meth:`Smoother.rows`.
    """
    frame, centres, local = smoother.frame, smoother.centres, smoother.local
    order = int(local.powers.sum(axis=1).max())
    wide = Monomials.up_to(2 * order, dimension=data.dimension)
    step = GramPass(frame, centres, smoother.whitening, wide, mean_dt)
    sums = reduce(step, data, engine=engine)
    return replace(smoother, intercept=_intercepts(sums, centres, local, wide, ridge))


def _intercepts(
    sums: FloatArray, centres: FloatArray, local: Monomials, wide: Monomials, ridge: float
) -> FloatArray:
    """Solve the local normal equations; ``sums (J, W)`` are moments about the origin of z."""
    ones = np.ones(centres.shape[1])
    central = np.einsum("jkl,jl->jk", wide.affine_map(centres, ones), sums)
    gram = central[:, local.product_index(wide)]  # (J, L, L) in powers of z - c_j
    size = len(local)
    empty = sums[:, 0] < EMPTY * sums[:, 0].max()  # of a grid, not of k-means
    gram[empty] = np.eye(size)
    floor = ridge * np.einsum("jll->j", gram) / size
    gram = gram + floor[:, None, None] * np.eye(size)
    first = np.broadcast_to(np.eye(size)[0][:, None], (len(centres), size, 1))
    solution = np.linalg.solve(gram, first)[..., 0]
    solution[empty] = 0.0  # a row of zeros: it says nothing
    return np.einsum("jk,jkl->jl", solution, local.affine_map(centres, ones))
