"""Steps that are independent of each other: choose terms and reweight until nothing changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from wgsindy.data import Dataset, FloatArray, whole_blocks
from wgsindy.errors import DataError, LibraryError
from wgsindy.estimate.likelihood.evidence import Posterior, run_away
from wgsindy.estimate.likelihood.normal_equations import (
    EXTRA_VARIANCES,
    LeakPass,
    NormalEquations,
    NormalPass,
    Sums,
)
from wgsindy.estimate.likelihood.term_selection import (
    TermSelection,
    best_entries,
    same_terms,
)
from wgsindy.estimate.likelihood.working_model import WorkingModel
from wgsindy.model import tensor
from wgsindy.passes import SERIAL, Engine, Pass, Total, reduce, segments_of

MOST_ROUNDS = 9
MOST_HALVINGS = 3
SAME_WEIGHTS = 0.02  # relative change of the tensor that is not worth another pass
SAME_DRIFT = 0.01  # log-likelihood that a change of the drift may be worth, a term
SAME_EXTRA_VARIANCE = 5.0  # factor by which it may change between passes that agree
# Smallest noise until residuals have told how far the tensor formula can be trusted.
FIRST_FLOOR = 0.1
# Stretches and their increments, from which terms and weights are known to a percent; and how many
# times more data it takes to make it worth while to settle on these first.
PIECES, PIECE, MANY = 100, 250, 16
# Larger chunks leave the cache, smaller ones cost Python's own time and make threads wait for
# each other.
CHUNK_NUMBERS, MOST_SAMPLES = 500_000, 8192
SETTLED = 0.8  # residuals of which another pass does not leave less than this share
MOSTLY_DRIFT = 0.2  # residuals below this share of the increments may be no noise at all
LEAK_FACTOR = 4.0
ROUNDING_LEVEL = 1e-9
SMOOTH = 0.8  # share of the residuals that last, in a coordinate without noise
MOST_OWN = 1e-3  # share of increments, each by itself, that rounding may leave unexplained


@dataclass(frozen=True)
class Runner:
    """Runs passes over one data set."""

    data: Dataset
    engine: Engine
    chunk_size: int

    def __call__(self, step: Pass[Total], *, following: bool = False, chunk_size: int = 0) -> Total:
        size = chunk_size or self.chunk_size
        return reduce(step, self.data, engine=self.engine, chunk_size=size, following=following)

    def on_pilot(self) -> Runner:
        """Run over a pilot sample where the whole is so much that a good start saves passes."""
        if self.data.n_increments < MANY * PIECES * PIECE:
            return self
        few = segments_of(self.data, PIECES, PIECE, engine=self.engine)
        return replace(self, data=few, engine=SERIAL)


def chunk_size(dimension: int, terms: int, *, is_chain: bool) -> int:
    """Samples a chunk, so that the weighted copies of the library stay in the cache.

    The path of a process takes as much space again.
    """
    copies = (2 if is_chain else 4) * len(tensor.pairs(dimension)) * terms
    return int(np.clip(CHUNK_NUMBERS // copies, 256, MOST_SAMPLES))


class Weighted(NamedTuple):
    """The last sums, their equations, the model they were taken at, and what was chosen by them."""

    sums: Sums
    equations: NormalEquations
    model: WorkingModel
    found: list[Posterior]


def first_drift(
    model: WorkingModel, selection: TermSelection, run: Runner
) -> tuple[Sums, WorkingModel]:
    """Choose a drift with equal weights.

    Products of raw increments still hold the drift, so there is no tensor from this.
    """
    sums, equations = _equations(model, run)
    drift = selection.drift(equations, model.drift)
    return sums, in_residual_units(with_drift(model, selection.drift_field(drift)), sums)


def iterate(
    model: WorkingModel, selection: TermSelection, run: Runner, earlier: Sequence[Posterior] = ()
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
        earlier, seen = found, _halved(model, later, run)
    return Weighted(sums, equations, model, found)


def _halved(
    used: WorkingModel, later: WorkingModel, run: Runner
) -> tuple[Sums, NormalEquations, WorkingModel]:
    """Run a pass; where paths run away, with half of what the drift was to change by, and so on."""
    for _ in range(MOST_HALVINGS):
        try:
            return _safe_equations(later, run)
        except DataError:
            drift = (used.in_units(later.units).drift + later.drift) / 2
            later = replace(later, drift=drift)
    return _safe_equations(later, run)


def _settled(
    model: WorkingModel, selection: TermSelection, run: Runner
) -> tuple[Sums, NormalEquations, WorkingModel]:
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


def with_variance_floor(model: WorkingModel) -> WorkingModel:
    """Follow the tensor of a pilot only where it is not small: it has seen few such samples."""
    return replace(
        model,
        variance_floor=np.full_like(model.variance_floor, FIRST_FLOOR),
        extra_variance=np.full_like(model.extra_variance, EXTRA_VARIANCES[0]),
    )


def _equations(model: WorkingModel, run: Runner) -> tuple[Sums, NormalEquations]:
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


def _safe_equations(model: WorkingModel, run: Runner) -> tuple[Sums, NormalEquations, WorkingModel]:
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
    used: WorkingModel,
    later: WorkingModel,
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


def with_drift(model: WorkingModel, drift: FloatArray) -> WorkingModel:
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
    model: WorkingModel, sums: Sums, entries: list[Posterior], *, variance_floor: float = 0.0
) -> WorkingModel:
    """Take over the chosen tensor, and the extra variance with which residuals are most likely."""
    return replace(
        model,
        entries=best_entries(entries, model.noiseless_level) @ model.basis.from_physical,
        variance_floor=np.where(model.floor_forced, FIRST_FLOOR, variance_floor),
        extra_variance=EXTRA_VARIANCES[np.argmax(sums.low_noise_likelihood, axis=1)],
    )


def in_residual_units(model: WorkingModel, sums: Sums) -> WorkingModel:
    """Measure fields in units of the noise that the drift leaves, where there is any."""
    level = np.where(model.noiseless_level > 0, 1.0, sums.residual / sums.count)
    return model.in_units(model.units * np.sqrt(level))


def _detect_noiseless(model: WorkingModel, sums: Sums, run: Runner) -> WorkingModel:
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
    leak = run(LeakPass(muted), chunk_size=whole_blocks(run.chunk_size))
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
