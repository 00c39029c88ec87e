"""The gallery: what is falsely identified, which controls are not, and what crashes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours.gallery import CRASHED, REFUSED
from wgsindy_evidence.experiments.ours.gallery_data.everything import KINDS
from wgsindy_evidence.experiments.ours.gallery_data.kind import Kind, Size
from wgsindy_evidence.experiments.ours.measured import LEAST_COVERED
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import median

Result = dict[str, Any]
IDENTIFIED = "identified"
VERDICTS = (IDENTIFIED, "partly identified", "not identified", REFUSED)
COUNTS = "identified / partly / not / refused"
NULL_HEADINGS = (
    *("Null", "what is wrong with it", "small", f"small: {COUNTS}", f"large: {COUNTS}"),
    "named first",
)
GENUINE_HEADINGS = (
    *("Process", "", "small", f"small: {COUNTS}", f"large: {COUNTS}", "named first"),
    *("drift", "tensor", "drift covered", "tensor covered"),
)
FAILING_HEADINGS = ("Failing", "role", "size", "fits", "wrong", "said first")
NOTHING = "nothing"
NULLS = ("null", "later", "latest")  # roles that must not be identified


class Row(NamedTuple):
    """A kind in one size, and its results."""

    kind: Kind
    size: Size
    results: list[Result]

    @property
    def wrong(self) -> list[Result]:
        """Results that must not be."""
        return [result for result in self.results if is_wrong(self.kind, result)]


def is_wrong(kind: Kind, result: Result) -> bool:
    """Crashes, nulls that are identified, controls that are not, hard ones with false bands."""
    identified = result["verdict"] == IDENTIFIED
    if kind.role == "control":
        return not identified
    if result["verdict"] == CRASHED:
        return True
    return identified and (kind.role in NULLS or not holds_truth(result))


def holds_truth(result: Result) -> bool:
    """Whether bands hold the process that was seen, or spoilt, at three of four points."""
    return bool(result.get("covered", 0.0) >= LEAST_COVERED)


def rows_of(lines: Sequence[Line]) -> list[Row]:
    """A row for each kind and size that has a result."""
    found: dict[tuple[str, Size], list[Result]] = {}
    for line in lines:
        if line.result is not None and line.case.system in KINDS:
            size = Size(line.case.trajectories, line.case.steps)
            found.setdefault((line.case.system, size), []).append(line.result)
    return [
        Row(kind, size, found[kind.key, size])
        for kind in KINDS.values()
        for size in kind.sizes
        if (kind.key, size) in found
    ]


def build(lines: Sequence[Line]) -> Content:
    """A table of nulls, one of genuine processes, one of what fails, and the sums."""
    rows = rows_of(lines)
    nulls = [row for row in rows if row.kind.role == "null"]
    later, latest = ([row for row in rows if row.kind.role == role] for role in ("later", "latest"))
    genuine = [row for row in rows if row.kind.role not in NULLS]
    failing = [row for row in rows if row.wrong]
    return Content(
        {
            "gallery-nulls": _grid("Nulls", NULL_HEADINGS, _null_cells(nulls), 3),
            "gallery-later": _grid("Thought of later", NULL_HEADINGS, _null_cells(later), 3),
            "gallery-latest": _grid("Thought of last", NULL_HEADINGS, _null_cells(latest), 3),
            "gallery-genuine": _grid("Diffusions", GENUINE_HEADINGS, _genuine_cells(genuine), 3),
            "gallery-failing": _grid("What fails", FAILING_HEADINGS, _failing_cells(failing), 3),
        },
        sentences={"gallery-sum": headline(rows)},
    )


def headline(rows: Sequence[Row]) -> str:
    """What it all adds up to."""
    nulls, later, latest, hard, controls = (
        [(row.kind, result) for row in rows if row.kind.role == role for result in row.results]
        for role in (*NULLS, "hard", "control")
    )
    false = [result for _, result in nulls if result["verdict"] == IDENTIFIED]
    right = sum(map(holds_truth, false))
    named = sum(result["verdict"] == IDENTIFIED for _, result in controls)
    every = (*nulls, *later, *latest, *hard, *controls)
    crashed = sum(result["verdict"] == CRASHED for _, result in every)
    missed = sum(
        result["verdict"] == IDENTIFIED and is_wrong(kind, result) for kind, result in hard
    )
    return (
        f"Falsely identified: {_share(len(false), len(nulls))}; in {right} of these the bands hold "
        f"the process behind the data all the same. Of kinds thought of after most checks: "
        f"{_share(sum(is_wrong(*one) for one in later), len(later))}; after all of them: "
        f"{_share(sum(is_wrong(*one) for one in latest), len(latest))}. Controls identified: "
        f"{_share(named, len(controls))}. Hard ones with false bands: {missed} of {len(hard)}. "
        f"Crashed: {crashed}."
    )


def _share(count: int, total: int) -> str:
    """Say it so finely that what is asked for, one in a hundred, is not met by rounding."""
    return f"{count} of {total} ({100 * count / total:.3g} %)" if total else "0 of 0"


def _grid(title: str, headings: Sequence[str], rows: list[list[str]], left: int) -> Grid:
    none = ["none", *["-"] * (len(headings) - 1)]
    return Grid(title, headings, rows or [none], left=left)


def _by_kind(rows: Sequence[Row]) -> list[tuple[Kind, dict[Size, Row]]]:
    found: dict[str, dict[Size, Row]] = {}
    for row in rows:
        found.setdefault(row.kind.key, {})[row.size] = row
    return [(KINDS[key], sizes) for key, sizes in found.items()]


def _null_cells(rows: Sequence[Row]) -> list[list[str]]:
    return [[kind.title, kind.why, *_verdict_cells(kind, sizes)] for kind, sizes in _by_kind(rows)]


def _genuine_cells(rows: Sequence[Row]) -> list[list[str]]:
    cells = []
    for kind, sizes in _by_kind(rows):
        every = [result for row in sizes.values() for result in row.results if "drift" in result]
        errors = [number(median(every, key)) for key in ("drift", "tensor")]
        shares = [number(median(every, f"{key}_covered"), 2) for key in ("drift", "tensor")]
        cells.append([kind.title, kind.why, *_verdict_cells(kind, sizes), *errors, *shares])
    return cells


def _verdict_cells(kind: Kind, sizes: dict[Size, Row]) -> list[str]:
    every = [result for row in sizes.values() for result in row.results]
    counts = [_counts(sizes[size].results) if size in sizes else "-" for size in kind.sizes]
    return [_size(kind.sizes[0]), *counts, _most_often(every)]


def _counts(results: Sequence[Result]) -> str:
    found = Counter(result["verdict"] for result in results)
    crashed = f", {found[CRASHED]} crashed" if found[CRASHED] else ""
    return " / ".join(f"{found[verdict]}" for verdict in VERDICTS) + crashed


def _most_often(results: Sequence[Result]) -> str:
    """What is named first most often, without the particulars of a refusal."""
    named = Counter(_short(result["first"]) for result in results)
    return named.most_common(1)[0][0] if named else "-"


def _short(first: str) -> str:
    return first.split(":")[0] or NOTHING


def _size(size: Size) -> str:
    return f"{size.trajectories} x {size.steps}"


def _failing_cells(rows: Sequence[Row]) -> list[list[str]]:
    return [
        [
            row.kind.title,
            row.kind.role,
            _size(row.size),
            f"{len(row.results)}",
            f"{len(row.wrong)}",
            _most_often(row.wrong),
        ]
        for row in rows
    ]
