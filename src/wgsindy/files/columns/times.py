"""A column of times -> numbers: numbers as they are, timestamps and epochs in a unit of time."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wgsindy.data import BoolArray, FloatArray, number
from wgsindy.errors import DataError
from wgsindy.files.columns.dates import looks_like_date, moments_of, seconds_of_day, whole_numbers
from wgsindy.files.columns.trading import TRADING_DAYS, trading_days
from wgsindy.files.notes import counted
from wgsindy.files.table import Column, Table

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
# From September 2001 to 2103 the count of seconds since 1970 lies between these.
EPOCH_FIRST, EPOCH_LAST = 1.0e9, 4.2e9
EPOCH_UNITS = ("s", "ms", "us", "ns")
# The longest usual step, in seconds, whose moments are read in each unit.
SUITED = {"s": 30.0, "min": 1_800.0, "h": 43_200.0, "d": 345_600.0, "year": np.inf}
ROWS, CALENDAR = "rows", "calendar"


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


@dataclass(frozen=True)
class Clock:
    """How times are asked for; see :func:`wgsindy.files.read`."""

    unit: str | None = None
    time_unit: str | None = None
    time_format: str | None = None
    kind: str | None = None  # "rows" or "calendar"
    dt: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in (None, ROWS, CALENDAR):
            raise DataError(f"clock={self.kind!r} is not known; there are 'rows' and 'calendar'.")

    @property
    def moments_unit(self) -> str | None:
        """The unit that moments must be read in, if one is called for: a ``dt`` is in seconds."""
        return self.unit or ("s" if self.dt is not None else None)


@dataclass(frozen=True)
class Times:
    """Times of a table's rows ``(n,)``, NaN where missing, how they were found, in what unit."""

    values: FloatArray
    how: str
    unread: int = 0
    unit: str = ""
    sessions: bool = False  # whether days are those on which a market is open


def times_of_all(tables: Sequence[Table], name: str, clock: Clock) -> list[Times]:
    """Return the times of each table, all of them by one clock."""
    found = [times_of(table, name, clock) for table in tables]
    if len({(times.unit, times.sessions) for times in found}) > 1:
        # Each file by itself suggests another unit, or only some have no weekends.
        one = replace(clock, unit=clock.unit or found[0].unit or None, kind=CALENDAR)
        found = [times_of(table, name, one) for table in tables]
    return found


def times_of(table: Table, name: str, clock: Clock) -> Times:
    """Return times counted from the first one.

    Raises
    ------
    DataError
        If the column holds neither numbers nor timestamps, or a unit is not known.
    """
    column = table.columns[name]
    if column.dtype.kind == "O":
        return _of_text(table, name, clock)
    if column.dtype.kind == "M":
        return _of_moments(column.astype("datetime64[us]"), 0, clock)
    table.numbers(name)  # refuses what is no number
    dates = None if clock.time_unit else whole_numbers(column)
    if dates is not None:
        return _of_moments(dates, 0, clock)
    if column.dtype.kind in "iu":
        column = column.astype(np.int64)  # small integers overflow, unsigned ones cannot go back
    origin = _first(column)
    # Subtracted as integers: nanoseconds since 1970 do not fit a float.
    with np.errstate(invalid="ignore"):  # a time that is infinite is none
        since = (column - origin).astype(np.float64)
    epoch = None if clock.time_unit else epoch_unit(column)
    given = clock.time_unit or epoch or written_unit(name, table.units)
    if epoch:
        wanted = clock.moments_unit or suited_unit(since * SECONDS[epoch])
        how = epoch_sentence(name, epoch, wanted)
        return Times(since * (SECONDS[epoch] / SECONDS[wanted]), how, unit=wanted)
    if clock.unit is None:
        how = f"{name!r} is used as it is" + (f", in {given}" if given else "")
        return Times(since, how, unit=given or "")
    if given is None:
        raise DataError(
            f"unit={clock.unit!r} asks for times in {clock.unit}, but nothing says in what unit "
            f"the numbers of column {name!r} are; pass time_unit, for example time_unit='s'."
        )
    how = f"{name!r} is converted from {given} to {clock.unit}"
    return Times(since * (SECONDS[given] / SECONDS[clock.unit]), how, unit=clock.unit)


def suited_unit(seconds: FloatArray) -> str:
    """Return the unit in which rates are of a readable size: days of days, years of months.

    >>> suited_unit(np.arange(5.0) * 86_400), suited_unit(np.arange(5.0) * 0.02)
    ('d', 's')
    """
    steps = np.diff(np.unique(seconds[np.isfinite(seconds)]))
    usual = float(np.median(steps)) if len(steps) else 1.0
    return next(unit for unit, longest in SUITED.items() if usual <= longest)


def looks_like_timestamps(column: Column) -> bool:
    """Whether the first entry of a column is a date, or a date and a time."""
    if column.dtype.kind == "M":
        return True
    if column.dtype.kind != "O":
        return False
    first = next((item for item in column if item is not None), None)
    return first is not None and (_moment(first, None) is not None or looks_like_date(first))


def with_joined_date(table: Table) -> Table:
    """Return the table with a date and a time of day in one column, if it has them in two."""
    text = {n.strip().lower(): n for n, c in table.columns.items() if c.dtype.kind == "O"}
    if "date" not in text or "time" not in text:
        return table
    joined = [
        None if day is None or moment is None else f"{day} {moment}"
        for day, moment in zip(*(table.columns[text[k]] for k in ("date", "time")), strict=True)
    ]
    columns = {n: c for n, c in table.columns.items() if n != text["date"]}
    return replace(table, columns=columns | {text["time"]: np.array(joined, dtype=object)})


def _first(column: Column) -> Any:
    there = ~np.isnan(column) if column.dtype.kind == "f" else np.ones(len(column), dtype=bool)
    return column[there][0] if there.any() else column.dtype.type(0)


def epoch_sentence(name: str, epoch: str, wanted: str) -> str:
    """Say how a column of counts since 1970 is read."""
    return f"{name!r} counts {epoch} since 1970 and is read in {wanted}"


def epoch_unit(column: Column) -> str | None:
    """Return the unit of numbers that count the time since 1970, if these do."""
    values = column.astype(np.float64)
    there = values[np.isfinite(values)]
    for unit in EPOCH_UNITS if len(there) else ():
        seconds = there * SECONDS[unit]
        if seconds.min() >= EPOCH_FIRST and seconds.max() < EPOCH_LAST:
            return unit
    return None


def _of_text(table: Table, name: str, clock: Clock) -> Times:
    column = table.columns[name]
    if clock.time_format:
        found = [None if i is None else _moment(i, clock.time_format) for i in column]
        moments: Column | None = np.array(found, dtype="datetime64[us]")
    else:
        moments = moments_of(column, table.label, name)
    there = sum(item is not None for item in column)
    if moments is None:
        seconds = seconds_of_day(column)
        if seconds is not None:
            unread = there - int(np.isfinite(seconds).sum())
            return _of_seconds(seconds, f"times of day in {name!r}", unread, clock)
    unread = there - int((~np.isnat(moments)).sum()) if moments is not None else there
    if moments is None or unread * 2 > there:
        some = zip(column, column if moments is None else np.isnat(moments), strict=True)
        example = next(item for item, bad in some if item and bad)
        expected = f"the time_format {clock.time_format!r}" if clock.time_format else "ISO 8601"
        raise DataError(
            f"{unread} times of column {name!r} of {table.label}, such as {str(example)[:40]!r}, "
            f"are not in {expected}; pass time_format, for example '%d.%m.%Y %H:%M:%S', or dt, or "
            "clock='rows' to count rows."
        )
    return _of_moments(moments, unread, clock)


def _moment(text: str, time_format: str | None) -> dt.datetime | None:
    """Return a moment in UTC without its zone; one without a zone is taken to be in UTC."""
    try:
        moment = (
            dt.datetime.strptime(text, time_format)
            if time_format
            else dt.datetime.fromisoformat(text)
        )
        if moment.tzinfo is not None:
            moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    return moment


def _of_moments(moments: Column, unread: int, clock: Clock) -> Times:
    missing: BoolArray = np.isnat(moments)
    if missing.all():
        return Times(np.full(len(moments), np.nan), "no time is given", unread)
    days = trading_days(moments) if clock.kind is None and clock.dt is None else None
    if days is not None and clock.unit in (None, "d", "year"):
        unit = clock.unit or "year"
        how = (
            f"no date falls on a weekend, so each day of the file is a trading day, {TRADING_DAYS} "
            f"a year; read in {unit}. Pass clock='calendar' (--clock calendar) for calendar days"
        )
        return Times(days / (TRADING_DAYS if unit == "year" else 1), how, unread, unit, True)
    since: FloatArray = (moments - moments[~missing][0]) / np.timedelta64(1, "s")
    return _of_seconds(np.where(missing, np.nan, since), "timestamps", unread, clock)


def _of_seconds(seconds: FloatArray, what: str, unread: int, clock: Clock) -> Times:
    unit = clock.moments_unit or suited_unit(seconds)
    return Times(seconds / SECONDS[unit], f"{what} are read in {unit}", unread, unit)


def checked_dt(dt: float | None, tables: Sequence[Table]) -> float | None:
    """Return the sampling interval: the one given, or the one beside the states."""
    if dt is None:
        beside = {table.dt for table in tables}
        if len(beside) > 1:
            raise DataError(f"the files have different dt ({sorted(map(str, beside))}); pass dt.")
        dt = beside.pop() if beside else None
    if dt is None:
        return None
    if not 0 < number(dt, "dt") < np.inf:
        raise DataError(f"dt must be > 0, got {dt}; pass the sampling interval.")
    return float(dt)


def check_dt(times: FloatArray, name: str, dt: float, label: str) -> FloatArray:
    """Return times that agree with ``dt``, which may also scale a column that counts samples.

    A time column and a ``dt`` that contradict each other are an error: one of them is wrong, all
    rates scale with it, and nothing in the states can tell which.
    """
    steps = np.diff(np.unique(times[np.isfinite(times)]))
    if len(steps) == 0:
        return times
    usual = float(np.median(steps))
    if abs(usual - dt) <= 0.01 * dt:
        return times
    counts = times[np.isfinite(times)]
    if usual == 1.0 and np.array_equal(counts, np.round(counts)):
        return times * dt
    ratio = usual / dt
    words = f"{ratio:.6g} times" if ratio >= 1 else f"1/{1 / ratio:.6g} of"
    raise DataError(
        f"dt={dt:g} contradicts column {name!r} of {label}, whose {counted(len(steps), 'step')} "
        f"are usually {usual:.6g}: {words} that. Leave dt out, or pass unit and time_unit if the "
        "column is in another unit."
    )
