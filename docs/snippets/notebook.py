import wgsindy as wg

data = wg.zoo.get("rotational_ou").simulate(seed=0, substeps=10)
seen, held_out = data.subset(range(12)), data.subset(range(12, 16))

est = wg.WGSINDy().fit(seen)
print(est.generator_)  # as the last line of a cell: est.generator_
est.report("report.html")
print(f"log-likelihood of a step: {est.score(held_out):.4f}")
