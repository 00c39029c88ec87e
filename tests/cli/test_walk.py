"""The walk of somebody new: files as people have them, each to the right states, clock and truth.

Truths are known for files that were made by an equation; a coefficient must lie within 4 standard
errors of its own, which one in 16,000 misses by chance. Files and seeds are fixed.
"""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command import Command
from walk_files import MAKERS, OPTIONS

from wgsindy.passes import reporting_progress

pytestmark = [pytest.mark.usefixtures("without_pictures"), pytest.mark.slow]
# The most is 33; a library or weights that never settle make more. Linux counts memory in KiB.
MOST_PASSES, MOST_MEMORY = 60, 2 * 2**20
FAR = 4.0  # standard errors


class Expected(NamedTuple):
    """What a file must be read as; ``truth`` has values of coefficients by field and term."""

    states: list[str]
    unit: str
    step: float
    trajectories: int = 1
    truth: dict[tuple[str, str], float] = {}  # noqa: RUF012
    said: tuple[str, ...] = ()  # parts of sentences


OU = {("b1", "x"): -1.0, ("a11", "1"): 1.0}
WALK = {
    "sunspots": Expected(["SUNACTIVITY"], "year", 1.0),
    "co2": Expected(["co2"], "year", 7 / 365.25),
    "co2_table": Expected(["average"], "year", 1 / 12),
    "weather": Expected(
        ["precipitation", "temp_max", "temp_min", "wind"],
        "d",
        1.0,
        said=("4 states were guessed", "--states"),
    ),
    "ohlcv": Expected(
        ["Adj_Close"],
        "year",
        1 / 252,
        truth={("a11", "Adj_Close**2"): 0.04},
        said=("trading day", "'Open'", "--clock calendar"),
    ),
    "symbols": Expected(["Adj_Close"], "year", 1 / 252, trajectories=3),
    "trackpy": Expected(["x", "y"], "", 1.0, trajectories=12),
    "trackmate": Expected(
        ["X", "Y"],
        "s",
        0.5,
        trajectories=10,
        truth={("a11", "1"): 0.32, ("a22", "1"): 0.32},
    ),
    "active_particle": Expected(
        ["x", "y", "theta"],
        "s",
        0.05,
        truth={
            ("b1", "cos(theta)"): 2.0,
            ("b2", "sin(theta)"): 2.0,
            ("b3", "1"): 0.5,
            ("a33", "1"): 0.4,
        },
        said=("'theta' is an angle and made continuous",),
    ),
    "pendulum": Expected(
        ["theta", "omega"],
        "",
        0.02,
        truth={
            ("b1", "omega"): 1.0,
            ("b2", "sin(theta)"): -4.0,
            ("b2", "omega"): -0.5,
            ("a22", "1"): 2.25,
        },
        said=("in degrees, converted to radians",),
    ),
    "gene_network": Expected(["lacI", "tetR", "cI", "gfp", "rfp", "yfp"], "h", 0.1),
    "many_columns": Expected([f"c{k}" for k in range(20)], "", 0.1),
    "replicates": Expected(["x"], "", 0.1, 8, OU),
    "exports": Expected(
        ["level"],
        "h",
        1 / 60,
        truth={("b1", "level"): -3.0, ("a11", "1"): 1.0},
        said=("are exports of one instrument", "share 200 rows"),
    ),
    "workbook": Expected(["level"], "d", 1 / 24, truth={("b1", "level"): -1.0, ("a11", "1"): 1.0}),
    "unclosed_quote": Expected(["x"], "", 0.1, truth=OU),
    "unreadable_clock": Expected(["x"], "", 0.1, truth=OU, said=("rows are counted",)),
    "poly20": Expected(["x", "y"], "", 0.1),
}


def test_every_file_is_walked() -> None:
    assert set(WALK) == set(MAKERS)
    assert len(WALK) >= 15


@pytest.mark.parametrize("name", WALK)
def test_a_file_ends_with_its_states_its_clock_and_its_truth(
    name: str, wgsindy: Command, tmp_path: Path
) -> None:
    expected, files = WALK[name], MAKERS[name](tmp_path)
    ends: list[int] = []  # a busy machine is slow, but counts the same
    with reporting_progress(lambda done, total: ends.append(done) if done == total else None):
        ended = wgsindy("fit", *map(str, files), "--json", *OPTIONS.get(name, ()))
    assert 0 < len(ends) < MOST_PASSES
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < MOST_MEMORY
    assert ended.code == 0, ended.sentence
    found = json.loads(ended.out)
    assert found["states"] == expected.states
    assert found["time_unit"] == expected.unit
    assert found["read"].split(": ")[1].startswith(f"{expected.trajectories} traject")
    step = f"{expected.step:.4g} {expected.unit}".strip()
    assert f"mean step {step}," in found["read"]
    sentences = " ".join(note["sentence"] for note in found["notes"])
    assert all(part in sentences for part in expected.said)
    check_truth(found, expected.truth)


def check_truth(found: dict[str, Any], truth: dict[tuple[str, str], float]) -> None:
    for (target, term), value in truth.items():
        (own,) = [
            one for one in found["coefficients"] if (one["target"], one["term"]) == (target, term)
        ]
        assert abs(own["value"] - value) < FAR * own["std_error"]


def test_a_wrong_truth_would_be_seen() -> None:
    one = {"target": "b1", "term": "x", "value": -1.0, "std_error": 0.05}
    check_truth({"coefficients": [one]}, {("b1", "x"): -1.1})
    with pytest.raises(AssertionError):
        check_truth({"coefficients": [one]}, {("b1", "x"): -1.5})
