"""Dates as people write them -> moments: which number is the day, months by name, times of day."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

import numpy as np

from wgsindy.errors import DataError
from wgsindy.files.table import Column

if TYPE_CHECKING:
    import polars as pl

NUMERIC = r"^\s*(\d{1,4})[./-](\d{1,2})[./-](\d{1,4})(?:[T ,]+(.*))?$"
TIME_OF_DAY = r"^\s*(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?\s*(?:([AaPp])\.?[Mm]\.?)?\s*Z?\s*$"
WITH_MONTH_NAMES = (
    "%d %b %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d %b %Y %H:%M:%S",
    "%d-%b-%Y %H:%M:%S",
    "%d %b %Y %H:%M",
    "%b %d, %Y %H:%M:%S",
)
MONTHS = (("%Y-%m-%d", "{}-01"), ("%Y/%m/%d", "{}/01"), ("%d %b %Y", "01 {}"))
# A clock that is read the wrong way round jumps by months: its longest step over its usual one.
CLEARLY_MORE_EVEN = 3.0
OLDEST, NEWEST = 1500_01_01, 2200_12_31  # dates as whole numbers


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
    for attempt in (_iso, lambda t: _numeric(t, label, name), _by_name, _months):
        found = attempt(text)
        if found is not None and there and 2 * (len(found) - found.null_count()) >= there:
            return np.asarray(found.to_numpy()).astype("datetime64[us]")
    return None


def looks_like_date(text: str) -> bool:
    """Whether one field is a date in any of the ways that :func:`moments_of` knows."""
    import polars as pl

    one = pl.Series("", [text], dtype=pl.String)
    if re.match(NUMERIC, text):
        return True
    return any(
        found is not None and not found.null_count()
        for found in (attempt(one) for attempt in (_by_name, _months))
    )


def whole_numbers(column: Column) -> Column | None:
    """Return whole numbers like 19580329 as dates, if all of them are some."""
    if column.dtype.kind not in "iu" or not len(column):
        return None
    if column.min() < OLDEST or column.max() > NEWEST:
        return None
    import polars as pl

    found = pl.Series("", column).cast(pl.String).str.to_datetime("%Y%m%d", strict=False)
    return None if found.null_count() else np.asarray(found.to_numpy()).astype("datetime64[us]")


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


def _iso(text: pl.Series) -> pl.Series | None:
    import polars as pl

    def moment(item: str) -> dt.datetime | None:
        try:
            found = dt.datetime.fromisoformat(item.strip())
            zone = found.tzinfo is not None
            return found.astimezone(dt.UTC).replace(tzinfo=None) if zone else found
        except (ValueError, OverflowError):
            return None

    return pl.Series("", [i and moment(i) for i in text.to_list()], dtype=pl.Datetime("us"))


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
    if not len(ahead) or len(ahead) < 0.9 * len(steps):
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


def _by_name(text: pl.Series) -> pl.Series | None:
    for pattern in WITH_MONTH_NAMES:
        found = text.str.strip_chars().str.to_datetime(pattern, strict=False, time_unit="us")
        if len(found.drop_nulls()):
            return found
    return None


def _months(text: pl.Series) -> pl.Series | None:
    """Read 1958-03, 1958/03 and Mar 1958 as the first of the month."""
    import polars as pl

    for pattern, form in MONTHS:
        before, after = form.split("{}")
        whole = pl.select(pl.lit(before) + pl.lit(text.str.strip_chars()) + pl.lit(after))
        found = whole.to_series().str.to_datetime(pattern, strict=False, time_unit="us")
        if len(found.drop_nulls()):
            return found
    return None
