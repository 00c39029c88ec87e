"""Verdicts: which cases there are, and how they are counted."""

from __future__ import annotations

from collections import Counter

import pytest

from wgsindy import zoo
from wgsindy.diagnostics import Limitation
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.experiments.ours import verdicts
from wgsindy_evidence.experiments.ours.verdicts import (
    LIMITS,
    Limit,
    run_case,
    verdict_case,
    verdict_cases,
)
from wgsindy_evidence.pages.ours.verdicts import summarise
from wgsindy_evidence.scope import Scope, in_scope


def line(limit: Limit, seed: int, axis: str, before: tuple[str, ...] = ()) -> Line:
    found = {"axis": axis, "axes": [*before, axis], "verdict": ""}
    return Line(verdict_case(limit, seed), "code", found, None)


def test_counts_of_hand_made_lines() -> None:
    poly2, poly3 = (limit for limit in LIMITS if limit.system == "nonpoly_drift")
    noisy = next(limit for limit in LIMITS if limit.system == "rotational_ou")
    heston = Limit("heston_logsv")
    lines = [
        line(poly2, 1, Limitation.SEVERAL),
        line(poly2, 2, Limitation.JUMPS),
        line(poly2, 3, Limitation.BOUNDARY),
        line(poly2, 4, Limitation.JUMPS),
        line(poly2, 5, ""),
        line(poly3, 1, Limitation.SEVERAL),
        line(poly3, 3, Limitation.SEVERAL, (Limitation.JUMPS,)),
        line(noisy, 1, Limitation.NOISE),
        line(noisy, 2, Limitation.SEVERAL),
        line(Limit("rotational_ou"), 1, ""),
        line(Limit("rotational_ou"), 2, Limitation.NOISE),
        line(heston, 1, Limitation.LOW_SIGNAL),
        line(heston, 2, ""),
        Line(verdict_case(poly3, 2), "code", None, "went wrong"),
    ]
    scope, limits = summarise(lines)
    rows = {(row.limit.system, row.limit.options): row for row in limits}
    assert len(rows) == 3
    row = rows["nonpoly_drift", (("library", "poly2"),)]
    assert (row.limit.expected, row.fits, row.named, row.false) == (
        Limitation.SEVERAL,
        5,
        1,
        3,
    )
    assert row.others == (Limitation.BOUNDARY, Limitation.JUMPS)
    row = rows["nonpoly_drift", (("library", "poly3"),)]
    assert (row.fits, row.named, row.first, row.false, row.others) == (2, 2, 1, 0, ())
    row = rows["rotational_ou", (("noise", 0.1),)]
    assert (row.limit.expected, row.fits, row.named, row.false) == (Limitation.NOISE, 2, 1, 1)
    within = {row.limit.system: row for row in scope}
    assert set(within) == {"rotational_ou", "heston_logsv"}
    row = within["rotational_ou"]
    assert (row.limit.expected, row.fits, row.false) == (Limitation.NONE, 2, 1)
    # The price drift of the Heston models is hidden by noise: that axis is their own.
    row = within["heston_logsv"]
    assert (row.limit.expected, row.fits, row.named, row.false) == (Limitation.LOW_SIGNAL, 2, 1, 0)


def test_every_limit_expects_an_axis() -> None:
    assert all(limit.expected != Limitation.NONE for limit in LIMITS)
    assert Limit("rotational_ou", (("noise", 0.1),), Limitation.NOISE).expected == Limitation.NOISE
    assert Limit("gbm_2d").expected == zoo.get("gbm_2d").limitation == Limitation.LOW_SIGNAL
    assert len({(limit.system, limit.options) for limit in LIMITS}) == len(LIMITS)


def test_cases_are_five_seeds_in_scope_and_all_of_the_limits() -> None:
    cases = verdict_cases(Scope())
    assert len(set(cases)) == len(cases)
    counts = Counter((case.system, case.options) for case in cases)
    for system in in_scope():
        assert counts[system, ()] == 5
    for limit in LIMITS:
        if limit.options or limit.system not in in_scope():
            assert counts[limit.system, limit.options] == 10
    assert len(cases) == 5 * len(in_scope()) + 10 * len(LIMITS)


def test_a_system_alone_has_its_limits_alone() -> None:
    cases = verdict_cases(Scope(seeds=[7], systems=["rotational_ou"]))
    assert [case.options for case in cases] == [(), (("noise", 0.1),)]


@pytest.mark.parametrize(
    ("limit", "limitation"),
    [
        (Limit("too_large_dt", (("dt", 0.2),)), Limitation.LARGE_STEP),
        (Limit("rotational_ou", (("noise", 0.1),)), Limitation.NOISE),
        (Limit("stalled_sensor"), Limitation.STALLED),
    ],
)
def test_options_make_the_limit(limit: Limit, limitation: Limitation) -> None:
    result = run_case(verdict_case(limit, 100))
    assert result["axis"] == limitation
    assert result["axes"][0] == limitation
    assert len(set(result["axes"])) == len(result["axes"])
    assert result["verdict"] == "partly identified"


def test_without_the_option_there_is_no_limit() -> None:
    for system in ("rotational_ou", "nonpoly_drift"):
        assert run_case(verdict_case(Limit(system), 100))["axis"] == ""


def test_a_case_says_what_it_is() -> None:
    case = verdict_case(Limit("too_large_dt", (("dt", 0.2),)), 3)
    assert case == Case("verdict", "too_large_dt", "sharp-euler", 3, options=(("dt", 0.2),))
    assert verdicts.SEEDS_IN_SCOPE == 5
