"""Rivals on measured data: ratios of errors and of times, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours.unseen import SYSTEMS
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.peers.measured import OURS, THEIRS
from wgsindy_evidence.peers.standings import failure, finished

CELL_HEADINGS = (
    *("System", "dt", "noise", "drift", "rival", "ratio", "tensor", "rival", "ratio"),
    *("exact terms", "rival", "seconds", "rival", "times faster"),
)
TOTAL_HEADINGS = (
    *("Cells", "pairs", "drift ratio", "target", "largest", "tensor ratio", "target", "largest"),
    *("times faster", "target"),
)
MOST, MOST_OF_A_CELL = 0.9, 1.3  # of the rival's error: geometric mean over cells, any cell
FASTER = {0.0: 50, 0.1: 20}  # times, on clean data and with this noise

Key = tuple[str, float, float]  # system, dt, noise
Pair = tuple[dict[str, Any], dict[str, Any]]  # our figures, theirs


class CellRatios(NamedTuple):
    """One cell: errors of ours over theirs, and their seconds over ours, as geometric means."""

    key: Key
    pairs: list[Pair]
    drift: float
    tensor: float
    faster: float


def build(lines: Sequence[Line]) -> Content:
    """A row a cell, and totals of clean, noisy and all of them."""
    cells = [_ratios(key, pairs) for key, pairs in paired(lines).items()]
    totals = [
        _total_cells(title, chosen)
        for title, noises in (("clean", (0.0,)), ("noisy", (0.1,)), ("all", (0.0, 0.1)))
        if (chosen := [cell for cell in cells if cell.key[2] in noises])
    ]
    failures = [
        f"- {line.case.recipe} on {line.case.system}, {dict(line.case.options)}: {failure(line)}"
        for line in lines
        if finished(line) is None
    ]
    return Content(
        {
            "peers-measured": Grid(
                "Errors over the rival's: geometric means", TOTAL_HEADINGS, totals
            ),
            "peers-measured-cells": Grid(
                "Rivals on measured data", CELL_HEADINGS, [_cell_cells(cell) for cell in cells]
            ),
        },
        sentences={
            "peers-measured-failures": "\n".join(failures) or "No fit failed.",
            "peers-measured-short": in_short(cells),
        },
    )


def in_short(cells: Sequence[CellRatios]) -> str:
    """Geometric means over the cells, and the cells that suit the rival best."""
    if not cells:
        return ""
    means = {key: _mean([getattr(cell, key) for cell in cells]) for key in ("drift", "tensor")}
    most = {key: max(getattr(cell, key) for cell in cells) for key in means}
    return (
        "- **On coarse and noisy steps**, beside the parametric estimators of the same rival: our "
        f"drift error is {means['drift']:.2f} times its own and our tensor error "
        f"{means['tensor']:.2f} times (geometric means over {len(cells)} combinations of system, "
        f"step and noise; in those that suit it best {most['drift']:.2f} and {most['tensor']:.2f} "
        f"times), and a fit is {_mean([cell.faster for cell in cells]):.0f} times as fast "
        "(`wgsindy bench peers-measured`)."
    )


def paired(lines: Sequence[Line]) -> dict[Key, list[Pair]]:
    """Figures of both methods on the cases that both finished, by cell."""
    found: dict[tuple[Key, int], dict[str, dict[str, Any]]] = {}
    for line in lines:
        result, set_ = finished(line), line.case.settings
        if result is not None:
            key = (line.case.system, float(set_["dt"]), float(set_["noise"]))
            found.setdefault((key, line.case.seed), {})[line.case.recipe] = result
    pairs: dict[Key, list[Pair]] = {}
    for (key, _), by in found.items():
        if OURS in by and THEIRS in by:
            pairs.setdefault(key, []).append((by[OURS], by[THEIRS]))
    return pairs


def _ratios(key: Key, pairs: list[Pair]) -> CellRatios:
    return CellRatios(
        key,
        pairs,
        _mean([ours["drift"] / theirs["drift"] for ours, theirs in pairs]),
        _mean([ours["tensor"] / theirs["tensor"] for ours, theirs in pairs]),
        _mean([theirs["seconds_warm"] / ours["seconds_warm"] for ours, theirs in pairs]),
    )


def _mean(ratios: Sequence[float]) -> float:
    """Geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))


def _cell_cells(cell: CellRatios) -> list[str]:
    (system, dt, noise), pairs = cell.key, cell.pairs

    def medians(name: str, digits: int) -> list[str]:
        return [number(float(np.median([pair[n][name] for pair in pairs])), digits) for n in (0, 1)]

    return [
        SYSTEMS[system].title,
        f"{dt:g}",
        f"{100 * noise:g} %" if noise else "none",
        *medians("drift", 3),
        number(cell.drift, 2),
        *medians("tensor", 3),
        number(cell.tensor, 2),
        *(f"{sum(bool(pair[n]['exact']) for pair in pairs)} of {len(pairs)}" for n in (0, 1)),
        *medians("seconds_warm", 2),
        number(cell.faster, 0),
    ]


def _total_cells(title: str, cells: Sequence[CellRatios]) -> list[str]:
    targets = {FASTER[cell.key[2]] for cell in cells}
    return [
        title,
        f"{sum(len(cell.pairs) for cell in cells)}",
        number(_mean([cell.drift for cell in cells]), 2),
        f"{MOST:g}",
        f"{max(cell.drift for cell in cells):.2f} (at most {MOST_OF_A_CELL:g})",
        number(_mean([cell.tensor for cell in cells]), 2),
        f"{MOST:g}",
        f"{max(cell.tensor for cell in cells):.2f} (at most {MOST_OF_A_CELL:g})",
        number(_mean([cell.faster for cell in cells]), 0),
        f"{targets.pop()}" if len(targets) == 1 else "-",
    ]
