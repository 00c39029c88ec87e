"""What stands on a command line as values: columns, recipes, libraries, folders."""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wgsindy.recipes import Recipe
    from wgsindy.terms.library import Library


def default_folder(data: Sequence[str]) -> Path:
    """Name a folder for results after the data; numbers of several files are left out.

    >>> default_folder(["runs/cell_01.csv", "runs/cell_12.csv"]).name
    'cell-wgsindy'
    """
    stem = Path(data[0]).name.split(".")[0]
    if len(data) > 1 or glob.has_magic(stem):
        stem = re.split(r"[*?\[]", stem)[0].rstrip("-_ 0123456789")
    return Path(f"{stem.strip('-') or 'data'}-wgsindy")


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


def as_recipe(name: str, *, noise_correction: bool) -> Recipe:
    """Return a recipe, with the correction for observation noise if wanted."""
    from wgsindy import recipes

    found = recipes.get(name)
    if not noise_correction or found.noise_correction:
        return found
    return replace(found, name=f"{found.name}-noise", noise_correction=True)


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


def known_unit(unit: str | None, time_unit: str | None) -> str:
    """Name the unit of time in the result: the one asked for, else that of the column."""
    from wgsindy.files.columns.units import checked_unit

    return checked_unit(unit or time_unit, "unit") or ""
