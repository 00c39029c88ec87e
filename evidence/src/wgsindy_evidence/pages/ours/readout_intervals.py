"""Whether the intervals of read-outs hold the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import Content

HEADINGS = (
    *("System", "quantity", "truth", "median of fits", "median half-width"),
    *("held by the 95 % interval", "no end", "refused"),
)


class Row(NamedTuple):
    """One quantity of one system over repeats."""

    system: str
    quantity: str
    found: tuple[dict[str, float], ...]
    refused: int

    @property
    def held(self) -> int:
        """Repeats whose interval holds the truth."""
        return sum(one["low"] <= one["truth"] + 1e-9 <= one["high"] + 2e-9 for one in self.found)

    @property
    def endless(self) -> int:
        """Repeats whose interval has no end."""
        return sum(not np.isfinite(one["high"]) for one in self.found)


def build(lines: Sequence[Line]) -> Content:
    """The table of coverage."""
    title = "Repeats in which the 95 % interval of a read-out holds the truth"
    rows = [_cells(row) for row in summarise(lines)]
    return Content({"readout-intervals": Grid(title, HEADINGS, rows, left=2)})


def summarise(lines: Sequence[Line]) -> list[Row]:
    """One row for each system and quantity."""
    groups: dict[str, list[dict[str, dict[str, float]]]] = {}
    refused: dict[str, int] = {}
    for line in lines:
        if line.result is None:
            continue
        system = line.case.system
        if "refused" in line.result:
            refused[system] = refused.get(system, 0) + 1
        else:
            groups.setdefault(system, []).append(line.result)
    return [
        Row(system, quantity, tuple(one[quantity] for one in results), refused.get(system, 0))
        for system, results in groups.items()
        for quantity in results[0]
    ]


def _cells(row: Row) -> list[str]:
    half = float(np.median([(one["high"] - one["low"]) / 2 for one in row.found]))
    truth = row.found[0]["truth"]
    return [
        zoo.get(row.system).title,
        row.quantity,
        number(truth if abs(truth) > 1e-9 else 0.0, 3),
        number(float(np.median([one["value"] for one in row.found])), 3),
        number(half, 2),
        f"{row.held} of {len(row.found)}",
        str(row.endless),
        str(row.refused),
    ]
