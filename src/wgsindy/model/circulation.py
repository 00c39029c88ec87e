"""How a process goes round: curl, stationary current, and the log-density that the latter needs.

With log pi = sum_k c_k phi_k + const, the coefficients that minimise the mean squared distance
between the slopes of log pi and of the model solve  <grad phi . grad phi'> c = -<Laplace phi>
(Hyvarinen 2005): two averages over the samples, no normalisation, no binning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wgsindy.data import Chunk, Dataset, FloatArray, frozen
from wgsindy.passes import SumPass, data_summary, reduce
from wgsindy.terms import Basis, Library, library

DIFFERENCE = 1e-5  # step of numerical derivatives, relative to the largest coordinate


@dataclass(frozen=True)
class LogDensity:
    """log pi up to a constant: ``coefficients (K,)`` of the terms of ``basis``."""

    basis: Basis
    coefficients: FloatArray

    def slope(self, points: FloatArray) -> FloatArray:
        """Gradient of log pi ``(n, d)`` at points ``(n, d)``."""
        return np.einsum("nkp,k->np", self.basis.gradients(points), self.coefficients)


@dataclass(frozen=True)
class ScoreSums:
    """Sums over samples of products of gradients ``(K, K)`` and of Laplacians ``(K,)``."""

    gram: FloatArray
    curvature: FloatArray


@dataclass(frozen=True)
class DensityPass(SumPass[ScoreSums]):
    """Sum what score matching needs, in units of ``scale``."""

    basis: Basis
    scale: FloatArray

    def empty(self) -> ScoreSums:
        k = len(self.basis)
        return ScoreSums(np.zeros((k, k)), np.zeros(k))

    def add(self, total: ScoreSums, chunk: Chunk) -> ScoreSums:
        slopes = self.basis.gradients(chunk.states) * self.scale
        curvature = np.einsum("nkpp,p->k", self.basis.hessians(chunk.states), self.scale**2)
        gram = np.einsum("nkp,nlp->kl", slopes, slopes, optimize=True)
        return ScoreSums(total.gram + gram, total.curvature + curvature)


def fit_density(data: Dataset, terms: str | Library = "poly4") -> LogDensity:
    """Fit the log-density of the states of ``data``.

    The samples are taken to be stationary: start-up transients count as states like any other.

    >>> import numpy as np
    >>> from wgsindy.data.trajectories import Trajectories
    >>> x = np.random.default_rng(0).normal(0, 0.5, (20_000, 1))
    >>> density = fit_density(Trajectories([x], dt=1.0), "poly2")
    >>> bool(abs(density.slope(np.array([[1.0]]))[0, 0] + 4) < 0.2)
    True
    """
    summary = data_summary(data, standardise=True)
    basis = library(terms).bind(data.names)
    if basis.is_closed:
        basis = basis.in_frame(summary.frame)
    sums = reduce(DensityPass(basis, summary.frame.scale), data)
    # The constant has no slope; a least-norm solution leaves it out.
    solution = np.linalg.lstsq(sums.gram, -sums.curvature, rcond=None)[0]
    return LogDensity(basis, frozen(np.asarray(solution)))


def rotation(jacobian: FloatArray) -> FloatArray:
    """Antisymmetric part of a drift Jacobian J[p, q] = d b_p / d x_q, ``(n, d, d)``."""
    return (jacobian - jacobian.transpose(0, 2, 1)) / 2


def antisymmetric_drift(points: FloatArray, jacobian: FloatArray) -> FloatArray:
    """Directional field anti(J)(x) x, ``(n, d)``.

    For isotropic linear systems it points along the stationary current; elsewhere it is a
    diagnostic of rotation only.
    """
    return np.einsum("npq,nq->np", rotation(jacobian), points)


def divergence(diffusion: Callable[[FloatArray], FloatArray], points: FloatArray) -> FloatArray:
    """sum_q d a_pq / d x_q ``(n, d)`` of a tensor field, by central differences.

    Where eigenvalues are clipped a tensor field has kinks, and no derivative in closed form.
    """
    out = np.zeros_like(points)
    sizes = np.abs(points).max(axis=0, initial=0.0)
    for q, width in enumerate(DIFFERENCE * np.where(sizes > 0, sizes, 1.0)):
        ahead, behind = points.copy(), points.copy()
        ahead[:, q] += width
        behind[:, q] -= width
        out += (diffusion(ahead) - diffusion(behind))[:, :, q] / (2 * width)
    return out


def current_velocity(
    drift: FloatArray, diffusion: FloatArray, divergence: FloatArray, slope: FloatArray
) -> FloatArray:
    """Velocity of the stationary current, J / pi = b - (div a + a grad log pi) / 2, ``(n, d)``.

    ``divergence (n, d)`` has the components sum_q d a_pq / d x_q, ``slope (n, d)`` is the gradient
    of the log-density. It is zero for a reversible process.
    """
    return drift - (divergence + np.einsum("npq,nq->np", diffusion, slope)) / 2
