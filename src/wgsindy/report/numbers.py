"""How figures are written."""

from __future__ import annotations

from math import isnan


def percent(value: float, digits: int = 0) -> str:
    """A share, or a dash where there is none."""
    return "-" if isnan(value) else f"{100 * value:.{digits}f} %"
