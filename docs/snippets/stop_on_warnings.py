import warnings

import wgsindy as wg
from wgsindy.errors import DataError, WgsindyWarning

try:
    wg.read("nowhere.csv", dt=0.1)
except DataError as error:
    print(error)

with warnings.catch_warnings():
    warnings.simplefilter("error", WgsindyWarning)  # whatever looks wrong stops the script
    wg.WGSINDy("poly2").fit(wg.zoo.get("coupled_ou").simulate(seed=0, substeps=10))
