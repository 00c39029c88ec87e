"""The one iteration of the likelihood: from a start that always exists, by steps that do not lose.

A *kernel* looks at a process: one pass over the data gives the log-likelihood, the normal equations
about the process, and from these the terms that are chosen and the process that they propose. The
iteration goes there if the data become no less likely, else half as far, and so on; it ends where
the same terms are chosen with nearly the same numbers, where no shorter step is better, or with the
budget of passes, and what it hands back is the best that it has seen. Steps that are exact
(:mod:`.exact_steps`) and samples that a filter follows (:mod:`.filtered_samples`) are two kernels.

A quadratic model of a likelihood may lead far off where steps are long. So where an iteration does
not settle, other starts are tried, and the end of most evidence is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.estimate.evidence import Posterior
from wgsindy.estimate.likelihood.normal_equations import NormalEquations
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.selection import same_terms
from wgsindy.model import tensor

MOST_HALVINGS = 5  # a step of a thirtieth that is no better: there is none
FALLEN = 3.0  # log-evidence that a step may lose: it is told to no more than that beforehand
SAME_END = 3.0  # log-evidence within which two ends are one: a few terms may differ
LEAST_LEVEL = 1e-3  # of a constant tensor, as a share of the mean noise
CONSTANT_SHARES = (
    0.1,
    0.3,
    0.6,
    0.9,
    1.0,
)  # of a constant tensor, from which a positive one is made

S = TypeVar("S")


class Iterate(NamedTuple, Generic[S]):
    """A process, what a pass at it gives, and what is chosen by that."""

    process: Process
    sums: S
    equations: NormalEquations
    chosen: list[Posterior]  # drift first
    proposal: Process  # fitted to what was chosen
    log_likelihood: float  # of the process, in units that stay the same along an iteration
    paid: float  # log-evidence that its terms cost
    left: float = np.inf  # log-likelihood, a coefficient, that the step to the proposal is worth
    settled: bool = False  # whether the same terms were chosen before, and nearly the same numbers

    @property
    def evidence(self) -> float:
        """What steps and ends are judged by: a term that goes may take what it does not cost."""
        return self.log_likelihood - self.paid


class Kernel(Protocol[S]):
    """What looks at a process, at most ``budget`` times from one start."""

    @property
    def budget(self) -> int: ...

    def look(
        self, process: Process, earlier: Sequence[Posterior], before: float
    ) -> Iterate[S] | None:
        """Pass over the data; nothing if that ends in no numbers.

        ``earlier`` is what the process was fitted to, ``before`` what the step to it was worth.
        """

    def ends(self, last: Iterate[S], before: float) -> bool:
        """Whether no further step is asked for."""


def improve(
    first: Iterate[S] | None, kernel: Kernel[S], *, before: float = 0.0
) -> Iterate[S] | None:
    """Step until nothing changes, never to where the data are less likely.

    ``before`` is what the step to the first iterate was worth, if that is known.
    """
    last, earlier, budget = first, None, kernel.budget
    reached = -np.inf if first is None else first.evidence
    while last is not None and not kernel.ends(last, before) and budget > 1:
        process, trial = last.proposal, None
        for _ in range(MOST_HALVINGS + 1):
            trial, budget = kernel.look(process, last.chosen, last.left), budget - 1
            if trial is not None and _is_no_worse(trial, last, reached):
                break
            trial, process = None, midway(last.process, process)
        if trial is None:  # of a start, nothing but what it asks for is known
            return last if earlier is None else held(last)
        if earlier is not None and _go_round(earlier, last, trial):
            # What is handed over is what the last pass proposes: that of the better process.
            return last if trial.evidence >= last.evidence else trial
        reached = max(reached, trial.evidence) if _compare(trial, last) else trial.evidence
        earlier, last, before = last, trial, last.left
    if last is None or kernel.ends(last, before):
        return last
    return held(last)


def _is_no_worse(trial: Iterate[S], last: Iterate[S], reached: float) -> bool:
    """Whether a step was worth taking, beside the most evidence that was ``reached``."""
    return not _compare(trial, last) or trial.evidence >= reached - FALLEN


def _compare(one: Iterate[S], other: Iterate[S]) -> bool:
    """Whether evidence compares: not if a coordinate was found to have no noise in between."""
    quiet = [process.noiseless_level > 0 for process in (one.process, other.process)]
    return bool((quiet[0] == quiet[1]).all())


def held(last: Iterate[S]) -> Iterate[S]:
    """Let an iterate be its own proposal: the step that it asks for was not seen to be better."""
    equations = last.equations.solved_by(last.process.drift, last.process.entries)
    return last._replace(equations=equations, proposal=last.process)


def _go_round(earlier: Iterate[S], last: Iterate[S], trial: Iterate[S]) -> bool:
    """Whether two sets of terms ask for each other, with the evidence that they had before."""
    return (
        not trial.settled
        and same_terms(earlier.chosen, trial.chosen)
        and not same_terms(earlier.chosen, last.chosen)
        and abs(trial.evidence - earlier.evidence) < SAME_END
    )


def paid_for(chosen: Sequence[Posterior]) -> float:
    """Log-evidence that the terms of all fields cost."""
    return float(sum(one.paid[0] for one in chosen))


def first_settled(starts: Iterable[Callable[[], Iterate[S] | None]]) -> Iterate[S] | None:
    """Return the first end that has settled; if there is none, that of most evidence."""
    ends = []
    for start in starts:
        end = start()
        if end is not None and end.settled:
            return end
        ends.append(end)
    return likeliest(ends)


def likeliest(ends: Iterable[Iterate[S] | None]) -> Iterate[S] | None:
    """Return the end of most evidence."""
    there = [end for end in ends if end is not None]
    return max(there, key=lambda end: end.evidence, default=None)


def midway(used: Process, later: Process) -> Process:
    """Half of the way from one process to another, with the weights of that."""
    used = used.in_units(later.units)
    entries = used.entries if used.entries.any() else constant_tensor(used)
    return replace(
        later,
        drift=(used.drift + later.drift) / 2,
        entries=(entries + later.entries) / 2,
        observation_noise=(used.observation_noise + later.observation_noise) / 2,
    )


def constant_tensor(process: Process, levels: FloatArray | float = 1.0) -> FloatArray:
    """Coefficients ``(E, K)`` of a tensor of ``levels (d,)``, the same everywhere, uncorrelated.

    As nearly as the library can where it has no constant; nothing for coordinates without noise.
    """
    theta = process.basis.values(process.data_range.probe)
    one = np.linalg.lstsq(theta, np.ones(len(theta)))[0]
    entries, d = np.zeros_like(process.entries), len(process.units)
    for p, level in enumerate(np.broadcast_to(levels, d).tolist()):
        entries[tensor.entry_number(p, p)] = level * (process.noiseless_level[p] == 0) * one
    return entries


def share_clipped(process: Process) -> float:
    """Share of some states at which there is no tensor."""
    theta = process.basis.values(process.data_range.probe).T
    return float(np.mean(~tensor.has_root(process.entries @ theta)))


def made_positive(process: Process, most_clipped: float) -> Process:
    """Mix in a constant tensor until all but ``most_clipped`` of the states have one."""
    if share_clipped(process) <= most_clipped:
        return process
    theta = process.basis.values(process.data_range.probe).T
    own = [tensor.entry_number(p, p) for p in range(len(process.units))]
    levels = np.maximum(np.median(process.entries[own] @ theta, axis=1), LEAST_LEVEL)
    constant = constant_tensor(process, levels)
    for share in CONSTANT_SHARES:
        mixed = replace(process, entries=(1 - share) * process.entries + share * constant)
        if share_clipped(mixed) <= most_clipped:
            break
    return mixed
