from wgsindy import WGSINDy
from wgsindy.report import write_report
from wgsindy.zoo.demo import demo_data

data = demo_data()
fitted = WGSINDy("poly3", "sharp").fit(data)
write_report(
    "report.html", fitted.generator_, data, fitted.diagnostics_, title="Van der Pol, 16 runs"
)
