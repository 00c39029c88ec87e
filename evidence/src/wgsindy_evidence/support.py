"""Which terms recur over seeds: the paper's ledger of stable support, and rates of selection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wgsindy.data import BoolArray, FloatArray
from wgsindy.model import Generator, tensor
from wgsindy.terms import Basis
from wgsindy.zoo import central_grid

REPORTING_THRESHOLD = 1e-3  # smallest coefficient that counts as selected in a report


def projected_support(generator: Generator, basis: Basis, states: FloatArray) -> FloatArray:
    """Fields projected onto a library by least squares on the central grid, ``(d + E, K)``.

    The result is each term's contribution, coefficient times root-mean-square of the term, so
    that sizes can be compared within a target whatever the units.
    """
    grid = central_grid(states)
    theta = basis.values(grid)
    size = np.sqrt(np.mean(theta**2, axis=0))
    fields = np.hstack([generator.drift(grid), tensor.entries_of(generator.diffusion(grid))])
    return np.linalg.lstsq(theta / size, fields, rcond=None)[0].T


@dataclass(frozen=True)
class Ledger:
    """Stable projected support over seeds: true active terms, how many recur, false positives."""

    active: int
    recovered: int
    false_positives: int

    def __add__(self, other: Ledger) -> Ledger:
        return Ledger(
            self.active + other.active,
            self.recovered + other.recovered,
            self.false_positives + other.false_positives,
        )


def is_active(truth: FloatArray) -> BoolArray:
    """Terms of at least 2 % of their target's largest, ``(..., K)``."""
    return _relative(truth) >= 0.02


def is_selected(estimate: FloatArray) -> BoolArray:
    """Terms of at least 20 % of their target's largest, ``(..., K)``."""
    return _relative(estimate) >= 0.20


def _relative(contributions: FloatArray) -> FloatArray:
    size = np.abs(contributions)
    largest = size.max(axis=-1, keepdims=True)
    # A field that vanishes has no active terms; least squares leaves rounding there.
    largest = np.where(largest > 1e-9 * size.max(initial=0.0), largest, np.inf)
    return size / largest


def false_terms(estimates: FloatArray, truths: FloatArray) -> BoolArray:
    """Terms ``(targets, K)`` that recur and are not there; see :func:`stable_support`."""
    active = is_active(truths).mean(axis=0)
    selected = is_selected(estimates).mean(axis=0)
    median = np.median(np.abs(estimates), axis=0)
    large = median >= 0.05 * median.max(initial=0.0)
    return np.asarray((selected >= 0.8) & (active <= 0.2) & large)


def stable_support(estimates: FloatArray, truths: FloatArray) -> Ledger:
    """The paper's ledger of terms that recur over seeds.

    ``estimates`` and ``truths`` are projected supports ``(seeds, targets, K)``. A term is truly
    active if it is active in at least 80 % of the seeds, recovered if it is selected in as many,
    and a false positive if it is selected in as many, is active in at most 20 %, and its median
    size is at least 5 % of the largest in the system.
    """
    active = is_active(truths).mean(axis=0)
    selected = is_selected(estimates).mean(axis=0)
    return Ledger(
        active=int(np.sum(active >= 0.8)),
        recovered=int(np.sum((active >= 0.8) & (selected >= 0.8))),
        false_positives=int(np.sum(false_terms(estimates, truths))),
    )


def faint_terms(truths: FloatArray) -> BoolArray:
    """Active terms ``(targets, K)`` that even the truth would not be given credit for."""
    active, selected = is_active(truths).mean(axis=0), is_selected(truths).mean(axis=0)
    return np.asarray((active >= 0.8) & (selected < 0.8))


def selection_rate(values: FloatArray) -> float:
    """Share of seeds in which a coefficient ``(seeds,)`` is above the reporting threshold."""
    return float(np.mean(np.abs(values) > REPORTING_THRESHOLD))


def conditional_median(values: FloatArray) -> float:
    """Median of a coefficient over the seeds that select it; NaN if none does."""
    chosen = values[np.abs(values) > REPORTING_THRESHOLD]
    return float(np.median(chosen)) if len(chosen) else float("nan")
