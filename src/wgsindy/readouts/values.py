"""Numbers and fields that say how sure they are, of the fit and of the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgsindy.data.arrays import FloatArray
from wgsindy.model.display.numbers import padded


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

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self.values[place]

    def __repr__(self) -> str:
        return f"Field({np.array2string(self.values, precision=4, threshold=8)})"
