import numpy as np

import wgsindy as wg


def lag_one(trajectories):
    """Correlation of neighbouring increments: near 0 if clean, towards -1/2 if noise rules."""
    steps = [np.diff(x, axis=0) for x in trajectories]
    before = np.concatenate([step[:-1] for step in steps])
    after = np.concatenate([step[1:] for step in steps])
    return (before * after).mean(axis=0) / (before**2).mean(axis=0)


clean = list(wg.zoo.get("rotational_ou").simulate(seed=0))
rng = np.random.default_rng(0)
noisy = [x + rng.normal(0, 0.05, x.shape) for x in clean]
print("clean", lag_one(clean).round(2))
print("noisy", lag_one(noisy).round(2))
