"""Cases of convergence and of limits: horizons, and the oracle beside the library."""

from __future__ import annotations

import pytest

from wgsindy import zoo
from wgsindy.terms import library
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.paper import convergence, nulls


@pytest.mark.parametrize("horizon", convergence.HORIZONS)
def test_a_horizon_is_the_total_time(horizon: float) -> None:
    for system in convergence.SYSTEMS:
        case = convergence.horizon_case(system, "sharp-euler", horizon, 0)
        dt = zoo.get(system).dt
        assert case.trajectories * case.steps * dt == pytest.approx(horizon, rel=1e-9)
        # One trajectory as long as that is enough, then more of the longest.
        longest = min(horizon, convergence.LONGEST)
        assert case.steps * dt == pytest.approx(longest, rel=1e-9)


def test_the_oracle_needs_no_library_and_the_others_get_the_one_of_the_limit() -> None:
    wrong = nulls.Null("nonpoly_drift", "poly2")
    right = nulls.Null("nonpoly_drift")
    assert {wrong, right} <= set(nulls.NULLS)
    for method in nulls.METHODS:
        cases = [nulls.null_case(null, method, 1) for null in (wrong, right)]
        given = [case.settings.get("library") for case in cases]
        knowing = method in (fits.ORACLE, fits.WEAK_ORACLE)
        assert given == ([None, None] if knowing else ["poly2", None])
        assert (cases[0] == cases[1]) == knowing


def test_the_library_of_a_case_replaces_the_declared_one() -> None:
    system = zoo.get("nonpoly_drift")
    data = system.simulate(0, trajectories=2, steps=150)
    for option, expected in (("poly2", "poly2"), ("", "trig")):
        case = fits.fit_case("nonpoly_drift", "paper", 0, library=option)
        found, _ = fits.fit(system, data, case)
        assert found.basis.terms == library(expected).bind(data.names).terms
