"""Uneven steps beside even ones."""

from __future__ import annotations

from collections.abc import Sequence

from wgsindy import zoo
from wgsindy.bench import uneven
from wgsindy.bench.campaign import Line
from wgsindy.display.grid import Grid, number
from wgsindy.display.pages.page import Content

HEADINGS = (
    *("System", "recipe", "drift: even", "uneven", "ratio"),
    *("tensor: even", "uneven", "ratio"),
)


def build(lines: Sequence[Line]) -> Content:
    """The table of errors in both samplings."""
    rows = [
        [
            zoo.get(row.system).title,
            row.recipe,
            *(number(error, 4) for error in row.drift),
            number(row.drift[1] / row.drift[0], 2),
            *(number(error, 4) for error in row.tensor),
            number(row.tensor[1] / row.tensor[0], 2),
        ]
        for row in uneven.summarise(lines)
    ]
    title = "Root mean square errors at even times and at uneven ones"
    return Content({"uneven": Grid(title, HEADINGS, rows, left=2)})
