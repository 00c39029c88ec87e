"""Samples with observation noise: where to begin, and the passes of the filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np

from wgsindy.data import BLOCK, Dataset
from wgsindy.estimate.filtering.filter_sums import FilterPass, FilterSums, Open
from wgsindy.estimate.filtering.noise_detection import Noise
from wgsindy.estimate.likelihood.evidence import Posterior
from wgsindy.estimate.likelihood.normal_equations import LaggedPass, NormalEquations
from wgsindy.estimate.likelihood.reweighting import MOST_HALVINGS, Runner, with_drift
from wgsindy.estimate.likelihood.term_selection import (
    TermSelection,
    best_entries,
    same_terms,
)
from wgsindy.estimate.likelihood.working_model import WorkingModel, blank_noiseless
from wgsindy.model import FEWEST_CLUSTERS, tensor

# Shares of the variance of increments at which no fit without it is tried, and at which such a fit
# is no place to begin either; that of nothing but noise is one half.
STRONG_NOISE, OVERWHELMING = 0.1, 0.4
LEAST_TENSOR = 0.1  # share of the variance of increments that is left to the tensor at the start
MOST_CLIPPED = 0.1  # share of samples at which there may be no tensor
MOST_ROUNDS = 12
# Log-likelihood that a step may be worth, a coefficient, for another pass not to be; and the step
# that would come after it.
SETTLED, NEGLIGIBLE = 0.005, 5e-5  # that of a tenth of a standard error
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
    model: WorkingModel
    found: list[Posterior]
    fitted: WorkingModel  # to what was chosen
    block: int  # samples a block
    left: (
        float  # log-likelihood, a coefficient, that the step from ``model`` to ``fitted`` is worth
    )
    settled: bool = False  # whether the same terms were chosen before, and nearly the same numbers


def noisy_start(
    model: WorkingModel, selection: TermSelection, run: Runner, noise: Noise
) -> WorkingModel:
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
    found = selection.entries(_lagged(start, run), start.entries)
    fitted = best_entries(found, start.noiseless_level) @ start.basis.from_physical
    return replace(start, entries=fitted)


def with_noise(model: WorkingModel, noise: Noise) -> WorkingModel:
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


def _lagged(model: WorkingModel, run: Runner) -> NormalEquations:
    sums = run(LaggedPass(model), following=True)
    return NormalEquations.of(sums, model.basis.from_physical)


def follow_noise(
    model: WorkingModel,
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
    for _ in range(MOST_ROUNDS):
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
        enough = last.left <= max(SETTLED, (NEGLIGIBLE * before) ** 0.5)
        last = last._replace(settled=enough and bool(earlier) and same_terms(earlier, last.found))
        if last.settled or last.left <= max(roughly, (NEARLY * roughly * before) ** 0.5):
            break
        earlier, model, before = last.found, last.fitted, last.left
    if last is None or last.sums.clipped > MOST_CLIPPED * last.sums.count:
        return None
    return last


def chosen(model: WorkingModel, sums: FilterSums, selection: TermSelection, block: int) -> Filtered:
    """Choose terms by the sums of a pass, and fit them."""
    equations = sums.equations(model)
    drift = selection.drift(equations, model.drift)
    entries = selection.entries(equations, model.entries)
    later = taken_over(model, sums, equations, selection, drift, entries)
    left = _worth(model, later, sums)
    return Filtered(sums, equations, model, [*drift, *entries], later, block, left)


def taken_over(
    model: WorkingModel,
    sums: FilterSums,
    equations: NormalEquations,
    selection: TermSelection,
    drift: list[Posterior],
    entries: list[Posterior],
) -> WorkingModel:
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


def block_length(model: WorkingModel, data: Dataset) -> int:
    """Samples a block, one number for all passes: likelihoods of other blocks do not compare."""
    block, least = BLOCK, max(SHORTEST_BLOCK, ceil(REMEMBERED * memory(model, data.mean_dt)))
    while data.n_increments < MANY_BLOCKS * block and block >= 2 * least:
        block //= 2
    return block


def memory(model: WorkingModel, dt: float) -> float:
    """Samples that a filter remembers.

    Noise of variance s is averaged over about sqrt(s / (a dt)) steps: the longer, the smaller the
    tensor a is, and what counts are the states at which it is small. Noise of positions, of which a
    is the tensor of the velocities, is averaged over about (s / (a dt^3))^(1/4) steps.
    """
    d = len(model.units)
    own = [tensor.entry_number(p, p) for p in range(d)]
    seen = model.entries[own] @ model.basis.values(model.place.probe).T
    small = np.maximum(np.quantile(seen, SMALL_TENSOR, axis=1), SMALLEST)
    noise = model.observation_noise[own]
    if model.positions is None:
        return float(1 + np.sqrt((noise / small).max() / dt))
    square = model.units**2
    ratio = (noise * square)[: d // 2] / (small * square)[d // 2 :]
    return float(2 + (ratio.max() / dt**3) ** 0.25)


def filtered(model: WorkingModel, run: Runner, block: int = 0) -> FilterSums:
    """One pass of the filter, with slopes by trajectory if there are enough of them."""
    block = block or block_length(model, run.data)
    is_last = model.place.count > 1  # or may be: error bars are not asked of coarse steps
    trajectories = len(run.data) if is_last and len(run.data) >= FEWEST_CLUSTERS else 0
    step = FilterPass(model, trajectories, block, _piece_length(model, run.data, block))
    return run(step, chunk_size=_chunk_size(model, block))


def _piece_length(model: WorkingModel, data: Dataset, block: int) -> int:
    """Samples a piece of a block: a quarter of it where blocks are few and forget within that."""
    few = data.n_increments < FEW_BLOCKS * block
    forgotten = block // 4 >= FORGOTTEN * memory(model, data.mean_dt)
    return block // 4 if few and forgotten else block


def _worth(used: WorkingModel, later: WorkingModel, sums: FilterSums) -> float:
    """Log-likelihood, a coefficient, of a step from one model to another."""
    own = Open.of(used)
    drift = (later.drift - used.drift)[own.drift].ravel()
    fields = np.append(
        (later.entries - used.entries)[own.entries],
        (later.observation_noise - used.observation_noise)[own.noise],
    )
    worth = 0.5 * (drift @ sums.drift @ drift + fields @ sums.tensor @ fields)
    return float(worth) / (drift.size + fields.size)


def _midway(one: WorkingModel, other: WorkingModel) -> WorkingModel:
    return replace(
        other,
        drift=(one.drift + other.drift) / 2,
        entries=(one.entries + other.entries) / 2,
        observation_noise=(one.observation_noise + other.observation_noise) / 2,
    )


def _chunk_size(model: WorkingModel, block: int) -> int:
    """Samples a chunk: whole blocks, so many that the derivatives stay in the cache."""
    (d, k), e, own = model.drift.shape, len(model.entries), Open.of(model)
    numbers = d * len(own.drift) * k + (d + e) * (len(own.entries) * k + len(own.noise))
    most = MOST_BLOCKS * BLOCK // block  # as many samples in short blocks
    return block * int(np.clip(BLOCK_NUMBERS // numbers, 32, most))
