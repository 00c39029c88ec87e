import matplotlib.pyplot as plt

import wgsindy as wg
from wgsindy.zoo import demo_data

est = wg.WGSINDy("poly3").fit(demo_data())
gen = est.generator_

figure, axes = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
est.plot(ax=axes[0, 0])  # drift and noise over the data
gen.plot_field("b2", demo_data(), along="x", ax=axes[0, 1])  # one field with its band
gen.plot_coefficients(ax=axes[0, 2])
est.plot_residuals("y", ax=axes[1, 0])
est.plot_simulated("x", ax=axes[1, 1])  # observed and simulated density
gen.forecast([1.0, 0.0], horizon=6.0, random_state=0).plot("x", ax=axes[1, 2])
figure.savefig("figures.png", dpi=130)

table = gen.coefficients.to_polars()  # or to_pandas()
for target, term, value, error, *_ in table.rows():
    print(f"{target} {term}: {value:.3f} ± {error:.3f}")
