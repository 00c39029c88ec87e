"""StochasticForceInference 2.x, its parametric estimator for positions whose velocity is hidden.

``infer_force`` on all monomials of positions and velocities, from which PASTIS selects; noise of
the sensor and a constant diffusion are profiled by it. All settings are its defaults; compiled code
is kept on disk, as it offers.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

PACKAGES = ("SFI", "SFI.bases")
DISTRIBUTION = "StochasticForceInference"


def fit(task: dict[str, Any]) -> Any:
    """Infer the force, sparse, and a constant diffusion."""
    from SFI import TrajectoryCollection, UnderdampedLangevinInference
    from SFI.bases import monomials_up_to

    powers, paths = task["powers"], np.swapaxes(task["paths"], 0, 1)  # time comes first
    degree, d = int(powers.sum(axis=1).max()), paths.shape[2]
    engine = UnderdampedLangevinInference(
        TrajectoryCollection.from_arrays(X=paths, dt=float(task["dt"]))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        engine.infer_force(monomials_up_to(degree, dim=d, include_v=True, rank="vector"))
        engine.sparsify_force(criterion="PASTIS")
    return engine


def read(engine: Any, task: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Force and tensor of the velocities at the points; its diffusion matrix is half of ours."""
    d, points = task["paths"].shape[2], task["points"]
    support = np.zeros((len(task["powers"]), d), dtype=bool)  # features: monomial, then component
    support.ravel()[np.asarray(engine.force_support, dtype=int)] = True
    force = np.asarray(engine.force_inferred(points[:, :d], v=points[:, d:]))
    tensor = 2.0 * np.asarray(engine.diffusion_average)
    return force, np.broadcast_to(tensor, (len(force), d, d)), support.T
