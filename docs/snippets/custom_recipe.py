from dataclasses import replace

import wgsindy as wg
from wgsindy.recipes import PAPER, SHARP

data = wg.zoo.get("double_well_transverse").simulate(seed=0, substeps=10)

strict = replace(SHARP, name="strict", false_alarm=0.0001)
lasso = replace(PAPER, name="plain-lasso", solver="lasso", n_centres=48)
for recipe in (SHARP, strict, lasso):
    generator = wg.WGSINDy("poly3", recipe).fit(data).generator_
    print(f"{recipe.name:12}", generator.equations()[0])
