"""The transition from a state over a step: its mean, its covariance, the library along its path.

A diffusion that is at m with covariance Q drifts on and spreads,

    m' = E[b],    Q' = E[J] Q + Q E[J]' + E[a] + skew,    J the derivatives of b.

Expectations are over the spread about m, to its second moments and, in long steps, to its third:
where the drift bends, a spread becomes skew, S' = sum over permutations of Q H_i Q, J S and
grad(a) Q, H_i the second derivatives of b_i, and a skew spread widens by H : S.

The derivative of the end of the path with respect to the coefficient of phi in b_p is the integral
of F(s) e_p E[phi](s) over the step, F(s) the derivative of the end with respect to the state at s.
Seen through the mean of F, the *response*, a design row is therefore the library averaged along the
path. One Euler step is the shortest path: the library where it begins.

Everything is in units of the noise (:class:`~.working_model.WorkingModel`), sample last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.data.chunk import Chunk
from wgsindy.data.frame import Frame
from wgsindy.model import tensor
from wgsindy.passes.summary import DataSummary
from wgsindy.terms.basis import Basis

MOST_SKEWED = 8  # coordinates whose third moments are followed
SHORT_STEP = 0.15  # |J| dt up to which two points a step are enough: errors are (J dt)^2 / 24
LONGEST_SUBSTEP = 0.8  # |J| h of a Runge-Kutta step of fourth order, of a sample of states
MOST_SUBSTEPS = 8
WORST = 0.3  # standard errors of the drift that the error of a step may be
EDGE = 0.01  # of the mean variance of a step: the least that keeps derivatives off an edge

# Where a stage is, as a share of the step ahead along the rates of the one before; its weight.
Stages = tuple[tuple[float, float], ...]
EULER: Stages = ((0.0, 1.0),)
MIDPOINT: Stages = ((0.0, 0.0), (0.5, 1.0))
RUNGE_KUTTA: Stages = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))


class Fields(NamedTuple):
    """Fields averaged over the spread at one point of each path."""

    theta: FloatArray  # (K, n) library
    drift: FloatArray  # (d, n)
    jacobian: FloatArray  # (d, d, n)
    tensor: FloatArray  # (d, d, n)
    bend: FloatArray  # (d, d, d, n) second derivatives of the drift
    slope: FloatArray  # (d, d, d, n) derivatives of the tensor, the last index that of the state


class Spread(NamedTuple):
    """What a path carries beside its mean."""

    moments: FloatArray  # (d, 3 d, n) covariance, flow, and response times time, side by side
    skewness: FloatArray | None  # (d, d, d, n) third central moments, if steps are long

    @property
    def covariance(self) -> FloatArray:
        """``(d, d, n)``."""
        return self.moments[:, : len(self.moments)]

    def moved(self, rates: Spread, time: FloatArray | float) -> Spread:
        """Add rates over some time."""
        skewness = self.skewness
        if skewness is not None and rates.skewness is not None:
            skewness = skewness + time * rates.skewness
        return Spread(self.moments + time * rates.moments, skewness)


@dataclass(frozen=True)
class Transition:
    """What a step does, for ``n`` samples."""

    theta: FloatArray  # (K, n) library, averaged along the path
    mean: FloatArray  # (d, n) displacement of the mean
    covariance: FloatArray  # (d, d, n) at the end
    flow: FloatArray  # (d, d, n) derivative of the end with respect to the start
    response: FloatArray  # (d, d, n) mean of F(s): displacement by a constant drift, over dt

    @cached_property
    def stages(self) -> tuple[FloatArray, FloatArray]:
        """F(s) at the start and in the middle of the step, ``(d, d, n)``; at its end it is one.

        Its mean is known, so that by Simpson's rule the middle is.
        """
        one = np.eye(len(self.flow))[:, :, None]
        return self.flow, (6 * self.response - self.flow - one) / 4


def multiply(left: FloatArray, right: FloatArray) -> FloatArray:
    """Products ``(p, r, n)`` of matrices ``(p, q, n)`` and ``(q, r, n)``, sample by sample."""
    out: FloatArray = left[:, 0, None] * right[0]
    for q in range(1, len(right)):
        out += left[:, q, None] * right[q]
    return out


def inverse(matrices: FloatArray) -> FloatArray:
    """Inverses of ``(d, d, n)`` matrices that are not far from one (no pivots are sought)."""
    d = len(matrices)
    work = np.concatenate([matrices, np.zeros_like(matrices)], axis=1)
    for p in range(d):
        work[p, d + p] = 1.0
    for p in range(d):
        work[p] /= work[p, p].copy()
        for q in range(d):
            if q != p:
                work[q] -= work[q, p].copy() * work[p]
    return work[:, d:]


def congruence(matrices: FloatArray) -> FloatArray:
    """Matrices ``(E, E, n)`` that take the entries of a symmetric X to those of F X F'."""
    pairs = tensor.pairs(len(matrices))
    out = np.empty((len(pairs), len(pairs), matrices.shape[-1]))
    for e, (p, q) in enumerate(pairs):
        for f, (r, s) in enumerate(pairs):
            out[e, f] = matrices[p, r] * matrices[q, s]
            if r != s:
                out[e, f] += matrices[p, s] * matrices[q, r]
    return out


@dataclass(frozen=True)
class Place:
    """Where the data lie, physical: what a step may ask of all of them."""

    low: FloatArray  # (d,)
    high: FloatArray  # (d,)
    probe: FloatArray  # (m, d) some states
    longest_step: float
    count: int  # of samples
    noise: FloatArray  # (d,) of increments, a root mean square over time
    region: Frame  # mean and spread
    inputs: int = 0  # how many of the last coordinates go where they went

    @classmethod
    def of(cls, summary: DataSummary) -> Place:
        noise = summary.frame.scale * np.sqrt(summary.variation)
        return cls(
            summary.low,
            summary.high,
            summary.probe,
            summary.longest_step,
            summary.count,
            noise,
            summary.region,
            summary.inputs,
        )


@dataclass(frozen=True)
class Dynamics:
    """Drift and tensor as a step sees them, in units of the noise."""

    basis: Basis
    units: FloatArray  # (d,)
    drift: FloatArray  # (d, K)
    entries: FloatArray  # (E, K)
    place: Place
    is_chain: bool

    @property
    def _own(self) -> list[int]:
        return [tensor.entry_number(p, p) for p in range(len(self.units))]

    @cached_property
    def _square(self) -> FloatArray:
        """Coefficients ``(d, d, K)`` of the whole tensor."""
        d = len(self.units)
        number = [[tensor.entry_number(p, q) for q in range(d)] for p in range(d)]
        return self.entries[number]

    @cached_property
    def _fields(self) -> list[FloatArray]:
        """Coefficients ``(..., K)`` of drift, Jacobian and tensor in the monomials."""
        polynomial, _ = self.basis.parts
        k = len(polynomial)
        drift, square = self.drift[:, :k], self._square[..., :k]
        return [drift, polynomial.slopes(drift) * self.units[:, None], square]

    @cached_property
    def _curvatures(self) -> list[FloatArray]:
        """Coefficients ``(d, d, d, K)`` of second derivatives of the drift, first of the tensor."""
        polynomial, _ = self.basis.parts
        return [polynomial.slopes(field) * self.units[:, None] for field in self._fields[1:]]

    @property
    def _is_curved(self) -> bool:
        """Whether a spread becomes skew at all: not that of a linear process.

        With many coordinates it is taken for normal: third moments cost their fourth power.
        """
        if len(self.units) > MOST_SKEWED:
            return False
        return len(self.basis.parts[1]) > 0 or any(field.any() for field in self._curvatures)

    def fields(
        self, where: FloatArray, spread: Spread, edge: FloatArray, *, curved: bool
    ) -> Fields:
        """Average over a spread about ``where (n, d)``, physical.

        Terms that are no polynomials are taken within the range of the data, and their derivatives
        no nearer to its ends than ``edge (d, n)``, the noise of a step: so the slope of a root
        stays finite where the root ends. Derivatives beyond the first if ``curved``.
        """
        polynomial, others = self.basis.parts
        ratio = self.units / polynomial.frame.scale
        skewness = spread.skewness
        theta = polynomial.monomials.averaged(
            polynomial.frame.standardise(where),
            spread.covariance * np.multiply.outer(ratio, ratio)[..., None],
            None if skewness is None else skewness * _triple(ratio)[..., None],
        )
        none = np.zeros((0, 0, 0, 0))
        values = [c @ theta for c in self._fields]
        values += [c @ theta for c in self._curvatures] if curved else [none, none]
        if len(others):
            k = len(polynomial)
            curve = _Curve.of(others, where, self, edge)
            mean = curve.value + 0.5 * np.einsum("kpqn,pqn->kn", curve.bend, spread.covariance)
            theta = np.concatenate([theta, mean])
            drift, square = self.drift[:, k:], self._square[..., k:]
            values[0] = values[0] + drift @ mean
            values[1] = values[1] + np.einsum("pk,kqn->pqn", drift, curve.slope)
            values[2] = values[2] + square @ mean
            if curved:
                values[3] = values[3] + np.einsum("pk,kqrn->pqrn", drift, curve.bend)
                values[4] = values[4] + np.einsum("pqk,krn->pqrn", square, curve.slope)
        return Fields(theta, *values)

    def along(self, chunk: Chunk) -> Transition:
        """Follow the steps of a chunk from samples that are exact; inputs go where they went."""
        push = None
        if m := self.place.inputs:
            push = np.zeros((len(self.units), len(chunk.dt)))
            push[-m:] = (chunk.increments[:, -m:] / self.units[-m:]).T / chunk.dt
        return self.step(chunk.states, chunk.dt, push=push)

    @np.errstate(all="ignore")  # a path that runs away is seen by what is summed of it
    def step(
        self,
        states: FloatArray,
        dt: FloatArray,
        covariance: FloatArray | None = None,
        push: FloatArray | None = None,
    ) -> Transition:
        """Follow mean and covariance over ``dt (n,)``, from ``covariance (d, d, n)`` or none.

        ``push (d, n)`` is a drift of each step, beside that of the formulas.
        """
        d, n = len(self.units), len(dt)
        mean, moments = np.zeros((d, n)), np.zeros((d, 3 * d, n))
        if covariance is not None:
            moments[:, :d] = covariance
        for p in range(d):
            moments[p, d + p] = 1.0
        spread = Spread(moments, None)
        begin = self.fields(states, spread, np.broadcast_to(np.inf, (d, n)), curved=False)
        stages, substeps = self._scheme
        least = EDGE * (self.place.noise / self.units)[:, None] ** 2
        edge = np.sqrt(np.maximum(np.einsum("ppn->pn", begin.tensor), least) * dt)
        if curved := stages is RUNGE_KUTTA and self._is_curved:
            spread = Spread(moments, np.zeros((d, d, d, n)))
        h, theta = dt / substeps, np.zeros_like(begin.theta)
        for substep in range(substeps):
            ends, ended, rates = mean, spread, (mean, spread)
            for stage, (ahead, weight) in enumerate(stages):
                to, at = mean, spread
                if stage:
                    to, at = mean + ahead * h * rates[0], spread.moved(rates[1], ahead * h)
                seen = begin
                if stage or substep or curved:
                    where = states + (to * self.units[:, None]).T
                    seen = self.fields(where, at, edge, curved=curved)
                moving = seen.drift if push is None else seen.drift + push
                rates = moving, _spreading(seen, at)
                if weight:
                    ends, ended = ends + weight * h * rates[0], ended.moved(rates[1], weight * h)
                    theta += (weight / substeps) * seen.theta
            mean, spread = ends, ended
        flow, response = spread.moments[:, d : 2 * d], spread.moments[:, 2 * d :] / dt
        return Transition(theta, mean, spread.covariance, flow, response)

    @cached_property
    def _scheme(self) -> tuple[Stages, int]:
        """Stages of a Runge-Kutta step and the number of steps that the drift asks for.

        The same for all samples: how data are cut must not matter.
        """
        if self.is_chain or not (self.drift.any() or self.entries.any()):  # nothing moves
            return EULER, 1
        none = Spread(np.zeros((len(self.units), 3 * len(self.units), len(self.place.probe))), None)
        inside = np.full(self.place.probe.shape[::-1], np.inf)
        seen = self.fields(self.place.probe, none, inside, curved=False)
        square = np.einsum("pqn,pqn->n", seen.jacobian, seen.jacobian)
        fastest = float(np.sqrt(square.max(initial=0.0))) * self.place.longest_step
        if not np.isfinite(fastest):
            return RUNGE_KUTTA, MOST_SUBSTEPS
        # How many standard errors the whole drift is worth: so much finer must a step be.
        moving = float(np.mean(seen.drift**2, axis=1).max(initial=0.0)) * self.place.longest_step
        worth = np.sqrt(self.place.count * moving) / WORST
        # Noise that reaches a coordinate through others only takes more than two points.
        everywhere = self.entries[self._own].any(axis=1).all()
        if fastest <= SHORT_STEP and fastest**2 * worth <= 24 and everywhere:
            return MIDPOINT, 1
        substeps = max(fastest / LONGEST_SUBSTEP, fastest * (worth / 120) ** 0.25)
        return RUNGE_KUTTA, int(np.clip(np.ceil(substeps), 1, MOST_SUBSTEPS))


def _spreading(seen: Fields, spread: Spread) -> Spread:
    """Rates of what a path carries beside its mean."""
    d = len(seen.jacobian)
    rates = multiply(seen.jacobian, spread.moments)
    skewness, by_skewness = spread.skewness, None
    if skewness is not None:
        n = rates.shape[-1]
        flat = seen.bend.reshape(d, d * d, n)
        rates[:, :d] += 0.5 * multiply(flat, skewness.reshape(d * d, d, n))
        by_skewness = _skewing(seen, spread.covariance, skewness)
    rates[:, :d] += rates[:, :d].swapaxes(0, 1).copy()
    rates[:, :d] += seen.tensor
    for p in range(d):
        rates[p, 2 * d + p] += 1.0
    return Spread(rates, by_skewness)


def _skewing(seen: Fields, covariance: FloatArray, skewness: FloatArray) -> FloatArray:
    """Rate of the third central moments ``(d, d, d, n)``, of a spread that is nearly normal."""
    d, n = len(covariance), covariance.shape[-1]
    own = multiply(seen.jacobian, skewness.reshape(d, d * d, n)).reshape(d, d, d, n)
    for i in range(d):
        own[i] += multiply(multiply(covariance, seen.bend[i]), covariance)
    own /= 2  # each of its three places has two orders of the other two
    by_tensor = multiply(seen.slope.reshape(d * d, d, n), covariance).reshape(d, d, d, n) / 2
    total = own + by_tensor
    return sum(total.transpose(*order, 3) for order in permutations(range(3)))  # type: ignore[return-value]


class _Curve(NamedTuple):
    """Terms that are no polynomials: value ``(K', n)``, slope ``(K', d, n)``, bend with one more.

    In units of the noise.
    """

    value: FloatArray
    slope: FloatArray
    bend: FloatArray

    @classmethod
    def of(cls, terms: Basis, where: FloatArray, dynamics: Dynamics, edge: FloatArray) -> _Curve:
        """Evaluate at ``where (n, d)``; see :meth:`Dynamics.fields` for the range of the data."""
        low, high, units = dynamics.place.low, dynamics.place.high, dynamics.units
        where = np.where(np.isnan(where), low, where)  # a path that ran away, as its mean tells
        margin = np.minimum((edge * units[:, None]).T, (high - low) / 2)
        inner = np.clip(where, low + margin, high - margin)
        return cls(
            terms.values(np.clip(where, low, high)).T,
            terms.gradients(inner).transpose(1, 2, 0) * units[:, None],
            terms.hessians(inner).transpose(1, 2, 3, 0) * np.outer(units, units)[..., None],
        )


def _triple(ratio: FloatArray) -> FloatArray:
    return np.asarray(np.multiply.outer(np.multiply.outer(ratio, ratio), ratio))
