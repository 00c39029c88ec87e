"""Columns of numbers that are no states: row numbers, ids, other clocks, what a tracker measured.

Each rule applies only if states are left, so a lone column is never lost to its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from wgsindy.files.columns.times import MOSTLY
from wgsindy.files.table import Table

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
