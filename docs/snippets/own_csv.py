import make_csv  # noqa: F401  (writes measurements.csv)

import wgsindy as wg
from wgsindy.report import write_report

reading = wg.read("measurements.csv")
for note in reading.notes:
    print(note.sentence)
print(reading.data)

fitted = wg.WGSINDy(library="poly2", recipe="sharp").fit(reading.data)
print("\n".join(fitted.generator_.equations(errors=True)))
print(fitted.diagnostics_.summary)

write_report("report.html", fitted.generator_, reading.data, fitted.diagnostics_)
