from pathlib import Path

import wgsindy as wg

path = wg.zoo.get("heston_sv").simulate(seed=0)[0]  # a price s > 0 and its variance v
rows = [f"{n / 252},{s},{v}" for n, (s, v) in enumerate(path)]
Path("price.csv").write_text("t,s,v\n" + "\n".join(rows) + "\n")

reading = wg.read("price.csv", log="s")
print(reading.data.names)
fitted = wg.WGSINDy("poly2", "sharp").fit(reading.data)
print("\n".join(fitted.generator_.equations(errors=True)))
