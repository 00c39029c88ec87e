"""StochasticForceInference 2.x, its parametric estimators, as documented for coarse and noisy data.

``infer_force`` (a step of the mean by RK4, the covariance of the step from a Lyapunov equation,
noise of the sensor profiled) on all monomials, from which PASTIS selects; then ``infer_diffusion``
on all monomials of every entry, from which PASTIS selects as well, so that a constant matrix and a
state-dependent one are compared by the package's own criterion. Where that ends at no valid matrix
(the likelihood has no optimum inside), the constant matrix of ``infer_force`` is fitted alone.
All settings are its defaults but two, which help it: the state-dependent fit starts from the
constant matrix (from its own start it ends at fields that are off by 2 to 4), and compiled code is
kept on disk, which it offers by ``SFI_JAX_CACHE_DIR`` and without which every fit compiles anew.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

PACKAGES = ("SFI", "SFI.bases")
DISTRIBUTION = "StochasticForceInference"
# What its likelihood returns for a matrix that is not positive definite is beyond this.
NO_LIKELIHOOD = 1e12


def fit(task: dict[str, Any]) -> Any:
    """Infer force and diffusion, both sparse."""
    from SFI import OverdampedLangevinInference, TrajectoryCollection
    from SFI.bases import monomials_up_to

    powers, paths = task["powers"], np.swapaxes(task["paths"], 0, 1)  # time comes first
    degree, d = int(powers.sum(axis=1).max()), powers.shape[1]
    engine = OverdampedLangevinInference(
        TrajectoryCollection.from_arrays(X=paths, dt=float(task["dt"]))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a Hessian without a covariance
        engine.infer_force(monomials_up_to(degree, dim=d, rank="vector"))
        engine.sparsify_force(criterion="PASTIS")
        start = constant_start(np.asarray(engine.diffusion_average), len(powers))
        matrices = monomials_up_to(degree, dim=d, rank="symmetric_matrix")
        engine.infer_diffusion(matrices, theta_D0=start)
        engine.sparsify_diffusion(criterion="PASTIS")
        if not is_valid(engine):
            engine.infer_diffusion()
    return engine


def constant_start(matrix: Any, terms: int) -> Any:
    """Coefficients of a constant matrix ``(d, d)``; its entries come first, term by term."""
    entries = matrix[np.triu_indices(len(matrix))]
    start = np.zeros(terms * len(entries))
    start[: len(entries)] = entries
    return start


def is_valid(engine: Any) -> bool:
    """Whether the diffusion found has a likelihood at all."""
    value = float(engine.metadata["diffusion_parametric_info"]["nll"])
    return math.isfinite(value) and value < NO_LIKELIHOOD


def read(engine: Any, task: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Fields at the points; its diffusion matrix is half of ours."""
    d, points = task["powers"].shape[1], task["points"]
    support = np.zeros((len(task["powers"]), d), dtype=bool)  # features: monomial, then component
    support.ravel()[np.asarray(engine.force_support, dtype=int)] = True
    drift = np.asarray(engine.force_inferred(points))
    tensor = 2.0 * np.asarray(engine.diffusion_inferred(points))
    return drift, np.broadcast_to(tensor, (len(drift), d, d)), support.T
