from pathlib import Path

import numpy as np

rng = np.random.default_rng(0)
u = 0.0
rows = ["t,c"]
for n in range(10_000):
    rows.append(f"{n * 0.01:.2f},{np.exp(u):.6f}")
    for kick in rng.normal(0, 0.5 * np.sqrt(0.001), 10):  # ten steps between two samples
        u += -2 * u * 0.001 + kick  # the logarithm reverts to its mean
Path("concentration.csv").write_text("\n".join(rows) + "\n")
