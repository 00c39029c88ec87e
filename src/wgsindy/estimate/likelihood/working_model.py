"""A working model: drift and tensor as far as known, and what they say of each increment.

Here increments are divided by the mean noise of their coordinate, so that no threshold has units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from wgsindy.data import BoolArray, Chunk, FloatArray
from wgsindy.estimate.likelihood.matrices import inverse, multiply
from wgsindy.estimate.likelihood.transition import Dynamics, Place, Transition
from wgsindy.model import tensor
from wgsindy.passes import DataSummary
from wgsindy.terms import Basis

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
    rounding: FloatArray  # (d,) variance of rounding, which is part of it and known
    noisy: BoolArray  # (E,) entries of the noise that are estimated
    place: Place  # where the data lie
    is_chain: bool  # whether samples are Euler steps, or those of a process
    positions: BoolArray | None = None  # (d,) whose drift is a velocity that is not observed

    @classmethod
    def start(cls, basis: Basis, summary: DataSummary, *, is_chain: bool) -> WorkingModel:
        """No drift, and the same noise everywhere, whether or not the library has a constant."""
        units = summary.frame.scale * np.sqrt(summary.variation)
        d, k, e = len(units), len(basis), len(tensor.pairs(len(units)))
        return cls(
            basis,
            units,
            drift=np.zeros((d, k)),
            entries=np.zeros((e, k)),
            variance_floor=np.ones(d),
            extra_variance=np.zeros(d),
            floor_forced=np.zeros(d, dtype=bool),
            noiseless_level=(np.arange(d) >= d - summary.inputs).astype(np.float64),
            observation_noise=np.zeros(e),
            rounding=np.zeros(d),
            noisy=np.zeros(e, dtype=bool),
            place=Place.of(summary),
            is_chain=is_chain,
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
            rounding=self.rounding * ratio**2,
        )

    def mean(self, states: FloatArray, dt: FloatArray) -> FloatArray:
        """Increments ``(n, d)`` that the drift makes of ``states (n, d)`` within ``dt (n,)``."""
        return self.dynamics.step(states, dt).mean.T

    @cached_property
    def dynamics(self) -> Dynamics:
        """The fields as a step sees them: a coordinate without noise has no row in the tensor."""
        entries = self.entries.copy()
        blank_noiseless(entries, self.noiseless_level)
        return Dynamics(self.basis, self.units, self.drift, entries, self.place, self.is_chain)


class Local(NamedTuple):
    """A chunk seen by a working model; the sample is the last axis.

    What a process does within a step is undone first: residuals and their noise are those of the
    drift itself, averaged along the path.
    """

    theta: FloatArray  # (K, n) library, averaged along the path
    dt: FloatArray  # (n,)
    steps: FloatArray  # (d, n) increments
    residual: FloatArray  # (d, n)
    entries: FloatArray  # (E, n) the fitted tensor, averaged along the path
    noise: FloatArray  # (E, n) of a step over dt, which weights follow
    gain: FloatArray | float  # (E, n) how much of the tensor a step shows: one for a chain

    @property
    def targets(self) -> FloatArray:
        """What the tensor entries are fitted to, ``(E, n)``: residual products over dt."""
        residual = self.residual
        products = [residual[p] * residual[q] for p, q in tensor.pairs(len(residual))]
        return (np.stack(products) / self.dt - self.noise) / self.gain + self.entries


@np.errstate(all="ignore")  # fields that run away are seen by what is summed of them
def evaluate(model: WorkingModel, chunk: Chunk) -> Local:
    """Evaluate library, fields and residuals at the samples of a chunk."""
    steps = np.ascontiguousarray(chunk.increments.T) / model.units[:, None]
    states, dt = chunk.states, chunk.dt
    if model.is_chain:
        theta = np.ascontiguousarray(model.basis.values(states).T)
        entries = model.dynamics.entries @ theta
        gain: FloatArray | float = 1.0
        residual, noise = steps - (model.drift @ theta) * dt, entries
    else:
        path = model.dynamics.along(chunk)
        theta, entries = path.theta, model.dynamics.entries @ path.theta
        residual, noise, gain = _seen_through_response(path, steps, dt)
        steps = residual + (model.drift @ theta) * dt
    if model.observation_noise.any():  # a step has the noise of both its ends
        noise = noise + 2 * model.observation_noise[:, None] / dt
    return Local(theta, dt, steps, residual, entries, noise, gain)


def _seen_through_response(
    path: Transition, steps: FloatArray, dt: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Residual ``(d, n)`` of a process, its noise and gain ``(E, n)``, as those of its drift."""
    back = inverse(path.response)
    residual = multiply(back, (steps - path.mean)[:, None])[:, 0]
    noise = multiply(multiply(back, path.covariance), back.swapaxes(0, 1)) / dt
    entries = np.stack([noise[p, q] for p, q in tensor.pairs(len(steps))])
    return residual, entries, _gains(path, back)


def _gains(path: Transition, back: FloatArray) -> FloatArray:
    """How much of a constant in each tensor entry the noise of a step shows, ``(E, n)``.

    By Simpson's rule over F(s), seen through its mean, as residuals are.
    """
    start, middle = multiply(back, path.flow), multiply(back, path.middle)
    return np.stack(
        [
            sum(
                weight * (f[p, p] * f[q, q] + (f[p, q] * f[q, p] if p != q else 0.0))
                for f, weight in ((start, 1 / 6), (middle, 2 / 3), (back, 1 / 6))
            )
            for p, q in tensor.pairs(len(back))
        ]
    )


def blank_noiseless(entries: FloatArray | BoolArray, noiseless_level: FloatArray) -> None:
    """Blank the rows ``(E, ...)`` of entries whose coordinates have no noise, in place."""
    for e, (p, q) in enumerate(tensor.pairs(len(noiseless_level))):
        if noiseless_level[p] or noiseless_level[q]:
            entries[e] = 0.0


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
