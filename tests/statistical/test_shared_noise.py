"""Terms of drifts whose components share most of their noise."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy.data import Trajectories
from wgsindy.estimate.likelihood.selection import TermSelection
from wgsindy.estimator import WGSINDy

DT, SEEDS = 0.05, range(8)
RATES = np.array([[-1.0, 0.5], [0.0, -2.0]])
ROOT = np.array([[0.6, 0.0], [0.5, 0.3]])  # of the tensor: a leverage of 0.86


def pair(seed: int) -> Trajectories:
    """Euler steps, 640 units of time: the coefficient 0.5 has a standard error of 0.11."""
    rng, x = np.random.default_rng(seed), np.zeros((16, 2))
    path = []
    for _ in range(900):
        path.append(x)
        x = x + x @ RATES.T * DT + rng.standard_normal((16, 2)) @ ROOT.T * np.sqrt(DT)
    return Trajectories(list(np.swapaxes(path[100:], 0, 1)), DT)


def right_terms() -> int:
    """Count fits with exactly the true terms."""
    found = [WGSINDy("poly3", recipe="sharp-euler").fit(pair(seed)).generator_ for seed in SEEDS]
    terms = [{(one.target, one.term) for one in each.coefficients} for each in found]
    drift = [{(field, term) for field, term in each if field.startswith("b")} for each in terms]
    return drift.count({("b1", "x"), ("b1", "y"), ("b2", "y")})


def test_terms_are_chosen_as_components_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A term of 4.5 standard errors, whose cost is 3.3 of them, is missed one time in nine."""
    assert right_terms() >= 6  # of 8: fewer for one choice of seeds in twenty

    def given_the_numbers_of_the_others(*given: object, **more: object) -> object:
        return given[2]

    monkeypatch.setattr(TermSelection, "_reconsidered", given_the_numbers_of_the_others)
    assert right_terms() < 6
