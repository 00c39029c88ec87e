"""A sample of what `wgsindy bench verdicts` measures: false alarms, and limits by name.

Seeds are neither those on which thresholds were settled (100-129) nor those of the report.
"""

from __future__ import annotations

import pytest
from scipy.stats import binom

from wgsindy_evidence.experiments.ours.verdicts import LIMITS, Limit, run_case, verdict_case
from wgsindy_evidence.scope import in_scope

pytestmark = pytest.mark.statistical

SEEDS = (2000, 2001)
IN_SCOPE = (
    *("correlated_ou", "double_well_transverse", "diag_multiplicative"),
    *("heston_logsv", "van_der_pol", "stuart_landau"),
)


@pytest.mark.slow
def test_systems_in_scope_get_no_axis_that_they_do_not_have() -> None:
    # At most 5 % of the fits may. Two of twelve and more then have probability 0.12, three 0.02,
    # four 0.002: three is the most.
    assert set(IN_SCOPE) <= set(in_scope())
    wrong = []
    for system in IN_SCOPE:
        for seed in SEEDS:
            axis = run_case(verdict_case(Limit(system), seed))["axis"]
            if axis not in ("", Limit(system).expected):
                wrong.append((system, seed, axis))
    assert binom.sf(3, 12, 0.05) < 0.003
    assert len(wrong) <= 3, wrong


@pytest.mark.parametrize(
    "limit", LIMITS, ids=lambda limit: "-".join([limit.system, *map(str, dict(limit.options))])
)
def test_a_limit_is_called_by_its_name(limit: Limit) -> None:
    # Nine times in ten or better, so that both seeds fail with probability 0.01 at most.
    axes = [run_case(verdict_case(limit, seed))["axis"] for seed in SEEDS]
    assert limit.expected in axes, axes


@pytest.mark.slow
def test_most_limits_are_called_by_their_names() -> None:
    # One seed of each, 13 fits: at a rate of 0.9 fewer than 9 have probability 0.007.
    assert binom.cdf(8, len(LIMITS), 0.9) < 0.01
    named = [run_case(verdict_case(limit, 2002))["axis"] == limit.expected for limit in LIMITS]
    assert sum(named) >= 9
