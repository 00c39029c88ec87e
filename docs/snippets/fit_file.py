import make_csv  # noqa: F401  (writes measurements.csv)

import wgsindy as wg

result = wg.fit_file("measurements.csv", states=["x", "y"], out="spiral", threads=2)
print(result.heading)
print(result.generator)
print(result.diagnostics.summary)
print(", ".join(result.files))
