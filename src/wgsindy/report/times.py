"""How times and axes of time are written."""

from __future__ import annotations


def duration(value: float, unit: str) -> str:
    """Write a time.

    >>> duration(0.25, "s"), duration(0.25, ""), duration(1, "")
    ('0.25 s', '0.25 units of time', '1 unit of time')
    """
    written = f"{value:.2g}"
    return f"{written} {unit or ('unit of time' if written == '1' else 'units of time')}"


def with_unit(label: str, unit: str) -> str:
    """Label an axis of time.

    >>> with_unit("time", "s"), with_unit("time", "")
    ('time (s)', 'time')
    """
    return f"{label} ({unit})" if unit else label
