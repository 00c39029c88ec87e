"""The paper's oracle: the weak system of its recipe, solved with the true terms given.

It differs from the information floor (:func:`~wgsindy_evidence.baselines.oracle.fit_oracle`) in
what it does not know, the true noise, and in what it sees, 64 weak rows a trajectory in place of
every increment. The ratio of the two errors is what the weak form loses before any term is chosen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wgsindy.data import FloatArray, Trajectories, frozen
from wgsindy.estimate.weak_form import (
    TENSOR_FLOOR,
    WeakForm,
    row_weights,
    tensor_targets,
    weak_form,
)
from wgsindy.model import Generator, TensorField, tensor
from wgsindy_evidence.recipes import PAPER


def fit_weak_oracle(data: Trajectories, truth: Generator, *, seed: int = 0) -> Generator:
    """Fit the coefficients of the truth's own terms to the weak rows of the paper's recipe.

    Drift, tensor entries, drift with rows weighted by their noise, entries again, each by least
    squares; the tensor is clipped, not read out through Cholesky factors, and not shrunk.
    """
    # The truth is sparse in the coordinates of the data, not in standardised ones.
    weak = replace(weak_form(data, truth.basis, PAPER, seed=seed), basis=truth.basis)
    drift_terms = truth.drift_coefficients != 0
    entry_terms = truth.tensor_field.coefficients != 0
    drift = _given(weak.design, weak.drift_targets, drift_terms)
    entries = _given(weak.design, tensor_targets(weak, drift), entry_terms)
    drift = _reweighted(weak, entries, drift_terms)
    entries = _given(weak.design, tensor_targets(weak, drift), entry_terms)
    rows, columns = np.array(tensor.pairs(data.dimension)).T
    scale = weak.units
    field = TensorField(
        "clipped",
        frozen(entries * (scale[rows] * scale[columns])[:, None]),
        0.0,
        frozen(np.ones(data.dimension)),
    )
    info = {"baseline": "weak-oracle"}
    return Generator(truth.basis, frozen(drift * scale[:, None]), field, info)


def _reweighted(weak: WeakForm, entries: FloatArray, terms: FloatArray) -> FloatArray:
    """Drift ``(d, K)`` with rows weighted by the noise of the first tensor ``(E, K)``."""
    d = weak.data.dimension
    floor = TENSOR_FLOOR * float(weak.summary.variation.mean())
    noise = weak.row_noise(entries[None], floor)
    drift = []
    for p in range(d):
        weights = row_weights(noise[:, tensor.entry_number(p, p)])[:, None]
        target = weights * weak.drift_targets[:, [p]]
        drift.append(_given(weights * weak.design, target, terms[[p]])[0])
    return np.stack(drift)


def _given(design: FloatArray, targets: FloatArray, terms: FloatArray) -> FloatArray:
    """Least squares of each column of ``targets (M, T)`` on its own terms; returns ``(T, K)``."""
    found = np.zeros(terms.shape)
    for row, target in enumerate(targets.T):
        keep = np.flatnonzero(terms[row])
        if len(keep):
            size = np.linalg.norm(design[:, keep], axis=0)
            solution = np.linalg.lstsq(design[:, keep] / size, target, rcond=None)[0]
            found[row, keep] = solution / size
    return found
