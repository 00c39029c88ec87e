from pathlib import Path

import numpy as np

rng = np.random.default_rng(0)
rows = ["run,t,x,y"]
for run in range(6):
    x, y = rng.normal(0, 0.5, 2)
    for n in range(2000):
        rows.append(f"{run},{n * 0.01:.2f},{x:.5f},{y:.5f}")
        for shared, own in rng.normal(0, np.sqrt(0.001), (10, 2)):  # noise of ten short steps
            drift = -x - 1.5 * y, 1.5 * x - y  # a spiral into the origin
            x = x + drift[0] * 0.001 + shared
            y = y + drift[1] * 0.001 + 0.6 * shared + 0.5 * own
Path("measurements.csv").write_text("\n".join(rows) + "\n")
