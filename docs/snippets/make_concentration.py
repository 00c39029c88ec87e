from pathlib import Path

import numpy as np

rng = np.random.default_rng(0)
u = 0.0
rows = ["t,c"]
for n in range(10_000):
    rows.append(f"{n * 0.01:.2f},{np.exp(u):.6f}")
    u += -2 * u * 0.01 + 0.5 * rng.normal(0, 0.1)  # the logarithm reverts to its mean
Path("concentration.csv").write_text("\n".join(rows) + "\n")
