import wgsindy as wg

system = wg.zoo.get("nonpoly_drift")  # b1 has a sine, which no polynomial is
data = system.simulate(seed=0, substeps=10)
print("true  ", system.generator.equations()[0])
for library in ("poly2", "poly3", "trig"):
    fitted = wg.WGSINDy(library).fit(data)
    print(f"{library:6}", fitted.generator_.equations(errors=True)[0])
