"""Numbers and fields that say how sure they are, of the fit and of the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import FloatArray
from wgsindy.model import padded


@dataclass(frozen=True)
class Value:
    """A number; ``float()`` takes it.

    ``low`` and ``high`` are the interval that the errors of the fit leave, and not numbers where
    the generator has no error bars. ``grid_error`` is what the grid may be off by.

    >>> value = Value(1.0, 0.91, 1.08, 0.002)
    >>> float(value), value
    (1.0, 1.00 (95 % interval 0.910 to 1.08, grid 0.0020))
    """

    value: float
    low: float = np.nan
    high: float = np.nan
    grid_error: float = 0.0
    level: float = 0.95
    note: str = ""

    def __float__(self) -> float:
        return self.value

    def inverse(self) -> Value:
        """1 / value, of a value that is positive."""
        result = 1.0 / self.value
        high = np.inf if self.low <= 0 else 1.0 / self.low
        error = self.grid_error * result**2
        return Value(result, 1.0 / self.high, high, error, self.level, self.note)

    def __repr__(self) -> str:
        parts = []
        if not np.isnan(self.low):
            share = f"{100 * self.level:g} % interval"
            parts.append(f"{share} {padded(self.low, 3)} to {padded(self.high, 3)}")
        if self.grid_error:
            parts.append(f"grid {padded(self.grid_error, 2)}")
        if self.note:
            parts.append(self.note)
        return padded(self.value, 3) + (f" ({', '.join(parts)})" if parts else "")


@dataclass(frozen=True)
class Rate:
    """An eigenvalue -decay + i frequency of a generator; ``complex()`` takes it."""

    decay: Value
    frequency: Value  # angular; zero where nothing turns

    def __complex__(self) -> complex:
        return complex(-self.decay.value, self.frequency.value)


@dataclass(frozen=True, eq=False)
class Field:
    """Values at points, with pointwise intervals and grid errors; NumPy takes it as an array."""

    values: FloatArray
    low: FloatArray  # not numbers where the generator has no error bars
    high: FloatArray
    grid_error: FloatArray
    note: str = ""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the values."""
        return np.array(self.values, dtype=dtype)

    def entry(self, place: int, level: float) -> Value:
        """One of the values, in the order in which NumPy would flatten them."""
        value, low, high, error = (
            float(np.ravel(part)[place])
            for part in (self.values, self.low, self.high, self.grid_error)
        )
        return Value(value, low, high, error, level, self.note)

    def part(self, rows: int | slice) -> Field:
        """Some of the rows."""
        low, high, error = self.low[rows], self.high[rows], self.grid_error[rows]
        return Field(self.values[rows], low, high, error, self.note)

    def limited(self, least: float, most: float) -> Field:
        """Clip values and bands to what is possible."""
        values, low, high = (
            np.clip(part, least, most) for part in (self.values, self.low, self.high)
        )
        return Field(values, low, high, self.grid_error, self.note)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self.values[place]

    def __repr__(self) -> str:
        return f"Field({np.array2string(self.values, precision=4, threshold=8)})"


class Split(NamedTuple):
    """A drift in two parts, ``(n, d)`` each, whose sum it is."""

    conservative: Field  # (div a + a grad log pi) / 2, which alone would leave pi and no current
    rotational: Field  # J / pi, along the stationary current


class PassageTime(NamedTuple):
    """When a set is reached."""

    mean: Value
    variance: Value


class Oscillation(NamedTuple):
    """How fast a process turns, and for how long it keeps its phase."""

    frequency: Value  # turns a unit of time
    quality: Value  # frequency over the width at half height of its peak in the spectrum


class Forecast(NamedTuple):
    """The law at a later time."""

    mean: Field  # (d,)
    covariance: Field  # (d, d)
