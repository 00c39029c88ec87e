"""Array types that the whole package shares."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
HashArray = NDArray[np.uint64]
ScalarMap = Callable[[FloatArray], FloatArray]  # (n,) of one coordinate to (n,) of another


def frozen(array: FloatArray) -> FloatArray:
    """Return a private copy of ``array`` that raises when written to."""
    copy = np.array(array, dtype=np.float64)
    copy.flags.writeable = False
    return copy


def zeros(*shapes: tuple[int, ...]) -> list[FloatArray]:
    """Arrays of zeros, for sums to begin with."""
    return [np.zeros(shape) for shape in shapes]


def scrambled(value: HashArray) -> HashArray:
    """Scramble 64-bit integers (the finaliser of SplitMix64; Steele, Lea and Flood 2014)."""
    v = value + np.uint64(0x9E3779B97F4A7C15)
    v = (v ^ (v >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    v = (v ^ (v >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(v ^ (v >> np.uint64(31)))


class Scratch(threading.local):
    """Arrays that each thread keeps and fills again.

    A fresh array of a megabyte is mapped and zeroed by the operating system at every chunk, which
    takes as long as computing its content.
    """

    def __init__(self) -> None:
        self._kept: dict[str, FloatArray] = {}

    def __reduce__(self) -> tuple[type[Scratch], tuple[()]]:
        """Travel empty: what is kept here is of no use elsewhere."""
        return Scratch, ()

    def take(self, key: str, rows: int, columns: int) -> FloatArray:
        """Return an uninitialised ``(rows, columns)`` array; valid until ``key`` is taken again."""
        size = rows * columns
        kept = self._kept.get(key)
        if kept is None or kept.size < size:
            kept = self._kept[key] = np.empty(size)
        return kept[:size].reshape(rows, columns)


CENTRAL_RANGE = (
    2.0,
    98.0,
)  # percentiles of each coordinate between which fields are compared and drawn


@dataclass(frozen=True)
class Frame:
    """An affine change of variables, ``z = (x - centre) / scale`` for each coordinate."""

    centre: FloatArray
    scale: FloatArray

    @classmethod
    def identity(cls, dimension: int) -> Frame:
        """Return the frame in which ``z`` is ``x``."""
        return cls(frozen(np.zeros(dimension)), frozen(np.ones(dimension)))

    def standardise(self, x: FloatArray) -> FloatArray:
        """Map states ``(n, d)`` into the frame."""
        # NumPy is ten times faster along long rows than along short ones.
        rows = x.T.copy()
        rows -= self.centre[:, None]
        rows /= self.scale[:, None]
        return rows.T
