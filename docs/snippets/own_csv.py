import make_csv  # noqa: F401  (writes measurements.csv)

import wgsindy as wg

reading = wg.read("measurements.csv")
print(reading)

fitted = wg.WGSINDy().fit(reading)
print("\n".join(fitted.generator_.equations(errors=True)))
print(fitted.diagnostics_.summary)

fitted.report("report.html")
