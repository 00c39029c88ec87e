"""The paper's published figures, as data files with their source."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources


@cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """Return the rows of one published table.

    >>> rows("ladder")[0]["ladder_label"]
    'B0 naive 1D port'
    """
    text = resources.files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return tuple(csv.DictReader(lines))


def figure(row: dict[str, str], column: str) -> float:
    """A figure of a row; NaN if the cell is empty."""
    return float(row[column]) if row[column] else float("nan")


@cache
def table_rows() -> dict[str, dict[str, float]]:
    """The rows of the paper's master table by system: medians and 95 % intervals."""
    return {
        row["system"]: {
            name: figure(row, name) for name in row if name not in ("system", "verdict", "family")
        }
        for row in rows("table1")
    }


def table_row(system: str) -> dict[str, float]:
    """The paper's row for a system; empty if it has none."""
    return table_rows().get(system, {})
