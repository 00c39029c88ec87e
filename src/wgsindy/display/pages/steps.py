"""Coarse steps: bias and error with and without the finite-step correction."""

from __future__ import annotations

from collections.abc import Sequence

from wgsindy.bench import steps
from wgsindy.bench.campaign import Line
from wgsindy.display.pages.page import Content
from wgsindy.display.tables import steps_grid


def build(lines: Sequence[Line]) -> Content:
    """The table of biases."""
    return Content({"steps": steps_grid(steps.summarise(lines), "Bias and error of coarse steps")})
