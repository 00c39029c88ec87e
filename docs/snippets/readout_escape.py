import wgsindy as wg
from wgsindy.report import plot_readouts

truth = wg.zoo.get("maier_stein")
data = truth.simulate(seed=0, steps=20_000).thinned(5)  # 16 paths that see both wells
told = wg.WGSINDy("poly3").fit(data).generator_.readouts(cells=96, draws=30)

escape = told.passage_time([-1, 0], "x > 0")
print("time to the saddle ", escape.mean)
print("its deviation      ", round(float(escape.variance) ** 0.5))
print("true time          ", truth.generator.readouts(cells=96).passage_time([-1, 0], "x > 0").mean)
print("rate between wells ", told.gap)
print("wells              ", told.metastable_sets([[-1, 0], [1, 0]]))
print("from (-0.2, 0.3)   ", told.committor("x < -0.8", "x > 0.8", [[-0.2, 0.3]]))

short = wg.WGSINDy("poly3").fit(truth.simulate(seed=0)).generator_.readouts(cells=96, draws=30)
try:
    print(short.gap)
except wg.errors.ReadoutError as refusal:
    print(refusal)
print("out of the well    ", short.passage_time([-1, 0], "x > -0.3").mean)
print("true time          ", truth.generator.readouts().passage_time([-1, 0], "x > -0.3").mean)
plot_readouts(told).savefig("readout_escape.png", dpi=110)
