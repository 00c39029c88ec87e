import wgsindy as wg

data = wg.zoo.get("nonpoly_drift").simulate(seed=0, substeps=10)

# Formulas in the names of the coordinates.
mine = wg.library(["1", "x", "y", "sin(x)", "x*exp(-y**2)"])
# Libraries add up: every polynomial up to degree 2, and two more terms.
more = wg.library("poly2") + wg.library(["sin(x)", "sin(y)"])

for candidates in (mine, more):
    print(candidates.bind(data.names).terms)
    print(wg.WGSINDy(candidates).fit(data).generator_.equations()[0])
