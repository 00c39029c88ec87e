from wgsindy import WGSINDy
from wgsindy.demo import demo_data
from wgsindy.display.report import write_report

data = demo_data()
fitted = WGSINDy("poly3", "sharp").fit(data)
write_report(
    "report.html", fitted.generator_, data, fitted.diagnostics_, title="Van der Pol, 16 runs"
)
