from pathlib import Path

import numpy as np

import wgsindy as wg

rng = np.random.default_rng(1)


def trajectory(steps):
    x = np.zeros(steps)
    for n in range(steps - 1):
        x[n + 1] = 0.98 * x[n] + rng.normal(0, 0.1)  # exact steps of a linear process
    return x


# In memory: a list; lengths may differ, dt may, too.
data = wg.Trajectories([trajectory(3000), trajectory(1500), trajectory(500)], dt=0.01, names=("x",))
print(data)

# One file a trajectory: a glob.
for run in range(3):
    np.savetxt(f"run{run}.csv", trajectory(2000), header="x", comments="")
files = wg.read("run*.csv", dt=0.01)
print(files.data)

# One file for all: a column of ids.
table = [f"{name},{n * 0.01:.2f},{x}" for name in "ab" for n, x in enumerate(trajectory(1000))]
Path("all.csv").write_text("animal,t,x\n" + "\n".join(table) + "\n")
ids = wg.read("all.csv", trajectory="animal")
print(ids.data)

print(wg.WGSINDy("poly3").fit(files).generator_.equations(errors=True))
