"""The page of the gallery counts what is wrong, and nothing else."""

from __future__ import annotations

from typing import Any

from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.experiments.ours.gallery_data.everything import KINDS, keys_of
from wgsindy_evidence.pages.ours.gallery import build

NULL, HARD, CONTROL = (keys_of(role)[0] for role in ("null", "hard", "control"))


def line(key: str, verdict: str, seed: int = 0, **figures: Any) -> Line:
    first = "" if verdict == "identified" else "observation noise"
    result = {"verdict": verdict, "first": first, "limitations": [], "seconds": 1.0}
    case = Case("gallery", key, "sharp", seed, *KINDS[key].sizes[0])
    return Line(case, "code", result | figures, None)


def sentence(*lines: Line) -> str:
    return build(lines).sentences["gallery-sum"]


def failing(*lines: Line) -> list[str]:
    return [row[0] for row in build(lines).grids["gallery-failing"].rows]


COMPARED: dict[str, Any] = dict.fromkeys(
    ("covered", "drift_covered", "tensor_covered"), 0.9
) | dict.fromkeys(("drift", "tensor"), 0.1)
GOOD = (
    line(NULL, "partly identified"),
    line(NULL, "refused", 1),
    line(HARD, "identified", **COMPARED),
    line(CONTROL, "identified", **COMPARED),
)


def test_nothing_fails_where_nothing_is_wrong() -> None:
    found = sentence(*GOOD)
    assert found.startswith("Falsely identified: 0 of 2 (0 %); in 0 of these")
    assert "Controls identified: 1 of 1 (100 %)." in found
    assert "false bands: 0 of 1. Crashed: 0." in found
    assert failing(*GOOD) == ["none"]


def test_a_null_that_is_identified_is_counted_and_listed() -> None:
    false = line(NULL, "identified", 2)
    assert sentence(*GOOD, false).startswith("Falsely identified: 1 of 3 (33.3 %); in 0 of these")
    assert failing(*GOOD, false) == [KINDS[NULL].title]
    held = line(NULL, "identified", 2, covered=0.9)
    assert sentence(*GOOD, held).startswith("Falsely identified: 1 of 3 (33.3 %); in 1 of these")
    assert failing(*GOOD, held) == [KINDS[NULL].title]


def test_a_control_that_is_refused_and_bands_that_miss_are_listed() -> None:
    refused, missed = line(CONTROL, "refused", 2), line(HARD, "identified", 2, covered=0.5)
    found = sentence(*GOOD, refused, missed)
    assert "Controls identified: 1 of 2 (50 %)." in found
    assert "false bands: 1 of 2." in found
    assert failing(*GOOD, refused, missed) == [KINDS[HARD].title, KINDS[CONTROL].title]
    assert failing(*GOOD, line(HARD, "not identified", 2, covered=0.1)) == ["none"]


def test_crashes_are_wrong_for_everybody() -> None:
    crashes = [line(key, "crashed", 3, first="crashed: KeyError") for key in (NULL, HARD, CONTROL)]
    assert sentence(*GOOD, *crashes).endswith("Crashed: 3.")
    assert len(failing(*GOOD, *crashes)) == 3
    (row,) = build([*GOOD, *crashes]).grids["gallery-nulls"].rows
    assert row[3] == "0 / 1 / 0 / 1, 1 crashed"


def test_a_row_has_the_counts_of_both_sizes_and_what_is_named_most() -> None:
    small, large = KINDS[NULL].sizes
    other = Line(
        Case("gallery", NULL, "sharp", 0, *large), "code", line(NULL, "refused").result, None
    )
    (row,) = build([line(NULL, "partly identified"), other]).grids["gallery-nulls"].rows
    assert row[2:5] == [f"{small.trajectories} x {small.steps}", "0 / 1 / 0 / 0", "0 / 0 / 0 / 1"]
    assert row[5] == "observation noise"
