from sklearn.model_selection import GridSearchCV

import wgsindy as wg

system = wg.zoo.get("duffing")
x = list(system.simulate(seed=0, substeps=10))  # 16 arrays (n, 2), one a trajectory

search = GridSearchCV(wg.WGSINDy(), {"library": ["poly1", "poly2", "poly3"]}, cv=4)
search.fit(x[:12], dt=system.dt)  # folds are whole trajectories
print(search.cv_results_["mean_test_score"].round(4))  # a step, of the fold left out
print(search.best_estimator_.generator_)
print(round(search.score(x[12:]), 4))  # trajectories that the search has not seen
