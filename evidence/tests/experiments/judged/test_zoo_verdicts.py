"""Verdicts of the whole zoo: which cases there are, and what a line holds."""

from __future__ import annotations

from typing import Any

import pytest

from wgsindy import zoo
from wgsindy.errors import DataError
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.judged.zoo_verdicts import (
    AUTO,
    DELICATE,
    OWN,
    recipe_of,
    run_case,
    zoo_verdict_case,
    zoo_verdict_cases,
)
from wgsindy_evidence.scope import Scope


def test_cases_are_all_systems_with_both_libraries_on_ten_seeds() -> None:
    cases = zoo_verdict_cases(Scope())
    assert len(set(cases)) == len(cases) == 29 * 2 * 10
    assert {case.system for case in cases} == set(zoo.names())
    assert {case.seed for case in cases} == set(range(1000, 1010))
    assert set(DELICATE) < set(zoo.names())


@pytest.mark.parametrize(
    ("system", "recipe"),
    [
        ("duffing", "sharp-euler"),
        ("indep_ou", "sharp"),  # exact samples: their variance is not that of an Euler step
        ("gbm_2d", "sharp"),
        ("underdamped_langevin", "sharp"),
    ],
)
def test_the_recipe_is_that_of_the_samples(system: str, recipe: str) -> None:
    assert recipe_of(zoo.get(system)) == recipe
    assert zoo_verdict_case(system, OWN, 3) == Case("zoo-verdict", system, recipe, 3)
    options = (("library", "auto"),)
    assert zoo_verdict_case(system, AUTO, 3) == Case(
        "zoo-verdict", system, recipe, 3, options=options
    )


def test_a_line_has_what_was_said_and_what_is_true() -> None:
    found = run_case(zoo_verdict_case("rotational_ou", OWN, 100))
    assert (found["verdict"], found["first"]) == ("identified", "")
    assert found["drift"] < 0.1
    assert min(found["drift_covered"], found["tensor_covered"], found["grid_covered"]) > 0.9


def test_beyond_the_data_a_guess_is_not_held() -> None:
    found = run_case(zoo_verdict_case("mueller_brown", OWN, 100))
    assert found["grid_covered"] < 0.75 < found["drift_covered"]
    assert "extrapolated field" in found["limitations"]


def test_a_refusal_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: Any) -> None:
        raise DataError("the fit runs away.")

    monkeypatch.setattr(fits, "estimator", refuses)
    found = run_case(zoo_verdict_case("cir_pair", AUTO, 100))
    assert (found["verdict"], found["limitations"]) == ("refused", [])
    assert found["first"] == "refused: DataError: the fit runs away."
