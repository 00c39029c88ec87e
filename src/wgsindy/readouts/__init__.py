"""What a generator tells: density, currents, relaxation, escape, each with error bars."""

from wgsindy.readouts.grid_error import (
    Field,
    Forecast,
    Oscillation,
    PassageTime,
    Rate,
    Split,
    Value,
)
from wgsindy.readouts.readouts import TURNING, Readouts
from wgsindy.readouts.textbook_models import NamedModel

__all__ = [
    "TURNING",
    "Field",
    "Forecast",
    "NamedModel",
    "Oscillation",
    "PassageTime",
    "Rate",
    "Readouts",
    "Split",
    "Value",
]
