"""Verdicts: false alarms on systems in scope, and limits called by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from wgsindy import zoo
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours.verdicts import LIMITS, Limit, verdict_case
from wgsindy_evidence.grid import Grid
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import Index
from wgsindy_evidence.scope import in_scope

SCOPE_HEADINGS = ("System", "its limitation", "named instead", "fits", "false alarms")
LIMIT_HEADINGS = (
    *("System", "seen with", "its limitation", "named instead"),
    *("fits", "named", "named first"),
)


class Row(NamedTuple):
    """A limit, how often it was fitted and named, before all else, a false one instead, which."""

    limit: Limit
    fits: int
    named: int
    first: int
    false: int
    others: tuple[str, ...]


def summarise(lines: Sequence[Line]) -> tuple[list[Row], list[Row]]:
    """Rows of the systems in scope, and of the limits.

    False is a limitation that is counted and that the system does not have.
    """
    index = Index(lines)
    scope = [_row(Limit(system), index) for system in in_scope()]
    limits = [_row(limit, index) for limit in LIMITS]
    return [row for row in scope if row.fits], [row for row in limits if row.fits]


def _row(limit: Limit, index: Index) -> Row:
    results = index.results(verdict_case(limit, seed) for seed in index.seeds)
    counted = [result["axis"] for result in results]
    wrong = [one for one in counted if one not in ("", limit.expected)]
    named = sum(one == limit.expected for one in counted)
    first = sum(result["axes"][:1] == [limit.expected] for result in results)
    return Row(limit, len(counted), named, first, len(wrong), tuple(sorted(set(wrong))))


def build(lines: Sequence[Line]) -> Content:
    """Both tables and what they add up to."""
    scope, limits = summarise(lines)
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
                        *map(str, (row.fits, row.named, row.first)),
                    ]
                    for row in limits
                ],
                left=4,
            ),
        },
        sentences={"verdicts-sum": _sum(scope, limits)},
    )


def _words(row: Row) -> tuple[str, str, str]:
    title = zoo.get(row.limit.system).title
    return title, str(row.limit.expected) or "none", ", ".join(row.others) or "-"


def _settings(row: Row) -> str:
    return ", ".join(f"{key} {value}" for key, value in row.limit.options) or "-"


def _sum(scope: Sequence[Row], limits: Sequence[Row]) -> str:
    fits, false = sum(row.fits for row in scope), sum(row.false for row in scope)
    cases, named = sum(row.fits for row in limits), sum(row.named for row in limits)
    first = sum(row.first for row in limits)
    worst = min((row.named / row.fits for row in limits), default=float("nan"))
    return (
        f"False alarms: {false} of {fits}. Known limits named: {named} of {cases} (worst row "
        f"{worst:.0%}); before any other finding: {first}."
    )
