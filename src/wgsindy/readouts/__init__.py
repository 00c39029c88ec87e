"""What a generator tells: density, currents, relaxation, escape, each with error bars."""

from wgsindy.readouts.readouts import TURNS, Readouts
from wgsindy.readouts.values import Value

__all__ = [
    "TURNS",
    "Readouts",
    "Value",
]
