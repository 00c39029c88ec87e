import make_concentration  # noqa: F401  (writes concentration.csv)

import wgsindy as wg

data = wg.read("concentration.csv").data
change = wg.Change.parse("u = log(c)", data.names)

fitted = wg.WGSINDy("poly2").fit(change.apply(data))
print("\n".join(fitted.generator_.equations(errors=True)))
print("\n".join(change.undo(fitted.generator_).equations(errors=True)))
