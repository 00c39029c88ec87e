"""Names of columns -> names that can stand in a formula."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Sequence

from wgsindy.errors import DataError
from wgsindy.files.notes import Note, add_note, listed
from wgsindy.files.table import Table


def state_names(
    table: Table,
    states: Sequence[str],
    names: Sequence[str] | None,
    log: Sequence[str],
    notes: list[Note],
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return names of the coordinates and which are logarithms.

    ``log`` may use the name of the column or the new one.
    """
    new = _coordinates(table, states, names, notes)
    logged: list[int] = []
    for name in log:
        either = [k for k, pair in enumerate(zip(states, new, strict=True)) if name in pair]
        if not either:
            raise DataError(f"log={name!r} is not a state; the states are {listed(new)}.")
        logged += [k for k in either[:1] if k not in logged]
    return (
        tuple(f"log_{name}" if k in logged else name for k, name in enumerate(new)),
        tuple(logged),
    )


def _coordinates(
    table: Table, states: Sequence[str], names: Sequence[str] | None, notes: list[Note]
) -> list[str]:
    """Return the names given; else x, y, z for columns without names; else those of the columns."""
    if names is not None:
        if len(names) != len(states):
            raise DataError(
                f"{len(states)} states ({listed(list(states))}) need {len(states)} names, got "
                f"{list(names)}."
            )
        return [str(name) for name in names]
    if table.positional.issuperset(states):
        few = len(states) <= 3
        return ["x", "y", "z"][: len(states)] if few else [f"x{k + 1}" for k in range(len(states))]
    new = _for_formulas(states)
    changed = [
        f"{old} -> {now}"
        for old, now in zip(states, new, strict=True)
        if unicodedata.normalize("NFKC", old) != now
    ]
    add_note(
        notes,
        "renamed",
        len(changed),
        f"names that cannot stand in a formula are changed: {'; '.join(changed)}. Pass names to "
        "choose others.",
    )
    return new


def _for_formulas(states: Sequence[str]) -> list[str]:
    new: list[str] = []
    for state in states:
        name = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", state)).strip("_")
        if not name or not name.isidentifier():
            name = f"x_{name}" if name and f"x_{name}".isidentifier() else f"x{len(new) + 1}"
        if keyword.iskeyword(name):
            name += "_"
        while name in new:
            name += "_"
        new.append(name)
    return new
