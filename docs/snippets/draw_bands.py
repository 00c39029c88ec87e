import matplotlib.pyplot as plt
import numpy as np

import wgsindy as wg
from wgsindy.zoo import demo_data

generator = wg.WGSINDy().fit(demo_data()).generator_
truth = wg.zoo.get("van_der_pol").generator

x = np.linspace(-2.2, 2.2, 100)
points = np.column_stack([x, np.ones_like(x)])  # a cut through the plane at y = 1
bands = generator.bands(points)

figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
axes.fill_between(x, bands.drift_low[:, 1], bands.drift_high[:, 1], alpha=0.35, label="95 % band")
axes.plot(x, generator.drift(points)[:, 1], label="recovered")
axes.plot(x, truth.drift(points)[:, 1], "k--", linewidth=1, label="true")
axes.set(xlabel="x", ylabel="drift of y, at y = 1")
axes.legend(frameon=False)
figure.savefig("draw_bands.png", dpi=130)
