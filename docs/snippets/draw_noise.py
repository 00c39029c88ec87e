import matplotlib.pyplot as plt
import numpy as np

import wgsindy as wg

clean = list(wg.zoo.get("rotational_ou").simulate(seed=0, substeps=10))
rng = np.random.default_rng(0)
noisy = [x + rng.normal(0, 0.05, x.shape) for x in clean]


def signature(trajectories, k):
    """Mean squared increment over k steps, divided by the time it takes."""
    return np.mean([np.mean((x[k:, 0] - x[:-k, 0]) ** 2) for x in trajectories]) / (k * 0.01)


lags = np.arange(1, 31)
figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
axes.plot(lags, [signature(noisy, k) for k in lags], "o-", markersize=3, label="with noise")
axes.plot(lags, [signature(clean, k) for k in lags], "o-", markersize=3, label="clean")
axes.axhline(1.0, color="k", linestyle="--", linewidth=1, label="true a11")
axes.set(xlabel="steps taken at once", ylabel="squared increment / time", ylim=(0, None))
axes.legend(frameon=False)
figure.savefig("draw_noise.png", dpi=130)
