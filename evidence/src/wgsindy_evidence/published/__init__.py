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
