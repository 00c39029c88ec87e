"""A working model: drift and tensor as far as known, and what they say of each increment.

Here increments are divided by the mean noise of their coordinate, so that no threshold has units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray
from wgsindy.data.chunk import Chunk
from wgsindy.model import tensor
from wgsindy.terms.basis import Basis

# Where noise is far below its mean, the tensor formula is extrapolated towards zero, and a target
# with variance a^2 gets a weight that a small error of a makes enormous.
TENSOR_WEIGHT_FLOOR = 0.25


@dataclass(frozen=True)
class WorkingModel:
    """Drift and tensor at which residuals and weights are taken, in units of the noise."""

    basis: Basis
    units: FloatArray  # (d,) mean noise of each coordinate, by which increments are divided
    drift: FloatArray  # (d, K) coefficients of the basis
    entries: FloatArray  # (E, K) coefficients of the tensor
    variance_floor: FloatArray  # (d,) smallest variance that weights follow the formula to
    extra_variance: FloatArray  # (d,) variance that the formula misses where it is small
    floor_forced: BoolArray  # (d,) whose formula was not positive at some sample: the floor stays
    noiseless_level: FloatArray  # (d,) residual variance of a coordinate without noise, else zero
    observation_noise: FloatArray  # (E,) covariance of the sensor's noise
    spread: FloatArray  # (d,) standard deviations of the states
    mean_corrected: BoolArray  # (d,) whose mean is corrected for the finite step
    covariance_corrected: bool  # whether the second moments are, too

    @classmethod
    def start(
        cls, basis: Basis, units: FloatArray, spread: FloatArray, *, finite_step: bool
    ) -> WorkingModel:
        """No drift, and the same noise everywhere, whether or not the library has a constant.

        ``units (d,)`` and the ``spread (d,)`` of the states are physical.
        """
        d, k, e = len(units), len(basis), len(tensor.pairs(len(units)))
        return cls(
            basis,
            units,
            drift=np.zeros((d, k)),
            entries=np.zeros((e, k)),
            variance_floor=np.ones(d),
            extra_variance=np.zeros(d),
            floor_forced=np.zeros(d, dtype=bool),
            noiseless_level=np.zeros(d),
            observation_noise=np.zeros(e),
            spread=spread / units,
            mean_corrected=np.full(d, finite_step),
            covariance_corrected=finite_step,
        )

    def in_units(self, units: FloatArray) -> WorkingModel:
        """Return the same fields measured in other units of noise."""
        ratio = self.units / units
        products = np.array([ratio[p] * ratio[q] for p, q in tensor.pairs(len(units))])
        return replace(
            self,
            units=units,
            drift=self.drift * ratio[:, None],
            entries=self.entries * products[:, None],
            observation_noise=self.observation_noise * products,
            spread=self.spread * ratio,
        )

    def mean(self, states: FloatArray, dt: FloatArray) -> FloatArray:
        """Increments ``(n, d)`` that the drift makes of ``states (n, d)`` within ``dt (n,)``."""
        return self.basis.values(states) @ self.drift.T * dt[:, None]


class Blurred(NamedTuple):
    """What changes within the noise of a state: library ``(n, K, d)`` and tensor ``(E, d, n)``."""

    gradients: FloatArray
    slopes: FloatArray

    def deviation(self, e: int, observation_noise: FloatArray) -> FloatArray:
        """Standard deviation ``(n,)`` of entry ``e`` within the ``observation_noise (E,)``."""
        slope = self.slopes[e]
        covariance = np.broadcast_to(
            observation_noise[:, None], (len(observation_noise), slope.shape[1])
        )
        square = np.sum(slope * tensor.multiply(covariance, slope), axis=0)
        return np.sqrt(np.maximum(square, 0.0))


class Local(NamedTuple):
    """A chunk seen by a working model, repeated samples left out; the sample is the last axis.

    ``theta (K, n)``, ``dt (n,)``, ``steps (d, n)`` increments, ``residual (d, n)``, ``entries
    (E, n)`` the fitted tensor, ``excess (E, n)`` what the finite step and the observation add to
    it in residual products, ``noise (E, n)`` of a step over dt, which weights follow;
    ``blurred`` if there is observation noise; ``kept (N,)`` which samples of the chunk these
    are.
    """

    theta: FloatArray
    dt: FloatArray
    steps: FloatArray
    residual: FloatArray
    entries: FloatArray
    excess: FloatArray | float
    noise: FloatArray
    blurred: Blurred | None
    kept: BoolArray

    @property
    def targets(self) -> FloatArray:
        """What the tensor entries are fitted to, ``(E, n)``: residual products over dt."""
        residual = self.residual
        products = [residual[p] * residual[q] for p, q in tensor.pairs(len(residual))]
        return np.stack(products) / self.dt - self.excess


def evaluate(model: WorkingModel, chunk: Chunk) -> Local:
    """Evaluate library, fields and residuals at the samples of a chunk."""
    steps = np.ascontiguousarray(chunk.increments.T) / model.units[:, None]
    states, dt, kept = chunk.states, chunk.dt, chunk.moved
    if not kept.all():
        steps, states, dt = steps[:, kept], states[kept], dt[kept]
    theta = np.ascontiguousarray(model.basis.values(states).T)
    drift, entries = model.drift @ theta, model.entries @ theta
    blank_noiseless(entries, model.noiseless_level)
    excess: FloatArray | float = 0.0
    if model.mean_corrected.any():
        second = second_order(model, states, drift, entries)
        valid = second.validity(dt)
        steps -= np.where(model.mean_corrected[:, None], second.mean, 0.0) * dt**2 * valid
        excess = second.covariance * dt * valid if model.covariance_corrected else 0.0
    noise, blurred = entries, None
    if model.observation_noise.any():
        # A step has the noise of both its ends.
        observed = 2 * model.observation_noise[:, None] / dt
        noise, excess = entries + observed, excess + observed
        blurred = _blurred(model, states)
        # A state that is known up to its observation noise has a tensor that is known up to this.
        # Weights that followed the tensor closer would follow the observation noise.
        for p in range(len(model.units)):
            own = tensor.entry_number(p, p)
            noise[own] += blurred.deviation(own, model.observation_noise)
    residual = steps - drift * dt
    return Local(theta, dt, steps, residual, entries, excess, noise, blurred, kept)


def _blurred(model: WorkingModel, states: FloatArray) -> Blurred:
    gradients = model.basis.gradients(states) * model.units
    slopes = np.einsum("ek,nkq->eqn", model.entries, gradients, optimize=True)
    blank_noiseless(slopes, model.noiseless_level)
    return Blurred(gradients, slopes)


def blank_noiseless(entries: FloatArray, noiseless_level: FloatArray) -> None:
    """Blank the rows ``(E, ...)`` of entries whose coordinates have no noise, in place."""
    for e, (p, q) in enumerate(tensor.pairs(len(noiseless_level))):
        if noiseless_level[p] or noiseless_level[q]:
            entries[e] = 0.0


class SecondOrder(NamedTuple):
    """Next terms of the Ito-Taylor moments over a step dt.

    The mean is b dt + ``mean (d, n)`` dt^2, the covariance a dt + ``covariance (E, n)`` dt^2.
    ``jacobian (d, d, n)`` are the derivatives of the drift.
    """

    mean: FloatArray
    covariance: FloatArray
    jacobian: FloatArray

    def validity(self, dt: FloatArray) -> FloatArray:
        """Share of the correction to apply, ``(n,)``: less where a step is no longer small.

        Beyond |J| dt = 1 the expansion says nothing, and a correction larger than what it corrects
        would grow from pass to pass.
        """
        size = np.sqrt(np.einsum("pqn,pqn->n", self.jacobian, self.jacobian))
        return 1.0 / np.maximum(1.0, size * dt)


def second_order(
    model: WorkingModel, states: FloatArray, drift: FloatArray, entries: FloatArray
) -> SecondOrder:
    """L b / 2 and (L a + J a + a J') / 2 of the working model, in its units.

    ``states (n, d)``, ``drift (d, n)``, ``entries (E, n)``.
    """
    units, pairs = model.units, tensor.pairs(len(model.units))
    gradients = model.basis.gradients(states) * units
    hessians = model.basis.hessians(states) * np.outer(units, units)
    field = tensor.symmetric(entries.T, len(units))
    generated = np.einsum("nkp,pn->kn", gradients, drift)
    generated += 0.5 * np.einsum("nkpq,npq->kn", hessians, field)
    jacobian = np.einsum("pk,nkq->pqn", model.drift, gradients)
    carried = np.einsum("prn,nrq->pqn", jacobian, field)
    mixed = np.stack([carried[p, q] + carried[q, p] for p, q in pairs])
    mean, covariance = model.drift @ generated, model.entries @ generated + mixed
    return SecondOrder(0.5 * mean, 0.5 * covariance, jacobian)


def drift_noise(model: WorkingModel, local: Local) -> FloatArray:
    """Noise of a step over dt, ``(E, n)``, with variances that can be divided by."""
    noise = local.noise.copy()
    for p in range(len(model.units)):
        own = tensor.entry_number(p, p)
        noise[own] = (
            model.noiseless_level[p]
            or np.maximum(noise[own], model.variance_floor[p]) + model.extra_variance[p]
        )
    return noise


def entry_variance(noise: FloatArray) -> FloatArray:
    """a_pp a_qq + a_pq^2 of the targets of each entry, ``(E, n)``, held away from zero.

    ``noise (E, n)`` is what :func:`drift_noise` gives.
    """
    d, held = tensor.dimension_of(noise), noise.copy()
    own = [held[tensor.entry_number(p, p)] for p in range(d)]
    for variance in own:
        np.maximum(variance, TENSOR_WEIGHT_FLOOR, out=variance)
    return np.stack([own[p] * own[q] + held[e] ** 2 for e, (p, q) in enumerate(tensor.pairs(d))])
