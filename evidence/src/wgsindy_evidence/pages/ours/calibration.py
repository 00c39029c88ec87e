"""Calibration: coverage of the intervals, and inclusion probabilities against facts."""

from __future__ import annotations

from collections.abc import Sequence

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours import calibration
from wgsindy_evidence.pages.curves import plot_reliability
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.tables import calibration_grid, reliability_grid


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
