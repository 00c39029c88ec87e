"""The stages of the recipe ``sharp``: every increment is a row, weighted by its own noise.

A few passes over the data, each about what follows from the one before: drift and tensor are chosen
(:mod:`.term_selection`) from normal equations, until terms and coefficients no longer change. Steps
are independent of each other (:mod:`.reweighting`) unless the samples have observation noise: then
a filter runs along them (:mod:`.noisy_samples`). Sums are taken in standardised coordinates, where
they are accurate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wgsindy.data import BoolArray, Dataset, FloatArray, frozen
from wgsindy.estimate.likelihood.error_bars import ErrorBars
from wgsindy.estimate.likelihood.exact_steps import (
    ExactSteps,
    first_drift,
    fit_exact,
    with_drift,
    with_tensor,
    with_variance_floor,
)
from wgsindy.estimate.likelihood.filter_sums import FilterSums
from wgsindy.estimate.likelihood.filtered_samples import (
    MANY_MISSING,
    STAGE,
    STRONG_NOISE,
    FilteredSamples,
    accept_step,
    filtered,
    first_force,
    follow_all,
    follow_positions,
    leaves_a_tensor,
    noisy_start,
    perceptible,
    whole_samples,
    with_first_noise,
    with_noise,
    with_small_noise,
)
from wgsindy.estimate.likelihood.improve import Iterate, held, improve, likeliest
from wgsindy.estimate.likelihood.noise_detection import Noise, detect_noise
from wgsindy.estimate.likelihood.normal_equations import (
    DriftTensorPass,
    NormalEquations,
    Runner,
    ScorePass,
    Sums,
    chunk_size,
)
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.selection import (
    Extrapolation,
    Posed,
    TermSelection,
    about_sparsest,
    equally_good,
)
from wgsindy.model import FEWEST_CLUSTERS, Alternative, Uncertainty, tensor
from wgsindy.passes import SERIAL, DataSummary, Engine, PassPair
from wgsindy.recipes import LikelihoodRecipe
from wgsindy.terms import Basis

# Stretches on which starts are told apart, their steps, and how many times more data make it worth
# while: likelihoods of starts differ by hundreds.
SCOUTED = (32, 128, 1)
Last = Iterate[Sums] | Iterate[FilterSums]


@dataclass(frozen=True)
class LikelihoodEstimate:
    """What the stages give, in the physical terms and units."""

    drift: FloatArray  # (d, K) averaged over supports, if the recipe says so
    entries: FloatArray  # (E, K) of the tensor
    uncertainty: Uncertainty
    signals: FloatArray  # (d,) standard errors of the strongest single term of each component
    term_cost: float  # log-evidence that the cheapest term must be worth
    noiseless: BoolArray  # (d,) coordinates without noise of their own
    observation_noise: FloatArray  # (E,) covariance of the sensor's noise, rounding included
    noise_error: FloatArray  # (d,) its standard error; zero where it is known
    unfollowed: BoolArray  # (d,) coordinates whose noise was found, but no filter came to an end
    clipped: float  # share of samples at which the tensor has a negative eigenvalue
    condition: float  # of the unweighted library with unit columns
    alternatives: tuple[Alternative, ...]  # sets of terms of nearly the same evidence
    model: Process  # at which weights were taken last


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
    is_chain = recipe.transition == "chain"
    run = Runner(data, engine, chunk_size(data.dimension, len(basis), is_chain=is_chain))
    start = Process.start(work, summary, is_chain=is_chain)
    if data.order == 2:
        return _of_positions(start, selection, run, summary)
    if data.partly_seen:
        return _of_some(start, selection, run, summary)
    last, condition, noise = _of_states(start, selection, run, summary)
    return _estimate(*_about_sparsest(last, selection), run, condition, noise)


def _about_sparsest(last: Last, selection: TermSelection) -> tuple[Last, TermSelection]:
    equations, model, selection = about_sparsest(Posed(last.equations, last.process, selection))
    return last._replace(equations=equations, process=model), selection


def _of_states(
    start: Process, selection: TermSelection, run: Runner, summary: DataSummary
) -> tuple[Last, float, Noise]:
    """Take steps for independent, or follow the noise of the samples, if there is any.

    Returns the last pass, the condition of the library, and the noise.
    """
    early, recipe = run.on_pilot(), selection.recipe
    sums, guess = first_drift(start, ExactSteps(selection, early))
    exact: Iterate[Sums] | None = None
    noise = _noise(replace(guess, is_chain=True), early, recipe, summary)
    if noise.variances.max() < STRONG_NOISE * early.data.mean_dt:
        noisy = bool(noise.variances.any())
        exact = _without_noise(start, guess, selection, early, run, roughly=noisy)
        noise = _noise(exact.process, run, recipe, summary)
    last: Last | None = exact
    if exact is None or noise.variances.any():
        last = _with_noise(start, guess, exact, noise, selection, early, run)
        last = last or exact or _without_noise(start, guess, selection, early, run, roughly=False)
    assert last is not None
    return last, _condition(sums.entry_gram[0]), noise


def _with_noise(
    start: Process,
    guess: Process,
    exact: Iterate[Sums] | None,
    noise: Noise,
    selection: TermSelection,
    early: Runner,
    run: Runner,
) -> Iterate[FilterSums] | None:
    """Follow noise: from the fit that takes samples for exact, if there is one.

    Or from a tensor that is the same everywhere, with the drift that two steps at once show, or
    none: strong noise biases the first, long steps the second.
    """
    near = exact.process if exact else guess
    rest, shown = (noisy_start(near, selection, early, noise, at_rest=one) for one in (True, False))
    scout = early.on_pilot(*SCOUTED)
    taken = exact or fit_exact(start, guess, selection, scout, roughly=True)
    kernel = FilteredSamples.along(rest, selection, scout, STAGE)
    ends = map(kernel.with_one_noise().follow, (rest, shown))
    begun = likeliest([*ends, kernel.follow(with_noise(taken.process, noise))])
    if begun is None:
        return None
    whole = FilteredSamples.along(begun.proposal, selection, run)
    last = whole.follow(begun.proposal, begun.chosen, begun.left)
    return last if last is not None and leaves_a_tensor(last, selection) else None


def _of_some(
    start: Process, selection: TermSelection, run: Runner, summary: DataSummary
) -> LikelihoodEstimate:
    """Fit samples of which some values were not measured.

    What is known from those that have all values, or from stand-ins if they are too few, is where
    a filter along all of them begins; if that has nothing to say, it is the result.
    """
    rough = replace(run, data=whole_samples(run.data))
    last, condition, noise = _of_states(start, selection, rough, summary)
    early, process = run.on_pilot(), last.process
    followed = isinstance(last.sums, FilterSums)
    asked = run.data.partly_seen > MANY_MISSING and not followed
    if asked := asked and selection.recipe.noise_correction is not False:
        process = with_small_noise(process, run.data)
    found = follow_all(process, selection, early, forced=not asked)
    if found is not None and early is not run:
        found = follow_all(found.process, selection, run, forced=not asked)
    if found is None or not leaves_a_tensor(found, selection):
        return _estimate(*_about_sparsest(last, selection), rough, condition, noise)
    noise = noise._replace(doubt=None) if asked else noise
    return _estimate(*_about_sparsest(found, selection), run, condition, noise)


def _of_positions(
    start: Process, selection: TermSelection, run: Runner, summary: DataSummary
) -> LikelihoodEstimate:
    """Fit force and tensor to positions whose velocities are not observed."""
    early = run.on_pilot()
    sums, model, selection = first_force(start, selection, early)
    correction = selection.recipe.noise_correction
    model = with_first_noise(model, early.data, summary.quantum, noisy=correction is not False)
    last = follow_positions(model, selection, early, forced=correction is True)
    if early is not run:
        last = follow_positions(last.process, selection, run, forced=correction is True)
    last = last if leaves_a_tensor(last, selection) else held(last)
    condition = _condition(sums.entry_gram[-1])
    none = Noise.none(len(model.units))
    found = _estimate(*_about_sparsest(last, selection), run, condition, none)
    # The model has what the pilot gave it.
    noise = perceptible(found.observation_noise, early.data)
    return replace(found, observation_noise=noise)


def _without_noise(
    start: Process,
    guess: Process,
    selection: TermSelection,
    early: Runner,
    run: Runner,
    *,
    roughly: bool,
) -> Iterate[Sums]:
    """Take samples for exact: on a pilot first, if there is one."""
    last = fit_exact(start, guess, selection, early, roughly=roughly)
    if early is run:
        return last
    kernel = ExactSteps(selection, run)
    begun = kernel.look(with_variance_floor(last.process), last.chosen, last.left)
    return improve(begun, kernel) or last


def _noise(model: Process, run: Runner, recipe: LikelihoodRecipe, summary: DataSummary) -> Noise:
    if recipe.noise_correction is False or summary.inputs:
        return Noise.none(len(model.units))
    return detect_noise(model, run, summary.quantum, forced=recipe.noise_correction is True)


def _estimate(
    last: Last,
    selection: TermSelection,
    run: Runner,
    condition: float,
    noise: Noise,
) -> LikelihoodEstimate:
    """Choose the terms once more, thoroughly, and give them their error bars."""
    equations, model, sums = last.equations, last.process, last.sums
    drift = selection.drift(equations, model.drift, thorough=True)
    entries = selection.entries(equations, model.entries, thorough=True)
    trajectories = len(run.data) if len(run.data) >= FEWEST_CLUSTERS else 0
    noise_error, lean, is_settled = np.zeros(len(model.units)), None, False
    if isinstance(sums, FilterSums):
        is_settled = last.settled
        final = accept_step(model, sums, equations, selection, drift, entries)
        support = np.array([found.best for found in (*drift, *entries)])
        if is_settled and np.array_equal(support, [found.best for found in last.chosen]):
            scores = sums.scores(model)  # another pass would find the same
        else:
            scores = filtered(final, run).scores(final)
        noise_error = sums.noise_errors(model, support) * model.units**2
        lean = run(DriftTensorPass(final))
    else:
        final = with_tensor(with_drift(model, selection.drift_field(drift)), sums, entries)
        slopes = ScorePass(final, trajectories)
        if final.is_chain:
            scores = run(slopes)
        else:
            scores, lean = run(PassPair(slopes, DriftTensorPass(final)))
    if lean is not None and not (np.isfinite(lean.cross).all() and np.isfinite(lean.gram).all()):
        lean = None  # slopes of some term are out of the range of numbers: nothing is told by them
    beside = selection.all_beside(equations, drift)
    refit = ErrorBars(
        equations, final, drift, beside, entries, scores, lean, noise.doubt, run.data.mean_dt
    )
    uncertainty = refit.uncertainty()
    if selection.known is not None:
        uncertainty = _sure_of(selection.known, uncertainty, model.units)
    formula = uncertainty.drift
    pairs = np.array(tensor.pairs(len(model.units)))
    return LikelihoodEstimate(
        drift=frozen(refit.averaged_drift(formula) if selection.recipe.averaging else formula),
        entries=frozen(refit.tensor_entries()),
        uncertainty=uncertainty,
        signals=_signals(equations, final),
        term_cost=float(selection.costs.min()),
        noiseless=final.noiseless_level > 0,
        observation_noise=final.observation_noise * final.units[pairs].prod(axis=1),
        noise_error=noise_error,
        unfollowed=(noise.variances > 0) & (not is_settled),
        clipped=scores.clipped / scores.count,
        condition=condition,
        alternatives=equally_good([one.posterior for one in beside], entries, selection.basis),
        model=final,
    )


def _sure_of(known: FloatArray, found: Uncertainty, units: FloatArray) -> Uncertainty:
    """Give drift components that are ``known (d + E, K)`` no error at all."""
    d = len(units)
    sure = ~np.isnan(known[:d]).any(axis=1)
    drift, spread, joint = (
        found.drift.copy(),
        found.drift_spread.copy(),
        found.drift_covariance.copy(),
    )
    drift[sure] = np.where(known[:d] != 0, 1.0, 0.0)[sure]  # x' = v, without a factor
    spread[sure], joint[sure], joint[:, :, sure] = 0.0, 0.0, 0.0
    clustered = None if found.drift_clustered is None else found.drift_clustered.copy()
    if clustered is not None:
        clustered[sure], clustered[:, :, sure] = 0.0, 0.0
    return replace(
        found, drift=drift, drift_spread=spread, drift_covariance=joint, drift_clustered=clustered
    )


def _signals(equations: NormalEquations, model: Process) -> FloatArray:
    """Largest single term of each drift component in standard errors, ``(d,)``."""
    problems = [equations.component(model.drift, p) for p in range(len(model.units))]
    return np.array([np.abs(problem.root.T @ problem.target).max() for problem in problems])


def _condition(gram: FloatArray) -> float:
    scale = 1.0 / np.sqrt(np.diag(gram))
    return float(np.sqrt(np.linalg.cond(gram * np.outer(scale, scale))))
