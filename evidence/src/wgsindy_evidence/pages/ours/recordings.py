"""Recordings: on how many seeds terms are right and the truth is inside the intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wgsindy.model import normal_quantile
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours.recordings import RECORDINGS, Recording
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.ours.measured import IDENTIFIED
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import median

HEADINGS = (
    *("Recording", "seen", "dt", "right terms", "all inside", "both", "intervals that hold"),
    *("drift", "tensor", "identified", "seconds"),
)
LEVEL = 0.95


def build(lines: Sequence[Line]) -> Content:
    """One row a recording."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        groups.setdefault(line.case.system, [])
        if line.result is not None:
            groups[line.case.system].append(line.result)
    rows = [
        _cells(RECORDINGS[name], groups[name], _asked(lines, name))
        for name in RECORDINGS
        if name in groups
    ]
    return Content({"recordings": Grid("Recordings", HEADINGS, rows, left=2)})


def has_right_terms(result: dict[str, Any]) -> bool:
    """Whether exactly the true terms were found, in drift and tensor."""
    return not any(
        result[f"{field}_{what}"] for field in ("drift", "tensor") for what in ("false", "missed")
    )


def holds_the_truth(result: dict[str, Any]) -> bool:
    """Whether all true coefficients are inside their intervals, jointly at 95 %.

    One of ten single intervals at 95 % misses with probability 0.4, so the level is shared among
    the coefficients (Bonferroni). A term that was missed is not inside.
    """
    found = np.abs(result["deviations"])
    missed = result["drift_missed"] + result["tensor_missed"]
    each = 1 - (1 - LEVEL) / max(len(found) + missed, 1)
    return missed == 0 and bool(np.all(found <= normal_quantile(each)))


def _asked(lines: Sequence[Line], name: str) -> int:
    return sum(line.case.system == name for line in lines)


def _cells(made: Recording, results: Sequence[dict[str, Any]], asked: int) -> list[str]:
    right = [has_right_terms(result) for result in results]
    inside = [holds_the_truth(result) for result in results]
    found = np.concatenate([[], *(np.abs(result["deviations"]) for result in results)])
    named = sum(result["verdict"] == IDENTIFIED for result in results)
    return [
        made.process.title,
        _seen(made),
        f"{made.dt:g}",
        f"{sum(right)} of {asked}",
        f"{sum(inside)} of {asked}",
        f"{sum(map(all, zip(right, inside, strict=True)))} of {asked}",
        number(float(np.mean(found <= normal_quantile(LEVEL))) if len(found) else np.nan, 2),
        number(median(results, "drift")),
        number(median(results, "tensor")),
        f"{named} of {asked}",
        number(median(results, "seconds"), 2),
    ]


def _seen(made: Recording) -> str:
    """How it was recorded, in words."""
    if made.noise:
        return f"noise of {made.noise:g}"
    return f"rounded to {made.grid:g}" if made.grid else "clean"
