"""What is measured about a fit, each when first asked for: of data, residuals, rivals and refits.

Questions that take another fit are here as well: as a chain of Euler steps, and at longer steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from wgsindy.data import BoolArray, Chunk, Dataset, FloatArray, IntArray
from wgsindy.diagnostics.groups import Groups, Stretches
from wgsindy.diagnostics.past_scores import PastScores
from wgsindy.diagnostics.residuals import (
    CHUNK,
    VANISHING_NOISE,
    ResidualPass,
    ResidualSums,
    standardised,
)
from wgsindy.diagnostics.thresholds import CHAIN_EVIDENCE, CHANGED, LARGE_CHANGE
from wgsindy.errors import WgsindyError
from wgsindy.estimate import (
    Dynamics,
    Fit,
    OrderEvidence,
    Predictor,
    RivalLibrary,
    can_be_positions,
    fit_likelihood,
    log_likelihood,
    pilot_orders,
    rival_libraries,
)
from wgsindy.model import EulerMaruyama, Generator, field_names, tensor
from wgsindy.passes import (
    DataSummary,
    PassPair,
    SumPass,
    data_summary,
    merged_by,
    reduce,
    segments_of,
)
from wgsindy.recipes import SHARP, SHARP_EULER, LikelihoodRecipe

CENTRAL = (0.02, 0.98)  # quantiles of each coordinate between which the box lies [by hand]
BOX_POINTS = 1000  # at which the drift in the box is compared [by hand]


class KnownDrift(NamedTuple):
    """Errors of each drift component over its size, root mean squares, ``(d,)``."""

    box: FloatArray  # with every term of the library, in the box about the data
    data: FloatArray  # the same at the data
    bands: FloatArray  # of the chosen terms, in the box


def known_drift(generator: Generator, points: FloatArray, total_time: float) -> KnownDrift | None:
    """Compare the box about ``points (n, d)``, states of the data, with the data themselves.

    Bands are those of the chosen terms. How much of them is knowledge, and how much is that other
    terms were left out, tells the error of a fit with every term of the library.
    Nothing in one dimension, where there is no place between the data without data.
    """
    if generator.dimension < 2 or generator.uncertainty is None:
        return None
    low, high = np.quantile(points, CENTRAL, axis=0)
    box = np.random.default_rng(0).uniform(low, high, (BOX_POINTS, len(low)))
    inside, outside = generator.basis.values(points), generator.basis.values(box)
    size = np.linalg.norm(inside, axis=0)
    inside, outside = inside[:, size > 0] / size[size > 0], outside[:, size > 0] / size[size > 0]
    noise = generator.fluctuation(points)
    rows = []
    for p in range(generator.dimension):
        floor = VANISHING_NOISE * noise[:, p].mean() or 1.0
        weight = total_time / len(points) / np.maximum(noise[:, p], floor)
        covariance = np.linalg.pinv((inside.T * weight) @ inside, hermitian=True)
        rows.append([_mean_square(inside, covariance), _mean_square(outside, covariance)])
    at_data, in_box = np.sqrt(np.array(rows)).T
    band = generator.bands(box)
    claimed = np.sqrt(np.mean((band.drift_high - band.drift_low) ** 2, axis=0)) / (2 * 1.96)
    size_data, size_box = (
        np.sqrt(np.mean(generator.drift(where) ** 2, axis=0)) for where in (points, box)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return KnownDrift(in_box / size_box, at_data / size_data, claimed / size_box)


def _mean_square(theta: FloatArray, covariance: FloatArray) -> float:
    return max(float(np.mean(np.sum((theta @ covariance) * theta, axis=1))), 0.0)


# Steps on which the kind of step and its length are judged, in segments of so many. [by hand: time]
CHAIN_STEPS, MOST_THINNED_STEPS, SEGMENT = 5_000, 25_000, 250
# Nats by which both kinds of step must differ: of fewer, chance makes no evidence of that size. It
# is as much as they differ by on average, and varies by the root of twice that. [derived]
APART = 4.0
LEAST_SPREAD = 1e-9  # variance along any direction, as a share of the largest [by hand: rounding]
# Every so many samples. At steps much longer than noise is averaged over, noise and tensor cannot
# be told apart, and error bars are no longer those of normal numbers. [by hand]
THINNED = (2, 4)
FEWEST_LEFT = 500  # increments of which terms are fitted again [by hand]


class _Worth(NamedTuple):
    """Log-evidence of a fit, and its terms ``(d + E, K)``."""

    worth: float
    terms: BoolArray

    @classmethod
    def of(cls, fit: Fit, data: Dataset) -> _Worth:
        """What a fit is worth on ``data``."""
        assert fit.likelihood is not None
        terms = fit.generator.written_coefficients != 0
        gained = log_likelihood(fit.generator, data) * data.n_increments
        return cls(gained - fit.likelihood.term_cost * int(terms.sum()), terms)


class StepChange(NamedTuple):
    """What keeping fewer samples does to the equations."""

    every: int  # samples of which one is kept
    fields: tuple[str, ...]  # whose coefficients change by more than chance
    size: float  # of the clearest change, as a share of the coefficient
    errors: float  # the same in standard errors


def chain_evidence(fit: Fit) -> float:
    """Log-evidence by which the samples are Euler steps of a simulation rather than a process.

    Zero where nobody can tell. A linear process is a chain with other coefficients. Without noise
    there is no likelihood to compare. Evidence that is not enough may be less than is said.
    """
    if fit.likelihood is None or fit.likelihood.noiseless.all() or fit.data.partly_seen:
        return 0.0
    # Enough to tell, and held in memory: each fit reads them several times.
    data = segments_of(fit.data, CHAIN_STEPS // SEGMENT, SEGMENT, engine=fit.engine)
    try:
        process = _Worth.of(fit, data)
        chain = _refitted(fit, data, SHARP_EULER)
        if chain.worth > process.worth + CHAIN_EVIDENCE:  # by its steps, or by its terms?
            process = max(process, _refitted(fit, data, SHARP, chain.terms), key=lambda one: one[0])
    except WgsindyError:
        return 0.0
    return chain.worth - process.worth


def nats_apart(dynamics: Dynamics, points: FloatArray, dt: float) -> float:
    """Divergence of Euler steps from those of the process, both by the same fields, of all steps.

    At some ``points (n, d)``. It takes no fit: steps so short that both are one need none.
    """
    time = np.full(len(points), dt)
    process, chain = (replace(dynamics, is_chain=kind).step(points, time) for kind in (False, True))
    if not (np.isfinite(process.covariance).all() and np.isfinite(chain.covariance).all()):
        return np.inf
    values, vectors = np.linalg.eigh(process.covariance.transpose(2, 0, 1))
    with np.errstate(all="ignore"):  # without any noise, they differ by more than any number
        white = vectors / np.sqrt(np.maximum(values, LEAST_SPREAD * values[:, -1:]))[:, None, :]
        spread = white.swapaxes(1, 2) @ chain.covariance.transpose(2, 0, 1) @ white
        gap = np.einsum("npk,pn->nk", white, chain.mean - process.mean)
        apart = np.sum(gap**2, axis=1) + np.einsum("npp->n", spread) - gap.shape[1]
        return float(np.mean(apart - np.linalg.slogdet(spread)[1]) / 2 * CHAIN_STEPS)


def second_order_evidence(fit: Fit) -> OrderEvidence | None:
    """Say whether the data are rather positions whose velocities are hidden."""
    if fit.orders is not None or fit.data.hidden_velocities:
        return fit.orders
    if not isinstance(fit.recipe, LikelihoodRecipe) or fit.recipe.transition == "chain":
        return None
    if not can_be_positions(fit.data):
        return None
    try:
        found = pilot_orders(fit)
        # What lines leave may look like inertia: the terms of the fit have to agree.
        return pilot_orders(fit, fit.library) if found.preferred == 2 else found
    except (WgsindyError, np.linalg.LinAlgError):
        return None


def _refitted(
    fit: Fit, data: Dataset, recipe: LikelihoodRecipe, given: BoolArray | None = None
) -> _Worth:
    """Fit by a recipe that knows no noise, and say what the fit is worth."""
    recipe = replace(recipe, noise_correction=False)
    found = fit_likelihood(data, fit.library, recipe, fit.summary, name="", given=given)
    return _Worth.of(found, data)


def step_change(fit: Fit) -> StepChange | None:
    """Fit the same terms to fewer samples, and compare.

    A process that is seen through white noise has the same equations at every step. The estimate
    from all samples is the better one, so that the variance of the difference is the difference of
    the variances (Hausman); at least that of the better one. Nothing where no noise was found.
    """
    estimate = fit.likelihood
    if estimate is None or not estimate.noise_error.any() or fit.generator.basis.origin.any():
        return None
    data = segments_of(fit.data, MOST_THINNED_STEPS // SEGMENT, SEGMENT, engine=fit.engine)
    whole, clearest = fit.generator.written_coefficients, StepChange(0, (), 0.0, 0.0)
    names = np.concatenate(field_names(fit.data.dimension))
    for every in THINNED:
        if data.n_increments < every * FEWEST_LEFT:
            break
        kept = data.thinned(every)
        recipe = replace(SHARP, noise_correction=True)
        summary = data_summary(kept, standardise=True)
        try:
            other = fit_likelihood(kept, fit.library, recipe, summary, name="", given=whole != 0)
        except (WgsindyError, np.linalg.LinAlgError):
            continue
        gap = np.abs(other.generator.written_coefficients - whole)
        spreads = [one.generator.uncertainty for one in (fit, other)]
        own, longer = (one.std_errors() ** 2 for one in spreads if one is not None)
        errors = gap / np.sqrt(np.maximum(longer - own, own) + np.finfo(float).tiny)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.where(whole != 0, gap / np.abs(whole), 0.0)
        changed = (errors > CHANGED) & (size > LARGE_CHANGE)
        worst = np.unravel_index(np.argmax(np.where(changed, errors, 0.0)), gap.shape)
        if changed.any() and errors[worst] > clearest.errors:
            fields = (names[worst[0]], *names[changed.any(axis=1)])
            clearest = StepChange(
                every, tuple(dict.fromkeys(fields)), float(size[worst]), float(errors[worst])
            )
    return clearest


WORST_COVERED = 0.05  # share of the samples [by hand: a twentieth]
FIELD_POINTS = 2000  # of the data at which fields are compared [by hand: time]
FEWER = 4  # one in so many of these, for a mean that need not be known well [by hand: time]
# Steps from each of these points, and their own steps. [by hand: time]
SHAPE_STEPS, SHAPE_SUBSTEPS = 16, 20
# Correlation of neighbouring residuals, and its change within three steps: what a velocity leaves.
# With less, so many steps as are asked prefer no order by more than ten nats. [derived]
LASTING, FADING = 0.5, 0.05
TELLING_STEP = 0.03  # |J| dt: below, nobody can tell a chain from a process [by hand]


@dataclass(frozen=True)
class Halves:
    """Sums about ``origin (d,)`` over the samples of either half."""

    origin: FloatArray = field(metadata=merged_by(lambda left, right: left))  # the same for all
    count: IntArray  # (2,)
    first: FloatArray  # (2, d)
    second: FloatArray  # (2, d, d)

    @property
    def mean(self) -> FloatArray:
        """Mean states, ``(2, d)``."""
        return self.origin + self.first / self.count[:, None]

    @property
    def covariance(self) -> FloatArray:
        """Covariances of the states, ``(2, d, d)``; NaN for a half of one sample."""
        product = np.einsum("hp,hq->hpq", self.first, self.first) / self.count[:, None, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self.second - product) / (self.count - 1)[:, None, None])


class HalvesPass(SumPass[Halves]):
    """Sum states before and from the middle of their trajectory, the last one included."""

    def __init__(self, data: Dataset) -> None:
        self.origin = data.first_state
        self.lengths = data.lengths
        steps = self.lengths - 1
        self.starts = np.cumsum(steps) - steps  # increments before each trajectory

    def empty(self) -> Halves:
        d = len(self.origin)
        count = np.zeros(2, dtype=np.int64)
        return Halves(self.origin, count, np.zeros((2, d)), np.zeros((2, d, d)))

    def add(self, total: Halves, chunk: Chunk) -> Halves:
        owner = chunk.trajectory
        within = chunk.start + np.arange(len(owner)) - self.starts[owner]
        length = self.lengths[owner]
        late = within >= length // 2
        self._add(total, 0, chunk.states, ~late)
        self._add(total, 1, chunk.states, late)
        # The last sample of a trajectory has no row of its own.
        self._add(total, 1, chunk.states + chunk.increments, within == length - 2)
        return total

    def _add(self, total: Halves, half: int, states: FloatArray, which: BoolArray) -> None:
        x = states[which] - self.origin
        total.count[half] += len(x)
        total.first[half] += x.sum(axis=0)
        total.second[half] += x.T @ x


@dataclass(frozen=True)
class Measurements:
    """Everything that the checks may ask about a fit, each measured when first asked for."""

    fit: Fit

    @property
    def data(self) -> Dataset:
        return self.fit.data

    @property
    def summary(self) -> DataSummary:
        return self.fit.summary

    @property
    def generator(self) -> Generator:
        return self.fit.generator

    def named(self, chosen: BoolArray) -> str:
        """Names of the ``chosen (d,)`` coordinates."""
        return ", ".join(name for name, yes in zip(self.data.names, chosen, strict=True) if yes)

    def drifts(self, chosen: BoolArray) -> tuple[str, ...]:
        """Drift components of the ``chosen (d,)`` coordinates."""
        return tuple(np.array(field_names(self.data.dimension)[0])[chosen].tolist())

    def variances(self, chosen: BoolArray) -> tuple[str, ...]:
        """Diagonal entries of the tensor of the ``chosen (d,)`` coordinates."""
        entries = field_names(self.data.dimension)[1]
        return tuple(entries[tensor.entry_number(p, p)] for p in np.flatnonzero(chosen).tolist())

    def entries(self, _: BoolArray) -> tuple[str, ...]:
        """Every entry of the tensor."""
        return tuple(field_names(self.data.dimension)[1])

    @property
    def n_states(self) -> int:
        """How many of the coordinates have an equation: all but known inputs, which come last."""
        return self.data.dimension - len(self.data.inputs)

    @property
    def noiseless(self) -> BoolArray:
        """Which coordinates are known to have no noise of their own, ``(d,)``; inputs have none."""
        nobody = np.zeros(self.data.dimension, dtype=bool)
        return nobody if self.fit.likelihood is None else self.fit.likelihood.noiseless

    @property
    def is_deterministic(self) -> bool:
        """Whether no coordinate has any noise."""
        return bool(self.noiseless.all())

    @cached_property
    def _predictor(self) -> Predictor:
        return Predictor.of(self.generator, self.summary)

    @property
    def is_chain(self) -> bool:
        """Whether the fit takes each step for one Euler step."""
        return self._predictor.is_chain

    @cached_property
    def stretches(self) -> Stretches:
        """How time is cut to look for what comes back in it."""
        return Stretches.of(self.data)

    @cached_property
    def past_scores(self) -> PastScores:
        """Which fitted terms have their say before the past has."""
        return PastScores.of(self.generator.basis, self._written_drift, self.summary.region.centre)

    @cached_property
    def residuals(self) -> ResidualSums:
        """Sums over what the generator leaves of the increments."""
        return self._sums[0]

    @cached_property
    def _sums(self) -> tuple[ResidualSums, Halves]:
        groups = Groups.of(self.data, self.summary)
        left = ResidualPass(
            self._predictor,
            self.summary,
            len(self.data),
            self.noise_level,
            groups,
            self.past_scores,
            self.stretches,
        )
        step = PassPair(left, HalvesPass(self.data))
        return reduce(step, self.data, engine=self.fit.engine, chunk_size=CHUNK)

    @cached_property
    def noise_level(self) -> FloatArray:
        """Mean noise of each coordinate, ``(d,)``.

        Increments are no measure of it where they are mostly drift, nor is a formula that explodes
        at some state: the smaller of both. Increments alone where the fit finds no noise.
        """
        increments = self.summary.variation * self.summary.frame.scale**2
        fitted = tensor.fluctuation(self.generator.diffusion(self.points)).mean(axis=0)
        return np.where(fitted > 0, np.minimum(fitted, increments), increments)

    @cached_property
    def expected_shape(self) -> FloatArray:
        """Skewness and excess kurtosis ``(2, d)`` of residuals if the fit is right.

        Of steps simulated from the data: those of a long step of a bent process are not zero,
        though its noise is Gaussian.
        """
        d, sensor = self.data.dimension, self._predictor.observation_noise
        if self.is_chain or self._is_linear:
            return np.zeros((2, d))
        rng = np.random.default_rng(0)
        start = np.repeat(self.points, SHAPE_STEPS, axis=0)
        dt = np.full(len(start), self.data.mean_dt)
        # Roots and logarithms end somewhere; where the data are they exist.
        low, high = (tuple(side.tolist()) for side in (self.summary.low, self.summary.high))
        lower, upper = (None, None) if self.generator.basis.is_closed else (low, high)
        with np.errstate(all="ignore"):
            ends = EulerMaruyama(lower, upper, SHAPE_SUBSTEPS)(self.generator, start, dt[0], 1, rng)
        factor = tensor.cholesky(tensor.symmetric(sensor[None], d))[0]
        seen = ends + rng.standard_normal(ends.shape) @ factor.T
        seen, alone = seen[np.isfinite(seen).all(axis=(1, 2))], np.arange(len(start))
        dt, alone = dt[: len(seen)], alone[: len(seen)]
        chunk = Chunk(seen[:, 0], seen[:, 1] - seen[:, 0], dt, alone)
        z = standardised(self._predictor(chunk), dt, self.noise_level)
        # What does not move, or always runs away, has no shape that could be expected.
        z, there = np.nan_to_num(z), np.maximum(np.isfinite(z).sum(axis=0), 1)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            second, third, fourth = ((z**power).sum(axis=0) / there for power in (2, 3, 4))
            shape = np.stack([third / second**1.5, fourth / second**2 - 3.0])
        return np.where(np.isfinite(shape), shape, 0.0)

    @cached_property
    def observation_noise(self) -> FloatArray:
        """Variance of the observation noise that the fit allows for, ``(d,)``."""
        entries = self._predictor.observation_noise
        return entries[[tensor.entry_number(p, p) for p in range(self.data.dimension)]]

    @cached_property
    def points(self) -> FloatArray:
        """States at which steps begin, evenly taken, ``(n, d)``."""
        return self.data.sample(FIELD_POINTS)

    @cached_property
    def horizon(self) -> float:
        """Time that tells of the drift at the worst covered twentieth of the samples.

        The effective horizon at x is 1 / (theta' G^-1 theta), with G the integral of theta theta'
        over the observed time: an unweighted fit of the whole library knows b(x) as well as if it
        had stayed at x for so long, up to a variance of a(x) / horizon.
        """
        theta = self.generator.basis.values(self.points)
        size = np.linalg.norm(theta, axis=0)
        unit = np.linalg.qr(theta[:, size > 0] / size[size > 0])[0]
        # A sample at which every term vanishes has no leverage, and tells of nothing.
        leverage = np.quantile(np.einsum("nk,nk->n", unit, unit), 1 - WORST_COVERED)
        return float(self.data.total_time / (len(theta) * max(leverage, np.finfo(float).tiny)))

    @cached_property
    def rivals(self) -> list[RivalLibrary]:
        """Larger libraries, the one that the data prefer most first."""
        return rival_libraries(self.fit)

    @property
    def rival(self) -> RivalLibrary | None:
        """The library that the data prefer most to the fitted one."""
        return self.rivals[0] if self.rivals else None

    @cached_property
    def chain_evidence(self) -> float:
        """Log-evidence by which the samples are Euler steps of a simulation, not a process."""
        if self.is_chain or self.observation_noise.any():
            return 0.0
        with np.errstate(all="ignore"):  # the slope of a root at zero is infinite
            slopes = self.generator.drift_jacobian(self.points)
        if not np.nanmean(np.abs(slopes).max(axis=(1, 2))) * self.data.mean_dt > TELLING_STEP:
            return 0.0
        if nats_apart(self._predictor.dynamics, self.points[::FEWER], self.data.mean_dt) < APART:
            return 0.0
        return chain_evidence(self.fit)

    @cached_property
    def orders(self) -> OrderEvidence | None:
        """First against second order, where the data may be positions; else nothing.

        A velocity fades from step to step, or lasts as a whole. A drift that is missed makes up a
        share of the residuals, which is the same a few steps later.
        """
        lags = np.einsum("lpp->lp", self.residuals.groups.correlations[:3])
        shows = np.abs(np.diff(lags, axis=0)).max() > FADING or lags[0].max() > LASTING
        if shows or self.observation_noise.any() or self.fit.orders is not None:
            return second_order_evidence(self.fit)
        return None

    @cached_property
    def step_change(self) -> StepChange | None:
        """What longer steps do to the equations, where noise was found; else nothing."""
        return step_change(self.fit)

    @cached_property
    def known_drift(self) -> KnownDrift | None:
        """What is known of the drift in the box about the data; nothing in one dimension."""
        return known_drift(self.generator, self.points, self.data.total_time)

    @cached_property
    def shift(self) -> float:
        """Distance of the mean states of first and second halves, in standard deviations.

        Only coordinates that the equations depend on count: a price may wander off for good.
        """
        active = self._active_coordinates()
        if not active.any():
            return 0.0
        halves = self._sums[1]
        scale = self.summary.region.scale[active]
        spread = halves.covariance[:, active][:, :, active].sum(axis=0) / 2
        spread /= np.outer(scale, scale)
        apart = np.subtract(*halves.mean[:, active]) / scale
        return float(np.sqrt(apart @ np.linalg.lstsq(spread, apart)[0]))

    @property
    def _written_drift(self) -> FloatArray:
        """Coefficients ``(d, K)`` of the formula; an average over supports has all terms."""
        spread = self.generator.uncertainty
        return self.generator.drift_coefficients if spread is None else spread.drift

    @property
    def _is_linear(self) -> bool:
        """Whether the formulas are those of a linear process, of which every step is Gaussian."""
        degrees = self.generator.basis.degrees
        drift = self._written_drift[:, degrees > 1]
        noise = self.generator.tensor_field.coefficients[:, degrees > 0]
        return self.generator.basis.is_polynomial and not (drift.any() or noise.any())

    def _active_coordinates(self) -> BoolArray:
        """Which coordinates any field depends on where the data are, ``(d,)``."""
        with np.errstate(all="ignore"):  # the slope of a root at zero is infinite
            slopes = self.generator.basis.gradients(self.points)
        used = self._written_drift.any(axis=0) | self.generator.tensor_field.coefficients.any(
            axis=0
        )
        return np.asarray(slopes[:, used].any(axis=(0, 1)))

    @property
    def drift_error(self) -> FloatArray:
        """Expected error of each drift component over its size, root mean squares, ``(d,)``."""
        return self.field_errors[0]

    @property
    def noise_error(self) -> FloatArray:
        """The same of the diagonal of the tensor, ``(d,)``."""
        return self.field_errors[1]

    @cached_property
    def field_errors(self) -> FloatArray:
        """That of drift components, and of the diagonal of the tensor, ``(2, d)``.

        As far as their form is right: what that may miss is a question of its own.
        """
        spread = self.generator.uncertainty
        if spread is None:
            return np.zeros((2, 0))
        own = [tensor.entry_number(p, p) for p in range(self.data.dimension)]
        drift, field = (f(self.points) for f in (self.generator.drift, self.generator.diffusion))
        size = np.sum([drift**2, np.diagonal(field, axis1=1, axis2=2) ** 2], axis=1)
        theta = self.generator.basis.values(self.points)
        spreads = np.stack([spread.drift_spread, spread.entry_covariance[own]])
        error = np.einsum("nk,fpkl,nl->fp", theta, spreads, theta, optimize=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sqrt(np.maximum(error, 0.0) / size))
