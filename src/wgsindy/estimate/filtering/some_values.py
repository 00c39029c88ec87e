"""Samples of which some values were not measured: where to begin, and whether there is noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wgsindy.data import Dataset, Trajectories
from wgsindy.errors import NotEnoughDataError
from wgsindy.estimate.filtering.noise_detection import stands_out
from wgsindy.estimate.filtering.noisy_samples import Filtered, chosen, follow_noise
from wgsindy.estimate.likelihood.evidence import Posterior
from wgsindy.estimate.likelihood.reweighting import Runner
from wgsindy.estimate.likelihood.term_selection import TermSelection
from wgsindy.estimate.likelihood.working_model import WorkingModel
from wgsindy.model import tensor

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


def with_small_noise(model: WorkingModel, data: Dataset) -> WorkingModel:
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
    model: WorkingModel,
    selection: TermSelection,
    run: Runner,
    earlier: Sequence[Posterior] = (),
    *,
    forced: bool,
    coarse: bool = False,
) -> Filtered | None:
    """Filter until nothing changes; take values for exact if no noise stands out.

    ``earlier`` is what was chosen when ``model`` was fitted. With ``forced`` noise, or none, that
    is not asked. All but the last passes may take ``coarse`` steps: these are off by less than the
    passes still move. Nothing if the filter has nothing to say.
    """
    asked = not forced and bool(model.noisy.any())
    if not (asked or coarse):
        return follow_noise(model, selection, run, earlier)
    # Whether there is noise, a fit tells that is not yet as good as it can be.
    begin = in_coarse_steps(model) if coarse else model
    last = follow_noise(begin, selection, run, earlier, roughly=ROUGHLY)
    if last is None or (last.settled and not coarse and _stands_out(last)):
        return last
    rough = last if not asked or _stands_out(last) else _exact(last, selection)
    fine = replace(rough.fitted, place=model.place)
    found = follow_noise(fine, selection, run, rough.found, before=rough.left)
    return found or (None if coarse else last)


def in_coarse_steps(model: WorkingModel) -> WorkingModel:
    """Let steps be as long as a single sample would have them."""
    return replace(model, place=replace(model.place, count=1))


def _exact(last: Filtered, selection: TermSelection) -> Filtered:
    """Choose and fit once more, of values that are as they were written."""
    exact = replace(
        last.model,
        noisy=np.zeros_like(last.model.noisy),
        observation_noise=tensor.entries_of(np.diag(last.model.rounding)[None])[0],
    )
    sums = last.sums.with_noise(last.model, exact.observation_noise)
    return chosen(exact, sums, selection, last.block)


def _stands_out(last: Filtered) -> bool:
    """Whether the noise of any coordinate is more than chance makes of none."""
    d = len(last.model.units)
    own = [tensor.entry_number(p, p) for p in range(d)]
    errors = last.sums.noise_errors(last.model, np.array([found.best for found in last.found]))
    beyond = last.fitted.observation_noise[own] - last.model.rounding
    return stands_out(beyond, errors, last.model.noisy[own])
