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
from math import prod
from typing import NamedTuple

import numpy as np

from wgsindy.data import Chunk, FloatArray, Frame
from wgsindy.estimate.likelihood.paths import (
    Fields,
    Path,
    complete_response,
    joined,
    path_rows,
    set_covariance,
    set_rates,
)
from wgsindy.model import tensor
from wgsindy.passes import DataSummary
from wgsindy.terms import Basis, Taylor

MOST_SKEWED = 8  # coordinates whose third moments are followed
SHORT_STEP = 0.15  # |J| dt up to which two points a step are enough: errors are (J dt)^2 / 24
LONGEST_SUBSTEP = 0.8  # |J| h of a Runge-Kutta step of fourth order, of a sample of states
MOST_SUBSTEPS = 8
THIRD_ORDER = 0.002  # errors of three points a step, (J dt)^3 / 24, where these are enough
WORST = 0.3  # standard errors of the drift that the error of a step may be
EDGE = 0.01  # of the mean variance of a step: the least that keeps derivatives off an edge
INSIDE = np.full((1, 1), np.inf)  # edges that keep derivatives in the middle of the data

# Where a stage is, as a share of the step ahead along the rates of the one before; its weight.
Stages = tuple[tuple[float, float], ...]
EULER: Stages = ((0.0, 1.0),)
MIDPOINT: Stages = ((0.0, 0.0), (0.5, 1.0))
HEUN: Stages = ((0.0, 1 / 4), (1 / 3, 0.0), (2 / 3, 3 / 4))
RUNGE_KUTTA: Stages = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))


class Start(NamedTuple):
    """Where paths begin."""

    states: FloatArray  # (n, d) physical
    framed: FloatArray  # (d, n) in the frame of the monomials


@dataclass(frozen=True)
class Transition:
    """What a step does, for ``n`` samples."""

    theta: FloatArray  # (K, n) library, averaged along the path
    mean: FloatArray  # (d, n) displacement of the mean
    covariance: FloatArray  # (d, d, n) at the end
    flow: FloatArray  # (d, d, n) derivative of the end with respect to the start
    response: FloatArray  # (d, d, n) mean of F(s): displacement by a constant drift, over dt

    @property
    def middle(self) -> FloatArray:
        """F(s) in the middle of the step, ``(d, d, n)``; at its start it is the flow, then one.

        Its mean is known, so that by Simpson's rule the middle is.
        """
        one = np.eye(len(self.flow))[:, :, None]
        return (6 * self.response - self.flow - one) / 4


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
    def _formulas(self) -> list[FloatArray]:
        """Coefficients ``(..., K)`` in the monomials: drift, Jacobian, tensor, their derivatives.

        Those of the Jacobian are the bend of the drift, those of the tensor its slope.
        """
        polynomial, _ = self.basis.parts
        k, units = len(polynomial), self.units[:, None]
        drift, square = self.drift[:, :k], self._square[..., :k]
        jacobian = polynomial.slopes(drift) * units
        bend, slope = (polynomial.slopes(field) * units for field in (jacobian, square))
        return [drift, jacobian, square, bend, slope]

    @cached_property
    def _others_act(self) -> bool:
        """Whether terms that are no polynomials are part of a field, or candidates only."""
        k = len(self.basis.parts[0])
        return bool(self.drift[:, k:].any() or self.entries[:, k:].any())

    @cached_property
    def _is_curved(self) -> bool:
        """Whether a spread becomes skew at all: not that of a linear process.

        With many coordinates it is taken for normal: third moments cost their fourth power. And
        where no more is asked for than of a single sample.
        """
        if len(self.units) > MOST_SKEWED or self.place.count <= 1:
            return False
        return self._others_act or any(field.any() for field in self._formulas[3:])

    @cached_property
    def _stacked(self) -> dict[bool, tuple[FloatArray, list[tuple[slice, tuple[int, ...]]]]]:
        """Formulas one below the other, their rows and shapes; with derivatives that are needed."""
        found = {}
        for curved in (False, True):
            fields = self._formulas[: 4 if curved else 3]
            # Where the tensor is the same everywhere, as it mostly is, its slope is not computed.
            if curved and (self._others_act or self._formulas[4].any()):
                fields = self._formulas
            stacked = [field.reshape(prod(field.shape[:-1]), field.shape[-1]) for field in fields]
            ends = np.cumsum([len(rows) for rows in stacked]).tolist()
            parts = [
                (slice(end - len(rows), end), field.shape[:-1])
                for rows, end, field in zip(stacked, ends, fields, strict=True)
            ]
            found[curved] = np.concatenate(stacked), parts
        return found

    @cached_property
    def _framing(self) -> FloatArray:
        """Units of the noise in those of the frame of the monomials, ``(d,)``."""
        return self.units / self.basis.parts[0].frame.scale

    @cached_property
    def _taylor(self) -> dict[bool, Taylor]:
        """What the moments of a spread add to monomials, without or with the third."""
        polynomial, _ = self.basis.parts
        d, found = len(self.units), {}
        for curved in {False, self._is_curved}:
            number = Path.of(np.arange(float(path_rows(d, curved=curved)))[:, None], d)
            places = [one[..., 0].astype(int) for one in (number.covariance, number.skewness)]
            found[curved] = polynomial.monomials.taylor(places[: 1 + curved], self._framing)
        return found

    def _at(self, states: FloatArray) -> Start:
        return Start(states, self.basis.parts[0].frame.standardise(states).T)

    def fields(
        self,
        start: Start,
        path: Path,
        edge: FloatArray,
        *,
        curved: bool,
        spread: bool = True,
        summed: bool = True,
    ) -> Fields:
        """Average over the spread of a path; or take its mean. If not ``summed``, fields alone.

        Terms that are no polynomials are taken within the range of the data, and their derivatives
        no nearer to its ends than ``edge (d, n)``, the noise of a step: so the slope of a root
        stays finite where the root ends. Derivatives beyond the first if ``curved``.
        """
        polynomial, others = self.basis.parts
        where = start.framed + self._framing[:, None] * path.mean
        theta = polynomial.monomials.values(where.T)
        if spread:
            theta += self._taylor[path.skewness.size > 0].of(theta, path.rows)
        formulas, parts = self._stacked[curved]
        stacked = formulas @ theta
        values = [stacked[rows].reshape(*shape, -1) for rows, shape in parts]
        if len(others) and (summed or self._others_act):
            curve = _Curve.of(
                others, start.states + (path.mean * self.units[:, None]).T, self, edge
            )
            mean = curve.mean(path.covariance)
            theta = np.concatenate([theta, mean])
        if self._others_act:
            k = len(polynomial)
            drift, square = self.drift[:, k:], self._square[..., k:]
            values[0] = values[0] + drift @ mean
            values[1] = values[1] + np.einsum("pk,kqn->pqn", drift, curve.slope)
            values[2] = values[2] + square @ mean
            if curved:
                values[3] = values[3] + np.einsum("pk,kqrn->pqrn", drift, curve.bend)
                values[4] = values[4] + np.einsum("pqk,krn->pqrn", square, curve.slope)
        return Fields(theta, *values, *[None] * (5 - len(values)))

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
        stages, substeps = self._scheme
        curved = len(stages) > 2 and self._is_curved
        path, begin, start = Path.start(covariance, (d, n), curved=curved), None, self._at(states)
        edge, others = INSIDE, len(self.basis.parts[1])
        if others or not curved:
            spread = covariance is not None
            summed = not curved and stages[0][1] > 0
            begin = self.fields(start, path, edge, curved=False, spread=spread, summed=summed)
        if others:
            assert begin is not None
            least = EDGE * (self.place.noise / self.units)[:, None] ** 2
            edge = np.sqrt(np.maximum(np.einsum("ppn->pn", begin.tensor), least) * dt)
        h, theta, parts = dt / substeps, np.zeros((len(self.basis), n)), []
        ends, between, rates = (path.room(name) for name in ("ends", "between", "rates"))
        for substep in range(substeps):
            if substep:
                path.begin()
            at, sources = path, []
            ends.rows[...] = path.rows
            for stage, (ahead, weight) in enumerate(stages):
                if stage:
                    at = between
                    at.set_to(path, rates, ahead * h)
                seen = begin
                if seen is None or stage or substep or curved:
                    seen = self.fields(start, at, edge, curved=curved)
                sources.append(set_rates(rates, seen, at, push))
                if weight:
                    np.multiply(rates.rows, weight * h, out=between.rows)  # its use is over
                    np.add(ends.rows, between.rows, out=ends.rows)
                    theta += (weight / substeps) * seen.theta
            if stages == MIDPOINT:
                complete_response(ends, h)
            if stages == MIDPOINT or (len(stages) > 2 and not self._is_shaken):
                set_covariance(ends, path.covariance, sources, h)
            path, ends = ends, path
            parts.append((path.flow.copy(), path.response.copy()))
        flow, response = joined(parts)
        return Transition(theta, path.mean.copy(), path.covariance.copy(), flow, response / dt)

    @cached_property
    def _is_shaken(self) -> bool:
        """Whether every coordinate has noise of its own."""
        return bool(self.entries[self._own].any(axis=1).all())

    @cached_property
    def _scheme(self) -> tuple[Stages, int]:
        """Stages of a Runge-Kutta step and the number of steps that the drift asks for.

        The same for all samples: how data are cut must not matter.
        """
        if self.is_chain or not (self.drift.any() or self.entries.any()):  # nothing moves
            return EULER, 1
        shape = self.place.probe.shape[::-1]
        none, start = Path.start(None, shape, curved=False), self._at(self.place.probe)
        seen = self.fields(start, none, INSIDE, curved=False, spread=False, summed=False)
        square = np.einsum("pqn,pqn->n", seen.jacobian, seen.jacobian)
        fastest = float(np.sqrt(square.max(initial=0.0))) * self.place.longest_step
        if not np.isfinite(fastest):
            return RUNGE_KUTTA, MOST_SUBSTEPS
        # How many standard errors the whole drift is worth: so much finer must a step be.
        moving = float(np.mean(seen.drift**2, axis=1).max(initial=0.0)) * self.place.longest_step
        worth = np.sqrt(self.place.count * moving) / WORST
        # The data tell a tensor to the root of two over their number.
        told = WORST * np.sqrt(2 / self.place.count)
        varied = self._others_act or self._formulas[4].any()
        off = fastest**2 / 24 if varied else fastest**3 / 12  # of the tensor, by two points
        # Noise that reaches a coordinate through others only takes more than two points.
        if fastest <= SHORT_STEP and fastest**2 * worth <= 24 and off <= told and self._is_shaken:
            return MIDPOINT, 1
        # Of positions, the first passes of a filter take double steps, or three points.
        through = bool(self.entries.any()) and not self._is_shaken
        rough = through and self.place.count <= 1
        if rough and fastest**3 <= 24 * THIRD_ORDER:
            return HEUN, 1
        longest = LONGEST_SUBSTEP * (2 if rough else 1)
        substeps = max(fastest / longest, fastest * (worth / 120) ** 0.25)
        if through:
            # There it grows with the third power of time, of which Simpson's rule is off by
            # (J h)^2 / 240.
            substeps = max(substeps, (fastest**2 / (240 * told)) ** 0.25)
        return RUNGE_KUTTA, int(np.clip(np.ceil(substeps), 1, MOST_SUBSTEPS))


@dataclass(frozen=True)
class _Curve:
    """Terms that are no polynomials, in units of the noise; each is evaluated when asked for."""

    terms: Basis
    where: FloatArray  # (n, d)
    inner: FloatArray  # (n, d) the same, for derivatives
    units: FloatArray  # (d,)

    @classmethod
    def of(cls, terms: Basis, where: FloatArray, dynamics: Dynamics, edge: FloatArray) -> _Curve:
        """Evaluate at ``where (n, d)``; see :meth:`Dynamics.fields` for the range of the data."""
        low, high, units = dynamics.place.low, dynamics.place.high, dynamics.units
        where = np.where(np.isnan(where), low, where)  # a path that ran away, as its mean tells
        margin = np.minimum((edge * units[:, None]).T, (high - low) / 2)
        inner = np.clip(where, low + margin, high - margin)
        return cls(terms, np.clip(where, low, high), inner, units)

    def mean(self, covariance: FloatArray) -> FloatArray:
        """Averages ``(K', n)`` over a spread of ``covariance (d, d, n)``."""
        spread = covariance * np.outer(self.units, self.units)[..., None]
        return self.terms.values(self.where).T + 0.5 * self.terms.curvatures(self.inner, spread)

    @cached_property
    def slope(self) -> FloatArray:
        """``(K', d, n)``."""
        return self._derivatives[0].transpose(1, 2, 0) * self.units[:, None]

    @cached_property
    def bend(self) -> FloatArray:
        """``(K', d, d, n)``."""
        square = np.outer(self.units, self.units)[..., None]
        return self._derivatives[1].transpose(1, 2, 3, 0) * square

    @cached_property
    def _derivatives(self) -> tuple[FloatArray, FloatArray]:
        return self.terms.derivatives(self.inner)
