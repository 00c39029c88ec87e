"""The Gaussian working likelihood of increments, as sums over samples.

Given the state, an increment is taken to be normal with mean b dt and covariance a dt. Its
log-likelihood is quadratic in the drift coefficients, and that of the residual products is close
to quadratic in the tensor coefficients, so a pass over the data collects weighted normal equations
and nothing else. Weights come from a :class:`WorkingModel`, the result of the pass before.

Here increments are divided by the mean noise of their coordinate, so that no threshold has units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from wgsindy import tensor
from wgsindy.arrays import BoolArray, FloatArray, Scratch
from wgsindy.library import Basis
from wgsindy.trajectories import Chunk

# Where noise is far below its mean, the tensor formula is extrapolated towards zero, and a target
# with variance a^2 gets a weight that a small error of a makes enormous.
TENSOR_WEIGHT_FLOOR = 0.25
# Drift weights may follow the formula further down, as far as the residuals agree: below this
# share of the mean noise, a variance is added that makes them most likely.
LOW_NOISE = 0.3
SLACK_GRID = 10.0 ** np.arange(-10.0, 0.25, 0.5)
LEAST_UNSHARED = 0.01  # share of its noise that a coordinate must be given for itself

_SCRATCH = Scratch()


@dataclass(frozen=True)
class WorkingModel:
    """Drift and tensor at which residuals and weights are taken.

    ``drift (d, K)`` and ``entries (E, K)`` are coefficients of the basis; ``units (d,)`` the mean
    noise of each coordinate; ``least (d,)`` the smallest variance that weights believe, ``slack
    (d,)`` variance that the entries miss where they are small;
    ``quiet (d,)`` the level of residuals of a coordinate without noise of its own, zero for all
    others; ``lifted (d,)`` says whose mean is corrected for the finite step, ``widened`` whether
    second moments are.
    """

    basis: Basis
    units: FloatArray
    drift: FloatArray
    entries: FloatArray
    least: FloatArray
    slack: FloatArray
    quiet: FloatArray
    lifted: BoolArray
    widened: bool

    @classmethod
    def start(cls, basis: Basis, units: FloatArray, *, finite_step: bool) -> WorkingModel:
        """No drift, and the same noise everywhere, whether or not the library has a constant."""
        d, k = len(units), len(basis)
        return cls(
            basis,
            units,
            np.zeros((d, k)),
            np.zeros((len(tensor.pairs(d)), k)),
            np.ones(d),
            np.zeros(d),
            np.zeros(d),
            np.full(d, finite_step),
            finite_step,
        )

    def in_units(self, units: FloatArray) -> WorkingModel:
        """Return the same fields measured in other units of noise."""
        ratio = self.units / units
        products = [ratio[p] * ratio[q] for p, q in tensor.pairs(len(units))]
        return replace(
            self,
            units=units,
            drift=self.drift * ratio[:, None],
            entries=self.entries * np.array(products)[:, None],
        )


class Local(NamedTuple):
    """A chunk seen by a working model, repeated samples left out; the sample is the last axis.

    ``theta (K, n)``, ``dt (n,)``, ``steps (d, n)`` increments, ``residual (d, n)``, ``entries
    (E, n)`` the fitted tensor, ``excess (E, n)`` what the finite step adds to it, ``kept (N,)``
    which samples of the chunk these are.
    """

    theta: FloatArray
    dt: FloatArray
    steps: FloatArray
    residual: FloatArray
    entries: FloatArray
    excess: FloatArray | float
    kept: BoolArray


def evaluate(model: WorkingModel, chunk: Chunk) -> Local:
    """Evaluate library, fields and residuals at the samples of a chunk."""
    steps = chunk.increments.T / model.units[:, None]
    states, dt, kept = chunk.states, chunk.dt, moved(steps)
    if not kept.all():
        steps, states, dt = steps[:, kept], states[kept], dt[kept]
    theta = np.ascontiguousarray(model.basis.values(states).T)
    drift, entries = model.drift @ theta, model.entries @ theta
    silence(entries, model.quiet)
    excess: FloatArray | float = 0.0
    if model.lifted.any():
        second = second_order(model, states, drift, entries)
        valid = second.validity(dt)
        steps -= np.where(model.lifted[:, None], second.mean, 0.0) * dt**2 * valid
        excess = second.covariance * dt * valid if model.widened else 0.0
    return Local(theta, dt, steps, steps - drift * dt, entries, excess, kept)


def moved(steps: FloatArray) -> BoolArray:
    """Which of the increments ``(d, n)`` are not exactly zero, ``(n,)``."""
    kept = steps[0] != 0
    for row in steps[1:]:
        kept |= row != 0
    return kept


def silence(entries: FloatArray, quiet: FloatArray) -> None:
    """Blank the rows ``(E, ...)`` of entries whose coordinates have no noise, in place."""
    for e, (p, q) in enumerate(tensor.pairs(len(quiet))):
        if quiet[p] or quiet[q]:
            entries[e] = 0.0


class SecondOrder(NamedTuple):
    """Next terms of the Ito-Taylor moments over a step dt.

    The mean is b dt + ``mean (d, n)`` dt^2, the covariance a dt + ``covariance (E, n)`` dt^2.
    ``jacobian (d, d, n)`` are the derivatives of the drift.
    """

    mean: FloatArray
    covariance: FloatArray
    jacobian: FloatArray

    def validity(self, dt: FloatArray) -> FloatArray:
        """Share of the correction to apply, ``(n,)``: less where a step is no longer small.

        Beyond |J| dt = 1 the expansion says nothing, and a correction larger than what it corrects
        would grow from pass to pass.
        """
        size = np.sqrt(np.einsum("pqn,pqn->n", self.jacobian, self.jacobian))
        return 1.0 / np.maximum(1.0, size * dt)


def second_order(
    model: WorkingModel, states: FloatArray, drift: FloatArray, entries: FloatArray
) -> SecondOrder:
    """L b / 2 and (L a + J a + a J') / 2 of the working model, in its units.

    ``states (n, d)``, ``drift (d, n)``, ``entries (E, n)``.
    """
    units, pairs = model.units, tensor.pairs(len(model.units))
    gradients = model.basis.gradients(states) * units
    hessians = model.basis.hessians(states) * np.outer(units, units)
    field = tensor.symmetric(entries.T, len(units))
    moved = np.einsum("nkp,pn->kn", gradients, drift)
    moved += 0.5 * np.einsum("nkpq,npq->kn", hessians, field)
    jacobian = np.einsum("pk,nkq->pqn", model.drift, gradients)
    carried = np.einsum("prn,nrq->pqn", jacobian, field)
    mixed = np.stack([carried[p, q] + carried[q, p] for p, q in pairs])
    return SecondOrder(0.5 * model.drift @ moved, 0.5 * (model.entries @ moved + mixed), jacobian)


@dataclass
class Sums:
    """Normal equations of drift and tensor; see :class:`NormalPass`."""

    count: int
    drift_gram: FloatArray  # (E, K, K), one block for each pair of components
    drift_cross: FloatArray  # (d, K)
    entry_gram: FloatArray  # (E, K, K)
    entry_cross: FloatArray  # (E, K)
    residual: FloatArray  # (d,) sum of squared residuals over dt
    slack_likelihood: FloatArray  # (d, G) of residuals where noise is low, for each slack tried


@dataclass(frozen=True)
class NormalPass:
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
            np.zeros((d, len(SLACK_GRID))),
        )

    def add(self, total: Sums, chunk: Chunk) -> Sums:
        local = evaluate(self.model, chunk)
        d, pairs = len(local.steps), tensor.pairs(len(local.steps))
        squares = local.residual**2 / local.dt
        total.count += len(local.dt)
        total.residual += squares.sum(axis=1)
        precision = tensor.precision(drift_noise(self.model, local.entries), LEAST_UNSHARED)
        weights = np.concatenate(
            [precision * local.dt, 1.0 / entry_variance(self.model, local.entries)]
        )
        grams = self._weighted_grams(weights, local.theta)
        total.drift_gram += grams[: len(pairs)]
        total.entry_gram += grams[len(pairs) :]
        pulled = tensor.multiply(precision, local.steps)
        targets = np.stack([local.residual[p] * local.residual[q] for p, q in pairs]) / local.dt
        pulled_entries = (targets - local.excess) * weights[len(pairs) :]
        total.drift_cross += pulled @ local.theta.T
        total.entry_cross += pulled_entries @ local.theta.T
        for p in range(d):
            self._add_slack(total, p, local, squares[p])
        return total

    def _weighted_grams(self, weights: FloatArray, theta: FloatArray) -> FloatArray:
        """sum_n weights[m, n] theta theta' for each row m, ``(M, K, K)``, in one product."""
        (m, n), k = weights.shape, len(theta)
        stacked = _SCRATCH.take("stacked", m * k, n).reshape(m, k, n)
        np.multiply(weights[:, None, :], theta[None], out=stacked)
        return (stacked.reshape(m * k, n) @ theta.T).reshape(m, k, k)

    def _add_slack(self, total: Sums, p: int, local: Local, squares: FloatArray) -> None:
        variance = np.maximum(local.entries[tensor.pairs(len(local.steps)).index((p, p))], 0.0)
        low = variance < LOW_NOISE
        undecided = self.model.least[p] >= LOW_NOISE  # no tensor has been fitted yet
        if undecided or self.model.quiet[p] or not low.any():
            return
        raised = variance[low] + SLACK_GRID[:, None]
        total.slack_likelihood[p] -= 0.5 * np.sum(np.log(raised) + squares[low] / raised, axis=1)

    def merge(self, left: Sums, right: Sums) -> Sums:
        left.count += right.count
        for name in (
            "drift_gram",
            "drift_cross",
            "entry_gram",
            "entry_cross",
            "residual",
            "slack_likelihood",
        ):
            getattr(left, name)[...] += getattr(right, name)
        return left


def drift_noise(model: WorkingModel, entries: FloatArray) -> FloatArray:
    """Tensor entries ``(E, n)`` with variances that can be divided by."""
    noise = entries.copy()
    for e, (p, q) in enumerate(tensor.pairs(len(model.slack))):
        if p == q:
            noise[e] = model.quiet[p] or np.maximum(noise[e], model.least[p]) + model.slack[p]
    return noise


def entry_variance(model: WorkingModel, entries: FloatArray) -> FloatArray:
    """a_pp a_qq + a_pq^2 of the targets of each entry, ``(E, n)``, held away from zero."""
    noise = drift_noise(model, entries)
    pairs = tensor.pairs(len(model.slack))
    own = {p: np.maximum(noise[e], TENSOR_WEIGHT_FLOOR) for e, (p, q) in enumerate(pairs) if p == q}
    return np.stack(
        [
            own[p] * own[q] + (noise[e] ** 2 if p != q else own[p] ** 2)
            for e, (p, q) in enumerate(pairs)
        ]
    )


@dataclass
class Leak:
    """Sums of what a step adds to the residuals of each coordinate without noise of its own."""

    count: int
    level: FloatArray  # (d,)


@dataclass(frozen=True)
class LeakPass:
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

    def merge(self, left: Leak, right: Leak) -> Leak:
        return Leak(left.count + right.count, left.level + right.level)


@dataclass
class Scores:
    """Per trajectory the slope of the log-likelihood, ``(R, d, K)`` and ``(R, E, K)``."""

    drift: FloatArray
    entries: FloatArray
    clipped: int = 0
    count: int = 0


@dataclass(frozen=True)
class ScorePass:
    """Sum slopes of the log-likelihood by trajectory, and count where the tensor is clipped."""

    model: WorkingModel
    n_trajectories: int

    def empty(self) -> Scores:
        d, k = self.model.drift.shape
        e = len(self.model.entries)
        return Scores(np.zeros((self.n_trajectories, d, k)), np.zeros((self.n_trajectories, e, k)))

    def add(self, total: Scores, chunk: Chunk) -> Scores:
        local = evaluate(self.model, chunk)
        if not len(local.dt):
            return total
        pairs = tensor.pairs(len(local.steps))
        precision = tensor.precision(drift_noise(self.model, local.entries), LEAST_UNSHARED)
        targets = np.stack([local.residual[p] * local.residual[q] for p, q in pairs]) / local.dt
        off = (targets - local.excess - local.entries) / entry_variance(self.model, local.entries)
        slopes = np.concatenate([tensor.multiply(precision, local.residual), off])
        owner = chunk.trajectory[local.kept]
        edges = np.append(0, np.flatnonzero(np.diff(owner)) + 1)
        for first, last in zip(edges, np.append(edges[1:], len(owner)), strict=True):
            part = slopes[:, first:last] @ local.theta[:, first:last].T
            total.drift[owner[first]] += part[: len(local.steps)]
            total.entries[owner[first]] += part[len(local.steps) :]
        field = tensor.symmetric(local.entries.T, len(local.steps))
        total.clipped += int(np.count_nonzero(~tensor.has_root(field)))
        total.count += len(local.dt)
        return total

    def merge(self, left: Scores, right: Scores) -> Scores:
        return Scores(
            left.drift + right.drift,
            left.entries + right.entries,
            left.clipped + right.clipped,
            left.count + right.count,
        )
