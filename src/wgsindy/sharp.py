"""The sharp recipe: every increment is a row, weighted by its own noise, selected by evidence.

A few passes over the data, each with the weights that follow from the one before: drift and tensor
are selected from weighted normal equations (:mod:`wgsindy.likelihood`) by the evidence of their
terms (:mod:`wgsindy.evidence`). Selection happens in the physical coordinates, where a truth is
sparse; sums are taken in standardised ones, where they are accurate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from scipy.special import chdtri

from wgsindy import tensor
from wgsindy.arrays import BoolArray, FloatArray, frozen
from wgsindy.engine import Pass, Total, reduce
from wgsindy.errors import DataError, LibraryError
from wgsindy.evidence import Penalty, Posterior, Problem, search
from wgsindy.library import Basis
from wgsindy.likelihood import (
    SLACK_GRID,
    LeakPass,
    NormalPass,
    ScorePass,
    Scores,
    Sums,
    WorkingModel,
    silence,
)
from wgsindy.recipes import Recipe
from wgsindy.survey import Cloud
from wgsindy.trajectories import Trajectories
from wgsindy.uncertainty import Uncertainty, clustered_covariance

FEWEST_PASSES, MOST_PASSES = 3, 10
SAME_WEIGHTS = 0.02  # relative change of the tensor that is not worth another pass
CACHED_NUMBERS = 150_000
SWEEPS = 2  # over the entries of the tensor
MOST_SWEEPS, SETTLED = 20, 1e-4  # over the components of the drift, until they agree
SAME_SLACK = 5.0  # factor by which slack may change between passes that agree
FIRST_LEAST = (
    0.1  # smallest noise until residuals have told how far the tensor formula can be trusted
)
SHARED_BONUS = 2.0  # nats off for a term that all other entries of the tensor have
NEGATIVE_COST = 5.0  # nats for a variance that turns negative beyond the data
REACH = 2.0  # how far beyond the data a variance must stay positive
FAR_POINTS = 7  # grid points a coordinate for that check
MOSTLY_DRIFT = 0.2  # residuals below this share of the increments may be no noise at all
LEAK_FACTOR = 4.0
ROUNDING_LEVEL = 1e-9
SURE = 1e6  # nats for or against a term whose presence is known
LEAST_WEIGHT = 1e-3  # of a support whose coefficients count in the spread of the drift


@dataclass(frozen=True)
class SharpFit:
    """What the recipe returns, in the physical terms and units.

    ``drift (d, K)`` averaged over supports, ``entries (E, K)``, ``uncertainty``; ``signals (d,)``
    by how many standard errors the strongest single term of each drift component stands out;
    ``term_cost`` nats that the cheapest term must be worth; ``quiet (d,)`` coordinates without
    noise of their own; ``clipped`` share of samples at which the tensor has a negative eigenvalue;
    ``condition`` of the unweighted library with unit columns.
    """

    drift: FloatArray
    entries: FloatArray
    uncertainty: Uncertainty
    signals: FloatArray
    term_cost: float
    quiet: BoolArray
    clipped: float
    condition: float


def recover_sharp(
    data: Trajectories,
    basis: Basis,
    cloud: Cloud,
    recipe: Recipe,
    *,
    threads: int = 1,
    given: BoolArray | None = None,
) -> SharpFit:
    """Fit drift and tensor; ``basis`` is in physical coordinates.

    ``given (d + E, K)``: the terms of each field, where they are known. Nothing is selected then.
    """
    work = basis.in_frame(cloud.region) if basis.is_closed else basis
    stages = _Stages(basis, work, cloud, recipe, given)
    noise = cloud.frame.scale * np.sqrt(cloud.variation)
    run = _Runner(data, threads, _chunk_size(data.dimension, len(basis)))
    model = WorkingModel.start(work, noise, finite_step=recipe.finite_step == "taylor")
    earlier: list[Posterior] = []
    for number in range(MOST_PASSES):
        sums = run(NormalPass(model))
        if number == 0:
            condition = _condition(sums.entry_gram[0])
        drift = stages.select_drift(sums, model)
        # Products of raw increments still hold the drift: no tensor from the first pass.
        entries = stages.select_entries(sums, model) if number else []
        later = stages.next_model(model, sums, drift, entries, number)
        if number == 1:
            later = _silenced(later, sums, run)
        later = _in_own_noise(later, sums)
        now = [*drift, *entries]
        if number >= FEWEST_PASSES - 1 and _settled(earlier, now, model, later, sums):
            break
        earlier, model = now, later
    drift = stages.select_drift(sums, model, thorough=True)
    entries = stages.select_entries(sums, model, thorough=True)
    final = stages.next_model(model, sums, drift, entries, number)
    scores = run(ScorePass(final, len(data)))
    fields = stages.finish(sums, final, drift, entries, scores)
    return SharpFit(
        drift=frozen(fields[0]),
        entries=frozen(fields[1]),
        uncertainty=fields[2],
        signals=stages.signals(sums, final),
        term_cost=float(stages.costs.min()),
        quiet=final.quiet > 0,
        clipped=scores.clipped / scores.count,
        condition=condition,
    )


@dataclass(frozen=True)
class _Runner:
    """Runs passes over one data set."""

    data: Trajectories
    threads: int
    chunk_size: int

    def __call__(self, step: Pass[Total]) -> Total:
        return reduce(step, self.data, threads=self.threads, chunk_size=self.chunk_size)


def _chunk_size(dimension: int, terms: int) -> int:
    """Samples a chunk, so that the weighted copies of the library stay in the cache."""
    copies = 2 * len(tensor.pairs(dimension)) * terms
    return max(256, CACHED_NUMBERS // copies)


def _settled(
    earlier: list[Posterior],
    now: list[Posterior],
    used: WorkingModel,
    later: WorkingModel,
    sums: Sums,
) -> bool:
    """Whether another pass would find the same terms with the same weights."""
    if not all((a.best == b.best).all() for a, b in zip(earlier, now, strict=True)):
        return False
    largest = np.abs(used.entries).max(axis=1, keepdims=True)
    moving = np.abs(later.in_units(used.units).entries - used.entries) > SAME_WEIGHTS * largest
    asked = sums.slack_likelihood.any(axis=1)  # there are samples of low noise
    change = np.abs(np.log(later.slack / (used.least + used.slack)))
    return not (moving.any() or (asked & (change > np.log(SAME_SLACK))).any())


def _in_own_noise(model: WorkingModel, sums: Sums) -> WorkingModel:
    """Measure fields in units of the noise that the drift leaves, where there is any."""
    level = np.where(model.quiet > 0, 1.0, sums.residual / sums.count)
    return model.in_units(model.units * np.sqrt(level))


def _condition(gram: FloatArray) -> float:
    scale = 1.0 / np.sqrt(np.diag(gram))
    return float(np.sqrt(np.linalg.cond(gram * np.outer(scale, scale))))


def _silenced(model: WorkingModel, sums: Sums, run: _Runner) -> WorkingModel:
    """Find coordinates whose residuals are no larger than a step without own noise makes them.

    Such a coordinate is surely not an Euler chain if its residuals are of that size, so its mean
    is corrected for the finite step whatever the recipe says.
    """
    level = sums.residual / sums.count
    suspects = level < MOSTLY_DRIFT
    if not suspects.any():
        return model
    muted = replace(model, quiet=np.where(suspects, ROUNDING_LEVEL, 0.0))
    leak = run(LeakPass(muted))
    expected = leak.level / leak.count
    quiet = suspects & (level <= LEAK_FACTOR * expected + ROUNDING_LEVEL)
    continuous = quiet & (level > expected / LEAK_FACTOR)
    return replace(
        model,
        quiet=np.where(quiet, np.maximum(level, ROUNDING_LEVEL), 0.0),
        lifted=model.lifted | continuous,
    )


@dataclass(frozen=True)
class _Stages:
    """The steps between two passes; ``basis`` physical terms, ``work`` the same in the frame."""

    basis: Basis
    work: Basis
    cloud: Cloud
    recipe: Recipe
    given: BoolArray | None

    @cached_property
    def costs(self) -> FloatArray:
        """Nats that each term costs, ``(K,)``.

        A term that is not there gains half a chi-squared number of nats. The cost is what the
        largest of K such numbers exceeds with probability ``false_alarm``. Degrees beyond the
        first cost extra.
        """
        chance = 0.5 * float(chdtri(1, self.recipe.false_alarm / len(self.basis)))
        return chance + self.recipe.degree_cost * np.maximum(self.basis.degrees - 1.0, 0.0)

    def _costs_of(self, field: int) -> FloatArray:
        """Costs ``(K,)`` of one of the ``d + E`` fields."""
        return self.costs if self.given is None else np.where(self.given[field], -SURE, SURE)

    @property
    def change(self) -> FloatArray:
        return self.work.from_physical

    def select_drift(
        self, sums: Sums, model: WorkingModel, *, thorough: bool = False
    ) -> list[Posterior]:
        """Component by component, given the others: where noise is shared, they tell of it."""
        current = model.drift.copy()
        if not thorough:
            return self._sweep_drift(sums, current, exhaustive=False)
        for _ in range(MOST_SWEEPS):
            before = current.copy()
            self._sweep_drift(sums, current, exhaustive=False)
            if np.abs(current - before).max() <= SETTLED * np.abs(current).max(initial=0.0):
                break
        return self._sweep_drift(sums, current, exhaustive=True)

    def _sweep_drift(self, sums: Sums, current: FloatArray, *, exhaustive: bool) -> list[Posterior]:
        """Choose every component, given the others of ``current (d, K)``, which it replaces.

        Two components are replaced at once, so that their order does not matter. With more of them
        that may run away, and they are replaced one after the other.
        """
        known = current.copy() if len(current) <= 2 else current
        found = []
        for p in range(len(current)):
            problem = self._component(sums, known, p)
            found.append(search(problem, self._costs_of(p), exhaustive=exhaustive))
            current[p] = self._estimate(found[p]) @ self.change
        return found

    def _component(self, sums: Sums, current: FloatArray, p: int) -> Problem:
        d, index = len(current), {pair: e for e, pair in enumerate(tensor.pairs(len(current)))}
        cross = sums.drift_cross[p].copy()
        for q in range(d):
            if q != p:
                cross -= sums.drift_gram[index[max(p, q), min(p, q)]] @ current[q]
        return Problem.from_sums(sums.drift_gram[index[p, p]], cross, self.change)

    def signals(self, sums: Sums, model: WorkingModel) -> FloatArray:
        """Largest single term of each drift component in standard errors, ``(d,)``."""
        problems = [self._component(sums, model.drift, p) for p in range(len(model.units))]
        return np.array([np.abs(problem.root.T @ problem.target).max() for problem in problems])

    def _estimate(self, posterior: Posterior) -> FloatArray:
        return posterior.mean if self.recipe.averaging else posterior.coefficients[0]

    def select_entries(
        self, sums: Sums, model: WorkingModel, *, thorough: bool = False
    ) -> list[Posterior]:
        """Entry by entry; a term that the other entries have is cheaper the second time."""
        d, k = len(model.units), len(self.basis)
        pairs = tensor.pairs(d)
        inclusion = np.zeros((len(pairs), k))
        found: dict[int, Posterior] = {}
        # Variances first: they say which terms a covariance can be expected to have.
        variances = [e for e, (p, q) in enumerate(pairs) if p == q]
        covariances = [e for e, (p, q) in enumerate(pairs) if p != q]
        for sweep in range(SWEEPS if thorough else 1):
            for group in (variances, covariances):
                before = inclusion.copy()
                for e in group:
                    p, q = pairs[e]
                    found[e] = search(
                        Problem.from_sums(sums.entry_gram[e], sums.entry_cross[e], self.change),
                        self._costs_of(d + e) - self._shared_bonus(before, e),
                        self._negative_beyond if p == q else self._indefinite_beyond(found, p, q),
                        exhaustive=thorough and sweep == SWEEPS - 1,
                    )
                    inclusion[e] = found[e].inclusion
        return [found[e] for e in range(len(pairs))]

    def _shared_bonus(self, inclusion: FloatArray, e: int) -> FloatArray:
        """Nats off for terms ``(K,)`` that the other entries ``(E, K)`` have."""
        others = np.delete(inclusion, e, axis=0).sum(axis=0) / max(len(inclusion) - 1, 1)
        # That noise has a mean level says nothing about its being shared.
        return np.where(self.basis.degrees == 0, 0.0, SHARED_BONUS * others)

    def _negative_beyond(self, coefficients: FloatArray) -> FloatArray:
        """Nats against variances ``(M, K)`` that turn negative beyond the data."""
        values = coefficients @ self._far.T
        scale = np.abs(values).max(axis=1, initial=0.0)
        return NEGATIVE_COST * (values.min(axis=1, initial=0.0) < -ROUNDING_LEVEL * scale)

    def _indefinite_beyond(self, found: dict[int, Posterior], p: int, q: int) -> Penalty:
        """Nats against covariances that no noise with the variances found so far can have."""
        pairs = tensor.pairs(len(self.cloud.low))
        own = [found[pairs.index((i, i))].coefficients[0] @ self._far.T for i in (p, q)]
        most = np.maximum(own[0], 0.0) * np.maximum(own[1], 0.0)

        def penalty(coefficients: FloatArray) -> FloatArray:
            square = (coefficients @ self._far.T) ** 2
            return NEGATIVE_COST * (square > (1 + ROUNDING_LEVEL) * most).any(axis=1)

        return penalty

    @cached_property
    def _far(self) -> FloatArray:
        """Library ``(n, K)`` on a box around the data, as far as it is defined there.

        A coordinate that is never negative is not asked for what it would do below its minimum.
        """
        points = FAR_POINTS if len(self.cloud.low) <= 3 else 3
        for reach in (REACH, 1.0):
            axes = []
            for low, high in zip(self.cloud.low, self.cloud.high, strict=True):
                far = reach * max(abs(low), abs(high))
                ends = (-far if low < 0 else low, far if high > 0 else high)
                axes.append(np.linspace(*ends, points))
            try:
                return self.basis.values(np.array(list(product(*axes))))
            except LibraryError:  # a root or an exponential that ends between here and there
                continue
        return np.empty((0, len(self.basis)))

    def next_model(
        self,
        model: WorkingModel,
        sums: Sums,
        drift: list[Posterior],
        entries: list[Posterior],
        number: int,
    ) -> WorkingModel:
        """Take over what was selected.

        Raises
        ------
        DataError
            If the passes run away instead of settling.
        """
        fitted = np.array([self._estimate(posterior) for posterior in drift]) @ self.change
        if not (np.isfinite(fitted).all() and np.isfinite(sums.residual).all()):
            raise DataError(
                "the fit runs away: with this library, weights and residuals drive each other out "
                "of range. Use a smaller library, or recipe='paper'."
            )
        if number == 0:
            return replace(model, drift=fitted)
        return replace(
            model,
            drift=fitted,
            entries=_selected(entries, model.quiet) @ self.change,
            least=np.full(len(drift), FIRST_LEAST if number == 1 else 0.0),
            slack=SLACK_GRID[np.argmax(sums.slack_likelihood, axis=1)],
        )

    def finish(
        self,
        sums: Sums,
        model: WorkingModel,
        drift: list[Posterior],
        entries: list[Posterior],
        scores: Scores,
    ) -> tuple[FloatArray, FloatArray, Uncertainty]:
        """Refit the selected drift terms jointly and put everything into physical units."""
        d, k = len(drift), len(self.basis)
        pairs = np.array(tensor.pairs(d))
        units, entry_units = model.units, model.units[pairs].prod(axis=1)
        support = np.array([posterior.best for posterior in drift])
        joint = self._joint_problem(sums)
        formula = joint.solve(support.ravel()).reshape(d, k)
        given = joint.covariance(support.ravel()).reshape(d, k, d, k)
        slopes = scores.drift @ self.change.T
        blocks = self._entry_covariances(sums, entries, model.quiet)
        uncertainty = Uncertainty(
            drift=formula * units[:, None],
            drift_covariance=_scaled(given, units),
            drift_spread=self._spread(sums, model, drift, given, units),
            drift_clustered=_maybe_scaled(
                clustered_covariance(given.reshape(d * k, -1), slopes.reshape(len(slopes), -1)),
                (d, k, d, k),
                units,
            ),
            entry_covariance=blocks * entry_units[:, None, None] ** 2,
            entry_clustered=_clustered_entries(blocks, scores.entries @ self.change.T, entry_units),
            inclusion=np.array([posterior.inclusion for posterior in (*drift, *entries)]),
        )
        field = uncertainty.drift
        if self.recipe.averaging:
            apart = np.array([posterior.mean - posterior.coefficients[0] for posterior in drift])
            field = field + apart * units[:, None]
        return (
            field,
            _selected(entries, model.quiet) * entry_units[:, None],
            uncertainty,
        )

    def _joint_problem(self, sums: Sums) -> Problem:
        """All components at once, ``d K`` coefficients."""
        d, k = sums.drift_cross.shape
        gram = np.empty((d, k, d, k))
        for e, (p, q) in enumerate(tensor.pairs(d)):
            gram[p, :, q] = gram[q, :, p] = sums.drift_gram[e]
        change: FloatArray = np.kron(np.eye(d), self.change).astype(np.float64)
        return Problem.from_sums(gram.reshape(d * k, d * k), sums.drift_cross.ravel(), change)

    def _entry_covariances(
        self, sums: Sums, entries: list[Posterior], quiet: FloatArray
    ) -> FloatArray:
        blocks = []
        for e, (p, q) in enumerate(tensor.pairs(len(quiet))):
            problem = Problem.from_sums(sums.entry_gram[e], sums.entry_cross[e], self.change)
            silent = quiet[p] > 0 or quiet[q] > 0
            blocks.append(problem.covariance(entries[e].best & (not silent)))
        return np.array(blocks)

    def _spread(
        self,
        sums: Sums,
        model: WorkingModel,
        drift: list[Posterior],
        given: FloatArray,
        units: FloatArray,
    ) -> FloatArray:
        """Covariance of averaged coefficients ``(d, K, K)``: within supports and between them."""
        spread = []
        for p, posterior in enumerate(drift):
            problem = self._component(sums, model.drift, p)
            counted = posterior.weights >= min(LEAST_WEIGHT, posterior.weights[0])
            weights = posterior.weights[counted] / posterior.weights[counted].sum()
            within = [problem.covariance(support) for support in posterior.supports[counted]]
            apart = posterior.coefficients[counted] - posterior.mean
            total = given[p, :, p] - within[0] + np.einsum("m,mkl->kl", weights, np.array(within))
            total += np.einsum("m,mk,ml->kl", weights, apart, apart)
            spread.append(total * units[p] ** 2)
        return np.array(spread)


def _selected(entries: list[Posterior], quiet: FloatArray) -> FloatArray:
    """Coefficients ``(E, K)`` of the best supports; nothing where a coordinate has no noise."""
    fitted = np.array([posterior.coefficients[0] for posterior in entries])
    silence(fitted, quiet)
    return fitted


def _scaled(covariance: FloatArray, units: FloatArray) -> FloatArray:
    return covariance * units[:, None, None, None] * units[:, None]


def _maybe_scaled(
    covariance: FloatArray | None, shape: tuple[int, ...], units: FloatArray
) -> FloatArray | None:
    return None if covariance is None else _scaled(covariance.reshape(shape), units)


def _clustered_entries(
    blocks: FloatArray, slopes: FloatArray, units: FloatArray
) -> FloatArray | None:
    found = [clustered_covariance(block, slopes[:, e]) for e, block in enumerate(blocks)]
    kept = [block for block in found if block is not None]
    return np.array(kept) * units[:, None, None] ** 2 if kept else None
