"""The sharp recipe: every increment is a row, weighted by its own noise, selected by evidence.

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
from wgsindy.estimate.likelihood.error_bars import Refit
from wgsindy.estimate.likelihood.evidence import Posterior
from wgsindy.estimate.likelihood.extrapolation import Beyond
from wgsindy.estimate.likelihood.normal_equations import (
    SLACK_GRID,
    LeakPass,
    NormalPass,
    ScorePass,
    Sums,
)
from wgsindy.estimate.likelihood.problems import Equations
from wgsindy.estimate.likelihood.term_selection import Choice, best_entries
from wgsindy.estimate.likelihood.working_model import WorkingModel
from wgsindy.estimate.observation_noise import observation_noise
from wgsindy.model import tensor
from wgsindy.model.uncertainty import FEWEST_CLUSTERS, Uncertainty
from wgsindy.passes.engine import SERIAL, Engine, Pass, Total, reduce
from wgsindy.passes.segments import segments_of
from wgsindy.passes.summary import DataSummary
from wgsindy.recipes import Recipe
from wgsindy.terms.library import Basis

MOST_ROUNDS = 9
SAME_WEIGHTS = 0.02  # relative change of the tensor that is not worth another pass
SAME_SLACK = 5.0  # factor by which slack may change between passes that agree
# Smallest noise until residuals have told how far the tensor formula can be trusted.
FIRST_LEAST = 0.1
# Stretches and their increments, from which terms and weights are known to a percent; and how many
# times more data it takes to make it worth while to settle on these first.
PIECES, PIECE, MANY = 100, 250, 16
# Larger chunks leave the cache, smaller ones cost Python's own time and make threads wait for
# each other.
CHUNK_NUMBERS, MOST_SAMPLES = 500_000, 8192
MOSTLY_DRIFT = 0.2  # residuals below this share of the increments may be no noise at all
LEAK_FACTOR = 4.0
ROUNDING_LEVEL = 1e-9
# Standard errors by which noise of the observation must stand out. Chance reaches it once in 700
# times; noise that does not reach it adds at most a share of 6 / sqrt(n) to the tensor.
JITTER_ERRORS = 3.0
JITTER_ROUNDS, SAME_JITTER = 10, 1e-3  # until it changes by this share of the noise of a step


@dataclass(frozen=True)
class SharpFit:
    """What the recipe returns, in the physical terms and units.

    ``drift (d, K)`` averaged over supports, ``entries (E, K)``, ``uncertainty``; ``signals (d,)``
    by how many standard errors the strongest single term of each drift component stands out;
    ``term_cost`` nats that the cheapest term must be worth; ``quiet (d,)`` coordinates without
    noise of their own; ``clipped`` share of samples at which the tensor has a negative eigenvalue;
    ``condition`` of the unweighted library with unit columns; ``model`` at which
    weights were taken last.
    """

    drift: FloatArray
    entries: FloatArray
    uncertainty: Uncertainty
    signals: FloatArray
    term_cost: float
    quiet: BoolArray
    clipped: float
    condition: float
    model: WorkingModel


def recover_sharp(
    data: Dataset,
    basis: Basis,
    summary: DataSummary,
    recipe: Recipe,
    *,
    engine: Engine = SERIAL,
    given: BoolArray | None = None,
) -> SharpFit:
    """Fit drift and tensor; ``basis`` is in physical coordinates.

    ``given (d + E, K)``: the terms of each field, where they are known. Nothing is selected then.
    """
    work = basis.in_frame(summary.region) if basis.is_closed else basis
    choice = Choice(basis, Beyond(basis, summary), recipe, given)
    run = _Runner(data, engine, chunk_size(data.dimension, len(basis)))
    noise = summary.frame.scale * np.sqrt(summary.variation)
    start = WorkingModel.start(
        work, noise, summary.region.scale, finite_step=recipe.finite_step == "taylor"
    )
    early = run.on_pilot()
    first, model = _first_drift(start, choice, early)
    equations, model, found = _settle(_in_own_noise(model, first.sums), choice, early)
    if early is not run:
        equations, model, found = _settle(_careful(model), choice, run, found)
    drift = choice.drift(equations, model.drift, thorough=True)
    entries = choice.entries(equations, thorough=True)
    final = _with_tensor(_with_drift(model, equations, choice, drift), equations, entries)
    scores = run(ScorePass(final, len(data) if len(data) >= FEWEST_CLUSTERS else 0))
    refit = Refit(equations, final, drift, entries, scores)
    uncertainty = refit.uncertainty()
    formula = uncertainty.drift
    return SharpFit(
        drift=frozen(refit.averaged_drift(formula) if recipe.averaging else formula),
        entries=frozen(refit.tensor_entries()),
        uncertainty=uncertainty,
        signals=_signals(equations, final),
        term_cost=float(choice.costs.min()),
        quiet=final.quiet > 0,
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

    def with_jitter(self, model: WorkingModel) -> WorkingModel:
        """Measure the noise of the observation by what the drift leaves of the increments."""
        covariance = observation_noise(
            self.data,
            model.units,
            mean=model.mean,
            errors=JITTER_ERRORS,
            engine=self.engine,
        )
        return replace(model, jitter=tensor.entries_of(covariance[None])[0])


def chunk_size(dimension: int, terms: int) -> int:
    """Samples a chunk, so that the weighted copies of the library stay in the cache."""
    copies = 2 * len(tensor.pairs(dimension)) * terms
    return int(np.clip(CHUNK_NUMBERS // copies, 256, MOST_SAMPLES))


class _Settled(NamedTuple):
    """The last equations, the model they were taken at, and what was chosen by them."""

    equations: Equations
    model: WorkingModel
    found: list[Posterior]


def _first_drift(
    model: WorkingModel, choice: Choice, run: _Runner
) -> tuple[Equations, WorkingModel]:
    """Choose a drift with equal weights and, if asked for, the jitter that goes with it.

    Products of raw increments still hold the drift, so there is no tensor from this.
    """
    for _ in range(JITTER_ROUNDS):
        equations = Equations(run(NormalPass(model)), model.basis.from_physical)
        drift = choice.drift(equations, model.drift)
        model = _with_drift(model, equations, choice, drift)
        if not choice.recipe.noise_correction:
            break
        before, model = model, run.with_jitter(model)
        change = 2 * np.abs(model.jitter - before.jitter) / run.data.mean_dt
        if change.max() <= SAME_JITTER:
            break
    # Later passes keep it. Where their weights follow a small noise, errors of drift and jitter
    # would drive each other out of range.
    return equations, model


def _settle(
    model: WorkingModel, choice: Choice, run: _Runner, earlier: Sequence[Posterior] = ()
) -> _Settled:
    """Choose and reweight until nothing changes.

    ``earlier`` is what was chosen when ``model`` got its tensor; without it, there is none yet.
    """
    for _ in range(MOST_ROUNDS):
        equations, model = _believed(model, run)
        drift = choice.drift(equations, model.drift)
        entries = choice.entries(equations)
        later = _with_drift(model, equations, choice, drift)
        if earlier:
            later = _with_tensor(later, equations, entries)
        else:
            later = _with_tensor(later, equations, entries, least=FIRST_LEAST)
            later = _silenced(later, equations.sums, run)
        later = _in_own_noise(later, equations.sums)
        found = [*drift, *entries]
        if earlier and _same(earlier, found, model, later, equations.sums):
            break
        earlier, model = found, later
    return _Settled(equations, model, found)


def _careful(model: WorkingModel) -> WorkingModel:
    """Follow the tensor of a pilot only where it is not small: it has seen few such samples."""
    return replace(
        model,
        least=np.full_like(model.least, FIRST_LEAST),
        slack=np.full_like(model.slack, SLACK_GRID[0]),
    )


def _believed(model: WorkingModel, run: _Runner) -> tuple[Equations, WorkingModel]:
    """Run a pass with weights that can be believed.

    A formula that is not positive at some sample is off by more than its size there. Weights that
    follow it make the drift pass through such samples at any cost, and the next tensor is fitted
    to what is left of the others. So where it happens, the pass is run again without following.
    """
    equations = Equations(run(NormalPass(model)), model.basis.from_physical)
    fallen = (equations.sums.impossible > 0) & (model.least < FIRST_LEAST)
    if fallen.any():
        model = replace(
            model, wary=model.wary | fallen, least=np.where(fallen, FIRST_LEAST, model.least)
        )
        equations = Equations(run(NormalPass(model)), model.basis.from_physical)
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
    asked = sums.slack_likelihood.any(axis=1)  # there are samples of low noise
    change = np.abs(np.log((later.least + later.slack) / (used.least + used.slack)))
    return not (moving.any() or (asked & (change > np.log(SAME_SLACK))).any())


def _with_drift(
    model: WorkingModel, equations: Equations, choice: Choice, drift: list[Posterior]
) -> WorkingModel:
    """Take over the chosen drift.

    Raises
    ------
    DataError
        If the passes run away instead of settling.
    """
    fitted = choice.drift_field(drift) @ equations.change
    if not (np.isfinite(fitted).all() and np.isfinite(equations.sums.residual).all()):
        raise DataError(
            "the fit runs away: with this library, weights and residuals drive each other out "
            "of range. Use a smaller library, or recipe='paper'."
        )
    return replace(model, drift=fitted)


def _with_tensor(
    model: WorkingModel, equations: Equations, entries: list[Posterior], *, least: float = 0.0
) -> WorkingModel:
    """Take over the chosen tensor, and the slack with which residuals are most likely."""
    return replace(
        model,
        entries=best_entries(entries, model.quiet) @ equations.change,
        least=np.where(model.wary, FIRST_LEAST, least),
        slack=SLACK_GRID[np.argmax(equations.sums.slack_likelihood, axis=1)],
    )


def _in_own_noise(model: WorkingModel, sums: Sums) -> WorkingModel:
    """Measure fields in units of the noise that the drift leaves, where there is any."""
    level = np.where(model.quiet > 0, 1.0, sums.residual / sums.count)
    return model.in_units(model.units * np.sqrt(level))


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


def _signals(equations: Equations, model: WorkingModel) -> FloatArray:
    """Largest single term of each drift component in standard errors, ``(d,)``."""
    problems = [equations.component(model.drift, p) for p in range(len(model.units))]
    return np.array([np.abs(problem.root.T @ problem.target).max() for problem in problems])


def _condition(gram: FloatArray) -> float:
    scale = 1.0 / np.sqrt(np.diag(gram))
    return float(np.sqrt(np.linalg.cond(gram * np.outer(scale, scale))))
