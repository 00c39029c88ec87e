"""Which column is time, which numbers the trajectories, which are states, and their names.

Some columns of numbers are no states: row numbers, ids, other clocks, what a tracker measured. Each
rule against one applies only if states are left, so a lone column is never lost to its name.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.errors import DataError
from wgsindy.files.columns.times import MOSTLY, looks_like_timestamps
from wgsindy.files.notes import Notes, counted, listed
from wgsindy.files.options import StreamOptions, as_list
from wgsindy.files.table import UNIT_OF, Column, Roles, Table, header_unit

ROW_NUMBER = re.compile(
    r"(index|row|rowid|row[ _]?(number|id)|unnamed: 0|no|nr|#|id|column \d+)", re.IGNORECASE
)
ID = re.compile(r"(?i:(.*[ _-])?(id|ids|uid|uuid))|.*[a-z]ID")
CALENDAR_PART = re.compile(
    r"(year|yr|month|mon|day|hour|hr|minute|second|weekday|week|quarter|doy"
    r"|day[ _]?of[ _]?(week|year)|month[ _]?number|decimal([ _]?(date|year))?)",
    re.IGNORECASE,
)
POSITION = re.compile(r"(position|pos|centroid|center|centre|coord)?[ _-]?[xyz](\s*[\[(].*)?", re.I)
# What trackpy, TrackMate and their like say of a spot beside where it is.
QUALITY = re.compile(
    r"mass|raw_mass|size|ecc|eccentricity|signal|ep|quality|radius|r|diameter|area|perimeter"
    r"|visibility|snr.*|contrast.*|.*intensity.*|.*[ _]ch\d+|score|likelihood|confidence|label"
    r"|(manual[ _])?(spot[ _])?colou?r|n_?spots|std.*|sigma.*|background|bg|chi2|photons"
    r"|solidity|circularity|ellipse.*|shape[ _]index",
    re.IGNORECASE,
)
OPEN_HIGH_LOW = ("open", "high", "low")
CLOSES = ("adj close", "adj. close", "adjusted close", "adj_close", "adjclose", "close", "last")
BESIDE_PRICES = re.compile(
    r"volume|vol|turnover|trades|count|number of trades|dividends?|stock splits|capital gains"
    r"|vwap|openint|open interest|quote.*volume|taker.*|ignore|change( %)?|change %",
    re.IGNORECASE,
)


def real_states(
    table: Table,
    numeric: Sequence[str],
    *,
    clock: str | None,
    tracked: bool,
    is_time: Callable[[str], bool],
) -> list[str]:
    """Return which columns of numbers may be states.

    ``tracked`` if the rows belong to tracks or frames of a film; ``is_time`` says whether a name
    is one of times.
    """
    states = list(numeric)
    counting = [
        name
        for name, column in table.columns.items()
        if len(column) > 2 and column.dtype.kind in "iu" and (np.diff(column) == 1).all()
    ]
    rules: list[Callable[[str], bool]] = [
        lambda name: name in counting,
        lambda name: bool(ID.fullmatch(name.strip())) and _whole(table, name),
        lambda name: is_time(name) and _goes_on(table, name),
        lambda name: clock is not None and bool(CALENDAR_PART.fullmatch(name.strip())),
    ]
    if tracked and any(POSITION.fullmatch(name.strip()) for name in numeric):
        rules.append(lambda name: bool(QUALITY.fullmatch(name.strip())))
    for rule in rules:
        kept = [name for name in states if not rule(name)]
        # A lone counter may be a state after all: a ramp.
        states = kept if kept and table.positional != frozenset(states) else states
    return _positions_in_order(_one_price(states))


def _whole(table: Table, name: str) -> bool:
    values = table.numbers(name)
    there = values[np.isfinite(values)]
    return bool((there == np.round(there)).all())


def _goes_on(table: Table, name: str) -> bool:
    """Whether a column goes on nearly everywhere, as a clock does, and a temperature T does not."""
    steps = np.diff(table.numbers(name))
    return bool(np.mean(steps[np.isfinite(steps)] >= 0) > MOSTLY) if len(steps) else False


def _one_price(names: list[str]) -> list[str]:
    """Of prices keep the close: open, high and low are the same price, a little earlier."""
    lower = {name.strip().lower(): name for name in names}
    close = next((lower[name] for name in CLOSES if name in lower), None)
    if close is None or not all(name in lower for name in OPEN_HIGH_LOW):
        return names
    other_prices = {lower[name] for name in (*OPEN_HIGH_LOW, *CLOSES) if name in lower} - {close}
    return [n for n in names if n not in other_prices and not BESIDE_PRICES.fullmatch(n.strip())]


def _positions_in_order(names: list[str]) -> list[str]:
    """Write y, x of an image as x, y."""
    plain = [name.strip().lower() for name in names]
    return sorted(names, key=str.lower) if set(plain) <= {"x", "y", "z"} else names


_UNITS = "|".join(sorted(UNIT_OF, key=len, reverse=True))
TIME_NAME = re.compile(
    r"(t|ts|time|times|timestamp|datetime|date|epoch|elapsed|elapsed[ _]time|zeit|frame|frames"
    r"|position[ _]t|open[ _]time|(decimal[ _]?)?(year|date)|decimal|datum|day)"
    rf"(\s*[\[(/]\s*({_UNITS})\s*[\])]?|[ _]+({_UNITS}))?",
    re.IGNORECASE,
)
TRAJECTORY_NAME = re.compile(
    r"(id|(trajectory|traj|track|particle|run|cell|series|replicate|rep|sim|simulation|path"
    r"|experiment|trial|subject|animal|symbol|ticker|tic|isin|instrument|station|device)"
    r"([ _-]?(id|no|nr|number|index))?)",
    re.IGNORECASE,
)
# A coordinate with noise goes up 19 times in a row once in 500,000.
SURELY_INCREASING = 20
MANY_STATES = 3  # beyond, a guess is told: libraries grow with a power of the number
STATE = "x"


def find_roles(
    table: Table, asked: StreamOptions, notes: Notes, inputs: Sequence[str] = ()
) -> Roles:
    """Decide what each column is: by argument, else by name, else by what it holds.

    ``inputs`` are columns beside the states that were asked for.

    Raises
    ------
    DataError
        If a column is not there, has two roles, or no states or no times are left.
    """
    time, trajectory = asked.time, asked.trajectory
    wanted = None
    if asked.states is not None:
        wanted = tuple(_resolved(table, [*as_list(asked.states, "states"), *inputs]))
    taken: set[str | None] = set(wanted or ())
    id_column = (
        table.resolve(trajectory) if trajectory is not None else _find_trajectory(table, taken)
    )
    clock = table.resolve(time) if time is not None else _find_time(table, taken | {id_column})
    _refuse_two_roles(wanted or (), clock, id_column)
    if clock is not None and id_column is None and trajectory is None:
        id_column = _told_apart_by(table, clock, taken)
    if wanted is None:
        wanted = _find_states(table, clock, id_column, notes)
        if clock is None and len(wanted) > 1:
            clock = _guess_time(table, wanted, notes, even_only=asked.dt is not None)
            wanted = tuple(name for name in wanted if name != clock)
    if not wanted:
        for reason in table.refused.values():
            raise DataError(reason)
        raise DataError(
            f"{table.label} has no column of states: its {counted(len(table.columns), 'column')} "
            f"are {listed(list(table.columns))}.{_no_number(table)} Name the states, or check the "
            "separator."
        )
    if clock is None and asked.dt is None:
        raise DataError(
            f"{table.label} has no column of times that can be recognised among "
            f"{listed(list(table.columns))}; pass time (the name of that column) or dt."
        )
    return Roles(wanted, clock, id_column, asked.states is not None)


def _no_number(table: Table) -> str:
    """Say what a column holds that has no numbers."""
    for name, column in table.columns.items():
        if not table.is_numeric(name):
            shown = next((value for value in column.tolist() if value is not None), None)
            return f" In {name!r}, {shown!r:.40} is no number."
    return ""


def note_roles(roles: Roles, states: Sequence[str], notes: Notes) -> None:
    """Note what the columns were taken for."""
    time = f"time {roles.time!r}" if roles.time else "no time column"
    ids = f", trajectories by {roles.trajectory!r}" if roles.trajectory else ""
    notes.add("choice", len(states), f"states {listed(states)}; {time}{ids}.")
    if len(states) > MANY_STATES and not roles.chosen:
        notes.add(
            "choice",
            len(states),
            f"{len(states)} states were guessed, all columns of numbers: {listed(states, 20)}. "
            "A fit of fewer says more: choose with states (--states A,B); if each column is a "
            "run of its own of one state, pass replicates (--replicates).",
        )


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
    named = [n for n in table.columns if n not in taken and TIME_NAME.fullmatch(n.strip())]
    usable = [
        n for n in named if table.is_numeric(n) or looks_like_timestamps(table.columns[n])
    ] or named
    if usable:  # of a year and a date, the one that tells rows apart
        return max(usable, key=lambda n: len(set(table.columns[n].tolist())))
    stamps = [n for n, c in table.columns.items() if n not in taken and looks_like_timestamps(c)]
    return stamps[0] if stamps else None


def _find_trajectory(table: Table, taken: set[str | None]) -> str | None:
    for name, column in table.columns.items():
        if name not in taken and TRAJECTORY_NAME.fullmatch(name.strip()) and _repeats(column):
            return name
    return None


def _repeats(column: Column) -> bool:
    """Whether a column names groups of rows: an id of each row names nothing."""
    return 2 * len(set(column.tolist())) <= len(column)


def _resolved(table: Table, given: Sequence[str | int]) -> Iterator[str]:
    """Yield columns; one text may name several with commas between them, or one with a comma."""
    for item in given:
        if not isinstance(item, str) or item in table.columns:
            yield table.resolve(item)
        else:
            yield from (table.resolve(part.strip()) for part in item.split(",") if part.strip())


def _told_apart_by(table: Table, clock: str, taken: set[str | None]) -> str | None:
    """Return the only column of words with which each time is there once, if it is not without."""
    times = table.columns[clock].tolist()
    if len(set(times)) == len(times):
        return None
    words = [
        name
        for name, column in table.columns.items()
        if name not in taken | {clock}
        and column.dtype.kind == "O"
        and _repeats(column)
        and len(set(zip(times, column.tolist(), strict=True))) == len(times)
    ]
    return words[0] if len(words) == 1 else None


def _find_states(
    table: Table, clock: str | None, trajectory: str | None, notes: Notes
) -> tuple[str, ...]:
    taken = {clock, trajectory}
    numeric = [n for n in table.columns if n not in taken and table.is_numeric(n)]
    numeric = [n for n in numeric if np.isfinite(table.columns[n].astype(np.float64)).any()]
    states = real_states(
        table,
        numeric,
        clock=clock,
        tracked=trajectory is not None or (clock or "").strip().lower().startswith("frame"),
        is_time=lambda name: bool(TIME_NAME.fullmatch(name.strip())),
    )
    left_out = [n for n in table.columns if n not in taken and n not in states]
    if left_out:
        notes.add(
            "choice",
            len(left_out),
            f"{listed(left_out)} of {table.label} hold no states (text, row numbers, ids, "
            "other clocks, qualities, or nothing) and are left out; choose with states.",
        )
    return tuple(states)


def _guess_time(
    table: Table, numeric: Sequence[str], notes: Notes, *, even_only: bool
) -> str | None:
    name = numeric[0]
    if not _looks_like_time(table.numbers(name), even_only=even_only):
        return None
    notes.add(
        "guess",
        1,
        f"column {name!r} of {table.label} is taken as time, since it is the first and "
        "increases all along; pass time or dt if that is wrong.",
    )
    return name


def _looks_like_time(values: FloatArray, *, even_only: bool) -> bool:
    steps = np.diff(values[np.isfinite(values)])
    up = steps[steps > 0]
    if len(up) < 2 or len(up) < MOSTLY * len(steps):
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
    notes: Notes,
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return names of the coordinates and which are logarithms.

    ``log`` may use the name of the column or the new one.
    """
    new = _coordinates(table, states, names, notes)
    logged: list[int] = []
    for name in log:
        either = [k for k, both in enumerate(zip(states, new, strict=True)) if name in both]
        either = either or [k for k, now in enumerate(new) if now == formula_name(name)]
        if not either:
            raise DataError(f"log={name!r} is not a state; the states are {listed(new)}.")
        logged += [k for k in either[:1] if k not in logged]
    return (
        tuple(f"log_{name}" if k in logged else name for k, name in enumerate(new)),
        tuple(logged),
    )


def _coordinates(
    table: Table, states: Sequence[str], names: Sequence[str] | None, notes: Notes
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
    bare = [header_unit(state, table.units)[0] for state in states]
    if len(set(bare)) < len(bare):  # v (m) and v (s): the units tell them apart
        bare = list(states)
    new = _for_formulas(bare)
    changed = [
        f"{old} -> {now}"
        for old, given, now in zip(states, bare, new, strict=True)
        if unicodedata.normalize("NFKC", given) != now
    ]
    notes.add(
        "renamed",
        len(changed),
        f"names that cannot stand in a formula are changed: {'; '.join(changed)}. Pass names to "
        "choose others.",
    )
    return new


def formula_name(column: str) -> str:
    """Return what a column is called in a formula.

    >>> formula_name("Adj Close"), formula_name("x [um]")
    ('Adj_Close', 'x')
    """
    return _for_formulas([header_unit(column, {})[0]])[0]


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


def one_trajectory_a_column(
    tables: Sequence[Table], roles: Roles, names: Sequence[str] | None, notes: Notes
) -> tuple[list[Table], Roles]:
    """Return a table for each column of numbers, with the times of the whole, and its roles.

    Raises
    ------
    DataError
        If the rows have ids, too: then nothing says what a trajectory is.
    """
    if roles.trajectory is not None:
        raise DataError(
            f"replicates takes each column as a trajectory, but column {roles.trajectory!r} tells "
            "trajectories apart already; leave one of the two out."
        )
    name = names[0] if names else STATE
    runs = []
    for table in tables:
        for column in roles.states:
            table.resolve(column)
            columns = {name: table.columns[column]}
            if roles.time is not None:
                columns = {roles.time: table.columns[roles.time]} | columns
            refused = {name: table.refused[column]} if column in table.refused else {}
            label = f"{table.label}, column {column!r}"
            runs.append(replace(table, label=label, columns=columns, refused=refused))
    sentence = f"{counted(len(runs), 'column')} are taken as trajectories of one state, {name!r}."
    notes.add("choice", len(runs), sentence)
    return runs, replace(roles, states=(name,), chosen=True)
