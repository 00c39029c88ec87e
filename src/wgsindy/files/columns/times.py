"""A column of times -> numbers: as they are, or dates as people write them in a unit of time."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from wgsindy.data import BoolArray, FloatArray, real_number
from wgsindy.errors import DataError
from wgsindy.files.notes import counted
from wgsindy.files.options import CALENDAR, ReadingOptions
from wgsindy.files.table import SECONDS, Column, Table, suited_unit, written_unit

if TYPE_CHECKING:
    import polars as pl

TRADING_DAYS = 252  # in a year, as is the custom
# By chance, 15 days in a row or more without a weekend do not happen: five weekdays in seven.
FEWEST_DAYS = 15
ONE_TIME_OF_DAY = 3_600_000_000  # microseconds: midnight in New York is 4 or 5 o'clock in UTC
LONGEST_CLOSURE = 5  # days from one session to the next: Thursday before Easter to Tuesday
NUMERIC = r"^\s*(\d{1,4})[./-](\d{1,2})[./-](\d{1,4})(?:[T ,]+(.*))?$"
TIME_OF_DAY = r"^\s*(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?\s*(?:([AaPp])\.?[Mm]\.?)?\s*Z?\s*$"
DAYS = ("%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y")
# Patterns, and what stands before and after a field: of a month alone, its first day.
PATTERNS = (
    *((f"{day}{clock}", "", "") for clock in ("", " %H:%M:%S", " %H:%M") for day in DAYS),
    ("%Y-%m-%d", "", "-01"),
    ("%Y/%m/%d", "", "/01"),
    ("%d %b %Y", "01 ", ""),
)
# A clock that is read the wrong way round jumps by months: its longest step over its usual one.
CLEARLY_MORE_EVEN = 3.0
MOSTLY = 0.9  # so many steps of a clock go ahead, if not all; of noise, half of them do
OLDEST, NEWEST = 1500_01_01, 2200_12_31  # dates as whole numbers
# From September 2001 to 2103 the count of seconds since 1970 lies between these.
EPOCH_FIRST, EPOCH_LAST = 1.0e9, 4.2e9
EPOCH_UNITS = ("s", "ms", "us", "ns")


def trading_days(moments: Column) -> FloatArray | None:
    """Count sessions ``(n,)`` of dates, NaN where missing; None if these are not dates of sessions.

    They are if they have one time of day, follow each other day by day, and none of them falls
    on a weekend. Longer holes than a market is closed for are counted in weekdays, so that a gap
    stays one.

    >>> january = np.arange("2024-01-01", "2024-02-01", dtype="datetime64[D]")
    >>> weekdays = january[np.is_busday(january)]
    >>> trading_days(weekdays.astype("datetime64[us]"))[[0, 4, 5]]
    array([0., 4., 5.])
    """
    there = ~np.isnat(moments)
    days = moments[there].astype("datetime64[D]")
    of_the_day = moments[there] - days.astype(moments.dtype)
    if np.ptp(of_the_day.astype(np.int64)) > ONE_TIME_OF_DAY:
        return None
    dates = np.unique(days)
    steps = np.diff(dates).astype(np.int64)
    if len(dates) < FEWEST_DAYS or np.median(steps) != 1 or not np.is_busday(dates).all():
        return None
    weekdays = np.busday_count(dates[:-1], dates[1:])
    sessions = np.where(steps <= LONGEST_CLOSURE, 1, weekdays)
    numbers = np.concatenate([[0], np.cumsum(sessions)])
    counted_days = np.full(len(moments), np.nan)
    place = np.searchsorted(dates, days)
    counted_days[there] = numbers[place] - numbers[place[0]]
    return counted_days


def moments_of(column: Column, label: str, name: str) -> Column | None:
    """Return text as ``datetime64[us]``, NaT where it is no date; None if most of it is none.

    Raises
    ------
    DataError
        If the dates have day and month in both orders, or nothing says in which.
    """
    import polars as pl

    text = pl.Series("", column.tolist(), dtype=pl.String)
    there = len(text) - text.null_count()
    for moments in _attempts(text, label, name):
        if there and 2 * (len(moments) - moments.null_count()) >= there:
            return np.asarray(moments.to_numpy()).astype("datetime64[us]")
    return None


def _attempts(text: pl.Series, label: str, name: str) -> Iterator[pl.Series]:
    """Yield a column read in each way that is known, null where it cannot be."""
    import polars as pl

    iso = [item and _moment(item.strip()) for item in text.to_list()]
    yield pl.Series("", iso, dtype=pl.Datetime("us"))
    numeric = _numeric(text, label, name)
    if numeric is not None:
        yield numeric
    # May is a short name and a long one: the pattern that reads the most is the one.
    yield max(_by_pattern(text), key=lambda moments: len(moments) - moments.null_count())


def _by_pattern(text: pl.Series) -> Iterator[pl.Series]:
    for pattern, before, after in PATTERNS:
        whole = before + text.str.strip_chars() + after
        yield whole.str.to_datetime(pattern, strict=False, time_unit="us")


def whole_numbers(column: Column) -> Column | None:
    """Return whole numbers like 19580329 as dates, if all of them are some."""
    if column.dtype.kind not in "iu" or not len(column):
        return None
    if column.min() < OLDEST or column.max() > NEWEST:
        return None
    import polars as pl

    dates = pl.Series("", column).cast(pl.String).str.to_datetime("%Y%m%d", strict=False)
    return None if dates.null_count() else np.asarray(dates.to_numpy()).astype("datetime64[us]")


def seconds_of_day(column: Column) -> Column | None:
    """Return times of day, ``10:15:30``, in seconds that go on over midnight; None if few are."""
    import polars as pl

    text = pl.Series("", column.tolist(), dtype=pl.String)
    seconds = _day_seconds(text).to_numpy().astype(np.float64)
    if 2 * np.isfinite(seconds).sum() < len(text) - text.null_count():
        return None
    there = np.isfinite(seconds)
    back = np.diff(seconds[there]) < -43_200.0
    seconds[there] += 86_400.0 * np.concatenate([[0], np.cumsum(back)])
    return seconds


def _numeric(text: pl.Series, label: str, name: str) -> pl.Series | None:
    """Read 13/01/2012, 1.2.2012 10:15 and their like, with the year at either end."""
    import polars as pl

    first, second, third = (text.str.extract(NUMERIC, k).cast(pl.Int64) for k in (1, 2, 3))
    if not len(first.drop_nulls()):
        return None
    clock = _day_seconds(text.str.extract(NUMERIC, 4).fill_null("00:00"))
    if (first.drop_nulls() > 31).all():
        return _date(first, second, third, clock)
    third = _full_year(third)
    days, months = _date(third, second, first, clock), _date(third, first, second, clock)
    day_first, month_first = (int((a.drop_nulls() > 12).sum()) for a in (first, second))
    example = next(str(item) for item in text if item)[:40]
    if day_first and month_first:
        raise DataError(
            f"column {name!r} of {label} has dates with the day first and dates with the month "
            f"first ({day_first} and {month_first} of them are sure); write all of them in one way."
        )
    if day_first or month_first:
        return days if day_first else months
    if (first.drop_nulls() == second.drop_nulls()).all() or re.match(r"\d+\.\d+\.", example):
        return days  # either way the same; or a point, which only those use who put the day first
    uneven = [_unevenness(order) for order in (days, months)]
    if min(uneven) * CLEARLY_MORE_EVEN <= max(uneven):
        return days if uneven[0] < uneven[1] else months
    raise DataError(
        f"nothing says whether {example!r} in column {name!r} of {label} has the day or the month "
        "first; pass time_format, '%d/%m/%Y' or '%m/%d/%Y'."
    )


def _unevenness(moments: pl.Series) -> float:
    """Longest step over the usual one; infinite if time goes back."""
    steps = np.diff(moments.drop_nulls().to_numpy()).astype(np.float64)
    ahead = steps[steps > 0]
    if not len(ahead) or len(ahead) < MOSTLY * len(steps):
        return float("inf")
    return float(ahead.max() / np.median(ahead))


def _full_year(years: pl.Series) -> pl.Series:
    """Read two digits as strptime does: 69 is 1969, 68 is 2068."""
    century = (years < 69).cast(years.dtype) * 100 + 1900
    return years.zip_with(years >= 100, years + century)


def _date(year: pl.Series, month: pl.Series, day: pl.Series, seconds: pl.Series) -> pl.Series:
    import polars as pl

    parts = [part.cast(pl.String).str.zfill(n) for part, n in ((year, 4), (month, 2), (day, 2))]
    dates = (parts[0] + "-" + parts[1] + "-" + parts[2]).str.to_datetime(
        "%Y-%m-%d", strict=False, time_unit="us"
    )
    ticks = dates.cast(pl.Int64) + (seconds * 1e6).round().cast(pl.Int64)
    return ticks.cast(pl.Datetime("us"))


def _day_seconds(text: pl.Series) -> pl.Series:
    """Return seconds since midnight, null where there is no time of day."""
    import polars as pl

    hour, minute = (text.str.extract(TIME_OF_DAY, k).cast(pl.Float64) for k in (1, 2))
    second = text.str.extract(TIME_OF_DAY, 3).str.replace(",", ".", literal=True)
    half = text.str.extract(TIME_OF_DAY, 4).str.to_lowercase()
    is_half = half.is_not_null()
    hour = hour.zip_with(~is_half, hour % 12 + 12 * (half == "p").fill_null(False).cast(pl.Float64))
    return hour * 3600 + minute * 60 + second.cast(pl.Float64).fill_null(0.0)


@dataclass(frozen=True)
class Times:
    """Times of a table's rows ``(n,)``, NaN where missing, how they were found, in what unit."""

    values: FloatArray
    how: str
    unread: int = 0
    unit: str = ""
    sessions: bool = False  # whether days are those on which a market is open


def times_of_all(tables: Sequence[Table], name: str, asked: ReadingOptions) -> list[Times]:
    """Return the times of each table, all of them by one clock."""
    of_tables = [times_of(table, name, asked) for table in tables]
    if len({(times.unit, times.sessions) for times in of_tables}) > 1:
        # Each file by itself suggests another unit, or only some have no weekends.
        one = replace(asked, unit=asked.unit or of_tables[0].unit or None, clock=CALENDAR)
        of_tables = [times_of(table, name, one) for table in tables]
    return of_tables


def times_of(table: Table, name: str, asked: ReadingOptions) -> Times:
    """Return times counted from the first one.

    Raises
    ------
    DataError
        If the column holds neither numbers nor timestamps, or a unit is not known.
    """
    column = table.columns[name]
    if column.dtype.kind == "O":
        return _of_text(table, name, asked)
    if column.dtype.kind == "M":
        return _of_moments(column.astype("datetime64[us]"), 0, asked)
    table.numbers(name)  # refuses what is no number
    dates = None if asked.time_unit else whole_numbers(column)
    if dates is not None:
        return _of_moments(dates, 0, asked)
    if column.dtype.kind in "iu":
        column = column.astype(np.int64)  # small integers overflow, unsigned ones cannot go back
    there = column[~np.isnan(column)] if column.dtype.kind == "f" else column
    origin = there[0] if len(there) else column.dtype.type(0)
    # Subtracted as integers: nanoseconds since 1970 do not fit a float.
    with np.errstate(invalid="ignore"):  # a time that is infinite is none
        since = (column - origin).astype(np.float64)
    epoch = None if asked.time_unit else epoch_unit(column)
    given = asked.time_unit or epoch or written_unit(name, table.units)
    if epoch:
        wanted = asked.moments_unit or suited_unit(since * SECONDS[epoch])
        how = epoch_sentence(name, epoch, wanted)
        return Times(since * (SECONDS[epoch] / SECONDS[wanted]), how, unit=wanted)
    if asked.unit is None:
        how = f"{name!r} is used as it is" + (f", in {given}" if given else "")
        return Times(since, how, unit=given or "")
    if given is None:
        raise DataError(
            f"unit={asked.unit!r} asks for times in {asked.unit}, but nothing says in what unit "
            f"the numbers of column {name!r} are; pass time_unit, for example time_unit='s'."
        )
    how = f"{name!r} is converted from {given} to {asked.unit}"
    return Times(since * (SECONDS[given] / SECONDS[asked.unit]), how, unit=asked.unit)


def looks_like_timestamps(column: Column) -> bool:
    """Whether the first entry of a column is a date, or a date and a time."""
    if column.dtype.kind == "M":
        return True
    if column.dtype.kind != "O":
        return False
    first = next((item for item in column if item is not None), None)
    if first is None or _moment(first) is not None or re.match(NUMERIC, first):
        return first is not None
    import polars as pl

    one = pl.Series("", [first], dtype=pl.String)
    return any(not moments.null_count() for moments in _by_pattern(one))


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


def _of_text(table: Table, name: str, asked: ReadingOptions) -> Times:
    column = table.columns[name]
    if asked.time_format:
        read = [None if i is None else _moment(i, asked.time_format) for i in column]
        moments: Column | None = np.array(read, dtype="datetime64[us]")
    else:
        moments = moments_of(column, table.label, name)
    there = sum(item is not None for item in column)
    if moments is None:
        seconds = seconds_of_day(column)
        if seconds is not None:
            unread = there - int(np.isfinite(seconds).sum())
            return _of_seconds(seconds, f"times of day in {name!r}", unread, asked)
    unread = there - int((~np.isnat(moments)).sum()) if moments is not None else there
    if moments is None or unread * 2 > there:
        some = zip(column, column if moments is None else np.isnat(moments), strict=True)
        example = next(item for item, bad in some if item and bad)
        expected = f"the time_format {asked.time_format!r}" if asked.time_format else "ISO 8601"
        raise DataError(
            f"{unread} times of column {name!r} of {table.label}, such as {str(example)[:40]!r}, "
            f"are not in {expected}; pass time_format, for example '%d.%m.%Y %H:%M:%S', or dt, or "
            "clock='rows' to count rows."
        )
    return _of_moments(moments, unread, asked)


def _moment(text: str, time_format: str | None = None) -> dt.datetime | None:
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


def _of_moments(moments: Column, unread: int, asked: ReadingOptions) -> Times:
    missing: BoolArray = np.isnat(moments)
    if missing.all():
        return Times(np.full(len(moments), np.nan), "no time is given", unread)
    days = trading_days(moments) if asked.clock is None and asked.dt is None else None
    if days is not None and asked.unit in (None, "d", "year"):
        unit = asked.unit or "year"
        how = (
            f"no date falls on a weekend, so each day of the file is a trading day, {TRADING_DAYS} "
            f"a year; read in {unit}. Pass clock='calendar' (--clock calendar) for calendar days"
        )
        return Times(days / (TRADING_DAYS if unit == "year" else 1), how, unread, unit, True)
    since: FloatArray = (moments - moments[~missing][0]) / np.timedelta64(1, "s")
    return _of_seconds(np.where(missing, np.nan, since), "timestamps", unread, asked)


def _of_seconds(seconds: FloatArray, what: str, unread: int, asked: ReadingOptions) -> Times:
    unit = asked.moments_unit or suited_unit(seconds)
    return Times(seconds / SECONDS[unit], f"{what} are read in {unit}", unread, unit)


def step_of(dt: float | None, tables: Sequence[Table]) -> float | None:
    """Return the sampling interval: the one given, or the one beside the states."""
    if dt is None:
        steps = {table.dt for table in tables}
        if len(steps) > 1:
            raise DataError(f"the files have different dt ({sorted(map(str, steps))}); pass dt.")
        dt = steps.pop() if steps else None
    if dt is None:
        return None
    if not 0 < real_number(dt, "dt") < np.inf:
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
