import numpy as np

import wgsindy as wg

rng = np.random.default_rng(0)
file = np.lib.format.open_memmap("long.npy", "w+", float, (200_000, 1))
x, dt, h = 0.0, 0.01, 0.002  # five steps of the simulator between two samples
for n, kicks in enumerate(rng.normal(0, 0.7 * np.sqrt(h), (len(file), 5)).tolist()):
    file[n] = x
    for kick in kicks:
        x += (x - x**3) * h + kick
file.flush()

data = wg.stream("long.npy", dt=dt)  # nothing stays in memory
print(data)
fitted = wg.WGSINDy("poly3", threads=2).fit(data)
print("\n".join(fitted.generator_.equations(errors=True)))
print(fitted.diagnostics_.summary)
