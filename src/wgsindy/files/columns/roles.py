"""Which column is time, which numbers the trajectories, which are states, and their names."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.errors import DataError
from wgsindy.files.columns.times import UNIT_OF, looks_like_timestamps
from wgsindy.files.notes import Note, add_note, counted, listed
from wgsindy.files.table import Column, Table

_UNITS = "|".join(sorted(UNIT_OF, key=len, reverse=True))
TIME = re.compile(
    r"(t|ts|time|times|timestamp|datetime|date|epoch|elapsed|elapsed[ _]time|zeit|frame|frames)"
    rf"(\s*[\[(/]\s*({_UNITS})\s*[\])]?|[ _]+({_UNITS}))?",
    re.IGNORECASE,
)
TRAJECTORY = re.compile(
    r"(id|(trajectory|traj|track|particle|run|cell|series|replicate|rep|sim|simulation|path"
    r"|experiment|trial|subject|animal)([ _-]?(id|no|nr|number|index))?)",
    re.IGNORECASE,
)
ROW_NUMBER = re.compile(
    r"(index|row|rowid|row[ _]?(number|id)|unnamed: 0|no|nr|#|id|column \d+)", re.IGNORECASE
)
# A coordinate with noise goes up 19 times in a row once in 500,000.
SURELY_INCREASING = 20


@dataclass(frozen=True)
class Roles:
    """Names of columns; ``chosen`` says whether the states were named by the caller."""

    states: tuple[str, ...]
    time: str | None
    trajectory: str | None
    chosen: bool


def find_roles(
    table: Table,
    *,
    states: Sequence[str | int] | None,
    time: str | int | None,
    trajectory: str | int | None,
    dt: float | None,
    notes: list[Note],
) -> Roles:
    """Decide what each column is: by argument, else by name, else by what it holds.

    Raises
    ------
    DataError
        If a column is not there, has two roles, or no states or no times are left.
    """
    wanted = None if states is None else tuple(table.resolve(name) for name in states)
    taken: set[str | None] = set(wanted or ())
    id_column = (
        table.resolve(trajectory) if trajectory is not None else _find_trajectory(table, taken)
    )
    clock = table.resolve(time) if time is not None else _find_time(table, taken | {id_column})
    _refuse_two_roles(wanted or (), clock, id_column)
    if wanted is None:
        wanted = _find_states(table, {clock, id_column}, notes)
        if clock is None and len(wanted) > 1:
            clock = _guess_time(table, wanted, notes, even_only=dt is not None)
            wanted = tuple(name for name in wanted if name != clock)
    if not wanted:
        for reason in table.refused.values():
            raise DataError(reason)
        raise DataError(
            f"{table.label} has no column of states: its {counted(len(table.columns), 'column')} "
            f"are {listed(list(table.columns))}. Name the states, or check the separator."
        )
    if clock is None and dt is None:
        raise DataError(
            f"{table.label} has no column of times that can be recognised among "
            f"{listed(list(table.columns))}; pass time (the name of that column) or dt."
        )
    return Roles(wanted, clock, id_column, states is not None)


def as_list(columns: Any, argument: str) -> Sequence[Any] | None:
    """Return several columns, or one, as a list."""
    if isinstance(columns, (str, int, float)):
        return [columns]  # a single name is a list of one, not of its letters
    if columns is None:
        return None
    try:
        return list(columns)
    except TypeError:
        raise DataError(f"{argument} must be a list, got {columns!r}.") from None


def note_roles(roles: Roles, states: Sequence[str], notes: list[Note]) -> None:
    """Note what the columns were taken for."""
    time = f"time {roles.time!r}" if roles.time else "no time column"
    ids = f", trajectories by {roles.trajectory!r}" if roles.trajectory else ""
    notes.append(Note("choice", len(states), f"states {listed(states)}; {time}{ids}."))


def _refuse_two_roles(states: Sequence[str], time: str | None, trajectory: str | None) -> None:
    if len(set(states)) != len(states):
        raise DataError(f"each state is needed once, got {listed(list(states))}.")
    if time is not None and time == trajectory:
        raise DataError(f"column {time!r} cannot be both time and trajectory.")
    both = [name for name in (time, trajectory) if name in states]
    if both:
        raise DataError(
            f"column {both[0]!r} cannot be both a state and the time or trajectory; choose."
        )


def _find_time(table: Table, taken: set[str | None]) -> str | None:
    named = [n for n in table.columns if n not in taken and TIME.fullmatch(n.strip())]
    usable = [
        n for n in named if table.is_numeric(n) or looks_like_timestamps(table.columns[n])
    ] or named
    if usable:
        return usable[0]
    stamps = [n for n, c in table.columns.items() if n not in taken and looks_like_timestamps(c)]
    return stamps[0] if stamps else None


def _find_trajectory(table: Table, taken: set[str | None]) -> str | None:
    for name, column in table.columns.items():
        if name not in taken and TRAJECTORY.fullmatch(name.strip()) and _repeats(column):
            return name
    return None


def _repeats(column: Column) -> bool:
    """Whether a column names groups of rows: an id of each row names nothing."""
    return 2 * len(set(column.tolist())) <= len(column)


def _find_states(table: Table, taken: set[str | None], notes: list[Note]) -> tuple[str, ...]:
    numeric = [n for n in table.columns if n not in taken and table.is_numeric(n)]
    numeric = [n for n in numeric if np.isfinite(table.columns[n].astype(np.float64)).any()]
    counters = [n for n in numeric if ROW_NUMBER.fullmatch(n.strip()) and _counts(table, n)]
    # A lone counter may be a state after all: a ramp.
    if len(counters) < len(numeric) and (table.positional != frozenset(numeric)):
        numeric = [n for n in numeric if n not in counters]
    left_out = [n for n in table.columns if n not in taken and n not in numeric]
    if left_out:
        notes.append(
            Note(
                "choice",
                len(left_out),
                f"{listed(left_out)} of {table.label} hold no states (text, row numbers or "
                "nothing) and are left out.",
            )
        )
    return tuple(numeric)


def _counts(table: Table, name: str) -> bool:
    column = table.columns[name]
    return len(column) > 1 and column.dtype.kind in "iu" and bool((np.diff(column) == 1).all())


def _guess_time(
    table: Table, numeric: Sequence[str], notes: list[Note], *, even_only: bool
) -> str | None:
    name = numeric[0]
    if not _looks_like_time(table.numbers(name), even_only=even_only):
        return None
    notes.append(
        Note(
            "guess",
            1,
            f"column {name!r} of {table.label} is taken as time, since it is the first and "
            "increases all along; pass time or dt if that is wrong.",
        )
    )
    return name


def _looks_like_time(values: FloatArray, *, even_only: bool) -> bool:
    steps = np.diff(values[np.isfinite(values)])
    up = steps[steps > 0]
    if len(up) < 2 or len(up) < 0.9 * len(steps):
        return False
    even = bool(np.ptp(up) <= 0.01 * np.median(up))
    # Trajectories one after the other: even steps, and now and then back to the start.
    if even or even_only:
        return even
    return len(up) == len(steps) and len(steps) + 1 >= SURELY_INCREASING


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
