"""Samples that do not show the state, followed by a filter: a kernel of :mod:`.improve`.

Noise, values that are missing, velocities that nobody measures: all of it is one filter along the
samples, whose sums have the information about every coefficient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from wgsindy.data import BLOCK, BoolArray, Dataset, FloatArray, Trajectories
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.estimate.evidence import Posterior
from wgsindy.estimate.likelihood.exact_steps import with_drift
from wgsindy.estimate.likelihood.filter_sums import FilterPass, FilterSums, FreeFields
from wgsindy.estimate.likelihood.improve import (
    Iterate,
    constant_tensor,
    improve,
    made_positive,
    paid_for,
    share_clipped,
)
from wgsindy.estimate.likelihood.noise_detection import Noise, stands_out
from wgsindy.estimate.likelihood.normal_equations import (
    LaggedPass,
    NormalEquations,
    NormalPass,
    Runner,
    Sums,
)
from wgsindy.estimate.likelihood.process import Process, blank_noiseless
from wgsindy.estimate.likelihood.selection import TermSelection, same_terms
from wgsindy.model import FEWEST_CLUSTERS, tensor
from wgsindy.passes import SERIAL, segments_of
from wgsindy.terms import Basis

# Shares of the variance of increments at which no fit without it is tried, and at which such a fit
# is no place to begin either; that of nothing but noise is one half.
STRONG_NOISE, OVERWHELMING = 0.1, 0.4
LEAST_TENSOR = 0.1  # share of the variance of increments that is left to the tensor at the start
MOST_CLIPPED = 0.1  # share of samples at which there may be no tensor
# Log-likelihood that a step may be worth, a coefficient, for another pass not to be; and the step
# that would come after it.
SETTLED_STEP, NEGLIGIBLE_STEP = 0.005, 5e-5  # that of a tenth of a standard error
STAGE = 1.0  # the same, where starts are told apart
MOST_FILTERINGS = 12  # passes from one start; what settles takes 4 to 10
NEARLY = 0.2  # share of what a rough step may be worth that the one after it may be
BLOCK_NUMBERS, MOST_BLOCKS = 200_000, 512  # derivatives that stay in the cache, and blocks a chunk
# A step of few blocks costs as much as one of many: short data are cut into shorter blocks, which
# are still so many times longer than what a filter remembers that little is lost at their starts.
MANY_BLOCKS, SHORTEST_BLOCK, REMEMBERED = 256, 32, 16
# Fewer are cut into pieces, so many times as long as what it remembers.
FEW_BLOCKS, FORGOTTEN = 128, 6
# Quantile, over states, of the tensor that says what a filter remembers, and the least it may be.
SMALL_TENSOR, SMALLEST = 0.02, 0.02


@dataclass(frozen=True)
class FilteredSamples:
    """Looks at a process by the filter, in blocks of one length: likelihoods of others differ.

    ``roughly`` is the log-likelihood, a coefficient, that a step may be worth to be the last,
    whatever its terms.
    """

    selection: TermSelection
    run: Runner
    block: int  # samples
    roughly: float = 0.0
    budget: int = MOST_FILTERINGS

    @classmethod
    def along(
        cls, start: Process, selection: TermSelection, run: Runner, roughly: float = 0.0
    ) -> FilteredSamples:
        """Take blocks as long as the data and the noise of ``start`` ask for."""
        return cls(selection, run, block_length(start, run.data), roughly)

    def look(
        self, process: Process, earlier: Sequence[Posterior], before: float
    ) -> Iterate[FilterSums] | None:
        """Run a pass, choose terms from it, and fit them."""
        if not process.dynamics.can_be_followed:
            return None
        sums = filtered(process, self.run, self.block)
        if not sums.is_sound(process):
            return None
        found = chosen(process, sums, self.selection, earlier)
        # No step is worth more than samples are: then derivatives along the filter have exploded.
        if found is None or not 0 <= found.left <= sums.count:
            return None
        # Each step is as much shorter than the one before as that was than its own.
        enough = found.left <= max(SETTLED_STEP, (NEGLIGIBLE_STEP * before) ** 0.5)
        settled = enough and bool(earlier) and same_terms(earlier, found.chosen)
        return found._replace(settled=settled)

    def ends(self, last: Iterate[FilterSums], before: float) -> bool:
        """Whether the fit has settled, or as nearly as is asked for."""
        rough = max(self.roughly, (NEARLY * self.roughly * before) ** 0.5)
        return last.settled or last.left <= rough

    def follow(
        self, start: Process, earlier: Sequence[Posterior] = (), before: float = 0.0
    ) -> Iterate[FilterSums] | None:
        """Improve from ``start``; nothing if the filter has nothing to say even there.

        ``earlier`` is what was chosen when ``start`` was fitted, ``before`` what the step to it was
        worth.
        """
        return improve(self.look(start, earlier, before), self, before=before)

    def with_one_noise(self) -> FilteredSamples:
        """Return what looks for a start, with noise that is the same everywhere.

        Far from the truth, what the drift does not explain looks like noise that differs.
        """
        return replace(self, selection=replace(self.selection, one_noise=True))


def leaves_a_tensor(last: Iterate[FilterSums], selection: TermSelection) -> bool:
    """Whether there is a tensor at most samples beside noise of one size.

    Else the noise is not the same everywhere, and a filter has nothing to say of it. What is asked
    for counts, before it is made positive.
    """
    d = len(last.process.units)
    fields = (last.chosen[:d], last.chosen[d:])
    asked = accept_step(last.process, last.sums, last.equations, selection, *fields)
    return max(last.sums.clipped / last.sums.count, share_clipped(asked)) <= MOST_CLIPPED


def chosen(
    process: Process,
    sums: FilterSums,
    selection: TermSelection,
    earlier: Sequence[Posterior] = (),
) -> Iterate[FilterSums] | None:
    """Choose terms by the sums of a pass, and fit them; nothing if they cannot be."""
    equations = sums.equations(process)
    if not equations.are_sound:
        return None
    drift = selection.drift(equations, process.drift)
    entries = selection.entries(equations, process.entries)
    later = accept_step(process, sums, equations, selection, drift, entries)
    if not (np.isfinite(later.drift).all() and np.isfinite(later.entries).all()):
        return None
    later = made_positive(later, MOST_CLIPPED)
    now = [*drift, *entries]
    return Iterate(
        process,
        sums,
        equations,
        now,
        later,
        float(sums.log_likelihood) - sums.count * float(np.log(process.units).sum()),
        paid_for(earlier or now),
        left=_step_worth(process, later, sums),
    )


def accept_step(
    process: Process,
    sums: FilterSums,
    equations: NormalEquations,
    selection: TermSelection,
    drift: list[Posterior],
    entries: list[Posterior],
) -> Process:
    """Fit all fields that were chosen jointly, and take over the noise that goes with them."""
    problem, d = equations.all_fields(), len(drift)
    assert problem is not None
    support = np.array([field.best for field in (*drift, *entries)])
    blank_noiseless(support[d:], process.noiseless_level)
    fields = problem.solve(support.ravel()).reshape(support.shape)
    apart = selection.drift_field(drift) - [field.coefficients[0] for field in drift]
    later = with_drift(process, fields[:d] + apart)
    tensor_now = fields[d:] @ process.basis.from_physical
    noise = sums.noise(process, later.drift, tensor_now)
    return replace(later, entries=tensor_now, observation_noise=noise)


def noisy_start(
    process: Process, selection: TermSelection, run: Runner, noise: Noise, *, at_rest: bool
) -> Process:
    """Begin with what noise leaves to a tensor that is the same everywhere, so is positive.

    And with a drift that noise does not bias, or none if ``at_rest``.
    """
    blank = replace(
        with_noise(process, noise),
        drift=np.zeros_like(process.drift),
        entries=np.zeros_like(process.entries),
        observation_noise=np.zeros_like(process.observation_noise),
    )
    if not at_rest:
        step = run(LaggedPass(blank), following=True)
        equations = NormalEquations.of(step, blank.basis.from_physical)
        if equations.are_sound:
            drift = selection.drift(equations, blank.drift)
            blank = with_drift(blank, selection.drift_field(drift))
    dt = run.data.mean_dt
    most = 0.5 * (1 - LEAST_TENSOR) * dt
    held = np.sqrt(most / np.maximum(noise.variances, most))
    covariance = (noise.covariance + np.diag(noise.rounding)) * np.outer(held, held)
    left = np.maximum(1 - 2 * np.diag(covariance) / dt, LEAST_TENSOR)
    return replace(
        blank,
        observation_noise=tensor.entries_of(covariance[None])[0],
        entries=constant_tensor(blank, left),
    )


def with_noise(process: Process, noise: Noise) -> Process:
    """Begin with drift and tensor as they are if samples are taken for exact."""
    covariance = noise.covariance + np.diag(noise.rounding)
    return replace(
        process,
        variance_floor=np.ones_like(process.variance_floor),
        extra_variance=np.zeros_like(process.extra_variance),
        noiseless_level=np.zeros_like(process.noiseless_level),
        rounding=noise.rounding,
        observation_noise=tensor.entries_of(covariance[None])[0],
        noisy=np.full(len(process.entries), noise.covariance.any()),
    )


def block_length(process: Process, data: Dataset) -> int:
    """Samples a block, one number for all passes: likelihoods of other blocks do not compare."""
    block, least = BLOCK, max(SHORTEST_BLOCK, ceil(REMEMBERED * memory(process, data.mean_dt)))
    while data.n_increments < MANY_BLOCKS * block and block >= 2 * least:
        block //= 2
    return block


def memory(process: Process, dt: float) -> float:
    """Samples that a filter remembers.

    Noise of variance s is averaged over about sqrt(s / (a dt)) steps: the longer, the smaller the
    tensor a is, and what counts are the states at which it is small. Noise of positions, of which a
    is the tensor of the velocities, is averaged over about (s / (a dt^3))^(1/4) steps.
    """
    d = len(process.units)
    own = [tensor.entry_number(p, p) for p in range(d)]
    seen = process.entries[own] @ process.basis.values(process.data_range.probe).T
    small = np.maximum(np.quantile(seen, SMALL_TENSOR, axis=1), SMALLEST)
    noise = process.observation_noise[own]
    if process.positions is None:
        return float(1 + np.sqrt((noise / small).max() / dt))
    square = process.units**2
    ratio = (noise * square)[: d // 2] / (small * square)[d // 2 :]
    return float(2 + (ratio.max() / dt**3) ** 0.25)


def filtered(process: Process, run: Runner, block: int = 0) -> FilterSums:
    """One pass of the filter, with slopes by trajectory if there are enough of them."""
    block = block or block_length(process, run.data)
    is_last = process.data_range.count > 1  # or may be: error bars are not asked of coarse steps
    trajectories = len(run.data) if is_last and len(run.data) >= FEWEST_CLUSTERS else 0
    step = FilterPass(process, trajectories, block, _piece_length(process, run.data, block))
    return run(step, chunk_size=_chunk_size(process, block))


def _piece_length(process: Process, data: Dataset, block: int) -> int:
    """Samples a piece of a block: a quarter of it where blocks are few and forget within that."""
    few = data.n_increments < FEW_BLOCKS * block
    forgotten = block // 4 >= FORGOTTEN * memory(process, data.mean_dt)
    return block // 4 if few and forgotten else block


def _step_worth(used: Process, later: Process, sums: FilterSums) -> float:
    """Log-likelihood, a coefficient, of a step from one process to another."""
    own = FreeFields.of(used)
    drift = (later.drift - used.drift)[own.drift].ravel()
    fields = np.append(
        (later.entries - used.entries)[own.entries],
        (later.observation_noise - used.observation_noise)[own.noise],
    )
    worth = 0.5 * (drift @ sums.drift @ drift + fields @ sums.tensor @ fields)
    return float(worth) / (drift.size + fields.size)


def _chunk_size(process: Process, block: int) -> int:
    """Samples a chunk: whole blocks, so many that the derivatives stay in the cache."""
    (d, k), e, own = process.drift.shape, len(process.entries), FreeFields.of(process)
    numbers = d * len(own.drift) * k + (d + e) * (len(own.entries) * k + len(own.noise))
    most = MOST_BLOCKS * BLOCK // block  # as many samples in short blocks
    return block * int(np.clip(BLOCK_NUMBERS // numbers, 32, most))


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
IMPERCEPTIBLE_JITTER = 1e-7
LEAST_JITTER = 0.1  # share of third differences that noise has at the start
LEAST_SHAKING = 0.05  # share of what differences leave that the tensor has at the start
STRETCHES, STRETCH = 100, 128  # and their steps, on which a fit begins
SHORTEST, SCOUT_REMEMBERS = (
    16,
    4,
)  # samples of their blocks at least, and times what a filter remembers
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
    least = np.maximum(quantum**2 / 12, IMPERCEPTIBLE_JITTER * data.third_differences())
    rounding = np.where(model.positions, least / model.units**2, 0.0)
    shaken, jitter = _third_differences(data)
    noise = np.where(model.positions, jitter / model.units**2, 0.0)
    noise = np.maximum(noise if noisy else 0.0, rounding)
    levels = np.clip(np.roll(shaken, d // 2) / model.units**2, LEAST_SHAKING, 1.0)
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
    least = tensor.entries_of(np.diag(IMPERCEPTIBLE_JITTER * data.third_differences())[None])[0]
    return np.where(np.abs(noise) <= (1 + IMPERCEPTIBLE_JITTER) * least, 0.0, noise)


def _third_differences(data: Trajectories) -> tuple[FloatArray, FloatArray]:
    """Tensor of the velocities and variance of the noise, ``(d,)`` by their positions, roughly.

    Velocities of tensor a make a dt^3 of them over one step, and 8 times that over two; noise of
    variance s makes 20 s of both.
    """
    one, two = data.third_differences(1), data.third_differences(2)
    noise = np.clip((8 * one - two) / 7, LEAST_JITTER * one, one) / 20
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
    if last is None and earlier:
        last = follow_all(start, selection, run, forced=forced)
    if last is None:
        free = replace(start, drift=_free(start))
        last = follow_all(free, selection, run, forced=forced)
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
    block, least = STRETCH, max(SHORTEST, SCOUT_REMEMBERS * memory(start, run.data.mean_dt))
    while block >= 2 * least:
        block //= 2
    kernel = FilteredSamples(selection, scout, block, ROUGHLY_BEGUN)
    last = kernel.follow(in_coarse_steps(start))
    if last is None:
        return start, ()
    return replace(last.proposal, data_range=start.data_range), last.chosen
