"""What stands on a command line as values: columns and libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wgsindy.terms.library import Library


def separated(given: Sequence[str] | None) -> list[str] | None:
    """Take repeated options and commas alike."""
    if given is None:
        return None
    return [part.strip() for item in given for part in item.split(",") if part.strip()]


def column(text: str | None) -> str | int | None:
    """Read a column: its name, or its position if that is a number."""
    return int(text) if text is not None and text.isdecimal() else text


def columns(given: Sequence[str] | None) -> list[str | int | None] | None:
    """Read several columns."""
    names = separated(given)
    return None if names is None else [column(name) for name in names]


def as_library(given: Sequence[str]) -> str | Library:
    """Read a name as it is; of several, join names and formulas."""
    from wgsindy.errors import LibraryError
    from wgsindy.terms.library import Library

    if len(given) == 1 and given[0].isidentifier():
        return given[0]
    parts = []
    for item in given:
        try:
            parts.append(Library.named(item))
        except LibraryError:
            parts.append(Library.custom([item]))
    return Library(tuple(part for library in parts for part in library.parts))
