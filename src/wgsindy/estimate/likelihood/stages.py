"""The stages of the recipe ``sharp``: every increment is a row, weighted by its own noise.

A few passes over the data, each with the weights that follow from the one before: drift and tensor
are chosen (:mod:`.term_selection`) from weighted normal equations (:mod:`.normal_equations`), until
terms and weights no longer change. Sums are taken in standardised coordinates, where they are
accurate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, frozen
from wgsindy.data.dataset import Dataset
from wgsindy.errors import DataError
from wgsindy.estimate.likelihood.error_bars import ErrorBars
from wgsindy.estimate.likelihood.evidence import Posterior
from wgsindy.estimate.likelihood.normal_equations import (
    EXTRA_VARIANCES,
    LeakPass,
    NormalEquations,
    NormalPass,
    ScorePass,
    Sums,
)
from wgsindy.estimate.likelihood.term_selection import Extrapolation, TermSelection, best_entries
from wgsindy.estimate.likelihood.working_model import WorkingModel
from wgsindy.estimate.observation_noise import observation_noise
from wgsindy.model import tensor
from wgsindy.model.uncertainty import FEWEST_CLUSTERS, Uncertainty
from wgsindy.passes.engine import SERIAL, Engine, Pass, Total, reduce
from wgsindy.passes.segments import segments_of
from wgsindy.passes.summary import DataSummary
from wgsindy.recipes import LikelihoodRecipe
from wgsindy.terms.basis import Basis

MOST_ROUNDS = 9
SAME_WEIGHTS = 0.02  # relative change of the tensor that is not worth another pass
SAME_EXTRA_VARIANCE = 5.0  # factor by which it may change between passes that agree
# Smallest noise until residuals have told how far the tensor formula can be trusted.
FIRST_FLOOR = 0.1
# Stretches and their increments, from which terms and weights are known to a percent; and how many
# times more data it takes to make it worth while to settle on these first.
PIECES, PIECE, MANY = 100, 250, 16
# Larger chunks leave the cache, smaller ones cost Python's own time and make threads wait for
# each other.
CHUNK_NUMBERS, MOST_SAMPLES = 500_000, 8192
MOSTLY_DRIFT = 0.2  # residuals below this share of the increments may be no noise at all
LEAK_FACTOR = 4.0
ROUNDING_LEVEL = 1e-9
# Standard errors by which observation noise must stand out. Chance reaches it once in 700
# times; noise that does not reach it adds at most a share of 6 / sqrt(n) to the tensor.
NOISE_ERRORS = 3.0
NOISE_ROUNDS, SAME_NOISE = 10, 1e-3  # until it changes by this share of the noise of a step


@dataclass(frozen=True)
class LikelihoodEstimate:
    """What the stages give, in the physical terms and units."""

    drift: FloatArray  # (d, K) averaged over supports, if the recipe says so
    entries: FloatArray  # (E, K) of the tensor
    uncertainty: Uncertainty
    signals: FloatArray  # (d,) standard errors of the strongest single term of each component
    term_cost: float  # log-evidence that the cheapest term must be worth
    noiseless: BoolArray  # (d,) coordinates without noise of their own
    clipped: float  # share of samples at which the tensor has a negative eigenvalue
    condition: float  # of the unweighted library with unit columns
    model: WorkingModel  # at which weights were taken last


def recover_by_likelihood(
    data: Dataset,
    basis: Basis,
    summary: DataSummary,
    recipe: LikelihoodRecipe,
    *,
    engine: Engine = SERIAL,
    given: BoolArray | None = None,
) -> LikelihoodEstimate:
    """Fit drift and tensor; ``basis`` is in physical coordinates.

    ``given (d + E, K)``: the terms of each field, where they are known. Nothing is selected then.
    """
    work = basis.in_frame(summary.region) if basis.is_closed else basis
    selection = TermSelection(basis, Extrapolation(basis, summary), recipe, given)
    run = _Runner(data, engine, chunk_size(data.dimension, len(basis)))
    noise = summary.frame.scale * np.sqrt(summary.variation)
    start = WorkingModel.start(
        work, noise, summary.region.scale, finite_step=recipe.finite_step == "taylor"
    )
    early = run.on_pilot()
    first, model = _first_drift(start, selection, early)
    equations, model, found = _iterate(_in_residual_units(model, first.sums), selection, early)
    if early is not run:
        equations, model, found = _iterate(_with_variance_floor(model), selection, run, found)
    drift = selection.drift(equations, model.drift, thorough=True)
    entries = selection.entries(equations, thorough=True)
    final = _with_tensor(_with_drift(model, equations, selection, drift), equations, entries)
    scores = run(ScorePass(final, len(data) if len(data) >= FEWEST_CLUSTERS else 0))
    refit = ErrorBars(equations, final, drift, entries, scores)
    uncertainty = refit.uncertainty()
    formula = uncertainty.drift
    return LikelihoodEstimate(
        drift=frozen(refit.averaged_drift(formula) if recipe.averaging else formula),
        entries=frozen(refit.tensor_entries()),
        uncertainty=uncertainty,
        signals=_signals(equations, final),
        term_cost=float(selection.costs.min()),
        noiseless=final.noiseless_level > 0,
        clipped=scores.clipped / scores.count,
        condition=_condition(first.sums.entry_gram[0]),
        model=final,
    )


@dataclass(frozen=True)
class _Runner:
    """Runs passes over one data set."""

    data: Dataset
    engine: Engine
    chunk_size: int

    def __call__(self, step: Pass[Total]) -> Total:
        return reduce(step, self.data, engine=self.engine, chunk_size=self.chunk_size)

    def on_pilot(self) -> _Runner:
        """Run over a pilot sample where the whole is so much that a good start saves passes."""
        if self.data.n_increments < MANY * PIECES * PIECE:
            return self
        few = segments_of(self.data, PIECES, PIECE, engine=self.engine)
        return replace(self, data=few, engine=SERIAL)

    def with_observation_noise(self, model: WorkingModel) -> WorkingModel:
        """Measure the observation noise by what the drift leaves of the increments."""
        covariance = observation_noise(
            self.data,
            model.units,
            mean=model.mean,
            errors=NOISE_ERRORS,
            engine=self.engine,
        )
        return replace(model, observation_noise=tensor.entries_of(covariance[None])[0])


def chunk_size(dimension: int, terms: int) -> int:
    """Samples a chunk, so that the weighted copies of the library stay in the cache."""
    copies = 2 * len(tensor.pairs(dimension)) * terms
    return int(np.clip(CHUNK_NUMBERS // copies, 256, MOST_SAMPLES))


class _Iterated(NamedTuple):
    """The last equations, the model they were taken at, and what was chosen by them."""

    equations: NormalEquations
    model: WorkingModel
    found: list[Posterior]


def _first_drift(
    model: WorkingModel, selection: TermSelection, run: _Runner
) -> tuple[NormalEquations, WorkingModel]:
    """Choose a drift with equal weights and, if asked for, the observation noise beside it.

    Products of raw increments still hold the drift, so there is no tensor from this.
    """
    for _ in range(NOISE_ROUNDS):
        equations = NormalEquations(run(NormalPass(model)), model.basis.from_physical)
        drift = selection.drift(equations, model.drift)
        model = _with_drift(model, equations, selection, drift)
        if not selection.recipe.noise_correction:
            break
        before, model = model, run.with_observation_noise(model)
        change = 2 * np.abs(model.observation_noise - before.observation_noise) / run.data.mean_dt
        if change.max() <= SAME_NOISE:
            break
    # Later passes keep it. Where their weights follow a small noise, errors of drift and
    # observation noise would drive each other out of range.
    return equations, model


def _iterate(
    model: WorkingModel, selection: TermSelection, run: _Runner, earlier: Sequence[Posterior] = ()
) -> _Iterated:
    """Choose and reweight until nothing changes.

    ``earlier`` is what was chosen when ``model`` got its tensor; without it, there is none yet.
    """
    for _ in range(MOST_ROUNDS):
        equations, model = _safe_normal_equations(model, run)
        drift = selection.drift(equations, model.drift)
        entries = selection.entries(equations)
        later = _with_drift(model, equations, selection, drift)
        if earlier:
            later = _with_tensor(later, equations, entries)
        else:
            later = _with_tensor(later, equations, entries, variance_floor=FIRST_FLOOR)
            later = _detect_noiseless(later, equations.sums, run)
        later = _in_residual_units(later, equations.sums)
        found = [*drift, *entries]
        if earlier and _same(earlier, found, model, later, equations.sums):
            break
        earlier, model = found, later
    return _Iterated(equations, model, found)


def _with_variance_floor(model: WorkingModel) -> WorkingModel:
    """Follow the tensor of a pilot only where it is not small: it has seen few such samples."""
    return replace(
        model,
        variance_floor=np.full_like(model.variance_floor, FIRST_FLOOR),
        extra_variance=np.full_like(model.extra_variance, EXTRA_VARIANCES[0]),
    )


def _safe_normal_equations(
    model: WorkingModel, run: _Runner
) -> tuple[NormalEquations, WorkingModel]:
    """Run a pass with weights that can be believed.

    A formula that is not positive at some sample is off by more than its size there. Weights that
    follow it make the drift pass through such samples at any cost, and the next tensor is fitted
    to what is left of the others. So where it happens, the pass is run again without following.
    """
    equations = NormalEquations(run(NormalPass(model)), model.basis.from_physical)
    fallen = (equations.sums.impossible > 0) & (model.variance_floor < FIRST_FLOOR)
    if fallen.any():
        model = replace(
            model,
            floor_forced=model.floor_forced | fallen,
            variance_floor=np.where(fallen, FIRST_FLOOR, model.variance_floor),
        )
        equations = NormalEquations(run(NormalPass(model)), model.basis.from_physical)
    return equations, model


def _same(
    earlier: Sequence[Posterior],
    now: Sequence[Posterior],
    used: WorkingModel,
    later: WorkingModel,
    sums: Sums,
) -> bool:
    """Whether another pass would find the same terms with the same weights."""
    if not all((a.best == b.best).all() for a, b in zip(earlier, now, strict=True)):
        return False
    largest = np.abs(used.entries).max(axis=1, keepdims=True)
    moving = np.abs(later.in_units(used.units).entries - used.entries) > SAME_WEIGHTS * largest
    asked = sums.low_noise_likelihood.any(axis=1)  # there are samples of low noise
    change = np.abs(
        np.log(
            (later.variance_floor + later.extra_variance)
            / (used.variance_floor + used.extra_variance)
        )
    )
    return not (moving.any() or (asked & (change > np.log(SAME_EXTRA_VARIANCE))).any())


def _with_drift(
    model: WorkingModel,
    equations: NormalEquations,
    selection: TermSelection,
    drift: list[Posterior],
) -> WorkingModel:
    """Take over the chosen drift.

    Raises
    ------
    DataError
        If the passes run away instead of settling.
    """
    fitted = selection.drift_field(drift) @ equations.change
    if not (np.isfinite(fitted).all() and np.isfinite(equations.sums.residual).all()):
        raise DataError(
            "the fit runs away: with this library, weights and residuals drive each other out "
            "of range. Use a smaller library, or recipe='paper'."
        )
    return replace(model, drift=fitted)


def _with_tensor(
    model: WorkingModel,
    equations: NormalEquations,
    entries: list[Posterior],
    *,
    variance_floor: float = 0.0,
) -> WorkingModel:
    """Take over the chosen tensor, and the extra variance with which residuals are most likely."""
    return replace(
        model,
        entries=best_entries(entries, model.noiseless_level) @ equations.change,
        variance_floor=np.where(model.floor_forced, FIRST_FLOOR, variance_floor),
        extra_variance=EXTRA_VARIANCES[np.argmax(equations.sums.low_noise_likelihood, axis=1)],
    )


def _in_residual_units(model: WorkingModel, sums: Sums) -> WorkingModel:
    """Measure fields in units of the noise that the drift leaves, where there is any."""
    level = np.where(model.noiseless_level > 0, 1.0, sums.residual / sums.count)
    return model.in_units(model.units * np.sqrt(level))


def _detect_noiseless(model: WorkingModel, sums: Sums, run: _Runner) -> WorkingModel:
    """Find coordinates whose residuals are no larger than a step without own noise makes them.

    Such a coordinate is surely not an Euler chain if its residuals are of that size, so its mean
    is corrected for the finite step whatever the recipe says.
    """
    level = sums.residual / sums.count
    suspects = level < MOSTLY_DRIFT
    if not suspects.any():
        return model
    muted = replace(model, noiseless_level=np.where(suspects, ROUNDING_LEVEL, 0.0))
    leak = run(LeakPass(muted))
    expected = leak.level / leak.count
    noiseless = suspects & (level <= LEAK_FACTOR * expected + ROUNDING_LEVEL)
    continuous = noiseless & (level > expected / LEAK_FACTOR)
    return replace(
        model,
        noiseless_level=np.where(noiseless, np.maximum(level, ROUNDING_LEVEL), 0.0),
        mean_corrected=model.mean_corrected | continuous,
    )


def _signals(equations: NormalEquations, model: WorkingModel) -> FloatArray:
    """Largest single term of each drift component in standard errors, ``(d,)``."""
    problems = [equations.component(model.drift, p) for p in range(len(model.units))]
    return np.array([np.abs(problem.root.T @ problem.target).max() for problem in problems])


def _condition(gram: FloatArray) -> float:
    scale = 1.0 / np.sqrt(np.diag(gram))
    return float(np.sqrt(np.linalg.cond(gram * np.outer(scale, scale))))
