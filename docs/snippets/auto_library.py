import wgsindy as wg

for name in ("duffing", "nonpoly_drift"):
    system = wg.zoo.get(name)
    fitted = wg.WGSINDy(library="auto", recipe="sharp").fit(system.simulate(seed=0))
    drift = len(system.names)  # the first equations are those of the drift
    print(f"{name}: {fitted.generator_.info['library']}")
    for true, found in zip(
        system.generator.equations()[:drift],
        fitted.generator_.equations(errors=True)[:drift],
        strict=True,
    ):
        print(f"  true  {true}\n  found {found}")
    print(" ", fitted.diagnostics_.summary)
