"""Measured data: errors over the floor, coverage and verdicts, by group and by cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours.measured import CELLS, GROUPS, LEAST_COVERED, Cell
from wgsindy_evidence.experiments.ours.unseen import SYSTEMS
from wgsindy_evidence.grid import Grid, number, percent
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import median

Results = Sequence[dict[str, Any]]
IDENTIFIED = "identified"


class Target(NamedTuple):
    """At most so many times the floor."""

    drift: float
    tensor: float


TARGETS = {
    "coarse": Target(1.25, 1.3),
    "noise": Target(1.2, 3.0),
    "both": Target(1.5, 3.5),
    "rounded": Target(1.2, 1.5),
    "offset": Target(1.1, 1.1),
}
COVERED, MOST_WRONG = (0.90, 0.98), 0.05
GROUP_HEADINGS = (
    *("Data", "fits", "drift / floor", "target", "tensor / floor", "target"),
    *("drift covered", "tensor covered", "both", "drift terms exact", "tensor terms exact"),
    *("identified", "of these wrong", "failed"),
)
CELL_HEADINGS = (
    *("Data", "dt", "System", "drift", "floor", "ratio", "tensor", "floor", "ratio"),
    *("covered: drift", "tensor", "exact: drift", "tensor", "false terms"),
    *("identified", "wrong", "noise found", "seconds"),
)


def build(lines: Sequence[Line]) -> Content:
    """Tables by group and by cell, and what cannot be seen in either."""
    groups: dict[str, list[Line]] = {}
    cells: dict[tuple[Cell, str], list[Line]] = {}
    for line in lines:
        cell = Cell.of(line.case)
        groups.setdefault(cell.group, []).append(line)
        cells.setdefault((cell, line.case.system), []).append(line)
    summary = [_group_cells(group, groups[group]) for group in GROUPS if group in groups]
    if "offset" in groups:
        row = _group_cells("offset", groups["offset"], "shifted_floor")
        summary.append(["offset, floor without the origin", *row[1:]])
    rows = [
        _cell_cells(cell, system, _results(cells[cell, system]))
        for cell in CELLS
        for system in SYSTEMS
        if (cell, system) in cells
    ]
    seeds = sorted({line.case.seed for line in lines})
    title = f"Measured data, seeds {seeds[0]} to {seeds[-1]}" if seeds else "Measured data"
    return Content(
        {
            "measured-cells": Grid(f"{title}: medians of each cell", CELL_HEADINGS, rows, left=3),
            "measured": Grid(f"{title}: geometric means over the floor", GROUP_HEADINGS, summary),
        }
    )


class Ratio(NamedTuple):
    """A geometric mean and its standard error."""

    mean: float
    error: float


def over_floor(results: Results, key: str, floor: str = "floor") -> Ratio:
    """Geometric mean of errors over their floors."""
    logs = np.log([result[key] / result[f"{key}_{floor}"] for result in results])
    if len(logs) < 2:
        return Ratio(float(np.exp(logs[0])) if len(logs) else float("nan"), float("nan"))
    mean = float(np.exp(logs.mean()))
    return Ratio(mean, mean * float(logs.std(ddof=1) / np.sqrt(len(logs))))


def is_wrong(result: dict[str, Any]) -> bool:
    """Whether the bands of a fit leave out the truth at more than a quarter of the points."""
    return bool(result["covered"] < LEAST_COVERED)


def share(results: Results, key: str) -> float:
    """Mean of a share, or of a truth value, over the results that have one."""
    values = [float(result[key]) for result in results if key in result]
    return float(np.mean(values)) if values else float("nan")


def exact(results: Results, field: str) -> float:
    """Share of fits with exactly the true terms in a field."""
    judged = [result for result in results if f"{field}_false" in result]
    found = [result[f"{field}_false"] == result[f"{field}_missed"] == 0 for result in judged]
    return float(np.mean(found)) if judged else float("nan")


def _results(lines: Sequence[Line]) -> list[dict[str, Any]]:
    return [line.result for line in lines if line.result is not None]


def _verdicts(results: Results) -> tuple[int, int]:
    """How many fits are called identified, and how many of these are wrong."""
    named = [result for result in results if result["verdict"] == IDENTIFIED]
    return len(named), sum(map(is_wrong, named))


def _group_cells(group: str, lines: Sequence[Line], floor: str = "floor") -> list[str]:
    results, target = _results(lines), TARGETS.get(group)
    named, wrong = _verdicts(results)
    return [
        group,
        f"{len(results)}",
        _ratio(over_floor(results, "drift", floor)),
        f"{target.drift:g}" if target else "-",
        _ratio(over_floor(results, "tensor", floor)),
        f"{target.tensor:g}" if target else "-",
        *(number(share(results, key), 2) for key in ("drift_covered", "tensor_covered", "covered")),
        *(number(exact(results, field), 2) for field in ("drift", "tensor")),
        f"{named}",
        f"{wrong} ({percent(wrong / named)})" if named else "-",
        f"{len(lines) - len(results)}",
    ]


def _cell_cells(cell: Cell, system: str, results: Results) -> list[str]:
    named, wrong = _verdicts(results)
    false = [sum(r.get(f"{field}_false", 0) for field in ("drift", "tensor")) for r in results]
    noise = [float(np.mean(result["noise"])) for result in results]
    return [
        _spoiling(cell),
        f"{cell.dt:g}",
        SYSTEMS[system].title,
        *_errors(results, "drift"),
        *_errors(results, "tensor"),
        *(number(share(results, f"{field}_covered"), 2) for field in ("drift", "tensor")),
        *(number(exact(results, field), 2) for field in ("drift", "tensor")),
        number(float(np.mean(false)) if false else float("nan"), 1),
        f"{named}/{len(results)}",
        f"{wrong}",
        number(float(np.median(noise)) if noise else float("nan")),
        number(median(results, "seconds"), 2),
    ]


def _ratio(ratio: Ratio) -> str:
    return f"{number(ratio.mean, 2)} ± {number(ratio.error, 2)}"


def _errors(results: Results, key: str) -> list[str]:
    return [
        number(median(results, key)),
        number(median(results, f"{key}_floor")),
        number(over_floor(results, key).mean, 2),
    ]


def _spoiling(cell: Cell) -> str:
    """What was done to the data of a cell, in words."""
    if cell.noise:
        return f"{cell.group}, {100 * cell.noise:g} %"
    if cell.rounding:
        return f"{cell.group}, {cell.rounding:g} of a step"
    return f"{cell.group}, {cell.offset:g} spreads" if cell.offset else cell.group
