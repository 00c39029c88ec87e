"""Errors in variables: observation noise that the regressors carry into the drift.

A state is observed with noise, Y = X + eta. The step that begins there has -eta in it, while the
regressors, functions of Y, have +eta: the two are correlated, and least squares sees a drift that
is not there. By Stein's identity, E[f(Y) eta_q] = Sigma_qr E[d_r f(Y)] for normal noise of
covariance Sigma, whatever f: here the terms of the library, times the weights that they are summed
with.

Left out is what the fields change within the noise: b(Y) and a(Y) stand for b(X) and a(X). It is of
the relative order of Sigma over the variance of the states, times the square of the degree.
A coordinate without noise of its own is known so well that this may show as small terms that are
not there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.estimate.likelihood.working_model import Local, WorkingModel
from wgsindy.model import tensor


class SteinSums(NamedTuple):
    """What to add to sum_n theta (P dY)' so that noise in theta and P is made up for.

    ``tilt (d, d, n)``, P Sigma for weights P, goes with the derivatives of the terms; ``by_weights
    (d, n)``, the divergence of P Sigma, with the terms themselves.
    """

    tilt: FloatArray
    by_weights: FloatArray

    def sum(self, local: Local, first: int = 0, last: int | None = None) -> FloatArray:
        """Sum over samples from ``first`` to ``last``, ``(d, K)``."""
        assert local.blurred is not None
        part = slice(first, last)
        gradients = local.blurred.gradients[part]
        by_terms = np.einsum("pqn,nkq->pk", self.tilt[:, :, part], gradients, optimize=True)
        return by_terms + self.by_weights[:, part] @ local.theta[:, part].T


def stein_sums(model: WorkingModel, local: Local, precision: FloatArray) -> SteinSums:
    """Stein's sums of a chunk; ``precision (E, n)`` are the weights P of the drift.

    The derivative of P is -P (d_q A) P, A the noise that it is the inverse of; where A is held at
    its least value it has none.
    """
    assert local.blurred is not None
    d, slopes = len(model.units), local.blurred.slopes.copy()
    for p in range(d):
        own = tensor.entry_number(p, p)
        slopes[own, :, local.noise[own] <= model.variance_floor[p]] = 0.0
    covariance = tensor.symmetric(model.observation_noise[None], d)[0]
    tilt, by_weights = np.empty((d, d, len(local.dt))), np.zeros((d, len(local.dt)))
    for q in range(d):
        column = np.broadcast_to(covariance[:, q, None], by_weights.shape)
        tilt[:, q] = tensor.multiply(precision, column)
        by_weights -= tensor.multiply(precision, tensor.multiply(slopes[:, q], tilt[:, q]))
    return SteinSums(tilt, by_weights)


def lasting_noise(
    model: WorkingModel, local: Local, noise: FloatArray, precision: FloatArray
) -> FloatArray:
    """(P A P)_pp, ``(d, n)``, A the noise that is left when neighbouring steps are summed.

    Observation noise of a step is taken back by the next, so regressors that change slowly see
    A = a and not a + 2 Sigma / dt. Left of it is what a linear regressor Y_p carries. With its
    Stein sum by lag-one products of residuals, sum Y r has the variance S a dt + (a dt + Sigma)^2
    + Sigma^2 a step, S the variance of the states: at most T^2 dt / S more than a, where T = a +
    2 Sigma / dt is the noise of a step over dt, ``noise (E, n)``.
    """
    d, lasting = len(model.units), noise - 2 * model.observation_noise[:, None] / local.dt
    for p in range(d):
        own = tensor.entry_number(p, p)
        left = noise[own] ** 2 * local.dt / model.spread[p] ** 2
        lasting[own] = np.maximum(lasting[own], 0.0) + left
    columns = tensor.symmetric(precision.T, d).transpose(1, 2, 0)
    return np.stack([np.sum(row * tensor.multiply(lasting, row), axis=0) for row in columns])
