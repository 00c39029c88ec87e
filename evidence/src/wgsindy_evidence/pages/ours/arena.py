"""The suite of FIM-SDE: mean squared errors by system, spacing and noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours.arena import NOISES, STEP, STRIDES, SUITE
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import median

LEVELS = tuple(f"{100 * noise:g} %" if noise else "clean" for noise in NOISES)
HEADINGS = (
    *("System", "spacing", *(f"drift, {level}" for level in LEVELS), "floor"),
    *(f"diffusion, {level}" for level in LEVELS),
    *("seconds", "failed"),
)


def build(lines: Sequence[Line]) -> Content:
    """One row a system and spacing."""
    groups: dict[tuple[str, int], list[Line]] = {}
    for line in lines:
        key = (line.case.system, int(line.case.settings["stride"]))
        groups.setdefault(key, []).append(line)
    rows = [
        _cells(name, stride, groups[name, stride])
        for name in SUITE
        for stride in STRIDES
        if (name, stride) in groups
    ]
    title = "Mean squared errors on the suite of FIM-SDE: means and standard deviations"
    return Content({"arena": Grid(title, HEADINGS, rows)})


def _cells(name: str, stride: int, lines: Sequence[Line]) -> list[str]:
    by_noise = [
        [line.result for line in lines if line.result and line.case.settings["noise"] == noise]
        for noise in NOISES
    ]
    every = [result for results in by_noise for result in results]
    return [
        SUITE[name].process.title,
        f"{stride * STEP:g}",
        *(_spread(results, "drift") for results in by_noise),
        _spread(by_noise[0] or every, "drift_floor"),
        *(_spread(results, "diffusion") for results in by_noise),
        number(median(every, "seconds"), 2),
        f"{len(lines) - len(every)}",
    ]


def _spread(results: Sequence[dict[str, Any]], key: str) -> str:
    """Mean and standard deviation over realisations."""
    values = np.array([float(result[key]) for result in results])
    if not len(values):
        return "-"
    deviation = f"{values.std(ddof=1):.1g}" if len(values) > 1 else "-"
    return f"{values.mean():.2g} ± {deviation}"
