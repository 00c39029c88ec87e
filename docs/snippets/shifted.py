import numpy as np
from make_well import path

import wgsindy as wg

far = [x + np.array([500_000.0, 0.0]) for x in path]
fitted = wg.WGSINDy().fit(far, dt=0.05, names=path.names)
print("\n".join(fitted.generator_.equations(errors=True)))
