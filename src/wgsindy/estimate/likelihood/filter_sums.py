"""What a filter along noisy samples tells of every coefficient: derivatives that run along.

The derivatives of m and Q with respect to every coefficient of drift, tensor and noise are linear
in what the transition gives, so one pass has the slope of the log-likelihood of the innovations and
its information. What tells noise from diffusion is the correlation of innovations: the gain of the
filter depends on both, and the mean on the gain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from wgsindy.data import BLOCK, BoolArray, Chunk, FloatArray, IntArray, zeros
from wgsindy.estimate.likelihood.filter import Asked, Blocks, Innovation, innovations
from wgsindy.estimate.likelihood.normal_equations import Coupling, NormalEquations, Scores
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.transition import congruence, multiply
from wgsindy.model import tensor
from wgsindy.passes import SumPass

LEAST_TOLD = 1e-12  # eigenvalue of the information about the noise, with a diagonal of one
KNOWN = 1e18  # information about what is known beforehand: errors of a billionth


class FreeFields(NamedTuple):
    """Which fields are estimated, by their numbers: all, unless some are known beforehand."""

    drift: list[int]  # f of the d components
    entries: list[int]  # g of the E entries of the tensor
    noise: list[int]  # N of the E entries of the covariance of the noise

    @classmethod
    def of(cls, model: Process) -> FreeFields:
        """Positions whose velocity is hidden have that for a drift, and no noise but a sensor's."""
        d, pairs = len(model.units), list(enumerate(tensor.pairs(len(model.units))))
        known = model.positions
        if known is None:
            return cls(list(range(d)), list(range(len(pairs))), list(range(len(pairs))))
        return cls(
            np.flatnonzero(~known).tolist(),
            [e for e, (p, q) in pairs if not (known[p] or known[q])],
            [e for e, (p, q) in pairs if known[p] and known[q]],
        )


@dataclass
class FilterSums:
    """Information and slope of the log-likelihood of innovations, in working terms.

    Of the fields that are :class:`Open`: ``f K`` coefficients of the drift, ``C = g K + N`` of the
    tensor and of the noise.
    """

    count: int
    log_likelihood: float
    clipped: int  # samples at which the tensor is not positive
    drift: FloatArray  # (f K, f K) information
    drift_slope: FloatArray  # (R or 1, f K) by trajectory, if asked for
    tensor: FloatArray  # (C, C) information
    tensor_slope: FloatArray  # (R or 1, C)
    mixed: FloatArray  # (f K, C) information that drift and tensor share

    def is_sound(self, model: Process) -> bool:
        """Whether the filter has not run away, and tells of the noise at all."""
        slopes = (self.drift_slope, self.tensor_slope)
        sums = (self.log_likelihood, self.drift, self.tensor, self.mixed, *slopes)
        if not all(bool(np.isfinite(one).all()) for one in sums):
            return False
        noise = _places(model)[1]
        own = self.tensor[np.ix_(noise, noise)]
        scale = np.sqrt(np.maximum(np.diag(own), np.finfo(np.float64).tiny))
        relative = np.linalg.eigvalsh(own / np.outer(scale, scale)) if len(noise) else np.ones(1)
        if relative.min() <= LEAST_TOLD:
            return False
        # Noise of one size that explains nearly everything leaves less than nothing to a field.
        return bool((np.diag(self._left_open(model)[0]) > 0).all())

    @np.errstate(all="ignore")  # sums near the largest number leave none of what is solved for
    def equations(self, model: Process) -> NormalEquations:
        """Pose them as normal equations about ``model``, with the noise of the sensor left open."""
        (d, k), e = model.drift.shape, len(model.entries)
        gram, slopes = self._of_all_fields(model)
        blocks, size = gram.reshape(d + e, k, d + e, k), d * k
        slope = slopes.sum(axis=0)
        drift_cross = slope[:size] + gram[:size, :size] @ model.drift.ravel()
        entry_cross = slope[size:] + gram[size:, size:] @ model.entries.ravel()
        cross = slope + gram @ np.append(model.drift, model.entries)
        return NormalEquations(
            np.stack([blocks[p, :, q] for p, q in tensor.pairs(d)]),
            drift_cross.reshape(d, k),
            np.stack([blocks[row, :, row] for row in range(d, d + e)]),
            entry_cross.reshape(e, k),
            model.basis.from_physical,
            Coupling(blocks, cross.reshape(d + e, k)),
        )

    @np.errstate(all="ignore")
    def _left_open(self, model: Process) -> tuple[FloatArray, FloatArray]:
        """Information and slopes of drift and tensor if the noise may be anything.

        Its part is eliminated (Schur complement).
        """
        fields, noise = _places(model)
        gram, with_noise = self._information(model)
        slopes = np.hstack([self.drift_slope, self.tensor_slope[:, fields]])
        solved = np.linalg.solve(self.tensor[np.ix_(noise, noise)], with_noise.T)
        return gram - with_noise @ solved, slopes - self.tensor_slope[:, noise] @ solved

    def _information(self, model: Process) -> tuple[FloatArray, FloatArray]:
        """That of drift and tensor, and what they share with the noise."""
        fields, noise = _places(model)
        shared, own = self.mixed[:, fields], self.tensor[np.ix_(fields, fields)]
        gram = np.block([[self.drift, shared], [shared.T, own]])
        return gram, np.vstack([self.mixed[:, noise], self.tensor[np.ix_(fields, noise)]])

    def _of_all_fields(self, model: Process) -> tuple[FloatArray, FloatArray]:
        """Put :meth:`_left_open` among all fields; about those that are known all is known."""
        gram, slopes = self._left_open(model)
        own, (d, k) = FreeFields.of(model), model.drift.shape
        fields = [*own.drift, *(d + e for e in own.entries)]
        count = d + len(model.entries)
        if len(fields) == count:
            return gram, slopes
        rows = (np.array(fields)[:, None] * k + np.arange(k)).ravel()
        whole = np.eye(count * k) * KNOWN
        whole[np.ix_(rows, rows)] = gram
        wide = np.zeros((len(slopes), count * k))
        wide[:, rows] = slopes
        return whole, wide

    def noise(self, model: Process, drift: FloatArray, entries: FloatArray) -> FloatArray:
        """Noise ``(E,)`` that is most likely with ``drift (d, K)`` and ``entries (E, K)``."""
        (fields, noise), own = _places(model), FreeFields.of(model)
        slope = self.tensor_slope.sum(axis=0)[noise]
        slope = slope - self.mixed[:, noise].T @ (drift - model.drift)[own.drift].ravel()
        slope -= self.tensor[np.ix_(noise, fields)] @ (entries - model.entries)[own.entries].ravel()
        change = np.linalg.solve(self.tensor[np.ix_(noise, noise)], slope)
        found = model.observation_noise.copy()
        found[_free_noise(model)] += change
        covariance = tensor.symmetric((found - _diagonal(model.rounding))[None], len(model.units))
        return tensor.entries_of(tensor.clip(covariance))[0] + _diagonal(model.rounding)

    def with_noise(self, model: Process, noise: FloatArray) -> FilterSums:
        """Expect what a pass finds if the noise is ``noise (E,)``, and all else as in ``model``."""
        own, fields = FreeFields.of(model), len(_places(model)[0])
        change = (noise - model.observation_noise)[own.noise] / len(self.tensor_slope)
        return replace(
            self,
            drift_slope=self.drift_slope - self.mixed[:, fields:] @ change,
            tensor_slope=self.tensor_slope - self.tensor[:, fields:] @ change,
        )

    def noise_errors(self, model: Process, support: BoolArray) -> FloatArray:
        """Standard errors ``(d,)`` of the variances of the noise; zero where they are known.

        ``support (d + E, K)`` has the physical terms of drift and tensor, whose errors are in it.
        """
        noise, d, own = _places(model)[1], len(model.units), FreeFields.of(model)
        chosen = support[[*own.drift, *(d + e for e in own.entries)]]
        change = np.kron(np.eye(len(chosen)), model.basis.from_physical)[chosen.ravel()]
        gram, with_noise = self._information(model)
        mixed, variances = change @ with_noise, np.zeros(len(support) - d)
        solved = np.linalg.lstsq(change @ gram @ change.T, mixed)[0]
        left = self.tensor[np.ix_(noise, noise)] - mixed.T @ solved
        variances[_free_noise(model)] = np.diag(np.linalg.pinv(left))
        return np.sqrt(variances[[tensor.entry_number(p, p) for p in range(d)]])

    def scores(self, model: Process) -> Scores:
        """Slopes by trajectory."""
        d, k = model.drift.shape
        slopes = self._of_all_fields(model)[1]
        slopes = slopes.reshape(len(slopes), -1, k)
        return Scores(slopes[:, :d], slopes[:, d:], self.clipped, self.count)


def _places(model: Process) -> tuple[IntArray, IntArray]:
    """Which of the coefficients are those of the tensor, and which those of noise that is free."""
    own, k = FreeFields.of(model), model.drift.shape[1]
    fields = len(own.entries) * k
    return np.arange(fields), fields + np.flatnonzero(model.noisy[own.noise])


def _free_noise(model: Process) -> list[int]:
    """Entries of the covariance of the noise that are estimated."""
    return [e for e in FreeFields.of(model).noise if model.noisy[e]]


def _diagonal(variances: FloatArray) -> FloatArray:
    return tensor.entries_of(np.diag(variances)[None])[0]


@dataclass(frozen=True)
class FilterPass(SumPass[FilterSums]):
    """Sum information and slopes over all innovations.

    Slopes by trajectory if there are ``n_trajectories``, else over all of them.
    """

    model: Process
    n_trajectories: int = 0
    block: int = BLOCK  # samples
    piece: int = BLOCK  # of these that run side by side

    def empty(self) -> FilterSums:
        k, own = self.model.drift.shape[1], FreeFields.of(self.model)
        b, c = len(own.drift) * k, len(own.entries) * k + len(own.noise)
        rows = max(self.n_trajectories, 1)
        return FilterSums(0, 0.0, 0, *zeros((b, b), (rows, b), (c, c), (rows, c), (b, c)))

    def add(self, total: FilterSums, chunk: Chunk) -> FilterSums:
        with np.errstate(all="ignore"):  # a filter that runs away is seen by its sums
            return self._added(total, chunk)

    def _added(self, total: FilterSums, chunk: Chunk) -> FilterSums:
        blocks, warming_up = Blocks.in_pieces(chunk, self.block, self.piece)
        begins = None if chunk.seen is None else chunk.seen[blocks.first, 0].T
        clustered = self.n_trajectories > 0
        tangent = _Tangent.start(self.model, len(blocks.first), begins, clustered=clustered)
        dynamics, entries = self.model.dynamics, []
        for step, found in enumerate(
            innovations(dynamics, self.model.observation_noise, chunk, blocks)
        ):
            tangent.predict(found, chunk.dt[found.rows])
            new = slice(warming_up if step < self.piece else 0, len(found.rows))
            if found.counts:
                total.log_likelihood += tangent.add(found, new)
            total.count += new.stop - new.start
            entries.append(dynamics.entries @ found.path.theta[:, new])
        total.clipped += int(np.count_nonzero(~tensor.has_root(np.hstack(entries))))
        owner, b = blocks.owner if clustered else [0], tangent.b
        np.add.at(total.drift_slope, owner, tangent.slope[:b].T)
        np.add.at(total.tensor_slope, owner, tangent.slope[b:].T)
        total.drift += tangent.information[:b, :b]
        total.mixed += tangent.information[:b, b:]
        total.tensor += tangent.information[b:, b:]
        return total


@dataclass
class _Tangent:
    """Derivatives of filtered mean and covariance with respect to all coefficients that are open.

    Those of the ``b = f K`` of the drift come before those of the ``C`` of tensor and noise. The
    covariance hardly depends on the drift, whose derivative is left out.
    """

    own: FreeFields
    b: int
    mean: FloatArray  # (d, b + C, B)
    spread: FloatArray  # (E, C, B)
    slope: FloatArray  # (b + C, B or 1) of each block, or their sum
    information: FloatArray  # (b + C, b + C)
    before: Innovation | None = None  # whose update is still to be made

    @classmethod
    def start(
        cls, model: Process, blocks: int, seen: BoolArray | None, *, clustered: bool
    ) -> _Tangent:
        """Begin ``blocks``; ``seen (d, B)`` is what their first samples have, None if all.

        Slopes of each block if they are to be ``clustered`` by trajectory.
        """
        (d, k), e, own = model.drift.shape, len(model.entries), FreeFields.of(model)
        b, first = len(own.drift) * k, len(own.entries) * k
        c, pairs = first + len(own.noise), tensor.pairs(d)
        spread = np.zeros((e, c, blocks))
        for column, row in enumerate(own.noise, first):  # the noise of its first sample
            p, q = pairs[row]
            spread[row, column] = 1.0 if seen is None else seen[p] & seen[q]
        mean = np.zeros((d, b + c, blocks))
        slope = np.zeros((b + c, blocks if clustered else 1))
        return cls(own, b, mean, spread, slope, np.zeros((b + c, b + c)))

    @property
    def _noise(self) -> list[tuple[int, int]]:
        """Entry and column of each coefficient of the noise."""
        first = self.spread.shape[1] - len(self.own.noise)
        return [(entry, first + column) for column, entry in enumerate(self.own.noise)]

    def predict(self, found: Innovation, dt: FloatArray) -> None:
        """Carry the derivatives over the last update and a step, and add what the step adds."""
        path, n, (d, e) = found.path, len(dt), (len(self.mean), len(self.spread))
        k, f, g = len(path.theta), len(self.own.drift), len(self.own.entries)
        self.mean, self.spread = self.mean[:, :, :n], self.spread[:, :, :n]
        if self.before is None:
            self._carry(path.flow)
        else:
            self._update(self.before, path.flow)
        self.before, theta = found, path.theta * dt
        own = self.mean[:, : self.b].reshape(d, f, k, n)
        own += path.response[:, self.own.drift, None] * theta
        # A tensor at the start, in the middle and at the end of the step, by Simpson's rule.
        within = np.concatenate([path.flow, path.middle], axis=2)
        carried = congruence(within, self.own.entries)
        response = carried[:, :, n:]
        response *= 4
        response += carried[:, :, :n]
        for column, entry in enumerate(self.own.entries):
            response[entry, column] += 1.0
        response /= 6
        own = self.spread[:, : g * k].reshape(e, g, k, n)
        own += response[:, :, None] * theta

    def _carry(self, flow: FloatArray) -> None:
        self.mean = multiply(flow, self.mean)
        self.spread = multiply(congruence(flow), self.spread)

    def _update(self, found: Innovation, flow: FloatArray) -> None:
        """Update the derivatives as the filter updates mean and covariance, and carry them on."""
        d, n = flow.shape[1:]
        asked, pull = found.asked, np.zeros((d, n))
        pull[asked] = found.pull[:, :n]
        # The gain moves with the coefficients, and with it what an innovation does to the mean.
        moved = self.mean[:, self.b :]
        for q in np.arange(d)[asked].tolist():
            rows = [tensor.entry_number(p, q) for p in range(d)]
            moved += self.spread.take(rows, axis=0) * pull[q]
        gain = np.zeros_like(flow)  # of what was measured, seen at the end
        gain[:, asked] = multiply(flow, found.gain[:, :, :n])
        self._carry(flow - gain)
        kept = congruence(gain, self.own.noise)
        for number, (row, column) in enumerate(self._noise):
            p, q = tensor.pairs(d)[row]
            self.spread[:, column] += kept[:, number]
            moved = self.mean[:, self.b + column]
            moved -= gain[:, p] * pull[q]
            if p != q:
                moved -= gain[:, q] * pull[p]

    def add(self, found: Innovation, new: slice) -> float:
        """Add information and slopes of one step of some blocks; return its log-likelihood.

        ``spread`` is that of the prediction here. Only coordinates that were measured tell.
        """
        asked, factor = found.asked, found.whitening[:, :, new]
        white, whitening = multiply(factor, found.value[:, None, new])[:, 0], factor
        if found.seen is not None:
            whitening = factor * found.seen[:, new]
        mean = multiply(whitening, self.mean[asked][:, :, new])
        spread = multiply(congruence(whitening), self._observed(asked, new))
        log_likelihood = -0.5 * float(np.vdot(white, white))
        of_tensor = self.information[self.b :, self.b :]
        for p, row in enumerate(mean):
            self.information += row @ row.T
            self._add_slope(row, white[p], new)
            log_likelihood += float(np.log(factor[p, p]).sum())
        for (p, q), row in zip(tensor.pairs(len(mean)), spread, strict=True):
            # Products p q and q p are the same, and both count.
            weight = 0.5 if p == q else 1.0
            of_tensor += weight * (row @ row.T)
            self._add_slope(row, weight * (white[p] * white[q] - (p == q)), new)
        return log_likelihood

    def _add_slope(self, row: FloatArray, factor: FloatArray, new: slice) -> None:
        """Add a ``row (.., n)`` times ``factor (n,)`` to the last slopes."""
        if self.slope.shape[1] > 1:
            self.slope[-len(row) :, new] += row * factor
        else:
            self.slope[-len(row) :, 0] += row @ factor

    def _observed(self, measured: Asked, new: slice) -> FloatArray:
        """Derivative of S, of what was measured: that of Q and, for the noise, of itself."""
        asked = np.arange(len(self.mean))[measured].tolist()
        rows = [tensor.entry_number(asked[p], asked[q]) for p, q in tensor.pairs(len(asked))]
        observed = self.spread[:, :, new][rows]
        for row, column in self._noise:
            if row in rows:
                observed[rows.index(row), column] += 1.0
        return observed
