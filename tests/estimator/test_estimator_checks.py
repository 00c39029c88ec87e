"""scikit-learn's own checks of estimators, with the exceptions listed; pipelines and pickles."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from processes import linear
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks

from wgsindy import WGSINDy
from wgsindy.errors import WgsindyWarning
from wgsindy.estimate import result

if not hasattr(estimator_checks, "estimator_checks_generator"):
    pytest.skip("scikit-learn 1.6 brings these checks as a generator", allow_module_level=True)


class Sampled(WGSINDy):
    """The estimator with a step of one, which the checks do not know how to pass."""

    def fit(self, X: Any, y: None = None, *, dt: Any = 1.0, **more: Any) -> Sampled:
        super().fit(X, y, dt=dt, **more)
        return self


EXCEPTIONS = {
    "check_n_features_in_after_fitting": "points of the wrong width get our own sentence",
    "check_fit2d_predict1d": "as above: the sentence names the states instead of reshape",
    "check_estimators_empty_data_messages": "our own sentence, with the shape that was given",
    "check_estimators_nan_inf": "rows with missing values are left out, counted and warned of",
    "check_fit1d": "a one-dimensional array is a trajectory of a scalar process",
}
# Ten states with a tensor of 55 entries take minutes, only to be told that text is no number.
NOT_RUN = {"check_dtype_object"}
CHECKS = [
    (check, name)
    for _, check in estimator_checks.estimator_checks_generator(Sampled(["1"]))
    if (name := getattr(check, "func", check).__name__) not in NOT_RUN
]


@pytest.mark.parametrize(("check", "name"), CHECKS, ids=[name for _, name in CHECKS])
def test_a_check_of_scikit_learn_passes(
    check: Callable[[Any], None], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result, "FEWEST_INCREMENTS", 5)  # their data are smaller than any of ours
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in EXCEPTIONS:
            with pytest.raises((AssertionError, ValueError)):
                check(Sampled(["1"]))
        else:
            check(Sampled(["1"]))


def test_every_exception_is_a_check_and_most_are_none() -> None:
    names = {name for _, name in CHECKS}
    assert set(EXCEPTIONS) <= names
    assert len(names) >= 35


def test_a_pickle_is_the_fit() -> None:
    fitted = WGSINDy("poly1").fit(linear(0))
    again = pickle.loads(pickle.dumps(fitted))
    points = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_array_equal(again.predict(points), fitted.predict(points))
    assert again.generator_.to_dict() == fitted.generator_.to_dict()
    assert again.diagnostics_.summary == fitted.diagnostics_.summary
    assert not hasattr(clone(fitted), "generator_")


def test_a_pipeline_changes_states_before_the_fit() -> None:
    paths = [np.exp(path) for path in linear(0)]
    logarithm = FunctionTransformer(lambda given: [np.log(path) for path in given])
    pipeline = Pipeline([("log", logarithm), ("fit", WGSINDy("poly1"))])
    pipeline.fit(paths, fit__dt=0.01)
    plain = WGSINDy("poly1").fit([np.log(path) for path in paths], dt=0.01)
    assert pipeline[-1].generator_.to_dict() == plain.generator_.to_dict()


def test_a_search_chooses_the_library_that_predicts() -> None:
    rng = np.random.default_rng(3)
    x = np.zeros((12, 801, 1))
    for n in range(800):
        cubic = x[:, n] - x[:, n] ** 3
        x[:, n + 1] = x[:, n] + 0.02 * 4 * cubic + 0.1 * rng.standard_normal((12, 1))
    libraries = {"library": ["poly1", "poly3"]}
    search = GridSearchCV(WGSINDy(), libraries, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        search.fit(list(x), dt=0.02)
    assert search.best_params_ == {"library": "poly3"}
