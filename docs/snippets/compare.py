import wgsindy as wg

system = wg.zoo.get("rotational_ou")
few = wg.WGSINDy("poly1").fit(system.simulate(seed=0, trajectories=4))
many = wg.WGSINDy("poly1").fit(system.simulate(seed=1))

both = wg.compare(few, many, data=system.simulate(seed=2), labels=("few", "many"))
print(both)
both.plot().savefig("compare.png")
