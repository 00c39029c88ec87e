import numpy as np

import wgsindy as wg

clean = wg.zoo.get("rotational_ou").simulate(seed=0)
rng = np.random.default_rng(0)
noisy = [x + rng.normal(0, 0.05, x.shape) for x in clean]
data = wg.Trajectories(noisy, dt=clean.mean_dt, names=clean.names)
diagnostics = wg.WGSINDy("poly2").fit(data).diagnostics_
print(diagnostics.summary)
for finding in diagnostics.findings:
    print(f"- {finding.limitation}: {finding.sentence}\n  {finding.advice}")
