import warnings

import make_tracks  # noqa: F401 (writes tracks.csv)

import wgsindy as wg
from wgsindy.errors import MissingValuesWarning

warnings.simplefilter("ignore", MissingValuesWarning)  # it says how many frames are lost
tracks = wg.read("tracks.csv", trajectory="film").data
est = wg.WGSINDy("poly3", order="auto").fit(tracks)
for line in est.generator_.equations(errors=True):
    print(line)
print(est.diagnostics_.summary)
print(est.fit_.orders.sentence)

states = est.states()
print(states.to_polars().select("time", "x", "x_measured", "v_x", "v_x_low", "v_x_high").head(4))
states.plot("v_x").figure.savefig("tracking.png", dpi=110)
