import wgsindy as wg
from wgsindy.report import plot_readouts

truth = wg.zoo.get("nongradient_circulation")
data = truth.simulate(seed=0, steps=6_000)
told = wg.WGSINDy("poly3", "sharp-euler").fit(data).generator_.readouts(cells=96, draws=30)

print("entropy production ", told.entropy_production)
print("true               ", truth.generator.readouts(cells=96).entropy_production)
parts = told.split([[0.5, 0.5]])
print("drift down the hill", parts.conservative[0].round(2))
print("and along it       ", parts.rotational[0].round(2))
plot_readouts(told).savefig("readout_current.png", dpi=110)
