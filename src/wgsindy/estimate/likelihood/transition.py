"""Products and inverses of many small matrices at once, sample last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from typing import NamedTuple

import numpy as np

from wgsindy.data import Chunk, FloatArray, Frame, IntArray, Scratch
from wgsindy.model import tensor
from wgsindy.passes import DataSummary
from wgsindy.terms import Basis, Taylor


def multiply(left: FloatArray, right: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Products ``(p, r, n)`` of matrices ``(p, q, n)`` and ``(q, r, n)``, sample by sample."""
    found: FloatArray = np.einsum("pqn,qrn->prn", left, right, out=out)
    return found


@np.errstate(all="ignore")
def inverse_and_determinant(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Inverses of ``(d, d, n)`` matrices that are not far from one, and determinants ``(n,)``.

    No pivots are sought: NaN where there is no inverse, and what is made of it does not count.
    """
    d = len(matrices)
    work = np.concatenate([matrices, np.zeros_like(matrices)], axis=1)
    determinant = np.ones(matrices.shape[2])
    for p in range(d):
        work[p, d + p] = 1.0
    for p in range(d):
        determinant *= work[p, p]
        work[p] /= work[p, p].copy()
        for q in range(d):
            if q != p:
                work[q] -= work[q, p].copy() * work[p]
    return work[:, d:], determinant


def congruence(matrices: FloatArray, entries: Sequence[int] | None = None) -> FloatArray:
    """Matrices ``(E, g, n)`` that take ``g`` entries of a symmetric X, or all, to those of F X F'.

    All other entries are zero.
    """
    d, _, n = matrices.shape
    places, apart = _factors(d, None if entries is None else tuple(entries))
    flat = matrices.reshape(d * d, n)
    first, second, third, fourth = (flat.take(place, axis=0) for place in places)
    first *= second
    third *= fourth
    third *= apart
    first += third
    return first.reshape(d * (d + 1) // 2, -1, n)


@cache
def _factors(d: int, entries: tuple[int, ...] | None) -> tuple[IntArray, FloatArray]:
    """Say which numbers of F are multiplied by :func:`congruence`, and where two products count."""
    p, q = np.array(tensor.pairs(d), dtype=np.int64).reshape(-1, 2).T
    r, s = (p, q) if entries is None else (p[list(entries)], q[list(entries)])
    p, q = p[:, None] * d, q[:, None] * d
    places = np.stack([(p + r).ravel(), (q + s).ravel(), (p + s).ravel(), (q + r).ravel()])
    return places, np.tile(r != s, len(p))[:, None].astype(np.float64)


_SCRATCH = Scratch()


class Fields(NamedTuple):
    """Fields averaged over the spread at one point of each path."""

    theta: FloatArray  # (K, n) library
    drift: FloatArray  # (d, n)
    jacobian: FloatArray  # (d, d, n)
    tensor: FloatArray  # (d, d, n)
    bend: FloatArray | None  # (d, d, d, n) second derivatives of the drift, if they are asked for
    slope: FloatArray | None  # (d, d, d, n) derivatives of the tensor, the last index the state's


class Path(NamedTuple):
    """Where a path is, and what it carries, in one array: short rows cost what calls cost."""

    rows: FloatArray  # (d + d w, n)
    mean: FloatArray  # (d, n) displacement
    moments: FloatArray  # (d, w, n) covariance, flow, response times time, third moments
    covariance: FloatArray  # (d, d, n)
    flow: FloatArray  # (d, d, n)
    response: FloatArray  # (d, d, n) times time
    skewness: FloatArray  # (d, d, d, n) third central moments; none at all if they are not carried

    @classmethod
    def of(cls, rows: FloatArray, d: int) -> Path:
        """See ``rows`` as what they are, in ``d`` coordinates."""
        n = rows.shape[1]
        moments = rows[d:].reshape(d, -1, n)
        covariance, flow, response = (moments[:, p : p + d] for p in (0, d, 2 * d))
        skewness = moments[:, 3 * d :].reshape(d, -1, d, n)
        return cls(rows, rows[:d], moments, covariance, flow, response, skewness)

    @classmethod
    def start(cls, covariance: FloatArray | None, shape: tuple[int, int], *, curved: bool) -> Path:
        """Begin ``(d, n)`` paths, with third moments if ``curved``."""
        d, n = shape
        path = cls.of(_SCRATCH.take("start", path_rows(d, curved=curved), n), d)
        path.rows.fill(0.0)
        if covariance is not None:
            path.covariance[...] = covariance
        path.begin()
        return path

    def begin(self) -> None:
        """Let flow and response be those from here on."""
        self.response[...], self.flow[...] = 0.0, np.eye(len(self.mean))[:, :, None]

    def room(self, name: str) -> Path:
        """Return room for another path, which is kept for the next that has the name."""
        return Path.of(_SCRATCH.take(name, *self.rows.shape), len(self.mean))

    def bound(self, widest: FloatArray) -> None:
        """Hold variances below ``widest (d,)``: no spread is wider than that of the data."""
        share = np.abs(np.einsum("ppn,p->pn", self.covariance, 1 / widest)).max(axis=0)
        wide = np.flatnonzero(~(share <= 1))
        if len(wide):
            held = 1 / share[wide]
            self.covariance[:, :, wide] *= held
            self.skewness[..., wide] *= held**1.5

    def set_to(self, start: Path, rates: Path, time: FloatArray) -> None:
        """Go from another path along its rates over some time."""
        np.multiply(rates.rows, time, out=self.rows)
        np.add(self.rows, start.rows, out=self.rows)


def path_rows(d: int, *, curved: bool) -> int:
    """Rows of a path of ``d`` coordinates, with third moments if ``curved``."""
    return d + d * (3 * d + curved * d**2)


def set_rates(rates: Path, seen: Fields, path: Path, push: FloatArray | None) -> FloatArray:
    """Set rates of all that a path carries; ``push (d, n)`` is a drift beside that of formulas.

    Returns the source of the covariance ``(d, d, n)``: all of its rate but what the flow does.
    """
    d, width, _ = path.moments.shape
    np.add(seen.drift, 0.0 if push is None else push, out=rates.mean)
    multiply(seen.jacobian, path.moments, out=rates.moments)
    rates.rows[3 * d :: width + 1] += 1.0  # a constant drift, seen at the end
    source = seen.tensor
    if seen.bend is not None:
        widened = 0.5 * np.einsum("ikln,kljn->ijn", seen.bend, path.skewness)
        source = source + widened + widened.swapaxes(0, 1)
        _add_skewing(rates.skewness, seen.bend, seen.slope, path.covariance)
    own = rates.covariance
    np.add(own + own.swapaxes(0, 1), source, out=own)
    return source


def joined(parts: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Flow and response of substeps, one after the other."""
    flow, response = parts[0]
    for last, later in parts[1:]:
        flow, response = multiply(last, flow), multiply(last, response) + later
    return flow, response


def complete_response(path: Path, time: FloatArray) -> None:
    """Add the second order to the response of a midpoint step, of whose rates it has the first.

    It is one, half of J h and a sixth of its square.
    """
    first = path.response / time - np.eye(len(path.mean))[:, :, None]
    path.response[...] += (2 / 3) * time * multiply(first, first)


def set_covariance(
    path: Path, start: FloatArray, sources: Sequence[FloatArray], time: FloatArray
) -> None:
    """Set the covariance of ``path`` after two to four stages, by Simpson's rule over F(s).

    Of noise that reaches a coordinate through others only, the rates know nothing at the start, and
    a step of fourth order has little more than its first term. A midpoint step has no second order:
    it would put a tensor wrong by two thirds of (J h)^2.
    """
    d, _, n = start.shape
    first, *between, last = sources
    if not between:  # none at the end: on the line through the others
        middle, last = last, 2 * last - first
    elif len(between) == 1:  # none in the middle either
        middle, last = first + 0.75 * (last - first), first + 1.5 * (last - first)
    else:
        middle = (between[0] + between[1]) / 2
    flow, spread = np.empty((2, d, d, 2, n))  # at the start and in the middle
    flow[:, :, 0] = path.flow
    flow[:, :, 1] = (6 * path.response / time - path.flow - np.eye(d)[:, :, None]) / 4
    spread[:, :, 0] = start + (time / 6) * first
    spread[:, :, 1] = (2 * time / 3) * middle
    flow, spread = flow.reshape(d, d, 2 * n), spread.reshape(d, d, 2 * n)
    carried = multiply(multiply(flow, spread), flow.swapaxes(0, 1))
    path.covariance[...] = (time / 6) * last + carried[:, :, :n] + carried[:, :, n:]


def _add_skewing(
    rates: FloatArray, bend: FloatArray, slope: FloatArray | None, covariance: FloatArray
) -> None:
    """Complete the rates ``(d, d, d, n)`` of third central moments, of a nearly normal spread.

    They have what the flow does to the first index, and each index may be the first.
    """
    bent = np.einsum("ilkn,kmn->ilmn", bend, covariance)
    rates += np.einsum("jln,ilmn->ijmn", covariance, bent)
    if slope is not None:
        rates += np.einsum("jkln,lin->ijkn", slope, covariance)
    rates[...] = rates + rates.swapaxes(0, 1) + rates.transpose(1, 2, 0, 3)


MOST_SKEWED = 8  # coordinates whose third moments are followed
SHORT_STEP = 0.15  # |J| dt up to which two points a step are enough: errors are (J dt)^2 / 24
LONGEST_SUBSTEP = 0.8  # |J| h of a Runge-Kutta step of fourth order, of a sample of states
MOST_SUBSTEPS = 8
STABLE_SUBSTEP = 2.7  # |J| h of such a step beyond which decays grow
THIRD_ORDER = 0.002  # errors of three points a step, (J dt)^3 / 24, where these are enough
WORST = 0.3  # standard errors of the drift that the error of a step may be
BEYOND_DATA = 0.25  # ranges of the data beyond these, up to which formulas are followed
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
class DataRange:
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
    def of(cls, summary: DataSummary) -> DataRange:
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
    data_range: DataRange
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
        if len(self.units) > MOST_SKEWED or self.data_range.count <= 1:
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
    def _box(self) -> tuple[FloatArray, FloatArray]:
        """Range of the data and some more, in the frame of the monomials, ``(d, 1)`` each.

        Beyond it fields are what they are at its edge: so whatever their coefficients, no path runs
        away within a step.
        """
        frame, inside = self.basis.parts[0].frame, self.data_range
        ends = frame.standardise(np.stack([inside.low, inside.high]))
        margin = BEYOND_DATA * (ends[1] - ends[0])
        return (ends[0] - margin)[:, None], (ends[1] + margin)[:, None]

    @cached_property
    def _widest(self) -> FloatArray:
        """Variance ``(d,)`` that no spread exceeds: that of two halves of the data."""
        inside = self.data_range
        return ((inside.high - inside.low) / self.units) ** 2 / 4

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
        low, high = self._box
        np.maximum(where, low, out=where)
        np.minimum(where, high, out=where)
        if spread:
            path.bound(self._widest)
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
        if m := self.data_range.inputs:
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
            least = EDGE * (self.data_range.noise / self.units)[:, None] ** 2
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
    def _probed(self) -> tuple[float, FloatArray]:
        """Largest |J| dt at some states, and the drift there, ``(d, m)``."""
        inside = self.data_range
        none = Path.start(None, inside.probe.shape[::-1], curved=False)
        at = self._at(inside.probe)
        fields = self.fields(at, none, INSIDE, curved=False, spread=False, summed=False)
        square = np.einsum("pqn,pqn->n", fields.jacobian, fields.jacobian)
        return float(np.sqrt(square.max(initial=0.0))) * inside.longest_step, fields.drift

    @property
    def can_be_followed(self) -> bool:
        """Whether substeps are stable; of anything faster nothing is left after a step."""
        return self.is_chain or self._probed[0] <= MOST_SUBSTEPS * STABLE_SUBSTEP

    @cached_property
    def _scheme(self) -> tuple[Stages, int]:
        """Stages of a Runge-Kutta step and the number of steps that the drift asks for.

        The same for all samples: how data are cut must not matter.
        """
        if self.is_chain or not (self.drift.any() or self.entries.any()):  # nothing moves
            return EULER, 1
        inside, (fastest, drift) = self.data_range, self._probed
        if not np.isfinite(fastest):
            return RUNGE_KUTTA, MOST_SUBSTEPS
        # How many standard errors the whole drift is worth: so much finer must a step be.
        moving = float(np.mean(drift**2, axis=1).max(initial=0.0)) * inside.longest_step
        worth = np.sqrt(inside.count * moving) / WORST
        # The data tell a tensor to the root of two over their number.
        told = WORST * np.sqrt(2 / inside.count)
        varied = self._others_act or self._formulas[4].any()
        off = fastest**2 / 24 if varied else fastest**3 / 12  # of the tensor, by two points
        # Noise that reaches a coordinate through others only takes more than two points.
        if fastest <= SHORT_STEP and fastest**2 * worth <= 24 and off <= told and self._is_shaken:
            return MIDPOINT, 1
        # Of positions, the first passes of a filter take double steps, or three points.
        through = bool(self.entries.any()) and not self._is_shaken
        rough = through and inside.count <= 1
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
        low, high, units = dynamics.data_range.low, dynamics.data_range.high, dynamics.units
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
