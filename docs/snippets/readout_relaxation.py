import numpy as np
import sympy

import wgsindy as wg
from wgsindy.report import plot_readouts

x = sympy.Symbol("x")
truth = wg.Generator.from_sympy(("x",), [x - x**3], [[0.49]])
data = truth.simulate([0.0], dt=0.02, steps=5_000, trajectories=16, random_state=0)
told = wg.WGSINDy("poly3").fit(data).generator_.readouts()

print("slowest rate      ", told.gap)
print("true rate         ", truth.readouts().gap)
print("relaxation times  ", [round(float(time), 2) for time in told.relaxation_times[:3]])
print("memory after 1, 5 ", told.autocorrelation([1.0, 5.0]).values.round(3))
print("height of barrier ", np.diff(told.potential([[1.0], [0.0]]).values).round(2))
print("tomorrow from 1   ", told.forecast([1.0], t=1.0).mean.values.round(3))
plot_readouts(told).savefig("readout_relaxation.png", dpi=110)
