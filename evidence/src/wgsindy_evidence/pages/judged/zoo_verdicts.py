"""All systems of the paper: whether what is said of them is right, or names the limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from wgsindy import zoo
from wgsindy.diagnostics import Limitation
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.judged.zoo_verdicts import (
    AUTO,
    DELICATE,
    LIBRARIES,
    OWN,
    zoo_verdict_case,
)
from wgsindy_evidence.experiments.ours.gallery import REFUSED
from wgsindy_evidence.experiments.ours.measured import LEAST_COVERED
from wgsindy_evidence.grid import Grid, number, percent
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import Index, median

Result = dict[str, Any]
Judgement = Literal["right", "named", "wrong"]
IDENTIFIED, NOTHING = "identified", "nothing"
JUDGEMENTS: tuple[Judgement, ...] = ("right", "named", "wrong")
LEAST_TOLD = 0.9  # of the fits of a row, right or named
COUNTS = " / ".join(JUDGEMENTS)
LIBRARY_NAMES = {OWN: "its own", AUTO: "auto"}
FIGURES = ("drift", "drift_covered", "tensor_covered", "grid_covered")
FIGURE_HEADINGS = ("drift error", "drift covered", "tensor covered", "drift covered on the grid")
ROW_HEADINGS = ("System", "library", "said first", "fits", "identified", COUNTS, *FIGURE_HEADINGS)
EVERY_HEADINGS = (
    *("System", "its limitation", "said first", "identified", COUNTS, "drift covered"),
    *("auto: said first", "identified", COUNTS, "drift covered"),
)


class Row(NamedTuple):
    """Fits of a system with one library."""

    system: str
    library: str
    results: list[Result]

    @property
    def judgements(self) -> Counter[Judgement]:
        """How many are right, named, wrong."""
        return Counter(judgement(self.system, result) for result in self.results)

    @property
    def told(self) -> float:
        """Share that is right or named."""
        return 1 - self.judgements["wrong"] / len(self.results)

    @property
    def compared(self) -> list[Result]:
        """Those that came to an end."""
        return [result for result in self.results if result["verdict"] != REFUSED]

    @property
    def identified(self) -> int:
        """How many are called identified."""
        return sum(result["verdict"] == IDENTIFIED for result in self.results)


def judgement(system: str, result: Result) -> Judgement:
    """Right if bands hold the truth; else named, if the fit says so; else wrong."""
    if holds_truth(result):
        return "right"
    return "named" if is_named(system, result) else "wrong"


def holds_truth(result: Result) -> bool:
    """Whether bands hold the drift, and drift and tensor together, at three of four points."""
    shares = (result.get(key, 0.0) for key in ("covered", "drift_covered"))
    return bool(min(shares) >= LEAST_COVERED)


def is_named(system: str, result: Result) -> bool:
    """Whether the verdict has a limit, or the fit notes the system's own, or a guessed field."""
    noted = {str(zoo.get(system).limitation), str(Limitation.EXTRAPOLATED)}
    return bool(result["verdict"] != IDENTIFIED or noted & set(result["limitations"]))


def is_unsaid(result: Result) -> bool:
    """Whether it is identified, and no word said of a drift that is false beyond the data."""
    return bool(
        result["verdict"] == IDENTIFIED
        and result["grid_covered"] < LEAST_COVERED
        and Limitation.EXTRAPOLATED not in result["limitations"]
    )


def rows_of(lines: Sequence[Line]) -> list[Row]:
    """A row for each system and library that has a result."""
    index = Index(lines)
    rows = [
        Row(
            system,
            library,
            index.results(zoo_verdict_case(system, library, seed) for seed in index.seeds),
        )
        for system in zoo.names()
        for library in LIBRARIES
    ]
    return [row for row in rows if row.results]


def build(lines: Sequence[Line]) -> Content:
    """The delicate systems, all systems, the rows that fail, and what they add up to."""
    rows = rows_of(lines)
    delicate = [row for row in rows if row.system in DELICATE]
    failing = [row for row in rows if row.told < LEAST_TOLD]
    none = ["none", *["-"] * (len(ROW_HEADINGS) - 1)]
    return Content(
        {
            "zoo-verdicts-delicate": Grid(
                "Where a false field was called identified",
                ROW_HEADINGS,
                [_cells(row) for row in delicate] or [none],
                left=3,
            ),
            "zoo-verdicts": Grid("All systems", EVERY_HEADINGS, _every_cells(rows), left=3),
            "zoo-verdicts-failing": Grid(
                "Rows that fail", ROW_HEADINGS, [_cells(row) for row in failing] or [none], left=3
            ),
        },
        sentences={"zoo-verdicts-sum": headline(rows)},
    )


def headline(rows: Sequence[Row]) -> str:
    """What it all adds up to."""
    every = [result for row in rows for result in row.results]
    identified = [result for result in every if result["verdict"] == IDENTIFIED]
    wrong = sum(row.judgements["wrong"] for row in rows)
    failing = sum(row.told < LEAST_TOLD for row in rows)
    unsaid = sum(map(is_unsaid, identified))
    told = [row.told for row in rows if row.system in DELICATE]
    worst = percent(min(told)) if told else "-"
    return (
        f"Called identified: {len(identified)} of {len(every)}. Wrong: {wrong}; more than one in "
        f"ten in {failing} of {len(rows)} rows. Right or named of the five delicate systems, worst "
        f"row: {worst}. Identified, with a drift that is false on the grid beyond the data and no "
        f"word of it: {unsaid}."
    )


def _cells(row: Row) -> list[str]:
    return [
        zoo.get(row.system).title,
        LIBRARY_NAMES[row.library],
        _said(row),
        f"{len(row.results)}",
        f"{row.identified}",
        _counts(row),
        *(number(median(row.compared, key), 2) for key in FIGURES),
    ]


def _every_cells(rows: Sequence[Row]) -> list[list[str]]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row.system, {})[row.library] = row
    return [
        [
            zoo.get(system).title,
            str(zoo.get(system).limitation) or "none",
            *(cell for library in LIBRARIES for cell in _short_cells(libraries.get(library))),
        ]
        for system, libraries in found.items()
    ]


def _short_cells(row: Row | None) -> list[str]:
    if row is None:
        return ["-"] * 4
    covered = number(median(row.compared, "drift_covered"), 2)
    return [_said(row), f"{row.identified}", _counts(row), covered]


def _counts(row: Row) -> str:
    return " / ".join(f"{row.judgements[one]}" for one in JUDGEMENTS)


def _said(row: Row) -> str:
    """What is said first most often."""
    said = Counter(result["first"].split(":")[0] or NOTHING for result in row.results)
    return said.most_common(1)[0][0]
