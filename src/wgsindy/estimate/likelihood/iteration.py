"""Steps that are independent of each other: choose terms and reweight until nothing changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np

from wgsindy.data import BLOCK, Dataset, FloatArray, whole_blocks
from wgsindy.errors import DataError, LibraryError
from wgsindy.estimate.likelihood.evidence import Posterior, run_away
from wgsindy.estimate.likelihood.filter_sums import FilterPass, FilterSums, FreeFields
from wgsindy.estimate.likelihood.noise_detection import Noise
from wgsindy.estimate.likelihood.normal_equations import (
    EXTRA_VARIANCES,
    LaggedPass,
    NormalEquations,
    NormalPass,
    TrapezoidPass,
    Runner,
    Sums,
    WithinStepNoisePass,
)
from wgsindy.estimate.likelihood.process import Process, blank_noiseless
from wgsindy.estimate.likelihood.selection import TermSelection, best_entries, same_terms
from wgsindy.model import FEWEST_CLUSTERS, tensor

MOST_ROUNDS = 9
MOST_HALVINGS = 3
SAME_WEIGHTS = 0.02  # relative change of the tensor that is not worth another pass
SAME_DRIFT = 0.01  # log-likelihood that a change of the drift may be worth, a term
SAME_EXTRA_VARIANCE = 5.0  # factor by which it may change between passes that agree
# Smallest noise until residuals have told how far the tensor formula can be trusted.
FIRST_FLOOR = 0.1
SETTLED = 0.8  # residuals of which another pass does not leave less than this share
MOSTLY_DRIFT = 0.2  # residuals below this share of the increments may be no noise at all
LEAK_FACTOR = 4.0
ROUNDING_LEVEL = 1e-9
SMOOTH = 0.8  # share of the residuals that last, in a coordinate without noise
MOST_OWN = 1e-3  # share of increments, each by itself, that rounding may leave unexplained


class Weighted(NamedTuple):
    """The last sums, their equations, the model they were taken at, and what was chosen by them."""

    sums: Sums
    equations: NormalEquations
    model: Process
    found: list[Posterior]


def first_drift(model: Process, selection: TermSelection, run: Runner) -> tuple[Sums, Process]:
    """Choose a drift with equal weights.

    Products of raw increments still hold the drift, so there is no tensor from this.
    """
    sums, equations = _equations(model, run)
    if TRAPEZOID:
        ahead = run(TrapezoidPass(model))
        drift = selection.drift(NormalEquations.of(ahead, model.basis.from_physical), model.drift)
        sums = ahead
    else:
        drift = selection.drift(equations, model.drift)
    return sums, in_residual_units(with_drift(model, selection.drift_field(drift)), sums)


def iterate(
    model: Process, selection: TermSelection, run: Runner, earlier: Sequence[Posterior] = ()
) -> Weighted:
    """Choose and reweight until nothing changes.

    ``earlier`` is what was chosen when ``model`` got its tensor; without it, there is none yet.
    """
    seen = _safe_equations(model, run) if earlier else _settled(model, selection, run)
    for _ in range(MOST_ROUNDS):
        sums, equations, model = seen
        drift = selection.drift(equations, model.drift)
        entries = selection.entries(equations, model.entries)
        later = with_drift(model, selection.drift_field(drift))
        if earlier:
            later = with_tensor(later, sums, entries)
        else:
            later = with_tensor(later, sums, entries, variance_floor=FIRST_FLOOR)
            later = _detect_noiseless(later, sums, run)
        later = in_residual_units(later, sums)
        found = [*drift, *entries]
        if earlier and _same(earlier, found, model, later, sums):
            break
        better = _accepted(seen, later, selection, run)
        if better is None:
            break
        earlier, seen = found, better
    return Weighted(sums, equations, model, found)


def _accepted(
    seen: tuple[Sums, NormalEquations, Process],
    later: Process,
    selection: TermSelection,
    run: Runner,
) -> tuple[Sums, NormalEquations, Process] | None:
    """Run a pass; where it is worse, with half of what was to change, and so on."""
    sums, _, used = seen
    reached = evidence_of(sums, used, selection)
    for _ in range(8):
        try:
            trial = _safe_equations(later, run)
        except DataError:
            trial = None
        if DEBUG: print('   trial', reached, trial and evidence_of(trial[0], trial[2], selection))
        if trial is not None and evidence_of(trial[0], trial[2], selection) >= reached - FALLEN:
            return trial
        later = _between(used, later)
    return None


DEBUG = False
TRAPEZOID = False


def evidence_of(sums: Sums, model: Process, selection: TermSelection) -> float:
    own = model.noiseless_level == 0
    chosen = np.abs(np.vstack([model.drift, model.entries]) @ model.basis.to_physical) > 1e-9
    paid = float((chosen @ selection.costs).sum())
    return float(sums.log_likelihood - sums.count * np.log(model.units).sum()) - 0 * paid


def _between(used: Process, later: Process) -> Process:
    used = used.in_units(later.units)
    entries = used.entries if used.entries.any() else constant_entries(used)
    return replace(
        later,
        drift=(used.drift + later.drift) / 2,
        entries=(entries + later.entries) / 2,
        variance_floor=used.variance_floor,
        extra_variance=used.extra_variance,
        floor_forced=used.floor_forced,
    )


def constant_entries(model: Process) -> FloatArray:
    theta = model.basis.values(model.data_range.probe)
    one = np.linalg.lstsq(theta, np.ones(len(theta)))[0]
    entries = np.zeros_like(model.entries)
    for p in range(len(model.units)):
        entries[tensor.entry_number(p, p)] = one * (model.noiseless_level[p] == 0)
    return entries


def _settled(
    model: Process, selection: TermSelection, run: Runner
) -> tuple[Sums, NormalEquations, Process]:
    """Run a first pass; where steps are mostly drift, after following it until it leaves no less.

    What the first drift of a process is off within a step looks like noise, and is none.
    """
    seen = _safe_equations(model, run)
    level, driven = seen[0].residual / seen[0].count, model.noiseless_level > 0
    suspects = (level < MOSTLY_DRIFT) & ~driven
    if model.is_chain or not suspects.any():
        return seen
    for _ in range(MOST_ROUNDS):
        _, equations, model = seen
        drift = selection.drift_field(selection.drift(equations, model.drift))
        quiet = np.where(suspects, np.maximum(level, ROUNDING_LEVEL), driven.astype(np.float64))
        later = replace(with_drift(model, drift), noiseless_level=quiet)
        try:
            seen = _safe_equations(later, run)
        except DataError:  # too large a step: the drift before is as good a start as any
            break
        before, level = level, seen[0].residual / seen[0].count
        suspects = (level < MOSTLY_DRIFT) & ~driven
        if not (level < SETTLED * before).any():
            break
    return _safe_equations(replace(model, noiseless_level=driven.astype(np.float64)), run)


def with_variance_floor(model: Process) -> Process:
    """Follow the tensor of a pilot only where it is not small: it has seen few such samples."""
    return replace(
        model,
        variance_floor=np.full_like(model.variance_floor, FIRST_FLOOR),
        extra_variance=np.full_like(model.extra_variance, EXTRA_VARIANCES[0]),
    )


def _equations(model: Process, run: Runner) -> tuple[Sums, NormalEquations]:
    sums = run(NormalPass(model))
    if not np.isfinite(sums.residual).all():
        raise run_away()
    # Zero for all pairs: weights are not.
    absent = np.flatnonzero(np.diagonal(sums.entry_gram[0]) == 0)
    if len(absent):
        raise LibraryError(
            f"term {model.basis.terms[absent[0]]} is 0 at all {sums.count} samples that were "
            "looked at, so nothing can be learned about it; leave it out."
        )
    return sums, NormalEquations.of(sums, model.basis.from_physical)


def _safe_equations(model: Process, run: Runner) -> tuple[Sums, NormalEquations, Process]:
    """Run a pass with weights that can be believed.

    A formula that is not positive at some sample is off by more than its size there. Weights that
    follow it make the drift pass through such samples at any cost, and the next tensor is fitted
    to what is left of the others. So where it happens, the pass is run again without following.
    """
    sums, equations = _equations(model, run)
    fallen = (sums.impossible > 0) & (model.variance_floor < FIRST_FLOOR)
    if fallen.any():
        model = replace(
            model,
            floor_forced=model.floor_forced | fallen,
            variance_floor=np.where(fallen, FIRST_FLOOR, model.variance_floor),
        )
        sums, equations = _equations(model, run)
    return sums, equations, model


def _same(
    earlier: Sequence[Posterior],
    now: Sequence[Posterior],
    used: Process,
    later: Process,
    sums: Sums,
) -> bool:
    """Whether another pass would find the same terms with the same weights."""
    if not same_terms(earlier, now):
        return False
    same = later.in_units(used.units)
    largest = np.abs(used.entries).max(axis=1, keepdims=True)
    moving = np.abs(same.entries - used.entries) > SAME_WEIGHTS * largest
    asked = sums.low_noise_likelihood.any(axis=1)  # there are samples of low noise
    change = np.abs(
        np.log(
            (later.variance_floor + later.extra_variance)
            / (used.variance_floor + used.extra_variance)
        )
    )
    if moving.any() or (asked & (change > np.log(SAME_EXTRA_VARIANCE))).any():
        return False
    # The sums of a chain are exact whatever the drift; those of a process are about the drift used.
    return used.is_chain or _worth(same.drift - used.drift, sums) <= SAME_DRIFT * same.drift.size


def _worth(change: FloatArray, sums: Sums) -> float:
    """Log-likelihood that a ``change (d, K)`` of the drift is worth."""
    own = [sums.drift_gram[tensor.entry_number(p, p)] for p in range(len(change))]
    return 0.5 * sum(float(row @ gram @ row) for row, gram in zip(change, own, strict=True))


def with_drift(model: Process, drift: FloatArray) -> Process:
    """Take over a drift ``(d, K)`` in physical terms.

    Raises
    ------
    DataError
        If the passes run away instead of settling.
    """
    if not np.isfinite(drift).all():
        raise run_away()
    return replace(model, drift=drift @ model.basis.from_physical)


def with_tensor(
    model: Process, sums: Sums, entries: list[Posterior], *, variance_floor: float = 0.0
) -> Process:
    """Take over the chosen tensor, and the extra variance with which residuals are most likely."""
    return replace(
        model,
        entries=best_entries(entries, model.noiseless_level) @ model.basis.from_physical,
        variance_floor=np.where(model.floor_forced, FIRST_FLOOR, variance_floor),
        extra_variance=EXTRA_VARIANCES[np.argmax(sums.low_noise_likelihood, axis=1)],
    )


def in_residual_units(model: Process, sums: Sums) -> Process:
    """Measure fields in units of the noise that the drift leaves, where there is any."""
    level = np.where(model.noiseless_level > 0, 1.0, sums.residual / sums.count)
    return model.in_units(model.units * np.sqrt(level))


def _detect_noiseless(model: Process, sums: Sums, run: Runner) -> Process:
    """Find coordinates whose residuals are no larger than a step without own noise makes them.

    Or those of a process whose residuals last: a path with noise forgets them at once. If they are
    of that size, the samples are no Euler chain, whatever the recipe says: its residuals would be
    nothing at all.
    """
    level, driven = sums.residual / sums.count, model.noiseless_level > 0  # of inputs
    suspects = (level < MOSTLY_DRIFT) & ~driven
    if not suspects.any():
        return model
    muted = replace(
        model, noiseless_level=np.where(suspects, ROUNDING_LEVEL, driven.astype(np.float64))
    )
    leak = run(WithinStepNoisePass(muted), chunk_size=whole_blocks(run.chunk_size))
    expected = (leak.level + leak.truncation) / leak.count
    # Beside the last states of an explosion its noise looks like rounding; beside the first not.
    rounding = np.where(leak.own_share < MOST_OWN * leak.count, ROUNDING_LEVEL, 0.0)
    smooth = (leak.smooth_share > SMOOTH) & (not model.is_chain)
    noiseless = suspects & (smooth | (level <= LEAK_FACTOR * expected + rounding))
    continuous = noiseless & (level > expected / LEAK_FACTOR)
    # A process leaves what it must, however little a chain does. And what a step of the closure is
    # off, coefficients take over whatever the number of samples.
    least = np.maximum(level, ROUNDING_LEVEL if model.is_chain else expected + ROUNDING_LEVEL)
    effective = least * leak.repeats + leak.truncation
    return replace(
        model,
        noiseless_level=np.where(
            noiseless, np.minimum(effective, MOSTLY_DRIFT), driven.astype(np.float64)
        ),
        is_chain=model.is_chain and not bool(continuous.any()),
    )


# Shares of the variance of increments at which no fit without it is tried, and at which such a fit
# is no place to begin either; that of nothing but noise is one half.
STRONG_NOISE, OVERWHELMING = 0.1, 0.4
LEAST_TENSOR = 0.1  # share of the variance of increments that is left to the tensor at the start
MOST_CLIPPED = 0.1  # share of samples at which there may be no tensor
MOST_FILTERINGS = 12
# Log-likelihood that a step may be worth, a coefficient, for another pass not to be; and the step
# that would come after it.
SETTLED_STEP, NEGLIGIBLE = 0.005, 5e-5  # that of a tenth of a standard error
NEARLY = 0.2  # share of what a rough step may be worth that the one after it may be
FALLEN = 10.0  # log-likelihood by which a step must be worse to be halved
BLOCK_NUMBERS, MOST_BLOCKS = 200_000, 512  # derivatives that stay in the cache, and blocks a chunk
# A step of few blocks costs as much as one of many: short data are cut into shorter blocks, which
# are still so many times longer than what a filter remembers that little is lost at their starts.
MANY_BLOCKS, SHORTEST_BLOCK, REMEMBERED = 256, 32, 16
# Fewer are cut into pieces, so many times as long as what it remembers.
FEW_BLOCKS, FORGOTTEN = 128, 6
# Quantile, over states, of the tensor that says what a filter remembers, and the least it may be.
SMALL_TENSOR, SMALLEST = 0.02, 0.02


class Filtered(NamedTuple):
    """The last sums, their equations, the model they were taken at, and what was chosen by them."""

    sums: FilterSums
    equations: NormalEquations
    model: Process
    found: list[Posterior]
    fitted: Process  # to what was chosen
    block: int  # samples a block
    left: (
        float  # log-likelihood, a coefficient, that the step from ``model`` to ``fitted`` is worth
    )
    settled: bool = False  # whether the same terms were chosen before, and nearly the same numbers


def noisy_start(model: Process, selection: TermSelection, run: Runner, noise: Noise) -> Process:
    """Begin with a drift that noise does not bias, and with what noise leaves to the tensor."""
    blank = replace(
        with_noise(model, noise),
        drift=np.zeros_like(model.drift),
        entries=np.zeros_like(model.entries),
        observation_noise=np.zeros_like(model.observation_noise),
    )
    drift = selection.drift(_lagged(blank, run), blank.drift)
    start = with_drift(blank, selection.drift_field(drift))
    most = 0.5 * (1 - LEAST_TENSOR) * run.data.mean_dt
    held = np.sqrt(most / np.maximum(noise.variances, most))
    covariance = (noise.covariance + np.diag(noise.rounding)) * np.outer(held, held)
    start = replace(start, observation_noise=tensor.entries_of(covariance[None])[0])
    if CONSTANT:
        left = np.maximum(run.data.mean_dt - 2 * np.diag(tensor.symmetric(start.observation_noise[None], len(start.units))[0]), LEAST_TENSOR * run.data.mean_dt) / run.data.mean_dt
        fitted = constant_entries(start)
        for p in range(len(left)):
            fitted[tensor.entry_number(p, p)] *= left[p]
        return replace(start, entries=fitted)
    found = selection.entries(_lagged(start, run), start.entries)
    fitted = best_entries(found, start.noiseless_level) @ start.basis.from_physical
    return replace(start, entries=fitted)


CONSTANT = True


def with_noise(model: Process, noise: Noise) -> Process:
    """Begin with drift and tensor as they are if samples are taken for exact."""
    covariance = noise.covariance + np.diag(noise.rounding)
    return replace(
        model,
        variance_floor=np.ones_like(model.variance_floor),
        extra_variance=np.zeros_like(model.extra_variance),
        noiseless_level=np.zeros_like(model.noiseless_level),
        rounding=noise.rounding,
        observation_noise=tensor.entries_of(covariance[None])[0],
        noisy=np.full(len(model.entries), noise.covariance.any()),
    )


def _lagged(model: Process, run: Runner) -> NormalEquations:
    sums = run(LaggedPass(model), following=True)
    return NormalEquations.of(sums, model.basis.from_physical)


def follow_noise(
    model: Process,
    selection: TermSelection,
    run: Runner,
    earlier: Sequence[Posterior] = (),
    block: int = 0,
    roughly: float = 0.0,
    before: float = 0.0,
) -> Filtered | None:
    """Filter, choose and step until nothing changes; halve steps that make data less likely.

    ``earlier`` is what was chosen when ``model`` was fitted, ``block`` samples a block, if it is
    not the data that say how many; ``roughly`` the log-likelihood, a coefficient, that a step may
    be worth to be the last, whatever its terms, and ``before`` what the one to ``model`` was worth,
    if that is known.
    Nothing if steps run away however short, or if noise of one size at all samples leaves no tensor
    at many of them: then it is not the same everywhere, and the filter has nothing to say.
    """
    last: Filtered | None = None
    halvings, block = 0, block or block_length(model, run.data)
    for _ in range(MOST_FILTERINGS):
        sums = filtered(model, run, block)
        best = -np.inf if last is None else last.sums.log_likelihood
        sound = sums.is_sound(model)
        if not sound or sums.log_likelihood < best - FALLEN:
            if last is None or halvings == MOST_HALVINGS:
                last = last if sound else None
                break
            model, halvings = _midway(last.model, model), halvings + 1
            continue
        halvings, last = 0, chosen(model, sums, selection, block)
        # Each step is as much shorter than the one before as that was than its own.
        enough = last.left <= max(SETTLED_STEP, (NEGLIGIBLE * before) ** 0.5)
        last = last._replace(settled=enough and bool(earlier) and same_terms(earlier, last.found))
        if last.settled or last.left <= max(roughly, (NEARLY * roughly * before) ** 0.5):
            break
        earlier, model, before = last.found, last.fitted, last.left
    if last is None or last.sums.clipped > MOST_CLIPPED * last.sums.count:
        return None
    return last


def chosen(model: Process, sums: FilterSums, selection: TermSelection, block: int) -> Filtered:
    """Choose terms by the sums of a pass, and fit them."""
    equations = sums.equations(model)
    drift = selection.drift(equations, model.drift)
    entries = selection.entries(equations, model.entries)
    later = accept_step(model, sums, equations, selection, drift, entries)
    left = _step_worth(model, later, sums)
    return Filtered(sums, equations, model, [*drift, *entries], later, block, left)


def accept_step(
    model: Process,
    sums: FilterSums,
    equations: NormalEquations,
    selection: TermSelection,
    drift: list[Posterior],
    entries: list[Posterior],
) -> Process:
    """Fit all fields that were chosen jointly, and take over the noise that goes with them."""
    problem, d = equations.all_fields(), len(drift)
    assert problem is not None
    support = np.array([found.best for found in (*drift, *entries)])
    blank_noiseless(support[d:], model.noiseless_level)
    fields = problem.solve(support.ravel()).reshape(support.shape)
    apart = selection.drift_field(drift) - [found.coefficients[0] for found in drift]
    later = with_drift(model, fields[:d] + apart)
    tensor_now = fields[d:] @ model.basis.from_physical
    noise = sums.noise(model, later.drift, tensor_now)
    return replace(later, entries=tensor_now, observation_noise=noise)


def block_length(model: Process, data: Dataset) -> int:
    """Samples a block, one number for all passes: likelihoods of other blocks do not compare."""
    block, least = BLOCK, max(SHORTEST_BLOCK, ceil(REMEMBERED * memory(model, data.mean_dt)))
    while data.n_increments < MANY_BLOCKS * block and block >= 2 * least:
        block //= 2
    return block


def memory(model: Process, dt: float) -> float:
    """Samples that a filter remembers.

    Noise of variance s is averaged over about sqrt(s / (a dt)) steps: the longer, the smaller the
    tensor a is, and what counts are the states at which it is small. Noise of positions, of which a
    is the tensor of the velocities, is averaged over about (s / (a dt^3))^(1/4) steps.
    """
    d = len(model.units)
    own = [tensor.entry_number(p, p) for p in range(d)]
    seen = model.entries[own] @ model.basis.values(model.data_range.probe).T
    small = np.maximum(np.quantile(seen, SMALL_TENSOR, axis=1), SMALLEST)
    noise = model.observation_noise[own]
    if model.positions is None:
        return float(1 + np.sqrt((noise / small).max() / dt))
    square = model.units**2
    ratio = (noise * square)[: d // 2] / (small * square)[d // 2 :]
    return float(2 + (ratio.max() / dt**3) ** 0.25)


def filtered(model: Process, run: Runner, block: int = 0) -> FilterSums:
    """One pass of the filter, with slopes by trajectory if there are enough of them."""
    block = block or block_length(model, run.data)
    is_last = model.data_range.count > 1  # or may be: error bars are not asked of coarse steps
    trajectories = len(run.data) if is_last and len(run.data) >= FEWEST_CLUSTERS else 0
    step = FilterPass(model, trajectories, block, _piece_length(model, run.data, block))
    return run(step, chunk_size=_chunk_size(model, block))


def _piece_length(model: Process, data: Dataset, block: int) -> int:
    """Samples a piece of a block: a quarter of it where blocks are few and forget within that."""
    few = data.n_increments < FEW_BLOCKS * block
    forgotten = block // 4 >= FORGOTTEN * memory(model, data.mean_dt)
    return block // 4 if few and forgotten else block


def _step_worth(used: Process, later: Process, sums: FilterSums) -> float:
    """Log-likelihood, a coefficient, of a step from one model to another."""
    own = FreeFields.of(used)
    drift = (later.drift - used.drift)[own.drift].ravel()
    fields = np.append(
        (later.entries - used.entries)[own.entries],
        (later.observation_noise - used.observation_noise)[own.noise],
    )
    worth = 0.5 * (drift @ sums.drift @ drift + fields @ sums.tensor @ fields)
    return float(worth) / (drift.size + fields.size)


def _midway(one: Process, other: Process) -> Process:
    return replace(
        other,
        drift=(one.drift + other.drift) / 2,
        entries=(one.entries + other.entries) / 2,
        observation_noise=(one.observation_noise + other.observation_noise) / 2,
    )


def _chunk_size(model: Process, block: int) -> int:
    """Samples a chunk: whole blocks, so many that the derivatives stay in the cache."""
    (d, k), e, own = model.drift.shape, len(model.entries), FreeFields.of(model)
    numbers = d * len(own.drift) * k + (d + e) * (len(own.entries) * k + len(own.noise))
    most = MOST_BLOCKS * BLOCK // block  # as many samples in short blocks
    return block * int(np.clip(BLOCK_NUMBERS // numbers, 32, most))
