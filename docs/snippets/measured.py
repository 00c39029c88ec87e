import warnings

import numpy as np
from make_well import path, well

import wgsindy as wg
from wgsindy.errors import MissingValuesWarning
from wgsindy.zoo import scores_of

rng = np.random.default_rng(1)
fine = list(path)  # a sample every 0.05
spread = path.states.std(axis=0)
noisy = [x + rng.normal(0, 0.1 * spread, x.shape) for x in fine]
holes = [np.where(rng.random((len(x), 1)) < 0.05, np.nan, x) for x in fine]
cases = {
    "a sample every 0.05": (fine, 0.05),
    "every 0.2": (list(path.thinned(4)), 0.2),
    "every 0.4": (list(path.thinned(8)), 0.4),
    "10 % noise": (noisy, 0.05),
    "rounded to 0.1": ([x.round(1) for x in fine], 0.05),
    "noisy and rounded": ([x.round(1) for x in noisy], 0.05),
    "5 % of rows missing": (holes, 0.05),
}
warnings.simplefilter("ignore", MissingValuesWarning)  # it says how many rows there are
print(f"{'relative error of':20}{'drift':>8}{'tensor':>8}   as a chain:{'drift':>7}{'tensor':>8}")
for what, (states, dt) in cases.items():
    errors = []
    for recipe in ("sharp", "sharp-euler"):
        fitted = wg.WGSINDy("poly3", recipe).fit(states, dt=dt, names=path.names)
        errors.append(scores_of(fitted.generator_, well, path.states))
    (a, b), (c, d) = ((one.drift, one.tensor) for one in errors)
    print(f"{what:20}{a:8.2f}{b:8.2f}{'':14}{c:7.2f}{d:8.2f}")
