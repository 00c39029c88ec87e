"""Read-outs of recovered generators: what is compared, and what is counted."""

from __future__ import annotations

from typing import Any

import pytest

from wgsindy import zoo
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.experiments.ours import generator_readouts
from wgsindy_evidence.pages.ours import generator_readouts as page
from wgsindy_evidence.pages.ours import readout_intervals as intervals_page


def test_the_truth_is_no_way_from_itself() -> None:
    true = generator_readouts.truth_of("rotational_ou", 32)
    assert generator_readouts._distance(zoo.get("rotational_ou").generator, true) == pytest.approx(
        0.0, abs=2e-3
    )
    far = generator_readouts._distance(zoo.get("indep_ou").generator, true)
    assert far is not None
    assert far > 0.1


def test_systems_without_a_stationary_law_are_left_out() -> None:
    assert "heston_logsv" not in generator_readouts.confining()
    assert "rotational_ou" in generator_readouts.confining()


def line(system: str, seed: int, result: dict[str, Any]) -> Line:
    return Line(Case("generator-readouts", system, "sharp", seed), "code", result, None)


def test_a_refusal_counts_as_infinitely_far() -> None:
    told = {"distance": 0.02, "oracle": 0.01, "gap_ratio": 1.1, "current": 0.99}
    refused = {"oracle": 0.01, "refused": "no"}
    first = [line("rotational_ou", 1, told), line("rotational_ou", 2, refused)]
    rows = page.summarise([*first, line("maier_stein", 1, refused)])
    assert [row.refused for row in rows] == [1, 1]
    assert rows[1].distance == float("inf")
    assert rows[0].oracle == 0.01
    assert "-" in page._cells(rows[1])


def test_what_an_interval_holds() -> None:
    def interval(low: float, high: float) -> dict[str, Any]:
        return {"gap": {"truth": 1.0, "value": 1.0, "low": low, "high": high}}

    found = [(0.9, 1.1), (1.05, 1.2), (0.0, float("inf"))]
    lines = [line("rotational_ou", k, interval(*one)) for k, one in enumerate(found)]
    lines.append(line("rotational_ou", 9, {"refused": "no"}))
    (row,) = intervals_page.summarise(lines)
    assert (row.held, row.endless, row.refused) == (2, 1, 1)


def test_every_passage_has_a_system() -> None:
    for system in generator_readouts.PASSAGES:
        assert zoo.get(system).in_scope
