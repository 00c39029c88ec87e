"""Days on which a market is open: weekends and holidays take no time there."""

from __future__ import annotations

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.files.table import Column

TRADING_DAYS = 252  # in a year, as is the custom
# By chance, 15 days in a row or more without a weekend do not happen: five weekdays in seven.
FEWEST_DAYS = 15
ONE_TIME_OF_DAY = 3_600_000_000  # microseconds: midnight in New York is 4 or 5 o'clock in UTC
LONGEST_CLOSURE = 5  # days from one session to the next: Thursday before Easter to Tuesday


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
    number = np.concatenate([[0], np.cumsum(sessions)])
    found = np.full(len(moments), np.nan)
    found[there] = number[np.searchsorted(dates, days)] - number[np.searchsorted(dates, days[0])]
    return found
