"""The metrics of a system: both recipes, the paper, and the floor."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from wgsindy.zoo import System
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.ledger import Row, summarise
from wgsindy_evidence.published import table_row
from wgsindy_evidence.recipes import PAPER, SHARP_EULER


def metrics_grid(system: System, table: Sequence[Line]) -> Grid:
    """One row a recipe, the published row, and the floor."""
    headings = (
        *("Recipe", "Drift", "Tensor", "cos12", "PSD"),
        *("Held-out drift", "Held-out tensor", "Gates"),
    )
    rows = []
    for recipe in (SHARP_EULER.name, PAPER.name):
        found = summarise([line for line in table if line.case.recipe == recipe])
        rows += [_row_cells(recipe, row) for row in found]
    rows += [_published_cells(system)] if table_row(system.key) else []
    for row in summarise([line for line in table if line.case.recipe == SHARP_EULER.name]):
        floors = [number(row.floor_drift), number(row.floor_tensor, 4)]
        rows.append(["floor", *floors, *["-"] * 5])
    return Grid("Figures", headings, rows)


def _row_cells(recipe: str, row: Row) -> list[str]:
    return [
        recipe,
        _with_interval(row.drift, *row.drift_ci),
        _with_interval(row.tensor, *row.tensor_ci, digits=4),
        number(row.cosine),
        f"{row.psd:.2f} ({row.psd_far:.2f})",
        number(row.held_out_drift),
        number(row.held_out_tensor, 4),
        ("pass" if row.passes else "fail") + (f" ({row.failed} failed)" if row.failed else ""),
    ]


def _published_cells(system: System) -> list[str]:
    figures = table_row(system.key)

    def cell(name: str, digits: int = 3) -> str:
        low, high = figures[f"{name}_ci_low"], figures[f"{name}_ci_high"]
        return _with_interval(figures[f"{name}_median"], low, high, digits)

    errors = [cell("objective_drift"), cell("diffusion", 4), cell("a12_cosine")]
    return ["published", *errors, "-", "-", "-", system.verdict]


def _with_interval(value: float, low: float, high: float, digits: int = 3) -> str:
    text = number(value, digits)
    return text if isnan(low) else f"{text} [{number(low, digits)}, {number(high, digits)}]"
