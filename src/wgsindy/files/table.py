"""The two shapes in which every source arrives: a table in memory, and one that stays where it is.

Both have named columns of equal length, before anyone decides what they mean. Names have units as
headers write them: of states, ``x [um]``, ``speed (m/s)``, ``T/K``, and of times.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import Block, FloatArray, Source
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.notes import counted, listed

SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
    "week": 604_800.0,
    "year": 31_557_600.0,  # Julian, as in astronomy
}
ALIASES = {
    "ns": ("nanosecond", "nanoseconds", "nsec"),
    "us": ("µs", "μs", "microsecond", "microseconds", "usec"),
    "ms": ("millisecond", "milliseconds", "msec", "millis"),
    "s": ("sec", "secs", "second", "seconds"),
    "min": ("mins", "minute", "minutes"),
    "h": ("hr", "hrs", "hour", "hours"),
    "d": ("day", "days"),
    "week": ("weeks", "w"),
    "year": ("years", "yr", "a"),
}
UNIT_OF = {alias: unit for unit, names in ALIASES.items() for alias in (unit, *names)}
YEARS = re.compile(r"year|decimal([ _]?(date|year))?", re.IGNORECASE)
IN_A_NAME = re.compile(r".*?(?:[\s_]+|\s*[\[(/]\s*)([a-zµμ]+)\s*[\])]?\s*", re.IGNORECASE)
# The longest usual step, in seconds, whose moments are read in each unit.
SUITED = {"s": 30.0, "min": 1_800.0, "h": 43_200.0, "d": 345_600.0, "year": np.inf}

IN_BRACKETS = re.compile(r"(.+?)\s*(?:\[\s*([^\]]*?)\s*\]|\(\s*([^)]*?)\s*\))\s*")
AFTER_SLASH = re.compile(r"(\w+)/(\S+)")
PREFIX = "(?:da|[yzafpnuµμmcdhkMGTP])?"
SYMBOL = (
    "m|s|g|A|K|mol|cd|Hz|N|Pa|J|W|C|V|F|Ω|ohm|Wb|T|H|lm|lx|Bq|Gy|Sv|L|l|eV|bar|M|Da|rad|cal|B|kat"
)
OTHER = (
    "°|°C|°F|degC|degF|deg|degrees?|%|percent|px|pixels?|voxels?|microns?|min|h|hr|d|day|days|yr|year|"
    "years|sec|ppm|ppb|psi|atm|mmHg|Torr|in|inch|inches|ft|mi|mph|kn|knots?|kph|kmh|USD|EUR|GBP|JPY|"
    "CHF|\\$|€|£|¥|bp|bps|au|a\\.u\\.|arb\\.? ?u\\.?|counts?|rpm|bpm|dB|dBm|pH|Å|kcal|1"
)
PART = rf"(?:{PREFIX}(?:{SYMBOL})|{OTHER})(?:\^?-?\d+|²|³)?"
UNIT = re.compile(rf"{PART}(?:\s*[*/·. ]\s*{PART})*")


def header_unit(name: str, units: Mapping[str, str]) -> tuple[str, str]:
    """Return the name without its unit, and the unit, empty if there is none.

    Whatever stands in square brackets is one; round ones, and a slash, must hold a unit that is
    known. ``units`` are those of a row of their own under the names.

    >>> header_unit("x [um]", {}), header_unit("speed (m/s)", {}), header_unit("Close (adj)", {})
    (('x', 'um'), ('speed', 'm/s'), ('Close (adj)', ''))
    """
    below = units.get(name, "").strip().strip("[]()").strip()
    if below:
        return name, below
    match = IN_BRACKETS.fullmatch(name)
    if match:
        square, rounded = match.group(2), match.group(3)
        if square or (rounded and UNIT.fullmatch(rounded)):
            return match.group(1), square or rounded
    slash = AFTER_SLASH.fullmatch(name)
    if slash and UNIT.fullmatch(slash.group(2)):
        return slash.group(1), slash.group(2)
    return name, ""


def checked_unit(unit: str | None, argument: str) -> str | None:
    """Return the short name of a unit.

    Raises
    ------
    DataError
        If there is no such unit.
    """
    if unit is None:
        return None
    if str(unit).lower() not in UNIT_OF:
        raise DataError(f"{argument}={unit!r} is not a unit of time; there are {list(SECONDS)}.")
    return UNIT_OF[str(unit).lower()]


def written_unit(name: str, units: Mapping[str, str]) -> str | None:
    """Return the unit in a column's name, ``time (ms)`` or ``t_ms``, or in the row under it."""
    below = units.get(name, "").strip(" []()").lower()
    if below in UNIT_OF:
        return UNIT_OF[below]
    if YEARS.fullmatch(name.strip()):
        return "year"
    match = IN_A_NAME.fullmatch(name)
    return UNIT_OF.get(match.group(1).lower()) if match else None


def suited_unit(seconds: FloatArray) -> str:
    """Return the unit in which rates are of a readable size: days of days, years of months.

    >>> suited_unit(np.arange(5.0) * 86_400), suited_unit(np.arange(5.0) * 0.02)
    ('d', 's')
    """
    steps = np.diff(np.unique(seconds[np.isfinite(seconds)]))
    usual = float(np.median(steps)) if len(steps) else 1.0
    return next(unit for unit, longest in SUITED.items() if usual <= longest)


Column = NDArray[Any]  # numbers (NaN is missing), datetime64 (NaT), or objects (text or None)
VARIABLE = re.compile(r"variable|var|parameter|channel|quantity|coordinate|sensor", re.IGNORECASE)
VALUE = re.compile(r"value|val|reading|measurement", re.IGNORECASE)
MOST_VARIABLES = 64  # no library of terms is that wide
HEAD_ROWS = 1000  # by which columns are recognised
BLOCK_ROWS = 65_536  # read at a time: 0.5 MB a column


@dataclass(frozen=True)
class Unread:
    """Fields of a column of numbers that are no numbers."""

    count: int
    example: str


@dataclass(frozen=True)
class Table:
    """Columns of one file, frame or array, before anyone decides what they mean."""

    label: str  # what errors and notes call the table
    columns: Mapping[str, Column]
    positional: frozenset[str] = frozenset()  # columns that never had a name
    refused: Mapping[str, str] = field(default_factory=dict)  # why a column gives no numbers
    unread: Mapping[str, Unread] = field(default_factory=dict)  # fields that are no numbers
    units: Mapping[str, str] = field(default_factory=dict)  # from a row of units under the names
    ragged_rows: int = 0  # rows with too few or too many fields
    thousands: Mapping[str, str] = field(default_factory=dict)  # columns like 50,012: an example
    encoding: str = "utf-8"
    dt: float | None = None  # arrays on disk often carry it beside the states

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return max((len(column) for column in self.columns.values()), default=0)

    def resolve(self, name: str | int) -> str:
        """Return the name of a column given by name, with its unit or without, or by position.

        The first has position 0.
        """
        names = list(self.columns)
        if isinstance(name, str) and name in self.columns:
            return name
        bare = [column for column in names if header_unit(column, self.units)[0] == name]
        if len(bare) == 1:
            return bare[0]
        position = int(name) if str(name).lstrip("-").isdecimal() else None
        if position is not None and -len(names) <= position < len(names):
            return names[position]
        raise DataError(
            f"{self.label} has no column {name!r}; its columns are {listed(names, most=20)}."
        )

    def is_numeric(self, name: str) -> bool:
        """Whether a column holds numbers."""
        return self.columns[name].dtype.kind in "iuf" and name not in self.refused

    def numbers(self, name: str) -> FloatArray:
        """Return a column of numbers, ``(n,)``, NaN where missing.

        Raises
        ------
        DataError
            If the column holds text, times or numbers written in two ways.
        """
        if name in self.refused:
            raise DataError(self.refused[name])
        column = self.columns[name]
        if column.dtype.kind in "iufb":
            return column.astype(np.float64)
        example = next((str(item) for item in column if item is not None), "nothing")
        what = "times" if column.dtype.kind == "M" else "text"
        raise DataError(
            f"column {name!r} of {self.label} holds {what} (such as {example[:40]!r}), not "
            "numbers; choose other columns with states."
        )


def require_columns(tables: Sequence[Table]) -> None:
    """Refuse tables that hold nothing."""
    for table in tables:
        if not table.columns or table.n_rows == 0:
            size = f"{counted(table.n_rows, 'row')} of {counted(len(table.columns), 'column')}"
            raise NotEnoughDataError(f"{table.label} is empty: it holds {size}.")
        if len({len(column) for column in table.columns.values()}) > 1:
            raise DataError(f"the columns of {table.label} differ in length.")


def positional_name(position: int) -> str:
    """Return the name of a column that has none."""
    return f"column {position}"


def wide_table(table: Table, variable: str | int | None, value: str | int | None) -> Table:
    """Return the table with one column a variable, if it is long.

    Rows of one time and one id become one row; a variable that such a row already has begins
    another row, so that a contradiction is seen where times are checked, not here.
    """
    if (variable is None) != (value is None):
        raise DataError("a long table needs both variable and value, the names of two columns.")
    pair = (
        (table.resolve(variable), table.resolve(value))
        if variable is not None and value is not None
        else _variable_and_value(table)
    )
    if pair is None:
        return table
    variables = table.columns[pair[0]].tolist()
    named = [str(v) for v in dict.fromkeys(v for v in variables if v is not None)]
    if len(named) > MOST_VARIABLES or not named:
        raise DataError(
            f"column {pair[0]!r} of {table.label} names {len(named)} variables; a long table has "
            f"between 1 and {MOST_VARIABLES}."
        )
    keys = {name: column for name, column in table.columns.items() if name not in pair}
    places, firsts = _rows(variables, list(keys.values()))
    columns: dict[str, Column] = {name: column[firsts] for name, column in keys.items()}
    for name in named:
        if name in columns:
            raise DataError(f"{table.label} has a column and a variable called {name!r}.")
        columns[name] = np.full(len(firsts), np.nan)
    for place, name, number in zip(places, variables, table.numbers(pair[1]), strict=True):
        if name is not None:
            columns[str(name)][place] = number
    unread = {name: table.unread[pair[1]] for name in named[:1] if pair[1] in table.unread}
    return replace(table, columns=columns, positional=frozenset(), unread=unread, refused={})


def _rows(variables: Sequence[Hashable], keys: Sequence[Column]) -> tuple[list[int], list[int]]:
    """Return the row of the wide table for each row of the long one, and where each begins."""
    rows: dict[Hashable, int] = {}
    occurrences: Counter[Hashable] = Counter()
    places: list[int] = []
    firsts: list[int] = []
    columns = (column.tolist() for column in keys)
    for index, entry in enumerate(zip(variables, *columns, strict=True)):
        occurrences[entry] += 1
        key = (occurrences[entry], *entry[1:])
        if key not in rows:
            rows[key] = len(rows)
            firsts.append(index)
        places.append(rows[key])
    return places, firsts


def _variable_and_value(table: Table) -> tuple[str, str] | None:
    variables = [n for n in table.columns if VARIABLE.fullmatch(n.strip())]
    values = [n for n in table.columns if VALUE.fullmatch(n.strip())]
    if len(variables) != 1 or len(values) != 1 or not table.is_numeric(values[0]):
        return None
    column = table.columns[variables[0]]
    return (variables[0], values[0]) if column.dtype.kind == "O" else None


@contextmanager
def as_data_error(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a library raises on a broken file into one sentence."""
    try:
        yield
    except DataError:
        raise
    # Damaged files raise errors of every type in the libraries that read them.
    except Exception as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{path} cannot be read as {kind}: {why[:160]}. It may be half written; write it again."
        ) from None


@dataclass(frozen=True)
class Roles:
    """Names of columns; ``chosen`` says whether the states were named by the caller."""

    states: tuple[str, ...]
    time: str | None
    trajectory: str | None
    chosen: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.states, *(name for name in (self.time, self.trajectory) if name is not None))


@dataclass(frozen=True)
class WantedColumns:
    """Which columns of a table are streamed, and what becomes of them."""

    roles: Roles
    dt: float | None  # the step, if there is no column of times
    file: int  # number of the file: the same id in another one is another trajectory
    epoch: str | None = None  # unit of times that count since 1970, if they do

    def block(
        self,
        columns: Mapping[str, NDArray[Any]],
        *,
        states: NDArray[Any] | None = None,
        number: int | None = None,
    ) -> Block:
        """Make a block of samples.

        ``columns`` by name, each ``(n,)``; ``states (n, d)``, if they are there in one array;
        ``number`` of the trajectory in a stack ``(R, n, d)``.
        """
        roles = self.roles
        if states is None:
            states = np.stack([columns[name] for name in roles.states], axis=1)
        clock: Any = self.dt if roles.time is None else columns[roles.time]
        if self.epoch is not None:
            clock = _since_1970(clock, self.epoch)
        owner: Any = 0 if roles.trajectory is None else columns[roles.trajectory]
        return Block(states, clock, owner, (self.file, number))


def _since_1970(counts: NDArray[Any], unit: str) -> NDArray[Any]:
    """Make timestamps of counts, whose steps are in seconds."""
    if counts.dtype.kind in "iu":
        return counts.astype(np.int64).astype(f"datetime64[{unit}]")
    missing = np.isnan(counts)
    # Apart from each other: both together have more digits than a float.
    fraction, whole = np.modf(np.where(missing, 0.0, counts))
    each = round(SECONDS[unit] * 1e9)
    nanoseconds = whole.astype(np.int64) * each + np.rint(fraction * each).astype(np.int64)
    stamps = nanoseconds.astype("datetime64[ns]")
    stamps[missing] = np.datetime64("NaT", "ns")
    return stamps


class LazyTable(Protocol):
    """One file, store or array, which stays where it is."""

    def head(self) -> Table:
        """Return the first rows, with the names that :func:`wgsindy.read` gives to columns."""
        ...

    def sources(self, wanted: WantedColumns) -> Sequence[Source]:
        """Describe where all rows are."""
        ...


def package_needed(what: str, package: str) -> DataError:
    """Say which package reads a format: by its own name, which can always be installed."""
    return DataError(f"{what}, for which the package {package} is needed: pip install {package}.")
