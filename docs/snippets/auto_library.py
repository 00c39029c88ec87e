import wgsindy as wg

for name in ("duffing", "nonpoly_drift"):
    system = wg.zoo.get(name)
    fitted = wg.WGSINDy().fit(system.simulate(seed=0, substeps=10))
    print(f"{name}: {fitted.generator_.info['library']}")
    for k in (0, 1):  # the two components of the drift
        print("  true ", system.generator.equations()[k])
        print("  found", fitted.generator_.equations(errors=True)[k])
    print(" ", fitted.diagnostics_.summary)
