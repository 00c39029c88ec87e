"""How a text file writes its table: separator, header, comments, where the numbers begin."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from wgsindy.errors import DataError

COMMENTS = ("#", "%", "//", "!", "@")
# In order of preference where two fit equally; None stands for any run of blanks.
SEPARATORS: tuple[str | None, ...] = (";", "\t", "|", ",", None)
MISSING = frozenset(
    ("", "-", "--", "?", ".", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing")
)
NUMBER_FIELD = re.compile(
    r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([ed][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII
)
DECIMAL_PART = re.compile(r"[.,]|\d[ed]", re.IGNORECASE | re.ASCII)
MOMENT_FIELD = re.compile(
    r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ].*)?|\d{8}T\d+.*|\d{1,2}:\d{2}(:\d{2}([.,]\d*)?)?",
    re.ASCII,
)
LOOKED_AT = 300  # lines that are no comments: more do not change what is found
QUOTE = '"'
LONGEST_FIELD = 20  # lines of a quoted field: beyond, its quote was never closed

FieldKind = Literal["number", "moment", "missing", "text"]


@dataclass(frozen=True)
class Dialect:
    """``first`` is the line where the data begin; ``names`` and ``units`` stand above it."""

    separator: str | None
    width: int
    first: int
    names: tuple[str, ...] | None
    units: tuple[str, ...] | None


def find_dialect(lines: Sequence[str], label: str, known: str | None = None) -> Dialect:
    """Find out how a table is written from its first lines, blank ones left out.

    ``known`` is the separator, if nobody has to guess it.

    Raises
    ------
    DataError
        If no line holds a number.
    """
    head = _head(lines)
    # What stands above a table (a device's name, settings) must not vote on its separator.
    sample = [line for line in head[len(head) // 3 :] if not is_comment(line)]
    separator, width = _separator_and_width(sample, (known,) if known else SEPARATORS)
    rows = [split_line(line, separator) for line in sample]
    kinds = _column_kinds([row for row in rows if len(row) == width], width)
    if not any(kind in ("number", "moment") for kind in kinds):
        raise DataError(
            f"{label} holds no table of numbers: its lines look like {sample[-1][:60]!r}."
            if sample
            else f"{label} holds nothing but comments; is this the right file?"
        )
    first = next(
        (i for i, line in enumerate(head) if _is_data(line, separator, kinds)), len(head) - 1
    )
    names, units = _header(head[:first], separator, kinds)
    return Dialect(separator, width, first, names, units)


def _head(lines: Sequence[str]) -> Sequence[str]:
    """Return the first lines, as many as it takes to see enough of them that are no comments."""
    rows = 0
    for number, line in enumerate(lines):
        rows += not is_comment(line)
        if rows == LOOKED_AT:
            return lines[: number + 1]
    return lines


def is_comment(line: str) -> bool:
    """Whether a line is a comment."""
    return line.lstrip().startswith(COMMENTS)


def split_line(line: str, separator: str | None) -> list[str]:
    """Return the fields of one line, without the blanks around them."""
    if separator is None:
        return line.split()
    if QUOTE not in line:  # lines of any length: csv refuses fields of more than 128 KiB
        return [field.strip() for field in line.split(separator)]
    try:
        fields = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:  # a quote that opens and has 128 KiB behind it
        return [line]
    return [field.strip() for field in fields]


def quoted_rows(lines: Sequence[str], separator: str, width: int) -> Iterator[list[str]]:
    """Split lines whose fields may stand in double quotes, and may run over a few lines in them.

    A quote that is not closed spoils its own line and no other: lines are joined only if none of
    those that follow is a whole row by itself, and the rows together are one.

    >>> list(quoted_rows(['1,"2', "3,4", '5,"a', 'b"'], ",", 2))
    [['1', '2'], ['3', '4'], ['5', 'a b']]
    """
    number = 0
    while number < len(lines):
        row, taken = split_line(lines[number], separator), 1
        if lines[number].count(QUOTE) % 2:
            row, taken = _joined(lines[number : number + LONGEST_FIELD], separator, width) or (
                row,
                taken,
            )
        yield row
        number += taken


def _joined(lines: Sequence[str], separator: str, width: int) -> tuple[list[str], int] | None:
    """Return the row that begins with an open quote, and its number of lines, if it is closed."""
    for count, line in enumerate(lines[1:], start=2):
        if len(split_line(line, separator)) == width:
            return None
        if line.count(QUOTE) % 2:
            row = split_line(" ".join(lines[:count]), separator)
            return (row, count) if len(row) == width else None
    return None


def kind_of(field: str) -> FieldKind:
    """Say what one field looks like."""
    if field.lower() in MISSING:
        return "missing"
    if NUMBER_FIELD.fullmatch(field):
        return "number"
    return "moment" if MOMENT_FIELD.fullmatch(field) else "text"


def _separator_and_width(
    sample: Sequence[str], separators: Sequence[str | None]
) -> tuple[str | None, int]:
    best: tuple[float, str | None, int] = (0.0, ",", 1)
    for separator in separators:
        rows = [split_line(line, separator) for line in sample]
        widths = Counter(len(row) for row in rows if len(row) > 1)
        if not widths:
            continue
        width, agreeing = widths.most_common(1)[0]
        fields = [field for row in rows if len(row) == width for field in row]
        clean = sum(kind_of(field) != "text" for field in fields) / len(fields)
        score = clean * agreeing / len(sample)
        # A whole decimal comma is a better reading than two numbers side by side, and it comes
        # with a separator of higher preference: only a clear gain takes the later one.
        if score > best[0] + 1e-9:
            best = (score, separator, width)
    return best[1], best[2]


def _column_kinds(rows: Sequence[Sequence[str]], width: int) -> list[FieldKind]:
    kinds: list[FieldKind] = []
    for position in range(width):
        votes = Counter(kind_of(row[position]) for row in rows)
        votes.pop("missing", None)
        # A header of a very short file has as many votes as its numbers: the numbers win.
        ranked = sorted(votes, key=lambda kind: (votes[kind], kind != "text"))
        kinds.append(ranked[-1] if ranked else "missing")
    return kinds


def _is_data(line: str, separator: str | None, kinds: Sequence[FieldKind]) -> bool:
    if is_comment(line):
        return False
    fields = split_line(line, separator)
    if len(fields) != len(kinds):
        return False
    field_kinds = [kind_of(field) for field in fields]
    if any(
        kind == "number" and DECIMAL_PART.search(f)
        for kind, f in zip(field_kinds, fields, strict=True)
    ):
        return True
    clash = any(
        kind == "text" and usual in ("number", "moment")
        for kind, usual in zip(field_kinds, kinds, strict=True)
    )
    return not clash and any(kind in ("number", "moment") for kind in field_kinds)


def _header(
    above: Sequence[str], separator: str | None, kinds: Sequence[FieldKind]
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    words = [split_line(line, separator) for line in above if not is_comment(line)]
    last = _named(words[-1], kinds) if words else None
    if last is None:
        comments = [line for line in above if is_comment(line)]
        return _commented_header(comments, separator, len(kinds)), None
    if len(words) > 1 and len(words[-2]) == len(kinds) and all(words[-2]):
        return tuple(words[-2]), last  # two lines of words over the numbers: names, then units
    return last, None


def _commented_header(
    comments: Sequence[str], separator: str | None, width: int
) -> tuple[str, ...] | None:
    """Return the names in the last comment, where numpy.savetxt writes them."""
    words = comments[-1].lstrip().lstrip("#%/!@").strip() if comments else ""
    for candidate in (separator, None):
        fields = split_line(words, candidate)
        if len(fields) == width:
            return tuple(fields)
    return None


def _named(fields: Sequence[str], kinds: Sequence[FieldKind]) -> tuple[str, ...] | None:
    if len(fields) == len(kinds):
        return tuple(fields)
    if len(fields) == len(kinds) - 1:
        # A separator at the end of each row of numbers; or R, whose row names have no name.
        return (*fields, "") if kinds[-1] == "missing" else ("", *fields)
    return None
