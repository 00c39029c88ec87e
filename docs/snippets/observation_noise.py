import numpy as np

import wgsindy as wg
from wgsindy.zoo.scores import compare

system = wg.zoo.get("rotational_ou")
clean = system.simulate(seed=0)
rng = np.random.default_rng(0)
spread = clean.states.std(axis=0)
noisy = [x + rng.normal(0, 0.1 * spread, x.shape) for x in clean]


def report(what, recipe, trajectories, dt):
    data = wg.Trajectories(trajectories, dt=dt, names=clean.names)
    found = wg.WGSINDy("poly2", recipe).fit(data).generator_
    errors = compare(found, system.generator, clean.states)
    print(f"{what:24} drift error {errors.drift:.2f}, tensor error {errors.tensor:.2f}")


report("clean", "sharp", list(clean), system.dt)
report("10 % noise", "sharp", noisy, system.dt)
report("10 % noise, corrected", "sharp-noise", noisy, system.dt)
report("10 % noise, thinned", "sharp-continuous", [x[::10] for x in noisy], 10 * system.dt)
