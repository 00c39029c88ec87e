"""The rival's underdamped estimator beside ours, on the same positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.hidden.motions import MOTIONS
from wgsindy_evidence.grid import Grid, number, percent
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.peers.positions import OURS, THEIRS

HEADINGS = (
    *("Motion", "step", "noise", "force: wgsindy", "SFI", "ratio", "tensor: wgsindy", "SFI"),
    *("right terms: wgsindy", "SFI", "warm s: wgsindy", "SFI"),
)


def build(lines: Sequence[Line]) -> Content:
    """Errors, terms and time, cell by cell and together."""
    cells: dict[tuple[str, float, float, int], dict[str, dict[str, Any]]] = {}
    for line in lines:
        if line.result is not None:
            options = line.case.settings
            key = (line.case.system, options["dt"], options["noise"], line.case.seed)
            cells.setdefault(key, {})[line.case.recipe] = line.result
    both = {key: pair for key, pair in cells.items() if {OURS, THEIRS} <= set(pair)}
    fitted = {k: p for k, p in both.items() if not (p[OURS]["failure"] or p[THEIRS]["failure"])}
    rows = [
        [MOTIONS[key].title, f"{dt:g}", percent(noise), *_figures(pair[OURS], pair[THEIRS])]
        for (key, dt, noise, _), pair in sorted(fitted.items())
    ]
    summary = [
        [f"error of the {what}, ours over theirs, geometric mean", number(_ratio(fitted, key), 2)]
        for what, key in (
            ("force", "force"),
            ("tensor", "tensor"),
        )
    ]
    faster = 1 / _ratio(fitted, "seconds_warm")
    summary.append(["times faster, warm, geometric mean", number(faster, 1)])
    for name, method in (("ours", OURS), ("theirs", THEIRS)):
        failed = sum(bool(pair[method]["failure"]) for pair in both.values())
        summary.append([f"fits that failed: {name}", f"{failed} of {len(both)}"])
    return Content(
        {
            "peers-positions": Grid("Positions alone: wgsindy and SFI", HEADINGS, rows, left=3),
            "peers-positions-summary": Grid("All cells", ("Figure", "value"), summary),
        }
    )


def _figures(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    return [
        number(ours["force"], 4),
        number(theirs["force"], 4),
        number(ours["force"] / theirs["force"], 2),
        number(ours["tensor"], 4),
        number(theirs["tensor"], 4),
        *("yes" if one["exact"] else "no" for one in (ours, theirs)),
        number(ours["seconds_warm"], 1),
        number(theirs["seconds_warm"], 1),
    ]


def _ratio(pairs: dict[Any, dict[str, dict[str, Any]]], key: str) -> float:
    """Geometric mean of ours over theirs."""
    ratios = [pair[OURS][key] / pair[THEIRS][key] for pair in pairs.values()]
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")
