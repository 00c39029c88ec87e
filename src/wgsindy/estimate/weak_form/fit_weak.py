"""The paper's stages, in order: drift, tensor, reweighted drift, tensor again, read-out.

Everything here is in the units of the targets (:attr:`WeakForm.units`, standardised unless floors
are absolute) until the last step of :func:`recover_by_weak_form`.
"""

from __future__ import annotations

import numpy as np

from wgsindy.data import FloatArray, frozen
from wgsindy.estimate.weak_form.sparse_solvers import Rows, solve
from wgsindy.estimate.weak_form.weak_rows import WeakForm
from wgsindy.model import TensorField, tensor

NOISE_CLIP = (0.05, 20.0)  # of the paper: weights of rows, relative to their median
TENSOR_FLOOR = 1e-10  # of the paper: smallest eigenvalue kept; of the mean tensor unless absolute


def recover_by_weak_form(weak: WeakForm) -> tuple[FloatArray, TensorField]:
    """Run the weak-form stages; returns drift ``(d, K)`` and tensor in physical units."""
    recipe = weak.recipe
    relative = recipe.floors == "relative"
    floor = TENSOR_FLOOR * (float(weak.summary.variation.mean()) if relative else 1.0)
    drift, entries = first_pass(weak)
    if recipe.gls != "none":
        drift = reweighted_drift(weak, weak.row_noise(first_pass_tensors(weak, entries), floor))
        if recipe.refit_tensor:
            entries = fit_columns(weak, tensor_targets(weak, drift))
    return frozen(drift * weak.units[:, None]), read_out(weak, entries, floor)


def read_out(weak: WeakForm, entries: FloatArray, floor: float) -> TensorField:
    """Turn entries ``(E, K)`` in units of the targets into the tensor that is returned."""
    scale, recipe = weak.units, weak.recipe
    # Shrinkage compares noise with noise: each coordinate in units of its own mean noise, so that
    # neither units nor the spread of the states can leak one entry into another.
    noise = weak.frame.scale * np.sqrt(weak.summary.variation)
    units = frozen(noise if recipe.shrinkage_units == "noise" else np.ones_like(noise))
    rows, columns = np.array(tensor.pairs(weak.data.dimension)).T
    if recipe.tensor == "entries":
        physical = entries * (scale[rows] * scale[columns])[:, None]
        return TensorField("entries", frozen(physical), recipe.shrinkage, units)
    # A Cholesky factor depends on the order of the coordinates. Noisiest first is an order that
    # the data give: exchanging two columns of a file exchanges the fields and nothing else.
    noisiest = np.argsort(-weak.summary.variation, kind="stable").tolist()
    order = tuple(noisiest if recipe.cholesky_order == "noisiest" else range(weak.data.dimension))
    factor = fit_columns(weak, weak.factor_targets(entries, floor, order))
    physical = factor * scale[list(order)][rows][:, None]
    return TensorField("factor", frozen(physical), recipe.shrinkage, units, order)


def first_pass(weak: WeakForm) -> tuple[FloatArray, FloatArray]:
    """Fit drift ``(d, K)`` and tensor entries ``(E, K)`` with all rows alike."""
    drift = fit_columns(weak, weak.drift_targets)
    return drift, fit_columns(weak, tensor_targets(weak, drift))


def fit_columns(weak: WeakForm, targets: FloatArray) -> FloatArray:
    """Solve one sparse system per column of ``targets (M, T)``; returns ``(T, K)``."""
    return np.stack(
        [solve(Rows(weak.design, target, weak.row_folds), weak.recipe) for target in targets.T]
    )


def tensor_targets(weak: WeakForm, drift: FloatArray) -> FloatArray:
    """Weak rows of (dX dX' - 2 Sigma - b b' dt^2) / dt, each correction if asked for."""
    targets = weak.square_targets
    if weak.recipe.drift_square:
        targets = targets - weak.drift_square(drift)
    if weak.recipe.noise_correction:
        targets = targets - weak.noise_rows(weak.observation_noise)
    return targets


def first_pass_tensors(weak: WeakForm, entries: FloatArray) -> FloatArray:
    """Tensor coefficients for the row weights, ``(F, E, K)``: one set for each smoother.

    With cross-fitting, the rows of a fold are weighted by a tensor fitted to the other folds.
    """
    if not weak.crossed:
        return np.broadcast_to(entries, (len(weak.smoothers), *entries.shape))
    return np.stack([first_pass(weak.without(fold))[1] for fold in range(len(weak.smoothers))])


def row_weights(variance: FloatArray) -> FloatArray:
    """V^-1/2 relative to its median, clipped; rows without data get the upper limit."""
    inverse = 1.0 / np.sqrt(np.maximum(variance, np.finfo(float).tiny))
    positive = inverse[variance > 0]
    return np.clip(inverse / np.median(positive), *NOISE_CLIP)


def reweighted_drift(weak: WeakForm, noise: FloatArray) -> FloatArray:
    """Refit the drift with rows weighted by their noise covariance ``(M, E)``."""
    d = weak.data.dimension
    if weak.recipe.gls == "full":
        return _whitened_drift(weak, noise)
    drift = []
    for p in range(d):
        rows = Rows(weak.design, weak.drift_targets[:, p], weak.row_folds)
        weights = row_weights(noise[:, tensor.pairs(d).index((p, p))])
        drift.append(solve(rows.weighted(weights), weak.recipe))
    return np.stack(drift)


def _whitened_drift(weak: WeakForm, noise: FloatArray) -> FloatArray:
    """Solve all components at once, rows whitened by the full noise covariance."""
    d, k = weak.data.dimension, len(weak.basis)
    covariance = tensor.symmetric(noise, d)
    trace = np.einsum("mpp->m", covariance) / d
    usable = trace > 0
    relative = covariance[usable] / trace[usable][:, None, None]
    values, vectors = np.linalg.eigh(relative)
    root = np.einsum(
        "mpk,mk,mqk->mpq", vectors, 1 / np.sqrt(np.maximum(values, NOISE_CLIP[0] ** 2)), vectors
    )
    root *= row_weights(trace[usable])[:, None, None]
    design = np.einsum("mpq,mk->mpqk", root, weak.design[usable]).reshape(-1, d * k)
    target = np.einsum("mpq,mq->mp", root, weak.drift_targets[usable]).ravel()
    folds = np.repeat(weak.row_folds[usable], d)
    blocks = np.repeat(np.arange(d), k)
    return solve(Rows(design, target, folds, blocks), weak.recipe).reshape(d, k)
