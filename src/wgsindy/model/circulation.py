"""How a process goes round, from drift and tensor at each point.

Functions of field values, so that a recovered generator, a truth and a simulation share them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wgsindy.data.arrays import FloatArray

DIFFERENCE = 1e-5  # step of numerical derivatives, relative to the largest coordinate


def rotation(jacobian: FloatArray) -> FloatArray:
    """Antisymmetric part of a drift Jacobian J[p, q] = d b_p / d x_q, ``(n, d, d)``."""
    return (jacobian - jacobian.transpose(0, 2, 1)) / 2


def antisymmetric_drift(points: FloatArray, jacobian: FloatArray) -> FloatArray:
    """Directional field anti(J)(x) x, ``(n, d)``.

    For isotropic linear systems it points along the stationary current; elsewhere it is a
    diagnostic of rotation only.
    """
    return np.einsum("npq,nq->np", rotation(jacobian), points)


def divergence(diffusion: Callable[[FloatArray], FloatArray], points: FloatArray) -> FloatArray:
    """sum_q d a_pq / d x_q ``(n, d)`` of a tensor field, by central differences.

    Where eigenvalues are clipped a tensor field has kinks, and no derivative in closed form.
    """
    out = np.zeros_like(points)
    sizes = np.abs(points).max(axis=0, initial=0.0)
    for q, width in enumerate(DIFFERENCE * np.where(sizes > 0, sizes, 1.0)):
        ahead, behind = points.copy(), points.copy()
        ahead[:, q] += width
        behind[:, q] -= width
        out += (diffusion(ahead) - diffusion(behind))[:, :, q] / (2 * width)
    return out


def current_velocity(
    drift: FloatArray, diffusion: FloatArray, divergence: FloatArray, slope: FloatArray
) -> FloatArray:
    """Velocity of the stationary current, J / pi = b - (div a + a grad log pi) / 2, ``(n, d)``.

    ``divergence (n, d)`` has the components sum_q d a_pq / d x_q, ``slope (n, d)`` is the gradient
    of the log-density. It is zero for a reversible process.
    """
    return drift - (divergence + np.einsum("npq,nq->np", diffusion, slope)) / 2
