"""Verdicts: false alarms on systems in scope, and limits called by their names."""

from __future__ import annotations

from collections.abc import Sequence

from wgsindy import zoo
from wgsindy.bench import verdicts
from wgsindy.bench.campaign import Line
from wgsindy.bench.verdicts import Row
from wgsindy.display.grid import Grid
from wgsindy.display.pages.page import Content

SCOPE_HEADINGS = ("System", "axis that it has", "named instead", "fits", "false alarms")
LIMIT_HEADINGS = ("Limit", "seen with", "its axis", "named instead", "fits", "named")


def build(lines: Sequence[Line]) -> Content:
    """Both tables and what they add up to."""
    scope, limits = verdicts.summarise(lines)
    return Content(
        {
            "verdicts-scope": Grid(
                "False alarms on systems in scope",
                SCOPE_HEADINGS,
                [[*_words(row), str(row.fits), str(row.false)] for row in scope],
                left=3,
            ),
            "verdicts-limits": Grid(
                "Limits called by their names",
                LIMIT_HEADINGS,
                [
                    [
                        _words(row)[0],
                        _settings(row),
                        *_words(row)[1:],
                        str(row.fits),
                        str(row.named),
                    ]
                    for row in limits
                ],
                left=4,
            ),
        },
        sentences={"verdicts-sum": _sum(scope, limits)},
    )


def _words(row: Row) -> tuple[str, str, str]:
    return zoo.get(row.system).title, str(row.expected) or "none", ", ".join(row.others) or "-"


def _settings(row: Row) -> str:
    return ", ".join(f"{key} {value}" for key, value in row.options) or "-"


def _sum(scope: Sequence[Row], limits: Sequence[Row]) -> str:
    fits, false = sum(row.fits for row in scope), sum(row.false for row in scope)
    cases, named = sum(row.fits for row in limits), sum(row.named for row in limits)
    worst = min((row.named / row.fits for row in limits), default=float("nan"))
    return (
        f"False alarms: {false} of {fits}. Right axis: {named} of {cases} limits, the worst row "
        f"{worst:.0%}."
    )
