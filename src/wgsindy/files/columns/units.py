"""Units of time: their names, and where files write them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wgsindy.errors import DataError

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
IN_A_NAME = re.compile(r".*?(?:[\s_]+|\s*[\[(/]\s*)([a-zµμ]+)\s*[\])]?\s*", re.IGNORECASE)


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
    match = IN_A_NAME.fullmatch(name)
    return UNIT_OF.get(match.group(1).lower()) if match else None
