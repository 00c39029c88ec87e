"""Tables for the terminal and for Markdown pages, from summarised rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from rich.box import SIMPLE_HEAD
from rich.table import Table

from wgsindy.bench.table import Overall, Row

HEADINGS = (
    *("System", "Drift", "paper", "floor", "Tensor", "paper", "floor"),
    *("cos12", "PSD", "FP", "support", "gates"),
)


def _number(value: float, digits: int = 3) -> str:
    return "-" if isnan(value) else f"{value:.{digits}f}"


def _cells(row: Row) -> list[str]:
    """Format one system; ``*`` marks a median above the paper's 95 % interval."""
    above = {key: "" if row.within_paper(key) else "*" for key in ("drift", "tensor")}
    gates = "pass" if row.passes else "fail"
    return [
        row.title,
        _number(row.drift) + above["drift"],
        _number(row.published("drift", "median")),
        _number(row.floor_drift),
        _number(row.tensor) + above["tensor"],
        _number(row.published("tensor", "median")),
        _number(row.floor_tensor, 4),
        _number(row.cosine),
        _number(min(row.psd, row.psd_far), 2),
        str(row.ledger.false_positives),
        f"{row.ledger.recovered}/{row.ledger.active}",
        gates if row.verdict == "pass" else f"{gates} ({row.verdict})",
    ]


def master_table(rows: Sequence[Row], title: str) -> Table:
    """Build the master table for a terminal."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="left" if number == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row), style="" if row.passes else "yellow")
    return table


def master_markdown(rows: Sequence[Row]) -> str:
    """Write the master table as Markdown."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---" + "|---:" * (len(HEADINGS) - 1) + "|"]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def overall_sentences(summary: Overall) -> list[str]:
    """Say what the in-scope rows add up to."""
    return [
        f"In scope: {summary.passed} of {summary.systems} systems hold the gates on medians.",
        f"Median drift error {summary.drift:.4f} (floor {summary.floor_drift:.4f}), "
        f"tensor error {summary.tensor:.4f} (floor {summary.floor_tensor:.4f}), "
        f"a12 cosine {summary.cosine:.4f}.",
        f"Geometric mean of error over floor: drift {summary.ratio_drift:.2f}, tensor "
        f"{summary.ratio_tensor:.2f}.",
    ]
