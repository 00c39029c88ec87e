import numpy as np

import wgsindy as wg

rng = np.random.default_rng(2)
steps = rng.gamma(4.0, 0.01 / 4, 20_000)  # a sampler that is not on time
x = np.zeros(len(steps) + 1)
for n, h in enumerate(steps / 5):  # five steps of the simulator between two samples
    x[n + 1] = x[n]
    for kick in rng.normal(0, 0.7 * np.sqrt(h), 5):
        x[n + 1] += (x[n + 1] - x[n + 1] ** 3) * h + kick
times = np.concatenate([[0.0], np.cumsum(steps)])

data = wg.Trajectories([x], times=[times], names=("x",))
fitted = wg.WGSINDy("poly3").fit(data)
print("\n".join(fitted.generator_.equations(errors=True)))
