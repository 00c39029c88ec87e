"""The Gaussian working likelihood of increments, as sums over samples.

Given the state, an increment is taken to be normal with mean b dt and covariance a dt. Its
log-likelihood is quadratic in the drift coefficients, and that of the residual products is close
to quadratic in the tensor coefficients, so a pass over the data collects weighted normal equations
and nothing else. Weights come from a :class:`WorkingModel`, the result of the pass before.
:class:`NormalEquations` poses the sums of a pass as problems of evidence, in physical terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wgsindy.data.arrays import FloatArray, Scratch
from wgsindy.data.chunk import Chunk, Spans
from wgsindy.estimate.likelihood.errors_in_variables import lasting_noise, stein_sums
from wgsindy.estimate.likelihood.evidence import Problem, Root
from wgsindy.estimate.likelihood.working_model import (
    Local,
    WorkingModel,
    drift_noise,
    entry_variance,
    evaluate,
    second_order,
)
from wgsindy.model import tensor
from wgsindy.passes.engine import SumPass

# Drift weights may follow the formula further down than those of the tensor, as far as the
# residuals agree: below this share of the mean noise, a variance is added that makes them most
# likely.
LOW_NOISE = 0.3
EXTRA_VARIANCES = 10.0 ** np.arange(-10.0, 0.25, 0.5)
LEAST_LASTING = 1e-3  # share of the noise of a step that lasts, at the least
LEAST_UNSHARED = 0.01  # share of its noise that a coordinate must be given for itself

_SCRATCH = Scratch()


@dataclass
class Sums:
    """Normal equations of drift and tensor; see :class:`NormalPass`."""

    count: int
    drift_gram: FloatArray  # (E, K, K), one block for each pair of components
    drift_cross: FloatArray  # (d, K)
    entry_gram: FloatArray  # (E, K, K)
    entry_cross: FloatArray  # (E, K)
    residual: FloatArray  # (d,) sum of squared residuals over dt
    impossible: FloatArray  # (d,) samples at which the formula of the noise is not positive
    low_noise_likelihood: FloatArray  # (d, G) of residuals where noise is low, by extra variance
    lasting: FloatArray  # (d,) noise of the weighted drift that sums of neighbouring steps keep
    stepwise: FloatArray  # (d,) the same if steps were independent, as weights take them to be


@dataclass(frozen=True)
class NormalPass(SumPass[Sums]):
    """Sum the weighted normal equations of all drift components and of each tensor entry.

    Drift: sum theta theta' dt (x) a^-1 and sum theta (x) a^-1 dX. Entry (p, q): targets
    e_p e_q / dt of residuals e, each with variance a_pp a_qq + a_pq^2.
    """

    model: WorkingModel

    def empty(self) -> Sums:
        d, k = self.model.drift.shape
        e = len(self.model.entries)
        return Sums(
            0,
            np.zeros((e, k, k)),
            np.zeros((d, k)),
            np.zeros((e, k, k)),
            np.zeros((e, k)),
            np.zeros(d),
            np.zeros(d),
            np.zeros((d, len(EXTRA_VARIANCES))),
            np.zeros(d),
            np.zeros(d),
        )

    def add(self, total: Sums, chunk: Chunk) -> Sums:
        local = evaluate(self.model, chunk)
        squares = local.residual**2 / local.dt
        total.count += len(local.dt)
        total.residual += squares.sum(axis=1)
        noise = drift_noise(self.model, local)
        precision = tensor.precision(noise, LEAST_UNSHARED)
        entry_weights = 1.0 / entry_variance(noise)
        weights = np.concatenate([precision * local.dt, entry_weights])
        grams = self._weighted_grams(weights, local.theta)
        total.drift_gram += grams[: len(noise)]
        total.entry_gram += grams[len(noise) :]
        total.drift_cross += tensor.multiply(precision, local.steps) @ local.theta.T
        total.entry_cross += (local.targets * entry_weights) @ local.theta.T
        if local.blurred is not None:
            total.drift_cross += stein_sums(self.model, local, precision).sum(local)
            lasting = lasting_noise(self.model, local, noise, precision)
            own = [tensor.entry_number(p, p) for p in range(len(lasting))]
            total.lasting += lasting.sum(axis=1)
            total.stepwise += precision[own].sum(axis=1)
        for p in range(len(local.steps)):
            if not self.model.noiseless_level[p]:
                noise_of_own = local.noise[tensor.entry_number(p, p)]
                total.impossible[p] += np.count_nonzero(noise_of_own <= 0)
            self._add_extra_variance(total, p, local, squares[p])
        return total

    def _weighted_grams(self, weights: FloatArray, theta: FloatArray) -> FloatArray:
        """sum_n weights[m, n] theta theta' for each row m, ``(M, K, K)``, in one product."""
        (m, n), k = weights.shape, len(theta)
        stacked = _SCRATCH.take("stacked", m * k, n).reshape(m, k, n)
        np.multiply(weights[:, None, :], theta[None], out=stacked)
        return (stacked.reshape(m * k, n) @ theta.T).reshape(m, k, k)

    def _add_extra_variance(self, total: Sums, p: int, local: Local, squares: FloatArray) -> None:
        variance = np.maximum(local.noise[tensor.entry_number(p, p)], 0.0)
        low = variance < LOW_NOISE
        undecided = self.model.variance_floor[p] >= LOW_NOISE  # no tensor has been fitted yet
        if undecided or self.model.noiseless_level[p] or not low.any():
            return
        raised = variance[low] + EXTRA_VARIANCES[:, None]
        total.low_noise_likelihood[p] -= 0.5 * np.sum(
            np.log(raised) + squares[low] / raised, axis=1
        )


@dataclass
class Leak:
    """Sums of what a step adds to the residuals of each coordinate without noise of its own."""

    count: int
    level: FloatArray  # (d,)


@dataclass(frozen=True)
class LeakPass(SumPass[Leak]):
    """Sum (J a J')_pp dt^2 / 3 + (L b)_p^2 dt^3 / 4.

    Within a step, the noise of the other coordinates moves this one through the drift, and the
    drift itself changes. Residuals of this size need no noise of their own.
    """

    model: WorkingModel

    def empty(self) -> Leak:
        return Leak(0, np.zeros(len(self.model.units)))

    def add(self, total: Leak, chunk: Chunk) -> Leak:
        local = evaluate(self.model, chunk)
        drift = self.model.drift @ local.theta
        second = second_order(self.model, chunk.states[local.kept], drift, local.entries)
        field = tensor.symmetric(local.entries.T, len(drift))
        carried = np.einsum("prn,nrs,psn->pn", second.jacobian, field, second.jacobian)
        level = carried * local.dt**2 / 3 + second.mean**2 * local.dt**3
        total.count += len(local.dt)
        total.level += level.sum(axis=1)
        return total


@dataclass
class Scores:
    """Per trajectory the slope of the log-likelihood, ``(R, d, K)`` and ``(R, E, K)``."""

    drift: FloatArray
    entries: FloatArray
    clipped: int = 0
    count: int = 0


@dataclass(frozen=True)
class ScorePass(SumPass[Scores]):
    """Sum slopes of the log-likelihood by trajectory, and count where the tensor is clipped.

    Slopes of too few trajectories are of no use: with ``n_trajectories`` 0 there are none.
    """

    model: WorkingModel
    n_trajectories: int

    def empty(self) -> Scores:
        d, k = self.model.drift.shape
        e = len(self.model.entries)
        return Scores(np.zeros((self.n_trajectories, d, k)), np.zeros((self.n_trajectories, e, k)))

    def add(self, total: Scores, chunk: Chunk) -> Scores:
        local = evaluate(self.model, chunk)
        if self.n_trajectories and len(local.dt):
            self._add_slopes(total, chunk, local)
        total.clipped += int(np.count_nonzero(~tensor.has_root(local.entries)))
        total.count += len(local.dt)
        return total

    def _add_slopes(self, total: Scores, chunk: Chunk, local: Local) -> None:
        noise = drift_noise(self.model, local)
        precision = tensor.precision(noise, LEAST_UNSHARED)
        pulled = tensor.multiply(precision, local.residual)
        off = (local.targets - local.entries) / entry_variance(noise)
        slopes = np.concatenate([pulled, off])
        carried = stein_sums(self.model, local, precision) if local.blurred is not None else None
        for owner, part in Spans.of(chunk.trajectory[local.kept]):
            sums = slopes[:, part] @ local.theta[:, part].T
            total.drift[owner] += sums[: len(local.steps)]
            total.entries[owner] += sums[len(local.steps) :]
            if carried is not None:
                total.drift[owner] += carried.sum(local, part.start, part.stop)


@dataclass(frozen=True)
class NormalEquations:
    """Normal equations of ``d`` drift components and ``E`` tensor entries.

    ``sums`` are in working terms; ``change (K, K)`` expresses the physical terms by these.
    """

    sums: Sums
    change: FloatArray

    @property
    def dimension(self) -> int:
        return len(self.sums.drift_cross)

    @property
    def coupled(self) -> bool:
        """Whether any two drift components share noise, so that each tells of the other."""
        pairs = enumerate(tensor.pairs(self.dimension))
        return any(p != q and bool(self.sums.drift_gram[e].any()) for e, (p, q) in pairs)

    @cached_property
    def lasting_share(self) -> FloatArray:
        """Share of the noise of each component that is left over many steps, ``(d,)``.

        It is 1 unless there is observation noise, of which each step takes back what the
        one before it added.
        """
        stepwise = self.sums.stepwise
        seen = stepwise > 0
        share = np.where(seen, self.sums.lasting, 1.0) / np.where(seen, stepwise, 1.0)
        return np.clip(share, LEAST_LASTING, 1.0)

    def component(self, drift: FloatArray, p: int) -> Problem:
        """Component ``p``, given the others of ``drift (d, K)`` in working terms."""
        cross = self.sums.drift_cross[p].copy()
        for q in range(self.dimension):
            if q != p:
                cross -= self.sums.drift_gram[tensor.entry_number(p, q)] @ drift[q]
        return self._drift_roots[p].problem(cross / self.lasting_share[p])

    @cached_property
    def _drift_roots(self) -> list[Root]:
        own = [tensor.entry_number(p, p) for p in range(self.dimension)]
        shares = zip(own, self.lasting_share, strict=True)
        return [Root.of(self.sums.drift_gram[e] / share, self.change) for e, share in shares]

    @cached_property
    def entries(self) -> list[Problem]:
        """Each tensor entry on its own."""
        pairs = zip(self.sums.entry_gram, self.sums.entry_cross, strict=True)
        return [Problem.from_sums(gram, cross, self.change) for gram, cross in pairs]

    def all_components(self) -> Problem:
        """All drift components at once, ``d K`` coefficients."""
        d, k = self.sums.drift_cross.shape
        gram = np.empty((d, k, d, k))
        for e, (p, q) in enumerate(tensor.pairs(d)):
            gram[p, :, q] = gram[q, :, p] = self.sums.drift_gram[e]
        change: FloatArray = np.kron(np.eye(d), self.change).astype(np.float64)
        return Problem.from_sums(gram.reshape(d * k, d * k), self.sums.drift_cross.ravel(), change)
