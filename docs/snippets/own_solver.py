import numpy as np
from sklearn.linear_model import OrthogonalMatchingPursuitCV

import wgsindy as wg
from wgsindy import recipes
from wgsindy.estimate.weak_form.weak_rows import weak_form
from wgsindy.model import TensorField
from wgsindy.model.tensor import pairs


def solve(design, target):
    """Any solver of a sparse linear system: rows (M, K) and target (M,) to (K,)."""
    size = np.linalg.norm(design, axis=0)
    search = OrthogonalMatchingPursuitCV(fit_intercept=False)
    return search.fit(design / size, target).coef_ / size


data = wg.zoo.get("rotational_ou").simulate(seed=0, substeps=10)
weak = weak_form(data, wg.library("poly2").bind(data.names), recipes.PAPER, seed=0)
scale = weak.frame.scale  # rows are in units of each coordinate's spread

drift = np.stack([solve(weak.design, target) for target in weak.drift_targets.T])
squares = weak.square_targets - weak.drift_square(drift)
entries = np.stack([solve(weak.design, target) for target in squares.T])

units = np.array([scale[p] * scale[q] for p, q in pairs(data.dimension)])
tensor = TensorField("clipped", entries * units[:, None], 0.0, np.ones(data.dimension))
generator = wg.Generator(weak.basis, drift * scale[:, None], tensor, region=weak.frame)
print("\n".join(generator.equations(digits=2)))
