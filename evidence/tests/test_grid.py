"""Tables as values, figures as text."""

from __future__ import annotations

import io
from dataclasses import replace

from invented_lines import NOTHING

from wgsindy_evidence.grid import Grid, number, percent


def test_figures_and_shares_as_text() -> None:
    assert (number(0.12345), number(2, 1), number(NOTHING)) == ("0.123", "2.0", "-")
    assert (percent(0.125), percent(0.1234, 1), percent(NOTHING)) == ("12 %", "12.3 %", "-")


def test_a_grid_is_the_same_table_everywhere() -> None:
    from rich.console import Console

    grid = Grid("Title", ("a", "b", "c"), [["x", "1", "2"], ["x", "3", "4"], ["y", "5", "-"]])
    assert grid.markdown() == (
        "| a | b | c |\n|---|---:|---:|\n| x | 1 | 2 |\n| x | 3 | 4 |\n| y | 5 | - |\n"
    )
    assert "|---|---|---:|" in replace(grid, left=2).markdown()
    console = Console(width=60, record=True, file=io.StringIO())
    table = grid.terminal()
    console.print(table)
    text = console.export_text()
    for cell in ("Title", "x", "3", "5", "-"):
        assert cell in text
    # A line under each group of equal first cells.
    assert [row.end_section for row in table.rows] == [False, True, False]
    assert not Grid("Title", ("a", "b"), []).terminal().rows
