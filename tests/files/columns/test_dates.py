"""Dates as people write them."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy.errors import DataError
from wgsindy.files.columns.times import moments_of, seconds_of_day, whole_numbers
from wgsindy.files.table import Column


def column(*fields: str) -> Column:
    return np.array(fields, dtype=object)


@pytest.mark.parametrize(
    ("fields", "first", "last"),
    [
        (("13/01/2012", "01/02/2012"), "2012-01-13", "2012-02-01"),
        (("01/13/2012", "02/01/2012"), "2012-01-13", "2012-02-01"),
        (("01.02.2012", "02.02.2012"), "2012-02-01", "2012-02-02"),
        (("1.2.69", "2.2.68"), "1969-02-01", "2068-02-02"),
        (("2012/01/03", "2012/01/13"), "2012-01-03", "2012-01-13"),
        (("01/13/2012 1:05 PM", "01/13/2012 12:05 AM"), "2012-01-13T13:05", "2012-01-13T00:05"),
        (("03-Jan-2012", "04-Feb-2012"), "2012-01-03", "2012-02-04"),
        (("Jan 3, 2012", "Feb 4, 2012"), "2012-01-03", "2012-02-04"),
        (("30 May 2012", "31 May 2012", "1 June 2012"), "2012-05-30", "2012-06-01"),
        (("1958-03", "1958-04"), "1958-03-01", "1958-04-01"),
        (("Mar 1958", "Apr 1958"), "1958-03-01", "1958-04-01"),
        (("2012-01-01T10:00:00+02:00", "2012-01-01 11:00"), "2012-01-01T08:00", "2012-01-01T11:00"),
    ],
)
def test_dates_are_read(fields: tuple[str, ...], first: str, last: str) -> None:
    found = moments_of(column(*fields), "f.csv", "date")
    assert found is not None
    assert found[[0, -1]].tolist() == np.array([first, last], dtype="datetime64[us]").tolist()


def test_a_day_above_twelve_decides_for_the_whole_column() -> None:
    fields = [f"0{k}/02/2012" for k in range(1, 10)] + ["13/02/2012"]
    found = moments_of(column(*fields), "f.csv", "date")
    assert found is not None
    assert found[0] == np.datetime64("2012-02-01")


def test_days_and_months_in_both_orders_are_refused() -> None:
    with pytest.raises(DataError, match=r"the day first and dates with the month first \(1 and 1"):
        moments_of(column("13/01/2012", "01/14/2012"), "f.csv", "date")


def test_where_nothing_decides_the_more_even_clock_does() -> None:
    months = [f"{1 + k % 12:02}/01/{2012 + k // 12}" for k in range(30)]
    turned = [f"01/{1 + k % 12:02}/{2012 + k // 12}" for k in range(30)]
    for fields in (months, turned):
        found = moments_of(column(*fields), "f.csv", "date")
        assert found is not None
        assert found[1] == np.datetime64("2012-02-01")
    with pytest.raises(DataError, match="whether '01/02/2012' in column 'date'"):
        moments_of(column("01/02/2012", "03/04/2012", "05/06/2012"), "f.csv", "date")


def test_whole_numbers_are_dates_only_if_all_are() -> None:
    found = whole_numbers(np.array([19580329, 19580405]))
    assert found is not None
    assert found[0] == np.datetime64("1958-03-29")
    assert whole_numbers(np.array([19580329, 19581305])) is None
    assert whole_numbers(np.array([1, 2])) is None


def test_times_of_day_go_on_over_midnight() -> None:
    found = seconds_of_day(column("23:59:59", "00:00:01.5"))
    assert found is not None
    assert found.tolist() == [86_399.0, 86_401.5]
    assert seconds_of_day(column("noon", "midnight")) is None
