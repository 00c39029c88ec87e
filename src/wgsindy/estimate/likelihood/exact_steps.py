"""Steps between samples that are exact: choose terms and reweight; a kernel of :mod:`.improve`.

Each step is a row by itself, weighted by its own noise. The log-likelihood that steps are judged by
is that of the residuals, with variances that are positive smoothly: where a formula is not, its
samples count as nearly impossible, and weights do not follow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from wgsindy.data import FloatArray, whole_blocks
from wgsindy.errors import LibraryError
from wgsindy.estimate.evidence import Posterior, no_numbers
from wgsindy.estimate.likelihood.improve import Iterate, first_settled, improve, paid_for
from wgsindy.estimate.likelihood.normal_equations import (
    EXTRA_VARIANCES,
    NormalEquations,
    NormalPass,
    Runner,
    Sums,
    TrapezoidPass,
    WithinStepNoisePass,
)
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.selection import TermSelection, best_entries, same_terms
from wgsindy.model import tensor

MOST_PASSES = 30  # from one start; what settles takes 3 to 12, and steps that bend much 25
MOST_ROUNDS = 9  # of following a drift that leaves less and less
SAME_WEIGHTS = 0.02  # relative change of the tensor that is not worth another pass
SAME_DRIFT = 0.01  # log-likelihood that a change of the drift may be worth, a term
SAME_EXTRA_VARIANCE = 5.0  # factor by which it may change between passes that agree
# Smallest noise until residuals have told how far the tensor formula can be trusted.
FIRST_FLOOR = 0.1
LEAVES_LESS = 0.8  # share of the residuals below which another pass of a drift is worth it
MOSTLY_DRIFT = 0.2  # residuals below this share of the increments may be no noise at all
LEAK_FACTOR = 4.0
ROUNDING_LEVEL = 1e-9
SMOOTH = 0.8  # share of the residuals that last, in a coordinate without noise
MOST_OWN = 1e-3  # share of increments, each by itself, that rounding may leave unexplained
QUADRATIC = 2  # degree of the terms that a fit begins with where others lead off


class Seen(NamedTuple):
    """A pass, and the process as its weights were taken."""

    sums: Sums
    equations: NormalEquations
    process: Process


@dataclass(frozen=True)
class ExactSteps:
    """Looks at a process by weighted normal equations."""

    selection: TermSelection
    run: Runner
    budget: int = MOST_PASSES

    def begin(self, start: Process) -> Iterate[Sums] | None:
        """Look at a start, which has no tensor yet."""
        seen = self._followed(start)
        return seen and self._chosen(seen, ())

    def look(
        self, process: Process, earlier: Sequence[Posterior], before: float
    ) -> Iterate[Sums] | None:
        """Run a pass, choose terms from it, and fit them."""
        seen = self._seen(process)
        return seen and self._chosen(seen, earlier)

    def ends(self, last: Iterate[Sums], before: float) -> bool:
        """Whether another pass would find the same terms with the same weights."""
        return last.settled

    def _chosen(self, seen: Seen, earlier: Sequence[Posterior]) -> Iterate[Sums] | None:
        sums, equations, process = seen
        drift = self.selection.drift(equations, process.drift)
        entries = self.selection.entries(equations, process.entries)
        field = self.selection.drift_field(drift)
        if not np.isfinite(field).all():
            return None
        later = with_drift(process, field)
        if earlier:
            later = with_tensor(later, sums, entries)
        else:
            later = with_tensor(later, sums, entries, variance_floor=FIRST_FLOOR)
            later = _detect_noiseless(later, sums, self.run)
        later, chosen = in_residual_units(later, sums), [*drift, *entries]
        return Iterate(
            process,
            sums,
            equations,
            chosen,
            later,
            float(sums.log_likelihood) - sums.count * float(np.log(process.units).sum()),
            # A start has not been fitted to anything: its terms are taken for those it asks for.
            paid_for(earlier or chosen),
            settled=bool(earlier) and _same(earlier, chosen, process, later, sums),
        )

    def _seen(self, process: Process) -> Seen | None:
        """Run a pass with weights that can be believed.

        A formula that is not positive at some sample is off by more than its size there. Weights
        that follow it make the drift pass through such samples at any cost, and the next tensor is
        fitted to what is left of the others. So where it happens, the pass is run again without
        following.
        """
        with np.errstate(all="ignore"):  # what is no number cannot be followed
            first = self._pass(process) if process.dynamics.can_be_followed else None
        if first is None:
            return None
        fallen = (first.sums.impossible > 0) & (process.variance_floor < FIRST_FLOOR)
        if not fallen.any():
            return first
        floor = np.where(fallen, FIRST_FLOOR, process.variance_floor)
        forced = process.floor_forced | fallen
        return self._pass(replace(process, floor_forced=forced, variance_floor=floor))

    def _pass(self, process: Process) -> Seen | None:
        sums = self.run(NormalPass(process))
        _check_terms(process, sums)
        equations = NormalEquations.of(sums, process.basis.from_physical)
        sound = equations.are_sound and np.isfinite(sums.residual).all()
        return Seen(sums, equations, process) if sound else None

    def _followed(self, start: Process) -> Seen | None:
        """Run a first pass; where steps are mostly drift, follow it until it leaves no less.

        What the first drift of a process is off within a step looks like noise, and is none.
        """
        first = seen = self._seen(start)
        if first is None:
            return None
        level, driven = first.sums.residual / first.sums.count, start.noiseless_level > 0
        suspects = (level < MOSTLY_DRIFT) & ~driven
        if start.is_chain or not suspects.any():
            return first
        process = first.process
        for _ in range(MOST_ROUNDS):
            assert seen is not None
            process = seen.process
            drift = self.selection.drift_field(self.selection.drift(seen.equations, process.drift))
            quiet = np.where(suspects, np.maximum(level, ROUNDING_LEVEL), driven.astype(np.float64))
            later = replace(with_drift(process, drift), noiseless_level=quiet)
            seen = self._seen(later)
            if seen is None:  # too large a step: the drift before is as good a start as any
                break
            before, level = level, seen.sums.residual / seen.sums.count
            suspects = (level < MOSTLY_DRIFT) & ~driven
            if not (level < LEAVES_LESS * before).any():
                break
        return self._seen(replace(process, noiseless_level=driven.astype(np.float64))) or first


def _check_terms(process: Process, sums: Sums) -> None:
    """Refuse a term about which nothing can be learned."""
    absent = np.flatnonzero(np.diagonal(sums.entry_gram[0]) == 0)  # for all pairs: weights are not
    if len(absent):
        raise LibraryError(
            f"term {process.basis.terms[absent[0]]} is 0 at all {sums.count} samples that were "
            "looked at, so nothing can be learned about it; leave it out."
        )


def first_drift(start: Process, kernel: ExactSteps) -> tuple[Sums, Process]:
    """Choose a drift with equal weights.

    Products of raw increments still hold the drift, so there is no tensor from this.

    Raises
    ------
    DataError
        If the values of some term have left the range of numbers.
    """
    return _with_first_drift(start, kernel, NormalPass(start))


def _with_first_drift(start: Process, kernel: ExactSteps, step: NormalPass) -> tuple[Sums, Process]:
    sums = kernel.run(step)
    _check_terms(start, sums)
    equations = NormalEquations.of(sums, start.basis.from_physical)
    drift = kernel.selection.drift(equations, start.drift)
    return sums, in_residual_units(with_drift(start, kernel.selection.drift_field(drift)), sums)


def fit_exact(
    start: Process, guess: Process, selection: TermSelection, run: Runner, *, roughly: bool
) -> Iterate[Sums]:
    """Improve from a ``guess``, the first drift; where its steps had to be shortened, from others.

    These are the drift by the trapezoid rule, which long steps bend less, and quadratic terms
    first, which lead nowhere far off. One start will do if samples are exact ``roughly`` only.
    """
    kernel = ExactSteps(selection, run)

    def from_guess() -> Iterate[Sums] | None:
        return improve(kernel.begin(guess), kernel)

    def from_trapezoids() -> Iterate[Sums] | None:
        _, process = _with_first_drift(start, kernel, TrapezoidPass(start))
        return improve(kernel.begin(process), kernel)

    def from_quadratic() -> Iterate[Sums] | None:
        simple = ExactSteps(replace(selection, most_degree=QUADRATIC), run)
        end = improve(simple.begin(guess), simple)
        return end and improve(kernel.look(end.process, end.chosen, end.left), kernel)

    def from_rest() -> Iterate[Sums] | None:
        return improve(kernel.begin(start), kernel)

    starts = [from_guess]
    if not (start.is_chain or roughly):
        starts.append(from_trapezoids)
        if (selection.basis.degrees > QUADRATIC).any():
            starts.append(from_quadratic)
    starts.append(from_rest)
    best = first_settled(starts)
    if best is None:
        raise no_numbers()
    return best


def with_variance_floor(model: Process) -> Process:
    """Follow the tensor of a pilot only where it is not small: it has seen few such samples."""
    return replace(
        model,
        variance_floor=np.full_like(model.variance_floor, FIRST_FLOOR),
        extra_variance=np.full_like(model.extra_variance, EXTRA_VARIANCES[0]),
    )


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
    """Take over a drift ``(d, K)`` in physical terms."""
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
