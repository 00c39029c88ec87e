import wgsindy as wg

data = wg.zoo.get("heston_logsv").simulate(seed=0)
model = wg.WGSINDy("poly2", "sharp-euler").fit(data).generator_
named = model.readouts().named
print(named.name)
for name, value in named.parameters.items():
    print(f"  {name:<13}", value)
try:
    print(model.readouts().mean)
except wg.errors.ReadoutError as refusal:
    print(refusal)

variance = wg.WGSINDy("poly2", "sharp-euler").fit(data.select(["v"])).generator_.readouts()
print("mean variance  ", variance.mean.values.round(4))
print("half-life      ", round(0.693 * float(variance.relaxation_times[0]), 2), "years")
