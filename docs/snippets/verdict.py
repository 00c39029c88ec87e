import wgsindy as wg

data = wg.zoo.get("gbm_2d").simulate(seed=0)
diagnostics = wg.WGSINDy("poly2", "sharp").fit(data).diagnostics_

print(diagnostics.summary)
for finding in diagnostics.findings:
    print("-", finding.sentence)
    print(" ", finding.advice)
