import make_concentration  # noqa: F401  (writes concentration.csv)

import wgsindy as wg

reading = wg.read("concentration.csv", log="c")
print(reading.data.names)
fitted = wg.WGSINDy("poly2").fit(reading)
print("\n".join(fitted.generator_.equations(errors=True)))
