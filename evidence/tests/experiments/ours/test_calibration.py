"""The calibration campaign: what counts as covered, stated and present."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy import zoo
from wgsindy.recipes import SHARP_EULER
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.experiments.ours import calibration
from wgsindy_evidence.pages.ours import calibration as page
from wgsindy_evidence.pages.ours.calibration import Coverage
from wgsindy_evidence.scope import Scope


def line(system: str, **result: object) -> Line:
    filled = {"given": [], "clustered": [], "selected": [], "missed": 0, **result}
    return Line(Case("calibration", system, "sharp", 0), "code", filled, None)


def test_coverage_counts_deviations_within_the_interval() -> None:
    found = Coverage.of([0.0, -1.9, 1.95, 1.97, -3.0])
    assert (found.count, found.share) == (5, 0.6)
    assert found.deviation == pytest.approx(np.sqrt((1.9**2 + 1.95**2 + 1.97**2 + 9) / 5))
    assert np.isnan(Coverage.of([]).share)


def test_the_last_row_pools_all_systems() -> None:
    rows = page.summarise(
        [line("a", given=[0.0, 5.0], missed=1), line("b", given=[0.1, 0.2], missed=2)]
    )
    assert [row.system for row in rows] == ["a", "b", "all"]
    assert [row.given.share for row in rows] == [0.5, 1.0, 0.75]
    assert [row.missed for row in rows] == [1, 2, 3]


def test_reliability_compares_stated_with_present() -> None:
    bins = page.reliability(
        [line("a", inclusion=[0.0, 0.005, 0.6, 0.7, 1.0], present=[0, 1, 1, 0, 1])]
    )
    assert [(item.count, item.stated, item.present) for item in bins] == [
        (2, pytest.approx(0.0025), 0.5),
        (2, pytest.approx(0.65), 0.5),
        (1, 1.0, 1.0),
    ]


def test_failed_cases_are_left_out() -> None:
    failed = Line(Case("calibration", "a", "sharp", 1), "code", None, "an error")
    assert page.summarise([line("a", given=[0.0]), failed])[-1].given.count == 1


def test_systems_without_true_coefficients_are_refused() -> None:
    names = {case.system for case in calibration.calibration_cases(Scope([0]))}
    assert len(names) == 26
    assert names & {"sabr", "mueller_brown", "near_singular"} == set()
    with pytest.raises(CampaignError, match="sabr is not part of this experiment"):
        calibration.calibration_cases(Scope([0], ["sabr"]))


def test_the_working_model_is_that_of_the_sampling() -> None:
    cases = calibration.calibration_cases(Scope([0], ["rotational_ou", "van_der_pol"]))
    assert [case.recipe for case in cases] == ["sharp", "sharp-euler"]
    with pytest.raises(CampaignError, match="'paper' has no error bars"):
        calibration.run_case(Case("calibration", "van_der_pol", "paper", 0))


@pytest.mark.statistical
@pytest.mark.slow
def test_intervals_cover_true_coefficients_and_a_wrong_truth_is_seen() -> None:
    # Over 10 seeds of two systems with 5 to 8 coefficients each, about 130 deviations. If they
    # are standard normal, their mean square is 1 with standard deviation sqrt(2 / n) = 0.12; four
    # of those are exceeded once in 15,000 runs.
    cases = calibration.calibration_cases(Scope(range(10), ["spiral_sink_corr", "stuart_landau"]))
    results = [calibration.run_case(case) for case in cases]
    deviations = np.array([value for result in results for value in result["given"]])
    bound = 4 * np.sqrt(2 / len(deviations))
    assert len(deviations) > 120
    assert abs(np.mean(deviations**2) - 1) < bound
    # Negative control: intervals of half the width would be caught.
    assert abs(np.mean((2 * deviations) ** 2) - 1) > bound


def test_terms_given_are_the_terms_fitted() -> None:
    case = Case("calibration", "rotational_ou", SHARP_EULER.name, 3)
    result = calibration.run_case(case)
    true = zoo.get("rotational_ou").true_coefficients()
    assert true is not None
    assert len(result["given"]) == np.count_nonzero(true) == 6
    assert sum(result["present"]) == 6
    assert len(result["inclusion"]) == true.size
