"""Whether fits arrive: what counts as a cliff, and what is counted where."""

from __future__ import annotations

from typing import Any

import pytest

from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.experiments.arrive.tasks import NOISY, VAN_DER_POL
from wgsindy_evidence.pages.ours.arrive import (
    COUNTED,
    NOISY_HEADINGS,
    build,
    build_lotka_volterra,
    build_noisy,
    is_cliff,
)

GOOD: dict[str, Any] = {
    **{"fastest": 0.5, "dt": 0.1, "noise": 0.0, "rounding": 0.0},
    **{"drift_floor": 0.1, "tensor_floor": 0.1, "drift": 0.1, "tensor": 0.2},
    **{"drift_covered": 1.0, "verdict": "identified", "seconds": 1.0},
}
LOST = {key: GOOD[key] for key in ("fastest", "dt", "noise", "rounding", "drift_floor")}


def line(result: dict[str, Any], seed: int = 0, family: str = "wells") -> Line:
    return Line(Case("arrive", family, "sharp", seed), "test", result, None)


@pytest.mark.parametrize(
    ("changes", "cliff"),
    [
        ({}, False),
        ({"drift": 0.51}, True),
        ({"tensor": 1.1}, True),
        ({"drift": float("nan")}, True),
        ({"drift": 0.51, "drift_floor": 0.2}, False),  # nobody could know
    ],
)
def test_a_cliff_is_far_off_where_the_data_tell(changes: dict[str, float], cliff: bool) -> None:
    assert is_cliff(GOOD | changes) is cliff
    assert not is_cliff(LOST | {"error": "FitError: lost."})


def test_cases_errors_and_cliffs_are_counted_by_what_was_done_to_the_data() -> None:
    content = build(
        [
            line(GOOD, 1),
            line(GOOD | {"noise": 0.1, "drift": 0.9}, 2),
            line(GOOD | {"noise": 0.1, "drift": 0.9, "verdict": "partly identified"}, 3),
            line(LOST | {"rounding": 0.4, "error": "FitError: lost."}, 4),
        ]
    )
    rows = {
        row[0]: dict(zip(COUNTED, row[1:], strict=True)) for row in content.grids["arrive"].rows
    }
    told = ("cases", "ended in an error", "cliffs", "of these identified")
    assert [rows["clean"][key] for key in told] == ["1", "0", "0", "0"]
    assert [rows["rounded"][key] for key in told] == ["1", "1", "0", "0"]
    assert [rows["noisy"][key] for key in told] == ["2", "0", "2", "1"]
    assert [rows["all"][key] for key in told] == ["4", "1", "2", "1"]
    assert rows["clean"]["drift / floor"] == "1.00"
    assert rows["noisy"]["drift / floor"] == "9.00"
    fallen = content.sentences["arrive-fallen"].splitlines()
    assert [text.split(":")[0] for text in fallen] == [
        f"- wells, seed {seed}" for seed in (2, 3, 4)
    ]
    assert fallen[-1].endswith("; FitError: lost.")
    assert build([line(GOOD)]).sentences["arrive-fallen"] == "There are none."


def test_lotka_volterra_has_a_row_a_step() -> None:
    options = (("dt", 0.5), ("library", "poly3"))
    results: list[dict[str, Any]] = [{"drift": 0.1}, {"drift": 0.3}, {"error": "FitError: lost."}]
    lines = [
        Line(
            Case("arrive-lotka-volterra", "task", "sharp", seed, 8, 100, options), "t", found, None
        )
        for seed, found in enumerate(results)
    ]
    grid = build_lotka_volterra(lines).grids["arrive-lotka-volterra"]
    (row,) = [dict(zip(grid.headings, row, strict=True)) for row in grid.rows if row[0] == "0.5"]
    assert [row[f"poly3: {what}"] for what in ("median", "worst", "fits")] == [
        "0.2000",
        "0.3000",
        "2 of 3",
    ]
    assert row["auto: median"] == "-"


def test_noisy_cells_show_the_worst_seed() -> None:
    options = (("dt", 0.02), ("noise", 0.1))
    results: list[dict[str, Any]] = [GOOD | {"drift": drift} for drift in (0.01, 0.02, 0.4)]
    lines = [
        Line(Case(NOISY, VAN_DER_POL.key, "sharp", seed, 16, 640, options), "t", found, None)
        for seed, found in enumerate(results)
    ]
    (row,) = build_noisy(lines).grids["arrive-noisy"].rows
    assert row[:6] == ["Van der Pol", "10 %", "0.02", "3 of 3", "0.020", "0.400"]
    assert len(row) == len(NOISY_HEADINGS)
