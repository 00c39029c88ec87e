from pathlib import Path

import numpy as np

rng = np.random.default_rng(0)
rows = ["run,t,x,y"]
for run in range(6):
    x, y = rng.normal(0, 0.5, 2)
    for n in range(2000):
        rows.append(f"{run},{n * 0.01:.2f},{x:.5f},{y:.5f}")
        shared, own = rng.normal(0, np.sqrt(0.01), 2)  # noise of one step
        drift = -x - 1.5 * y, 1.5 * x - y  # a spiral into the origin
        x = x + drift[0] * 0.01 + shared
        y = y + drift[1] * 0.01 + 0.6 * shared + 0.5 * own
Path("measurements.csv").write_text("\n".join(rows) + "\n")
