"""Coarse steps: bias and error with and without the finite-step correction."""

from __future__ import annotations

from collections.abc import Sequence

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours import steps
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.tables import steps_grid


def build(lines: Sequence[Line]) -> Content:
    """The table of biases."""
    return Content({"steps": steps_grid(steps.summarise(lines), "Bias and error of coarse steps")})
