"""Rivals on measured data: ratios of errors and of times, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours.unseen import SYSTEMS
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.peers.measured import FURTHER_SEEDS, OURS, THEIRS
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


class Pair(NamedTuple):
    """Figures of both methods on one data set."""

    seed: int
    ours: dict[str, Any]
    theirs: dict[str, Any]


class Ratio(NamedTuple):
    """A geometric mean and its standard error; of a single ratio nobody knows one."""

    mean: float
    error: float

    @classmethod
    def of(cls, pairs: Sequence[Pair], name: str) -> Ratio:
        """Ours over theirs."""
        logs = np.log([pair.ours[name] / pair.theirs[name] for pair in pairs])
        mean = float(np.exp(logs.mean()))
        spread = float(np.std(logs, ddof=1)) if len(logs) > 1 else np.nan
        return cls(mean, mean * spread / np.sqrt(len(logs)))

    def __str__(self) -> str:
        return f"{self.mean:.2f}" + (f" ± {self.error:.2f}" if np.isfinite(self.error) else "")


class CellRatios(NamedTuple):
    """One cell: errors of ours over theirs, and their seconds over ours, a geometric mean."""

    key: Key
    pairs: list[Pair]
    drift: Ratio
    tensor: Ratio
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
    means = {key: _mean([getattr(cell, key).mean for cell in cells]) for key in ("drift", "tensor")}
    most = {key: max(getattr(cell, key).mean for cell in cells) for key in means}
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
    for (key, seed), by in found.items():
        if OURS in by and THEIRS in by:
            pairs.setdefault(key, []).append(Pair(seed, by[OURS], by[THEIRS]))
    return pairs


def _ratios(key: Key, pairs: list[Pair]) -> CellRatios:
    # Further seeds were run beside other work.
    timed = [pair for pair in pairs if pair.seed not in FURTHER_SEEDS]
    faster = [pair.theirs["seconds_warm"] / pair.ours["seconds_warm"] for pair in timed]
    drift, tensor = (Ratio.of(pairs, name) for name in ("drift", "tensor"))
    return CellRatios(key, pairs, drift, tensor, _mean(faster))


def _mean(ratios: Sequence[float]) -> float:
    """Geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))


def _cell_cells(cell: CellRatios) -> list[str]:
    (system, dt, noise), pairs = cell.key, cell.pairs

    def medians(name: str, digits: int) -> list[str]:
        both = zip(*((pair.ours[name], pair.theirs[name]) for pair in pairs), strict=True)
        return [number(float(np.median(figures)), digits) for figures in both]

    both = [
        sum(bool(pair.ours["exact"]) for pair in pairs),
        sum(bool(pair.theirs["exact"]) for pair in pairs),
    ]
    return [
        SYSTEMS[system].title,
        f"{dt:g}",
        f"{100 * noise:g} %" if noise else "none",
        *medians("drift", 3),
        str(cell.drift),
        *medians("tensor", 3),
        str(cell.tensor),
        *(f"{exact} of {len(pairs)}" for exact in both),
        *medians("seconds_warm", 2),
        number(cell.faster, 0),
    ]


def _total_cells(title: str, cells: Sequence[CellRatios]) -> list[str]:
    targets = {FASTER[cell.key[2]] for cell in cells}
    ratios = [[getattr(cell, name) for cell in cells] for name in ("drift", "tensor")]
    return [
        title,
        f"{sum(len(cell.pairs) for cell in cells)}",
        *(
            text
            for own in ratios
            for text in (
                number(_mean([ratio.mean for ratio in own]), 2),
                f"{MOST:g}",
                f"{max(own)} (at most {MOST_OF_A_CELL:g})",
            )
        ),
        number(_mean([cell.faster for cell in cells]), 0),
        f"{targets.pop()}" if len(targets) == 1 else "-",
    ]
