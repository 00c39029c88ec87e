"""Units of states, as headers write them: ``x [um]``, ``speed (m/s)``, ``T/K``."""

from __future__ import annotations

import re
from collections.abc import Mapping

BRACKETS = re.compile(r"(.+?)\s*(?:\[\s*([^\]]*?)\s*\]|\(\s*([^)]*?)\s*\))\s*")
SLASH = re.compile(r"(\w+)/(\S+)")
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
    match = BRACKETS.fullmatch(name)
    if match:
        square, rounded = match.group(2), match.group(3)
        if square or (rounded and UNIT.fullmatch(rounded)):
            return match.group(1), square or rounded
    slash = SLASH.fullmatch(name)
    if slash and UNIT.fullmatch(slash.group(2)):
        return slash.group(1), slash.group(2)
    return name, ""
