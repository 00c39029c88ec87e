"""The Gaussian working likelihood of increments, as sums over samples.

Given the state, an increment is taken to be normal with mean b dt and covariance a dt. Its
log-likelihood is quadratic in the drift coefficients, and that of the residual products is close
to quadratic in the tensor coefficients, so a pass over the data collects weighted normal equations
and nothing else. Weights come from a :class:`Process`, the result of the pass before.
:class:`NormalEquations` poses the sums of a pass as problems of evidence, in physical terms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from wgsindy.data import Chunk, Dataset, FloatArray, Scratch, Spans, block_labels, zeros
from wgsindy.estimate.evidence import Problem, Root
from wgsindy.estimate.likelihood.process import (
    Process,
    StepResiduals,
    drift_noise,
    entry_variance,
    evaluate,
)
from wgsindy.model import tensor
from wgsindy.passes import SERIAL, Engine, Pass, SumPass, Total, reduce, segments_of

# Drift weights may follow the formula further down than those of the tensor, as far as the
# residuals agree: below this share of the mean noise, a variance is added that makes them most
# likely.
LOW_NOISE = 0.3
EXTRA_VARIANCES = 10.0 ** np.arange(-10.0, 0.25, 0.5)
LEAN_EVERY = 8  # samples: a share of an error need not be known well
SOFT_FLOOR = 0.05  # share of the mean noise that a variance has where its formula is negative
LEAST_UNSHARED = 0.01  # share of its noise that a coordinate must be given for itself

MOST_LASTING = 0.999  # correlation of neighbouring residuals that repetitions are counted by
# Stretches and their increments, from which terms and weights are known to a percent; and how many
# times more data it takes to make it worth while to settle on these first.
PIECES, PIECE, MANY = 100, 250, 16
# Larger chunks leave the cache, smaller ones cost Python's own time and make threads wait for
# each other.
CHUNK_NUMBERS, MOST_SAMPLES = 500_000, 8192
TINY = np.finfo(np.float64).tiny

_SCRATCH = Scratch()


@dataclass(frozen=True)
class Runner:
    """Runs passes over one data set."""

    data: Dataset
    engine: Engine
    chunk_size: int

    def __call__(self, step: Pass[Total], *, following: bool = False, chunk_size: int = 0) -> Total:
        size = chunk_size or self.chunk_size
        return reduce(step, self.data, engine=self.engine, chunk_size=size, following=following)

    def on_pilot(self, pieces: int = PIECES, piece: int = PIECE, many: int = MANY) -> Runner:
        """Run over a pilot sample where the whole is so much that a good start saves passes."""
        if self.data.n_increments < many * pieces * piece:
            return self
        few = segments_of(self.data, pieces, piece, engine=self.engine)
        return replace(self, data=few, engine=SERIAL)


def chunk_size(dimension: int, terms: int, *, is_chain: bool) -> int:
    """Samples a chunk, so that the weighted copies of the library stay in the cache.

    The path of a process takes as much space again.
    """
    copies = (2 if is_chain else 4) * len(tensor.pairs(dimension)) * terms
    return int(np.clip(CHUNK_NUMBERS // copies, 256, MOST_SAMPLES))


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
    log_likelihood: FloatArray  # () of residuals over the root of dt, in the units of the model


@dataclass(frozen=True)
class NormalPass(SumPass[Sums]):
    """Sum the weighted normal equations of all drift components and of each tensor entry.

    Drift: sum theta theta' dt (x) a^-1 and sum theta (x) a^-1 dX. Entry (p, q): targets
    e_p e_q / dt of residuals e, each with variance a_pp a_qq + a_pq^2.
    """

    model: Process

    def empty(self) -> Sums:
        d, k = self.model.drift.shape
        e = len(self.model.entries)
        by_extra = (d, len(EXTRA_VARIANCES))
        return Sums(0, *zeros((e, k, k), (d, k), (e, k, k), (e, k), (d,), (d,), by_extra, ()))

    @np.errstate(all="ignore")
    def add(self, total: Sums, chunk: Chunk) -> Sums:
        local = self._evaluated(chunk)
        squares = local.residual**2 / local.dt
        total.count += len(local.dt)
        total.residual += squares.sum(axis=1)
        noise = drift_noise(self.model, local)
        precision, _ = tensor.precision(noise, LEAST_UNSHARED)
        total.log_likelihood += _log_likelihood(self.model, local)
        entry_weights = local.gain**2 / entry_variance(noise)
        weights = np.concatenate([precision * local.dt, entry_weights])
        grams = self._weighted_grams(weights, local.theta)
        total.drift_gram += grams[: len(noise)]
        total.entry_gram += grams[len(noise) :]
        total.drift_cross += tensor.times(precision, local.steps) @ local.theta.T
        total.entry_cross += (local.targets * entry_weights) @ local.theta.T
        for p in range(len(local.steps)):
            if not self.model.noiseless_level[p]:
                noise_of_own = local.noise[tensor.entry_number(p, p)]
                total.impossible[p] += np.count_nonzero(noise_of_own <= 0)
            self._add_extra_variance(total, p, local, squares[p])
        return total

    def _evaluated(self, chunk: Chunk) -> StepResiduals:
        return evaluate(self.model, chunk)

    def _weighted_grams(self, weights: FloatArray, theta: FloatArray) -> FloatArray:
        """sum_n weights[m, n] theta theta' for each row m, ``(M, K, K)``, in one product.

        Products of monomials are monomials, and many of them the same one. Means along a path are
        not.
        """
        (m, n), k = weights.shape, len(theta)
        if self.model.is_chain:
            (left, right), index = self.model.basis.products
            moments = _SCRATCH.take("moments", len(left), n)
            for row, (i, j) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
                np.multiply(theta[i], theta[j], out=moments[row])
            return (weights @ moments.T)[:, index]
        stacked = _SCRATCH.take("stacked", m * k, n).reshape(m, k, n)
        np.multiply(weights[:, None, :], theta[None], out=stacked)
        return (stacked.reshape(m * k, n) @ theta.T).reshape(m, k, k)

    def _add_extra_variance(
        self, total: Sums, p: int, local: StepResiduals, squares: FloatArray
    ) -> None:
        variance = np.maximum(local.noise[tensor.entry_number(p, p)], 0.0)
        low = variance < LOW_NOISE
        undecided = self.model.variance_floor[p] >= LOW_NOISE  # no tensor has been fitted yet
        if undecided or self.model.noiseless_level[p] or not low.any():
            return
        raised = variance[low] + EXTRA_VARIANCES[:, None]
        total.low_noise_likelihood[p] -= 0.5 * np.sum(
            np.log(raised) + squares[low] / raised, axis=1
        )


@dataclass(frozen=True)
class LaggedPass(NormalPass):
    """The same sums of states and the increment after the next: of one that shares no sample.

    Noise of a sample is in the increments before and after it, and biases a drift that is fitted
    to either. To what comes later it has nothing to say.
    """

    def add(self, total: Sums, chunk: Chunk) -> Sums:
        assert chunk.following is not None
        later = chunk._replace(increments=chunk.following, following=None)
        return super().add(total, later.at(chunk.is_followed))


def _log_likelihood(model: Process, local: StepResiduals) -> float:
    """That of residuals over the root of dt, with variances that are positive smoothly.

    One measure for all processes, whatever floors their weights have: with h = (v - s) / 2, the
    variance s + h + sqrt(h^2 + s^2) is v where that is noise, and s where a formula is negative.
    """
    noise = local.noise.copy()
    for p, level in enumerate(model.noiseless_level.tolist()):
        own = tensor.entry_number(p, p)
        if level:
            noise[own] = level
        elif model.variance_floor[p] >= 1:  # no tensor has been fitted yet
            np.maximum(noise[own], 1.0, out=noise[own])
        else:
            half = (noise[own] - SOFT_FLOOR) / 2
            noise[own] = SOFT_FLOOR + half + np.sqrt(half**2 + SOFT_FLOOR**2)
    precision, root = tensor.precision(noise, LEAST_UNSHARED)
    pulled = tensor.times(precision, local.residual)
    density = np.log(root / np.abs(local.shrunk)).sum()
    return float(density - 0.5 * np.vdot(local.residual / local.dt, pulled))


@dataclass(frozen=True)
class TrapezoidPass(NormalPass):
    """The same sums with the library averaged over both ends of a step, without a drift yet."""

    def _evaluated(self, chunk: Chunk) -> StepResiduals:
        local = super()._evaluated(chunk)
        ends = self.model.basis.values(chunk.states + chunk.increments).T
        return local._replace(theta=(local.theta + ends) / 2)


@dataclass
class WithinStepNoise:
    """Sums of what a step adds to the residuals of each coordinate without noise of its own."""

    count: int
    level: FloatArray  # (d,)
    own_share: FloatArray  # (d,) of each increment, what the drift does not explain of it
    products: FloatArray  # (3, d) of residuals and those none, one and two steps later, over dt
    truncation: FloatArray  # (d,) squares of what two steps of half the length do otherwise

    @property
    def smooth_share(self) -> FloatArray:
        """Share ``(d,)`` of the residuals that last, by their correlations carried on to lag zero.

        Those of a smooth path fall with the square of the lag, those of noise all at once.
        """
        _, one, two = self.products / np.maximum(self.products[0], TINY)
        return np.asarray(one + (one - two) / 3)

    @property
    def repeats(self) -> FloatArray:
        """How many residuals ``(d,)`` tell as much as one that is independent of the others."""
        _, one, _ = self.products / np.maximum(self.products[0], TINY)
        lasting = np.clip(one, 0.0, MOST_LASTING)
        return np.asarray((1 + lasting) / (1 - lasting))


@dataclass(frozen=True)
class WithinStepNoisePass(SumPass[WithinStepNoise]):
    """Sum the variances of a step over dt, and the squares of what the drift changes within it.

    Within a step, the noise of the other coordinates moves this one through the drift, and the
    drift itself changes, which a chain does not know of. Residuals of this size need no noise of
    their own. Nor do residuals that last from step to step: they are what a formula misses of a
    smooth path. Chunks must hold whole blocks.
    """

    model: Process

    def empty(self) -> WithinStepNoise:
        d = len(self.model.units)
        return WithinStepNoise(0, np.zeros(d), np.zeros(d), np.zeros((3, d)), np.zeros(d))

    def add(self, total: WithinStepNoise, chunk: Chunk) -> WithinStepNoise:
        dynamics = self.model.dynamics
        path = replace(dynamics, is_chain=False).along(chunk)
        level = np.einsum("ppn->pn", path.covariance)
        if self.model.is_chain:
            level = level + (path.mean - dynamics.along(chunk).mean) ** 2
        total.count += len(chunk.dt)
        total.level += (level / chunk.dt).sum(axis=1)
        steps = chunk.increments.T / self.model.units[:, None]
        seen = dynamics.along(chunk).mean
        total.truncation += ((seen - self._two_steps(chunk)) ** 2 / chunk.dt).sum(axis=1)
        residual = steps - seen
        unexplained = residual**2
        total.own_share += (unexplained / np.maximum(unexplained + steps**2, TINY)).sum(axis=1)
        label, scaled = block_labels(chunk), residual / np.sqrt(chunk.dt)
        first = np.flatnonzero(label[:-2] == label[2:])
        for lag, products in enumerate(total.products):
            products += np.sum(scaled[:, first] * scaled[:, first + lag], axis=1)
        return total

    def _two_steps(self, chunk: Chunk) -> FloatArray:
        half = chunk._replace(dt=chunk.dt / 2, increments=chunk.increments / 2)
        first = self.model.dynamics.along(half).mean
        middle = chunk.states + (first * self.model.units[:, None]).T
        return first + self.model.dynamics.along(half._replace(states=middle)).mean


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

    model: Process
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

    def _add_slopes(self, total: Scores, chunk: Chunk, local: StepResiduals) -> None:
        noise = drift_noise(self.model, local)
        precision, _ = tensor.precision(noise, LEAST_UNSHARED)
        pulled = tensor.times(precision, local.residual)
        off = (local.targets - local.entries) * local.gain**2 / entry_variance(noise)
        slopes = np.concatenate([pulled, off])
        for owner, part in Spans.of(chunk.trajectory):
            sums = slopes[:, part] @ local.theta[:, part].T
            total.drift[owner] += sums[: len(local.steps)]
            total.entries[owner] += sums[len(local.steps) :]


@dataclass
class DriftTensorCoupling:
    """Sums of a regression: what the tensor takes over from an error of the drift."""

    gram: FloatArray  # (E, K, K) of the library
    cross: FloatArray  # (E, K, d, K) of the library and what a drift coefficient does to the noise


@dataclass(frozen=True)
class DriftTensorPass(SumPass[DriftTensorCoupling]):
    """Sum how the tensor leans on the drift.

    If dJ is the error of the drift's derivatives, a step over dt spreads by (dJ a + a dJ') dt / 2
    more or less than it seems to, and the tensor is fitted to what is left.
    """

    model: Process

    def empty(self) -> DriftTensorCoupling:
        (d, k), e = self.model.drift.shape, len(self.model.entries)
        return DriftTensorCoupling(*zeros((e, k, k), (e, k, d, k)))

    @np.errstate(all="ignore")  # the slope of a root at zero is infinite; formulas may explode
    def add(self, total: DriftTensorCoupling, chunk: Chunk) -> DriftTensorCoupling:
        chunk = chunk.at(np.arange(-chunk.start % LEAN_EVERY, len(chunk.dt), LEAN_EVERY))
        if not len(chunk.dt):  # the last chunk of the data may be a few samples
            return total
        local = evaluate(self.model, chunk)
        weights = local.gain**2 / entry_variance(drift_noise(self.model, local))
        slopes = self.model.basis.gradients(chunk.states).transpose(2, 1, 0)
        slopes = np.where(np.isfinite(slopes), slopes, 0.0) * self.model.units[:, None, None]
        d, halves = len(slopes), local.entries * (local.dt / 2)
        acts = np.any(self.model.dynamics.entries != 0, axis=1)  # of positions, one in four
        for e, (p, q) in enumerate(tensor.pairs(d)):
            weighted = local.theta * weights[e]
            total.gram[e] += weighted @ local.theta.T
            for row, other in ((p, q), (q, p)):
                for r in range(d):
                    if acts[own := tensor.entry_number(r, other)]:
                        total.cross[e][:, row] += (weighted * halves[own]) @ slopes[r].T
        return total


class Coupling(NamedTuple):
    """Normal equations of all ``F = d + E`` fields at once, in working terms."""

    gram: FloatArray  # (F, K, F, K)
    cross: FloatArray  # (F, K)


@dataclass(frozen=True)
class NormalEquations:
    """Normal equations of ``d`` drift components and ``E`` tensor entries, in working terms."""

    drift_gram: FloatArray  # (E, K, K), the block (p, q) of each pair of components
    drift_cross: FloatArray  # (d, K)
    entry_gram: FloatArray  # (E, K, K)
    entry_cross: FloatArray  # (E, K)
    change: FloatArray  # (K, K) expresses the physical terms by the working ones
    coupling: Coupling | None = None  # if all fields tell of each other

    @classmethod
    def of(cls, sums: Sums, change: FloatArray) -> NormalEquations:
        """Return those of a pass over steps that are independent of each other."""
        return cls(sums.drift_gram, sums.drift_cross, sums.entry_gram, sums.entry_cross, change)

    @property
    def dimension(self) -> int:
        return len(self.drift_cross)

    @property
    def coupled(self) -> bool:
        """Whether any two drift components share noise, so that each tells of the other."""
        pairs = enumerate(tensor.pairs(self.dimension))
        return any(p != q and bool(self.drift_gram[e].any()) for e, (p, q) in pairs)

    def solved_by(self, drift: FloatArray, entries: FloatArray) -> NormalEquations:
        """Return equations of the same information that ``drift`` and ``entries`` solve."""
        d, coupling, fields = self.dimension, self.coupling, np.vstack([drift, entries])
        own = [sum(self._between(p, q) @ drift[q] for q in range(d)) for p in range(d)]
        entry_cross = np.einsum("ekl,el->ek", self.entry_gram, entries)
        if coupling is not None:
            cross = np.einsum("fkgl,gl->fk", coupling.gram, fields)
            entry_cross = np.einsum("ekfl,fl->ek", coupling.gram[d:, :, d:], entries)
            coupling = coupling._replace(cross=cross)
        return replace(self, drift_cross=np.array(own), entry_cross=entry_cross, coupling=coupling)

    @property
    def are_sound(self) -> bool:
        """Whether all sums are numbers, and tell something about every coefficient."""
        grams = (*self._own_grams, *self.entry_gram)
        sums = (self.drift_gram, self.drift_cross, self.entry_gram, self.entry_cross)
        return all(bool(np.isfinite(one).all()) for one in sums) and all(
            bool((np.diag(gram) > 0).all()) for gram in grams
        )

    @property
    def _own_grams(self) -> FloatArray:
        own = [tensor.entry_number(p, p) for p in range(self.dimension)]
        return self.drift_gram[own]

    def _between(self, p: int, q: int) -> FloatArray:
        block = self.drift_gram[tensor.entry_number(p, q)]
        return block if p >= q else block.T

    def component(self, drift: FloatArray, p: int) -> Problem:
        """Component ``p``, given the others of ``drift (d, K)`` in working terms."""
        cross = self.drift_cross[p].copy()
        for q in range(self.dimension):
            if q != p:
                cross -= self._between(p, q) @ drift[q]
        return self._drift_roots[p].problem(cross)

    @cached_property
    def _drift_roots(self) -> list[Root]:
        return [Root.of(gram, self.change) for gram in self._own_grams]

    def entry(self, entries: FloatArray, e: int) -> Problem:
        """Tensor entry ``e``, given the others of ``entries (E, K)`` in working terms."""
        cross = self.entry_cross[e]
        if self.coupling is not None:
            d, others = self.dimension, entries.copy()
            others[e] = 0.0
            cross = cross - np.einsum("kfl,fl->k", self.coupling.gram[d + e, :, d:], others)
        return self._entry_roots[e].problem(cross)

    @cached_property
    def _entry_roots(self) -> list[Root]:
        return [Root.of(gram, self.change) for gram in self.entry_gram]

    def all_components(self) -> Problem:
        """All drift components at once, ``d K`` coefficients."""
        d, k = self.drift_cross.shape
        gram = np.empty((d, k, d, k))
        for p, q in tensor.pairs(d):
            gram[p, :, q] = self._between(p, q)
            gram[q, :, p] = self._between(p, q).T
        return self._jointly(gram, self.drift_cross)

    def all_fields(self) -> Problem | None:
        """All ``(d + E) K`` coefficients at once; nothing if fields do not tell of each other."""
        return None if self.coupling is None else self._jointly(*self.coupling)

    def _jointly(self, gram: FloatArray, cross: FloatArray) -> Problem:
        change: FloatArray = np.kron(np.eye(len(cross)), self.change).astype(np.float64)
        return Problem.from_sums(gram.reshape(cross.size, cross.size), cross.ravel(), change)
