"""Names of columns -> names that can stand in a formula."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Sequence

from wgsindy.errors import DataError
from wgsindy.files.notes import Note, listed
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
    if names is not None:
        if len(names) != len(states):
            raise DataError(
                f"{len(states)} states ({listed(list(states))}) need {len(states)} names, got "
                f"{list(names)}."
            )
        new = [str(name) for name in names]
    elif table.positional.issuperset(states) and len(states) <= 3:
        new = ["x", "y", "z"][: len(states)]
    elif table.positional.issuperset(states):
        new = [f"x{k + 1}" for k in range(len(states))]
    else:
        new = _for_formulas(states)
        changed = [
            f"{old} -> {now}"
            for old, now in zip(states, new, strict=True)
            if unicodedata.normalize("NFKC", old) != now
        ]
        if changed:
            notes.append(
                Note(
                    "renamed",
                    len(changed),
                    "names that cannot stand in a formula are changed: "
                    f"{'; '.join(changed)}. Pass names to choose others.",
                )
            )
    logged = []
    for name in log:
        either = [k for k, pair in enumerate(zip(states, new, strict=True)) if name in pair]
        if not either:
            raise DataError(f"log={name!r} is not a state; the states are {listed(new)}.")
        logged.append(either[0])
    for index in dict.fromkeys(logged):
        new[index] = f"log_{new[index]}"
    return tuple(new), tuple(dict.fromkeys(logged))


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
