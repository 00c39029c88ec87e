"""What was found in the data and what was done about it: a note each, most of them warned."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wgsindy.errors import (
    ConstantColumnWarning,
    DuplicateRowsWarning,
    EncodingGuessWarning,
    GapWarning,
    GuessedColumnWarning,
    MissingValuesWarning,
    MixedUnitsWarning,
    OutlierWarning,
    RenamedColumnsWarning,
    RepeatedSamplesWarning,
    ShortPiecesWarning,
    TimeRestartsWarning,
    UnreadableFieldsWarning,
    UnsortedTimesWarning,
    WgsindyWarning,
)

Kind = Literal[
    "choice",
    "gap",
    "missing",
    "short",
    "duplicate",
    "unsorted",
    "restart",
    "constant",
    "repeated",
    "outlier",
    "units",
    "guess",
    "unreadable",
    "encoding",
    "renamed",
]

# A choice that follows from names or from arguments is told, not warned of.
WARNING_OF: dict[Kind, type[WgsindyWarning]] = {
    "gap": GapWarning,
    "missing": MissingValuesWarning,
    "short": ShortPiecesWarning,
    "duplicate": DuplicateRowsWarning,
    "unsorted": UnsortedTimesWarning,
    "restart": TimeRestartsWarning,
    "constant": ConstantColumnWarning,
    "repeated": RepeatedSamplesWarning,
    "outlier": OutlierWarning,
    "units": MixedUnitsWarning,
    "guess": GuessedColumnWarning,
    "unreadable": UnreadableFieldsWarning,
    "encoding": EncodingGuessWarning,
    "renamed": RenamedColumnsWarning,
}


@dataclass(frozen=True)
class Note:
    """One finding: its kind, how many rows, columns or files it concerns, and a sentence."""

    kind: Kind
    count: int
    sentence: str


def warn_of(notes: Sequence[Note], *, stacklevel: int) -> None:
    """Give each note its warning; ``stacklevel`` counts from the caller of this function."""
    for note in notes:
        if note.kind in WARNING_OF:
            warnings.warn(note.sentence, WARNING_OF[note.kind], stacklevel=stacklevel + 1)


def counted(count: int, noun: str) -> str:
    """Return ``1 row`` or ``2 rows``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(items: Sequence[str], most: int = 8) -> str:
    """Return the first items in quotes, and how many more there are."""
    shown = ", ".join(repr(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
