"""Random systems and two hard tasks: cliffs, errors, distance from the floor, coverage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.arrive.families import FAMILIES
from wgsindy_evidence.experiments.arrive.tasks import CELLS, CYCLES, DTS, LIBRARIES
from wgsindy_evidence.grid import Grid, number, percent
from wgsindy_evidence.pages.ours.measured import IDENTIFIED, over_floor, share
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import median

Result = dict[str, Any]
FALLEN_DRIFT, FALLEN_TENSOR, TOLD = 0.5, 1.0, 0.15
GROUPS: dict[str, Callable[[Result], bool]] = {
    "clean": lambda result: not (result["noise"] or result["rounding"]),
    "rounded": lambda result: bool(result["rounding"] and not result["noise"]),
    "noisy": lambda result: bool(result["noise"]),
    "all": lambda result: True,
}
COUNTED = (
    *("cases", "ended in an error", "cliffs", "of these identified"),
    *("drift / floor", "tensor / floor", "drift covered", "identified", "seconds"),
)
NOISY_HEADINGS = (
    *("System", "noise", "dt", "fits", "drift: median", "worst", "tensor: median", "worst"),
    *("drift covered", "seconds"),
)


def build(lines: Sequence[Line]) -> Content:
    """Counts by what was done to the data and by family, and every cliff and error by name."""
    done = [(line.case.system, line.case.seed, line.result) for line in lines if line.result]
    results = [result for _, _, result in done]
    groups = [[name, *_counts([r for r in results if has(r)])] for name, has in GROUPS.items()]
    families = [
        [title, *_counts([result for family, _, result in done if family == key])]
        for key, (title, _, _) in FAMILIES.items()
        if any(family == key for family, _, _ in done)
    ]
    fallen = [
        f"- {FAMILIES[family][0]}, seed {seed}: {_described(result)}"
        for family, seed, result in done
        if is_cliff(result) or "error" in result
    ]
    return Content(
        {
            "arrive": Grid(
                "Random systems, by what was done to the data", ("Data", *COUNTED), groups
            ),
            "arrive-families": Grid("Random systems, by family", ("System", *COUNTED), families),
        },
        sentences={"arrive-fallen": "\n".join(fallen) or "There are none."},
    )


def is_cliff(result: Result) -> bool:
    """Whether a fit is far off where the data tell the truth."""
    return bool(
        "drift" in result
        and result["drift_floor"] < TOLD
        and not (result["drift"] <= FALLEN_DRIFT and result["tensor"] <= FALLEN_TENSOR)
    )


def build_lotka_volterra(lines: Sequence[Line]) -> Content:
    """Median and worst mean square error of the drift, for each step and library."""
    columns = [
        f"{library}: {what}" for library in LIBRARIES for what in ("median", "worst", "fits")
    ]
    rows = []
    for dt in DTS:
        row = [f"{dt:g}"]
        for library in LIBRARIES:
            wanted = {"dt": dt, "library": library}
            of_cell = _results([line for line in lines if line.case.settings == wanted])
            row += [*_middle_and_worst(of_cell, "drift", 4), _arrived(of_cell)]
        rows.append(row)
    title = "Lotka-Volterra: mean square error of the drift"
    return Content({"arrive-lotka-volterra": Grid(title, ("dt", *columns), rows)})


def build_noisy(lines: Sequence[Line]) -> Content:
    """Median and worst errors of each cell."""
    rows = []
    for cell in CELLS:
        of_cell = _results(
            [
                line
                for line in lines
                if (line.case.system, line.case.options) == (cell.system, cell.options)
            ]
        )
        if of_cell:
            fits = [result for result in of_cell if "error" not in result]
            rows.append(
                [
                    CYCLES[cell.system].title,
                    percent(cell.noise),
                    f"{cell.dt:g}",
                    _arrived(of_cell),
                    *_middle_and_worst(of_cell, "drift"),
                    *_middle_and_worst(of_cell, "tensor"),
                    number(share(fits, "drift_covered"), 2),
                    number(median(fits, "seconds"), 1),
                ]
            )
    return Content({"arrive-noisy": Grid("Limit cycles in noise", NOISY_HEADINGS, rows, left=3)})


def _counts(results: Sequence[Result]) -> list[str]:
    fits = [result for result in results if "drift" in result]
    fallen = [result for result in fits if is_cliff(result)]
    named = [result for result in fits if result.get("verdict") == IDENTIFIED]
    return [
        f"{len(results)}",
        f"{sum('error' in result for result in results)}",
        f"{len(fallen)}",
        f"{sum(result.get('verdict') == IDENTIFIED for result in fallen)}",
        *(number(over_floor(fits, key).mean, 2) for key in ("drift", "tensor")),
        number(share(fits, "drift_covered"), 3),
        f"{len(named)}",
        number(median(fits, "seconds"), 2),
    ]


def _described(result: Result) -> str:
    """Say what was done to the data, what came out, and what could have."""
    dt = result["dt"] / result["fastest"]
    seen = f"dt {dt:.2g} of the fastest time, noise {percent(result['noise'])}"
    found = [f"floor {number(result['drift_floor'])}"]
    if "drift" in result:
        found += [f"drift {number(result['drift'])}", f"tensor {number(result['tensor'])}"]
    ending = result["error"] if "error" in result else result["verdict"]
    return "; ".join([seen, *found, f"{str(ending).rstrip('.')}."])


def _results(lines: Sequence[Line]) -> list[Result]:
    return [line.result for line in lines if line.result is not None]


def _arrived(results: Sequence[Result]) -> str:
    return f"{sum('error' not in result for result in results)} of {len(results)}"


def _middle_and_worst(results: Sequence[Result], key: str, digits: int = 3) -> list[str]:
    values = [result[key] for result in results if key in result]
    worst = float(np.max(values)) if values else float("nan")
    middle = float(np.median(values)) if values else float("nan")
    return [number(middle, digits), number(worst, digits)]
