import numpy as np
from make_well import path

import wgsindy as wg

rng = np.random.default_rng(1)
noisy = [x + rng.normal(0, 0.1, x.shape) for x in path]
fitted = wg.WGSINDy().fit(noisy, dt=0.05, names=path.names)
print("\n".join(fitted.generator_.equations(errors=True)))
print(fitted.diagnostics_.summary)
for finding in fitted.diagnostics_.findings:
    print(f"- {finding.limitation}: {finding.sentence}\n  {finding.advice}")
