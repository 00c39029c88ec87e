"""What was not measured: equations from positions, their order, values that are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.hidden.missing import CHOSEN, WAYS, missing_case
from wgsindy_evidence.experiments.hidden.missing import NOISES as MISSING_NOISES
from wgsindy_evidence.experiments.hidden.motions import MOTIONS
from wgsindy_evidence.experiments.hidden.positions import (
    NOISES,
    POSITIONS,
    STEPS,
    VELOCITIES,
    position_case,
)
from wgsindy_evidence.experiments.ours.unseen import SYSTEMS
from wgsindy_evidence.grid import Grid, number, percent
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import Index

POSITION_HEADINGS = (
    *("Motion", "step", "noise", "seeds", "force: positions", "velocities too", "ratio"),
    *("right terms: positions", "velocities too", "friction held", "a held", "s"),
)
SPEED_HEADINGS = ("Noise", "samples", "fit, s", "KMeans, s", "ratio")
ORDER_HEADINGS = ("Data", "cases", "right", "cannot tell", "wrong")
MISSING_HEADINGS = (
    *("System", "noise", "seeds", "drift: complete", "missing", "ratio", "in turns", "ratio"),
    *("tensor: complete", "missing", "ratio"),
)
KINDS = {
    "": "first order: the zoo",
    "coarse": "first order: coarse steps and noise",
    "motion": "second order: positions of motions, with noise",
}


class Cell(NamedTuple):
    """Fits of one motion at one step and noise, by positions and with velocities, seed by seed."""

    hidden: list[dict[str, Any]]
    seen: list[dict[str, Any]]

    @classmethod
    def of(cls, index: Index, key: str, dt: float, noise: float) -> Cell:
        """Those seeds that have both."""
        pairs = [
            index.results(
                position_case(key, seed, dt, noise, way) for way in (POSITIONS, VELOCITIES)
            )
            for seed in index.seeds
        ]
        whole = [pair for pair in pairs if len(pair) == 2]
        return cls([one for one, _ in whole], [other for _, other in whole])

    @property
    def errors(self) -> tuple[float, float]:
        """Root mean squares of the error of the force, both ways."""
        return _rms(self.hidden, "force"), _rms(self.seen, "force")


def build_positions(lines: Sequence[Line]) -> Content:
    """Errors, terms and intervals from positions, beside those with velocities measured."""
    index, rows, cells = Index(lines), [], []
    for key, motion in MOTIONS.items():
        for dt in STEPS:
            for noise in NOISES:
                cell = Cell.of(index, key, dt, noise)
                if cell.hidden:
                    cells.append(cell)
                    rows.append([motion.title, f"{dt:g}", percent(noise), *_figures(cell)])
    title = "Force from positions, beside the same fit with velocities measured"
    return Content(
        {
            "positions": Grid(title, POSITION_HEADINGS, rows, left=3),
            "positions-summary": _summary(cells),
        }
    )


def _figures(cell: Cell) -> list[str]:
    hidden, seen = cell.errors
    return [
        str(len(cell.hidden)),
        number(hidden, 4),
        number(seen, 4),
        number(hidden / seen, 2),
        *(f"{_right(way)} of {len(way)}" for way in cell),
        *(_held(cell.hidden, key) for key in ("friction", "noise")),
        number(float(np.median([one["seconds"] for one in cell.hidden])), 1),
    ]


def _summary(cells: Sequence[Cell]) -> Grid:
    """All cells together."""
    ratios = [cell.errors[0] / cell.errors[1] for cell in cells]
    hidden = [one for cell in cells for one in cell.hidden]
    both = [
        (one, other)
        for cell in cells
        for one, other in zip(cell.hidden, cell.seen, strict=True)
        if not (other["false"] or other["missed"])
    ]
    alike = sum(not (one["false"] or one["missed"]) for one, _ in both)
    rows = [
        [
            "error of the force over that with velocities, geometric mean",
            number(_geometric(ratios), 2),
        ],
        ["the same, largest of a cell", number(max(ratios, default=float("nan")), 2)],
        ["cells in which it is at most 1.5", f"{sum(r <= 1.5 for r in ratios)} of {len(ratios)}"],
        ["right terms, where the fit with velocities has them", f"{alike} of {len(both)}"],
        ["friction inside its 95 % interval", _held(hidden, "friction")],
        ["tensor inside its 95 % interval", _held(hidden, "noise")],
        [
            "called identified",
            f"{sum(o['verdict'] == 'identified' for o in hidden)} of {len(hidden)}",
        ],
    ]
    return Grid("All cells together", ("Figure", "value"), rows)


def build_speed(lines: Sequence[Line]) -> Content:
    """Seconds of a fit beside those of the yardstick: medians over seeds."""
    found: dict[float, list[dict[str, Any]]] = {}
    for line in lines:
        if line.result is not None:
            found.setdefault(float(line.case.settings["noise"]), []).append(line.result)
    rows = []
    for noise, results in found.items():
        fit, yardstick = (
            float(np.median([one[key] for one in results]))
            for key in ("seconds", "seconds_yardstick")
        )
        times = [number(value, 2) for value in (fit, yardstick, fit / yardstick)]
        rows.append([percent(noise), str(results[0]["samples"]), *times])
    return Content({"positions-speed": Grid("A fit in units of KMeans", SPEED_HEADINGS, rows)})


def build_orders(lines: Sequence[Line]) -> Content:
    """How often the order is right."""
    rows = []
    for kind, title in KINDS.items():
        found = [
            line.result
            for line in lines
            if line.result is not None and line.case.settings.get("kind", "") == kind
        ]
        if found:
            right, wrong = (sum(bool(one[key]) for one in found) for key in ("right", "wrong"))
            counts = (len(found), right, len(found) - right - wrong, wrong)
            rows.append([title, *map(str, counts)])
    return Content({"orders": Grid("First or second order, by the data", ORDER_HEADINGS, rows)})


def build_missing(lines: Sequence[Line]) -> Content:
    """Errors with missing values, beside complete data."""
    index, rows = Index(lines), []
    for key in CHOSEN:
        for noise in MISSING_NOISES:
            groups = [
                index.results(missing_case(key, seed, noise, way) for seed in index.seeds)
                for way in WAYS
            ]
            if all(groups):
                drift = [_rms(group, "drift") for group in groups]
                field = [_rms(group, "tensor") for group in groups[:2]]
                rows.append(
                    [
                        SYSTEMS[key].title,
                        percent(noise),
                        str(len(groups[0])),
                        number(drift[0], 4),
                        *(
                            cell
                            for one in drift[1:]
                            for cell in (number(one, 4), number(one / drift[0], 2))
                        ),
                        number(field[0], 4),
                        number(field[1], 4),
                        number(field[1] / field[0], 2),
                    ]
                )
    title = "Errors with a fifth of one column missing, and with coordinates measured in turns"
    return Content({"missing": Grid(title, MISSING_HEADINGS, rows, left=2)})


def _right(results: Sequence[dict[str, Any]]) -> int:
    return sum(not (one["false"] or one["missed"]) for one in results)


def _held(results: Sequence[dict[str, Any]], key: str) -> str:
    """Of those fits that have the term, how many hold the true coefficient."""
    known = [one[key] for one in results if one[key] is not None]
    return f"{sum(known)} of {len(known)}"


def _rms(results: Sequence[dict[str, Any]], key: str) -> float:
    return float(np.sqrt(np.mean([float(one[key]) ** 2 for one in results])))


def _geometric(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values)))) if values else float("nan")
