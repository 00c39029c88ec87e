"""Units as headers write them: of states, ``x [um]``, ``speed (m/s)``, ``T/K``, and of times."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from wgsindy.data import FloatArray
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
