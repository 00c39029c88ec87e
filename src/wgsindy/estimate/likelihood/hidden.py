"""Samples of which some values were not measured: where to begin, and whether there is noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wgsindy.data import BoolArray, Dataset, FloatArray, Trajectories
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.estimate.likelihood.evidence import Posterior
from wgsindy.estimate.likelihood.exact_steps import with_drift
from wgsindy.estimate.likelihood.filter_sums import FilterSums
from wgsindy.estimate.likelihood.filtered_samples import FilteredSamples, chosen, memory
from wgsindy.estimate.likelihood.improve import Iterate, constant_tensor
from wgsindy.estimate.likelihood.noise_detection import stands_out
from wgsindy.estimate.likelihood.normal_equations import NormalEquations, NormalPass, Runner, Sums
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.selection import TermSelection
from wgsindy.model import tensor
from wgsindy.passes import SERIAL, segments_of
from wgsindy.terms import Basis

LEAST_WHOLE = 0.2  # share of samples with all values that is enough to begin with
# Share of samples without all values beyond which the others are so far apart that they may not
# show noise that there is.
MANY_MISSING = 0.3
LEAST_TOGETHER = 0.01  # share of samples that have both of two coordinates
SMALL_NOISE = 0.02  # share of the variance of increments
ROUGHLY = 1.0  # log-likelihood, a coefficient, that a fit may be short of to tell of noise


def whole_samples(data: Dataset) -> Trajectories:
    """Return the samples that have all values, or, if they are few, all with their stand-ins."""
    assert isinstance(data, Trajectories)
    try:
        found = data.complete()
    except NotEnoughDataError:
        return data.marked(None, 1)
    enough = found.n_increments >= LEAST_WHOLE * data.n_increments
    return found if enough else data.marked(None, 1)


def with_small_noise(model: Process, data: Dataset) -> Process:
    """Let all coordinates have some noise to begin with.

    Whether the noises of two are correlated, only samples tell that have both.
    """
    assert isinstance(data, Trajectories)
    assert data.seen is not None
    d, seen = len(model.units), data.seen.astype(np.float64)
    together = seen.T @ seen / len(seen)
    own = np.diag(np.maximum(SMALL_NOISE * data.mean_dt, model.rounding))
    return replace(
        model,
        noisy=np.array([together[p, q] > LEAST_TOGETHER for p, q in tensor.pairs(d)]),
        noiseless_level=np.zeros(d),
        observation_noise=tensor.entries_of(own[None])[0],
    )


def follow_all(
    start: Process,
    selection: TermSelection,
    run: Runner,
    earlier: Sequence[Posterior] = (),
    *,
    forced: bool,
    coarse: bool = False,
) -> Iterate[FilterSums] | None:
    """Filter until nothing changes; take values for exact if no noise stands out.

    ``earlier`` is what was chosen when ``start`` was fitted. With ``forced`` noise, or none, that
    is not asked. All but the last passes may take ``coarse`` steps: these are off by less than the
    passes still move. Nothing if the filter has nothing to say.
    """
    asked = not forced and bool(start.noisy.any())
    kernel = FilteredSamples.along(start, selection, run)
    if not (asked or coarse):
        return kernel.follow(start, earlier)
    # Whether there is noise, a fit tells that is not yet as good as it can be.
    begin = in_coarse_steps(start) if coarse else start
    last = replace(kernel, roughly=ROUGHLY).follow(begin, earlier)
    if last is None or (last.settled and not coarse and _stands_out(last)):
        return last
    rough = last if not asked or _stands_out(last) else _exact(last, selection) or last
    fine = replace(rough.proposal, data_range=start.data_range)
    kernel = FilteredSamples.along(fine, selection, run)
    return kernel.follow(fine, rough.chosen, rough.left) or (None if coarse else last)


def in_coarse_steps(process: Process) -> Process:
    """Let steps be as long as a single sample would have them."""
    return replace(process, data_range=replace(process.data_range, count=1))


def _exact(last: Iterate[FilterSums], selection: TermSelection) -> Iterate[FilterSums] | None:
    """Choose and fit once more, of values that are as they were written."""
    exact = replace(
        last.process,
        noisy=np.zeros_like(last.process.noisy),
        observation_noise=tensor.entries_of(np.diag(last.process.rounding)[None])[0],
    )
    return chosen(exact, last.sums.with_noise(last.process, exact.observation_noise), selection)


def _stands_out(last: Iterate[FilterSums]) -> bool:
    """Whether the noise of any coordinate is more than chance makes of none."""
    process, d = last.process, len(last.process.units)
    own = [tensor.entry_number(p, p) for p in range(d)]
    errors = last.sums.noise_errors(process, np.array([field.best for field in last.chosen]))
    beyond = last.proposal.observation_noise[own] - process.rounding
    return stands_out(beyond, errors, process.noisy[own])


# Share of third differences that noise has at least: a motion without any would leave nothing that
# a filter can divide by.
IMPERCEPTIBLE = 1e-7
LEAST_NOISE = 0.1  # share of third differences that noise has at the start
LEAST_TENSOR = 0.05  # share of what differences leave that the tensor has at the start
STRETCHES, STRETCH = 100, 128  # and their steps, on which a fit begins
SHORTEST, REMEMBERED = 16, 4  # samples of their blocks at least, and times what a filter remembers
ROUGHLY_BEGUN = 0.3  # log-likelihood, a coefficient, that a step there may be worth to be the last


def is_position(data: Dataset) -> BoolArray:
    """Which coordinates have the drift of a velocity that is not observed, ``(d,)``."""
    return np.arange(data.dimension) < data.dimension // 2


def known_fields(basis: Basis, model: Process) -> FloatArray:
    """Coefficients ``(d + E, K)`` of the fields of positions, in units of the noise; else NaN."""
    assert model.positions is not None
    d, positions = len(model.units), model.positions
    known = np.full((d + len(model.entries), len(basis)), np.nan)
    for p in np.flatnonzero(positions).tolist():
        known[p] = 0.0
        known[p, basis.terms.index(basis.names[p + d // 2])] = 1 / model.units[p]
    for e, (p, q) in enumerate(tensor.pairs(d)):
        if positions[p] or positions[q]:
            known[d + e] = 0.0
    return known


def first_force(
    start: Process, selection: TermSelection, run: Runner
) -> tuple[Sums, Process, TermSelection]:
    """Begin with differences of positions for velocities, and noise of the same size everywhere."""
    positions = is_position(run.data)
    model = replace(start, positions=positions, noiseless_level=np.where(positions, 1.0, 0.0))
    selection = replace(selection, known=known_fields(selection.basis, model))
    sums = run(NormalPass(model))
    drift = selection.drift(
        NormalEquations.of(sums, model.basis.from_physical), np.zeros_like(model.drift)
    )
    return sums, with_drift(model, selection.drift_field(drift)), selection


def with_first_noise(model: Process, data: Dataset, quantum: FloatArray, *, noisy: bool) -> Process:
    """Give the velocities a constant tensor, and the positions the noise that they may have."""
    assert isinstance(data, Trajectories)
    assert model.positions is not None
    d = len(model.units)
    least = np.maximum(quantum**2 / 12, IMPERCEPTIBLE * data.third_differences())
    rounding = np.where(model.positions, least / model.units**2, 0.0)
    shaken, jitter = _third_differences(data)
    noise = np.where(model.positions, jitter / model.units**2, 0.0)
    noise = np.maximum(noise if noisy else 0.0, rounding)
    levels = np.clip(np.roll(shaken, d // 2) / model.units**2, LEAST_TENSOR, 1.0)
    entries = constant_tensor(model, np.where(model.positions, 0.0, levels))
    return replace(
        model,
        entries=entries,
        rounding=rounding,
        observation_noise=tensor.entries_of(np.diag(noise)[None])[0],
        noisy=np.array([noisy and model.positions[p] for p, _ in tensor.pairs(d)]),
    )


def perceptible(noise: FloatArray, data: Dataset) -> FloatArray:
    """Covariance ``(E,)`` of the noise of positions without what :func:`with_first_noise` adds."""
    assert isinstance(data, Trajectories)
    least = tensor.entries_of(np.diag(IMPERCEPTIBLE * data.third_differences())[None])[0]
    return np.where(np.abs(noise) <= (1 + IMPERCEPTIBLE) * least, 0.0, noise)


def _third_differences(data: Trajectories) -> tuple[FloatArray, FloatArray]:
    """Tensor of the velocities and variance of the noise, ``(d,)`` by their positions, roughly.

    Velocities of tensor a make a dt^3 of them over one step, and 8 times that over two; noise of
    variance s makes 20 s of both.
    """
    one, two = data.third_differences(1), data.third_differences(2)
    noise = np.clip((8 * one - two) / 7, LEAST_NOISE * one, one) / 20
    return (two - one) / (7 * data.mean_dt**3), noise


def follow_positions(
    start: Process, selection: TermSelection, run: Runner, *, forced: bool
) -> Iterate[FilterSums]:
    """Filter until nothing changes; take positions for exact if no noise stands out.

    Raises
    ------
    DataError
        If the filter has nothing to say even of a motion that nothing drives.
    """
    begin, earlier = _scouted(start, selection, run)
    last = follow_all(begin, selection, run, earlier, forced=forced, coarse=bool(earlier))
    for other in (start, replace(start, drift=_free(start))):
        last = last or follow_all(other, selection, run, forced=forced)
    if last is None:
        raise DataError(
            "these positions do not move as anything with a velocity does: no motion can be "
            "followed along them. Fit with order=1."
        )
    return last


def _free(process: Process) -> FloatArray:
    """Coefficients ``(d, K)`` of a motion without force: a position moves by its velocity."""
    assert process.positions is not None
    return np.where(process.positions[:, None], process.drift, 0.0)


def _scouted(
    start: Process, selection: TermSelection, run: Runner
) -> tuple[Process, Sequence[Posterior]]:
    """Go most of the way on short stretches in coarse steps, which cost little; what was chosen."""
    few = segments_of(run.data, STRETCHES, STRETCH, engine=run.engine)
    scout = replace(run, data=few, engine=SERIAL)
    block, least = STRETCH, max(SHORTEST, REMEMBERED * memory(start, run.data.mean_dt))
    while block >= 2 * least:
        block //= 2
    kernel = FilteredSamples(selection, scout, block, ROUGHLY_BEGUN)
    last = kernel.follow(in_coarse_steps(start))
    if last is None:
        return start, ()
    return replace(last.proposal, data_range=start.data_range), last.chosen
