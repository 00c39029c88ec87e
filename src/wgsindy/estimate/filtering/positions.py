"""Positions whose velocities nobody measured: what is known of them, and where to begin.

The state is (x, v) with x' = v, known and without noise of its own; the force is the drift of v. A
first guess takes differences of positions for velocities, which makes friction too small and
noise too large or too small by factors of a few; the passes of the filter do the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wgsindy.data import BoolArray, Dataset, FloatArray, Trajectories
from wgsindy.errors import DataError
from wgsindy.estimate.filtering.noisy_samples import Filtered, follow_noise, memory
from wgsindy.estimate.filtering.some_values import follow_all, in_coarse_steps
from wgsindy.estimate.likelihood.evidence import Posterior
from wgsindy.estimate.likelihood.normal_equations import NormalEquations, NormalPass, Sums
from wgsindy.estimate.likelihood.reweighting import Runner, with_drift
from wgsindy.estimate.likelihood.term_selection import TermSelection
from wgsindy.estimate.likelihood.working_model import WorkingModel
from wgsindy.model import tensor
from wgsindy.passes import SERIAL, segments_of
from wgsindy.terms import Basis

# Share of third differences that noise has at least: a motion without any would leave nothing that
# a filter can divide by.
IMPERCEPTIBLE = 1e-7
LEAST_NOISE = 0.1  # share of third differences that noise has at the start
LEAST_TENSOR = 0.05  # share of what differences leave that the tensor has at the start
STRETCHES, STRETCH = 100, 128  # and their steps, on which a fit begins
SHORTEST, REMEMBERED = 16, 4  # samples of their blocks at least, and times what a filter remembers
ROUGHLY = 0.3  # log-likelihood, a coefficient, that a step there may be worth to be the last


def is_position(data: Dataset) -> BoolArray:
    """Which coordinates have the drift of a velocity that is not observed, ``(d,)``."""
    return np.arange(data.dimension) < data.dimension // 2


def known_fields(basis: Basis, model: WorkingModel) -> FloatArray:
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
    start: WorkingModel, selection: TermSelection, run: Runner
) -> tuple[Sums, WorkingModel, TermSelection]:
    """Begin with differences of positions for velocities, and noise of the same size everywhere."""
    positions = is_position(run.data)
    model = replace(start, positions=positions, noiseless_level=np.where(positions, 1.0, 0.0))
    selection = replace(selection, known=known_fields(selection.basis, model))
    sums = run(NormalPass(model))
    drift = selection.drift(
        NormalEquations.of(sums, model.basis.from_physical), np.zeros_like(model.drift)
    )
    return sums, with_drift(model, selection.drift_field(drift)), selection


def with_first_noise(
    model: WorkingModel, data: Dataset, quantum: FloatArray, *, noisy: bool
) -> WorkingModel:
    """Give the velocities a constant tensor, and the positions the noise that they may have."""
    assert isinstance(data, Trajectories)
    assert model.positions is not None
    d = len(model.units)
    least = np.maximum(quantum**2 / 12, IMPERCEPTIBLE * data.third_differences())
    rounding = np.where(model.positions, least / model.units**2, 0.0)
    shaken, jitter = _third_differences(data)
    noise = np.where(model.positions, jitter / model.units**2, 0.0)
    noise = np.maximum(noise if noisy else 0.0, rounding)
    theta = model.basis.values(model.place.probe)
    constant = np.linalg.lstsq(theta, np.ones(len(theta)))[0]
    entries = np.zeros_like(model.entries)
    for p in np.flatnonzero(~model.positions).tolist():
        share = shaken[p - d // 2] / model.units[p] ** 2
        entries[tensor.entry_number(p, p)] = np.clip(share, LEAST_TENSOR, 1.0) * constant
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
    model: WorkingModel, selection: TermSelection, run: Runner, *, forced: bool
) -> Filtered:
    """Filter until nothing changes; take positions for exact if no noise stands out.

    Raises
    ------
    DataError
        If the filter has nothing to say.
    """
    begin, earlier = _scouted(model, selection, run)
    last = follow_all(begin, selection, run, earlier, forced=forced, coarse=bool(earlier))
    if last is None and earlier:
        last = follow_all(model, selection, run, forced=forced)
    if last is None:
        raise DataError(
            "no second-order equation fits these positions: the filter along them runs away. Fit "
            "with order=1, or a smaller library."
        )
    return last


def _scouted(
    model: WorkingModel, selection: TermSelection, run: Runner
) -> tuple[WorkingModel, Sequence[Posterior]]:
    """Go most of the way on short stretches in coarse steps, which cost little; what was chosen."""
    few = segments_of(run.data, STRETCHES, STRETCH, engine=run.engine)
    coarse = in_coarse_steps(model)
    scout = replace(run, data=few, engine=SERIAL)
    block, least = STRETCH, max(SHORTEST, REMEMBERED * memory(model, run.data.mean_dt))
    while block >= 2 * least:
        block //= 2
    last = follow_noise(coarse, selection, scout, block=block, roughly=ROUGHLY)
    if last is None:
        return model, ()
    return replace(last.fitted, place=model.place), last.found
