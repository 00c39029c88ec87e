"""Chemistry in few copies: how often the linear form is written, or shown as an equal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from wgsindy.diagnostics import Limitation
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.judged.linear_forms import (
    ABSENT,
    AUTO,
    EQUAL,
    PROCESSES,
    SIZES,
    WRITTEN,
    linear_case,
)
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import Index, median

Result = dict[str, Any]
STANDINGS = (WRITTEN, EQUAL, ABSENT)
HEADINGS = (
    *("Process", "library", "samples", "fits", f"drift: {' / '.join(STANDINGS)}"),
    *(f"tensor: {' / '.join(STANDINGS)}", "called missing terms", "identified"),
    *("drift covered", "tensor covered"),
)


def standing(result: Result, letter: str) -> str:
    """How the linear form stands in the worst of the components of a field, ``b`` or ``a``."""
    found = [how for name, how in result["linear"].items() if name.startswith(letter)]
    return max(found, key=STANDINGS.index)


def is_missing(result: Result) -> bool:
    """Whether the true library is said to lack terms."""
    return Limitation.MISSING_TERMS in result["limitations"]


def is_right(result: Result) -> bool:
    """Whether the linear drift and tensor are shown, and nothing is said to be missing."""
    return not is_missing(result) and all(standing(result, one) != ABSENT for one in "ba")


def build(lines: Sequence[Line]) -> Content:
    """A row for each process, library and size, and what they add up to."""
    index, rows, cases = Index(lines), [], []
    for key, process in PROCESSES.items():
        for library in (AUTO, process.library):
            for size in SIZES:
                results = index.results(
                    linear_case(key, library, size, seed) for seed in index.seeds
                )
                if results:
                    samples = f"{size.trajectories} x {size.steps}"
                    rows.append([process.title, library, samples, *_figures(results)])
                    cases.append(results)
    every = [result for results in cases for result in results]
    worst = min((sum(map(is_right, results)) / len(results) for results in cases), default=0.0)
    sentence = (
        "The linear form is written, or shown as an equal, and no terms are called missing, in "
        f"{sum(map(is_right, every))} of {len(every)} fits (worst row {worst:.0%})."
    )
    return Content(
        {"linear-forms": Grid("Linear forms", HEADINGS, rows, left=3)},
        sentences={"linear-forms-sum": sentence},
    )


def _figures(results: Sequence[Result]) -> list[str]:
    counts = (Counter(standing(result, letter) for result in results) for letter in "ba")
    identified = sum(result["verdict"] == "identified" for result in results)
    return [
        f"{len(results)}",
        *(" / ".join(f"{count[how]}" for how in STANDINGS) for count in counts),
        f"{sum(map(is_missing, results))}",
        f"{identified}",
        *(number(median(results, f"{field}_covered"), 2) for field in ("drift", "tensor")),
    ]
