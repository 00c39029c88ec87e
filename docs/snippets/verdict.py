import wgsindy as wg

# A rotation in x and y, of which only x was measured.
data = wg.zoo.get("partial_observation").simulate(seed=0, substeps=10)
fitted = wg.WGSINDy("poly2").fit(data)
diagnostics = fitted.diagnostics_

print("\n".join(fitted.generator_.equations(errors=True)))
print(diagnostics.summary)
for finding in diagnostics.findings:
    print(f"- {finding.limitation}: {finding.sentence}")
    print(f"  {finding.advice}")
print(f"memory {diagnostics.memory[0]:.2f}, neighbours {diagnostics.lag_one[0]:.2f}")
