"""Calibration: coverage of the intervals, and inclusion probabilities against facts."""

from __future__ import annotations

from collections.abc import Sequence

from wgsindy.bench import calibration
from wgsindy.bench.campaign import Line
from wgsindy.display.curves import plot_reliability
from wgsindy.display.pages.page import Content
from wgsindy.display.tables import calibration_grid, reliability_grid


def build(lines: Sequence[Line]) -> Content:
    """Both tables and the reliability curve."""
    rows, bins = calibration.summarise(lines), calibration.reliability(lines)
    return Content(
        {
            "calibration": calibration_grid(rows, "Coverage of 95 % intervals"),
            "reliability": reliability_grid(bins),
        },
        {"reliability": plot_reliability(bins)},
    )
