import sympy

import wgsindy as wg
from wgsindy.model import EulerMaruyama

x, y = sympy.symbols("x y")
well = wg.Generator.from_sympy(("x", "y"), [x - x**3, x / 2 - y], [[0.5, 0.15], [0.15, 0.3]])
# 8 trajectories of 160 units of time, a sample every 0.05; in between, 10 steps of the simulator.
fine = EulerMaruyama(substeps=10)
path = well.simulate([1, 0], dt=0.05, steps=3200, trajectories=8, random_state=0, scheme=fine)
