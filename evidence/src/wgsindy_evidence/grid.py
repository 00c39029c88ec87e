"""A table as a value: written to a terminal or to Markdown from the same cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from wgsindy.model import percent as percent

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Grid:
    """Headings and rows of text; the first ``left`` columns are words, the others figures."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1

    def markdown(self) -> str:
        """Write it as Markdown, without the title."""
        rule = "|---" * self.left + "|---:" * (len(self.headings) - self.left) + "|"
        lines = ["| " + " | ".join(self.headings) + " |", rule]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"

    def terminal(self) -> Table:
        """Build it for a terminal; a line separates groups of equal first cells."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(title=self.title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for number, heading in enumerate(self.headings):
            table.add_column(
                heading, justify="left" if number < self.left else "right", no_wrap=True
            )
        firsts = [row[0] for row in self.rows]
        grouped = len(set(firsts)) < len(firsts)
        for place, row in enumerate(self.rows):
            following = firsts[place + 1 : place + 2]
            table.add_row(*row, end_section=grouped and following not in ([], [row[0]]))
        return table


def number(value: float, digits: int = 3) -> str:
    """A figure, or a dash where there is none."""
    return "-" if isnan(value) else f"{value:.{digits}f}"
