"""What was tried against the program, how often, and what happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.grid import Grid
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.trust import CHECKS, check_of

HEADINGS = ("what", "command", "turns red by", "tried", "what happened")
WORDS = {
    "value": "{:,} read",
    "sentence": "{:,} refused with a sentence",
    "old": "{:,} with the old result whole",
    "new": "{:,} with the new one whole",
    "passed": "{:,} as they should",
    "skipped": "{:,} skipped",
    "noticed": "{:,} noticed by a test",
    "harmless": "{:,} that cannot matter",
    "unnoticed": "{:,} that no test notices",
}


def build(lines: Sequence[Line]) -> Content:
    """One row a kind; a kind that failed is a row, too."""
    order = [check.kind for check in CHECKS]
    rows = [_row(line) for line in sorted(lines, key=lambda one: order.index(one.case.system))]
    return Content({"trust": Grid("What was tried", HEADINGS, rows, left=3)})


def _row(line: Line) -> tuple[str, ...]:
    check, found = check_of(line.case.system), line.result
    broken = f"{check.control} (`{check.broken_by}`)" if check.broken_by else check.control
    words = (check.kind, f"`{check.command}`", broken)
    if found is None:
        return (*words, "-", f"**failed**: {line.error}")
    return (*words, f"{found['tried']:,}", _ended(found))


def _ended(found: dict[str, Any]) -> str:
    counts = ", ".join(WORDS[word].format(n) for word, n in found["ended"].items())
    memory = f"; at most {found['mebibytes']} MiB" if "mebibytes" in found else ""
    return counts + memory
