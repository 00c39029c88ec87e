"""Coefficients that count as selected, and what a true term is worth."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy

from wgsindy import WGSINDy, zoo
from wgsindy.model import Generator
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.paper import coefficients


def test_errors_of_true_terms_are_those_of_weighted_least_squares() -> None:
    # Unit noise: cov = (sum theta theta' dt)^-1 for the true terms; an entry of the tensor that
    # is constant has a relative standard error of sqrt(2 / N).
    system = zoo.get("rotational_ou")
    data = system.simulate(3, trajectories=8, steps=1000)
    errors = coefficients.true_term_errors(system, data)
    assert {target: set(terms) for target, terms in errors.items()} == {
        "b1": {"x", "y"},
        "b2": {"x", "y"},
        "a11": {"1"},
        "a12": set(),
        "a22": {"1"},
    }
    states = np.concatenate([path[:-1] for path in data])
    expected = np.sqrt(np.diag(np.linalg.inv(states.T @ states * system.dt)))
    for target in ("b1", "b2"):
        found = [errors[target][name] for name in ("x", "y")]
        np.testing.assert_allclose(found, expected, rtol=0.05)  # the noise is estimated to 1 %
    for target in ("a11", "a22"):
        assert errors[target]["1"] == pytest.approx(math.sqrt(2 / len(states)), rel=0.1)


@pytest.mark.parametrize("method", coefficients.METHODS)
def test_coefficients_above_the_threshold_count_as_selected(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = sympy.symbols("x y", real=True)
    given = Generator.from_sympy(
        ("x", "y"), [-x + 9e-4 * y, 0], [[1, -2e-3 * x**2], [-2e-3 * x**2, 9e-4]]
    )
    monkeypatch.setattr(fits, "fit", lambda system, data, case: (given, float("nan")))
    found = coefficients.run_case(Case("coefficients", "rotational_ou", method, 1, 2, 100))
    assert found["selected"] == {"b1": {"x": -1}, "a11": {"1": 1}, "a12": {"x**2": -2e-3}}
    # What a term is worth is the same for all methods; one of them says it.
    assert ("errors" in found) == (method == "sharp-euler")


def test_the_coefficients_of_a_case_are_those_of_its_fit() -> None:
    case = Case("coefficients", "rotational_ou", "sharp-euler", 1, 8, 800)
    found = coefficients.run_case(case)["selected"]
    data = zoo.get("rotational_ou").simulate(1, trajectories=8, steps=800)
    estimate = WGSINDy("poly2", "sharp-euler", random_state=1).fit(data).generator_
    kept: dict[str, dict[str, float]] = {}
    for row in estimate.coefficients:
        kept.setdefault(row.target, {})[row.term] = row.value
    assert found == kept
    assert found["b1"]["y"] == pytest.approx(-2, abs=0.9)  # five times sqrt(2 / 64)
