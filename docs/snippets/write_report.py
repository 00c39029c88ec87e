import wgsindy as wg
from wgsindy.zoo import demo_data

fitted = wg.WGSINDy().fit(demo_data())
fitted.report("report.html", title="Van der Pol, 16 trajectories")
