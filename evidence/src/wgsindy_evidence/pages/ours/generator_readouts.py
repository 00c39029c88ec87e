"""Read-outs of recovered generators beside those of the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import Content

HEADINGS = (
    *("System", "density: fit", "oracle", "ratio", "gap over true gap"),
    *("cosine, current", "smallest", "refused"),
)
# Reversible: there is no current, so no cosine to it.
REVERSIBLE = ("indep_ou", "coupled_ou", "gradient_potential", "nondiag_cholesky")


class Row(NamedTuple):
    """Medians over seeds of one system."""

    system: str
    seeds: int
    distance: float  # infinite where most fits are refused
    oracle: float
    gap: float
    current: float
    smallest: float
    refused: int


def build(lines: Sequence[Line]) -> Content:
    """The table, and the median over systems."""
    rows = summarise(lines)
    grid = Grid(
        "Total variation to the true density, gap and current: medians over seeds",
        HEADINGS,
        [_cells(row) for row in rows],
        left=1,
    )
    return Content({"generator-readouts": grid}, {}, {"generator-readouts": _sentence(rows)})


def summarise(lines: Sequence[Line]) -> list[Row]:
    """One row for each system, in the order in which they come."""
    groups: dict[str, list[dict[str, float]]] = {}
    for line in lines:
        if line.result is not None:
            groups.setdefault(line.case.system, []).append(line.result)
    rows = []
    for system, results in groups.items():
        told = [result for result in results if "refused" not in result]
        turning = [] if system in REVERSIBLE else [result["current"] for result in told]
        rows.append(
            Row(
                system,
                len(results),
                _median([_or_infinite(result.get("distance")) for result in results]),
                _median([_or_infinite(result["oracle"]) for result in results]),
                _median([result["gap_ratio"] for result in told]),
                _median(turning),
                min(turning, default=float("nan")),
                len(results) - len(told),
            )
        )
    return rows


def _or_infinite(value: float | None) -> float:
    return float("inf") if value is None else value


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if len(values) else float("nan")


def _cells(row: Row) -> list[str]:
    return [
        zoo.get(row.system).title,
        _or_dash(row.distance, 3),
        _or_dash(row.oracle, 3),
        _or_dash(row.distance / row.oracle, 2),
        _or_dash(row.gap, 3),
        _or_dash(row.current, 4),
        _or_dash(row.smallest, 4),
        f"{row.refused} of {row.seeds}",
    ]


def _or_dash(value: float, digits: int) -> str:
    return number(value, digits) if np.isfinite(value) else "-"


def _sentence(rows: Sequence[Row]) -> str:
    median = _median([row.distance for row in rows])
    ratio = _median([row.distance / row.oracle for row in rows])
    return (
        f"Median over {len(rows)} systems of the total variation: {number(median, 3)}, "
        f"median ratio to the oracle's {number(ratio, 2)}. A fit that is refused counts as "
        "infinitely far."
    )
