"""Of everything that is called identified, how much of the truth bands hold.

Lines of the zoo, the gallery and of measured data, wherever there is a truth to compare with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.experiments.judged import zoo_verdicts
from wgsindy_evidence.experiments.ours import gallery, measured
from wgsindy_evidence.experiments.ours.gallery_data.everything import KINDS
from wgsindy_evidence.experiments.ours.unseen import SYSTEMS
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import Content

Result = dict[str, Any]
IDENTIFIED = "identified"
MEAN, LEAST = 0.90, 0.80  # asked for: on average, and of every system
COVERED = ("covered", "drift_covered", "tensor_covered")
COVERED_HEADINGS = ("covered", "drift", "tensor")
GROUP_HEADINGS = (
    *("Fits", "identified", "of systems", *COVERED_HEADINGS, f"systems below {LEAST:.0%}"),
)
LOW_HEADINGS = ("System", "fits", "identified", *COVERED_HEADINGS)
ZOO, DEFAULT, GENUINE, NULLS, MEASURED = (
    *("zoo, own library", "zoo, auto", "gallery, diffusions"),
    *("gallery, nulls with a process behind them", "measured data"),
)
GROUPS = (ZOO, DEFAULT, GENUINE, NULLS, MEASURED)


class Name(NamedTuple):
    """A system, and the group of fits to which it belongs."""

    group: str
    title: str


class Row(NamedTuple):
    """Fits of a system that were called identified."""

    name: Name
    results: list[Result]

    def share(self, key: str = "covered") -> float:
        """Mean share of the truth that their bands hold."""
        return float(np.mean([result[key] for result in self.results]))


def name_of(case: Case) -> Name:
    """Say what a case is about."""
    if case.experiment == zoo_verdicts.EXPERIMENT:
        return Name(DEFAULT if case.options else ZOO, zoo.get(case.system).title)
    if case.experiment == gallery.EXPERIMENT:
        kind = KINDS[case.system]
        return Name(NULLS if kind.role == "null" else GENUINE, kind.title)
    assert case.experiment == measured.EXPERIMENT
    return Name(MEASURED, SYSTEMS[case.system].title)


def rows_of(lines: Sequence[Line]) -> list[Row]:
    """A row for each system of each group with a fit that was identified and has a truth."""
    found: dict[Name, list[Result]] = {}
    for line in lines:
        result = line.result or {}
        if result.get("verdict") == IDENTIFIED and "covered" in result and _is_known(line.case):
            found.setdefault(name_of(line.case), []).append(result)
    return [Row(name, results) for name, results in found.items()]


def build(lines: Sequence[Line]) -> Content:
    """Coverage by group, the systems below the least, and what it adds up to."""
    rows = rows_of(lines)
    low = [row for row in rows if row.share() < LEAST]
    none = ["none", *["-"] * (len(LOW_HEADINGS) - 1)]
    groups = [
        _group_cells(group, own)
        for group in GROUPS
        if (own := [row for row in rows if row.name.group == group])
    ]
    return Content(
        {
            "identified": Grid("Of fits called identified", GROUP_HEADINGS, groups),
            "identified-low": Grid(
                f"Below {LEAST:.0%}", LOW_HEADINGS, [_low_cells(row) for row in low] or [none], 2
            ),
        },
        sentences={"identified-sum": headline(rows)},
    )


def headline(rows: Sequence[Row]) -> str:
    """The mean over fits, the worst system, how many are below what is asked for."""
    every = [result["covered"] for row in rows for result in row.results]
    if not every:
        return "Nothing was called identified."
    worst = min(rows, key=Row.share)
    low = sum(row.share() < LEAST for row in rows)
    return (
        f"Of {len(every)} fits called identified, bands hold {np.mean(every):.1%} of the truth on "
        f"average (asked: {MEAN:.0%}). Systems below {LEAST:.0%}: {low} of {len(rows)}; the worst "
        f"is {worst.name.title} ({worst.name.group}), {worst.share():.0%} over "
        f"{len(worst.results)} fits."
    )


def _is_known(case: Case) -> bool:
    """Whether the kind is still in the gallery: stored lines outlive what made them."""
    return case.experiment != gallery.EXPERIMENT or case.system in KINDS


def _group_cells(group: str, rows: Sequence[Row]) -> list[str]:
    whole = Row(Name(group, ""), [result for row in rows for result in row.results])
    low = sum(row.share() < LEAST for row in rows)
    counts = (f"{len(whole.results)}", f"{len(rows)}")
    return [group, *counts, *(number(whole.share(key), 3) for key in COVERED), f"{low}"]


def _low_cells(row: Row) -> list[str]:
    shares = (number(row.share(key), 2) for key in COVERED)
    return [row.name.title, row.name.group, f"{len(row.results)}", *shares]
