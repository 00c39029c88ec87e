"""A question of the verdict: a row of questions.toml, and the answer that facts give to it.

A statistic is a size that matters to a reader and, where chance has a part in it, the same in
standard errors. Where many groups, lags or coordinates are looked at together, the threshold is
that of the largest of so many normal numbers. Beside it stands the least size that matters, since
with enough data every formula is off by something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import attrgetter
from statistics import NormalDist
from typing import Any

import numpy as np

from wgsindy.data import BoolArray, FloatArray
from wgsindy.diagnostics import thresholds
from wgsindy.diagnostics.findings import Finding, Limitation
from wgsindy.diagnostics.measurements import Measurements

Statistic = Callable[[Measurements], Any]


def chance(tests: int, alarm: float = thresholds.FALSE_ALARM) -> float:
    """Standard errors that the largest of so many tests exceeds at the rate of a false alarm."""
    return NormalDist().inv_cdf(1 - alarm / tests)


def of_its_size(share: float) -> str:
    """Say how large something is beside the drift, of which there may be next to nothing."""
    return "more than all of its size" if share > 1 else f"{share:.0%} of its size"


@dataclass(frozen=True)
class Numbers:
    """What a statistic measured: one number or, component first, many ``(d, ...)``."""

    size: Any  # what matters to a reader
    errors: FloatArray | None = None  # the same in standard errors
    tests: int = 1  # how many numbers it is the largest of, if it is by chance
    told: Mapping[str, Any] | Callable[[Answer], Mapping[str, Any]] | None = None  # for the words
    axes: tuple[Sequence[Any], ...] = ()  # what the axes after the component are

    def tells(self, it: Answer) -> Mapping[str, Any]:
        """What the words need beside the answer."""
        return (self.told(it) if callable(self.told) else self.told) or {}


@dataclass(frozen=True)
class Threshold:
    """A size that a number must be ``above`` or ``below``, beyond so many standard ``errors``.

    These are counted from what chance makes of all numbers that are compared, at the rate of a
    false ``alarm``; where that is none, from zero.
    """

    above: float = 0.0
    below: float | None = None
    alarm: float = 0.0
    errors: float = 0.0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Threshold:
        """Numbers, or names of thresholds."""
        return cls(**{key: getattr(thresholds, str(value), value) for key, value in row.items()})

    def passed(self, numbers: Numbers) -> BoolArray:
        """Which of the numbers are beyond it, in the shape of these."""
        size = np.asarray(numbers.size)
        beyond = np.asarray(size > self.above if self.below is None else size < self.below)
        if numbers.errors is None:
            return beyond
        by_chance = chance(numbers.tests, self.alarm) if self.alarm else 0.0
        return beyond & (numbers.errors > by_chance + self.errors)


@dataclass(frozen=True)
class Answer:
    """Facts of which something is to be said, and where their numbers are beyond a threshold."""

    facts: Measurements
    numbers: tuple[Numbers, ...]
    passed: tuple[BoolArray, ...]  # of each, which are beyond its threshold

    @cached_property
    def clear(self) -> BoolArray:
        """Where any of the numbers is beyond its threshold."""
        return reduce(np.logical_or, self.passed)

    @cached_property
    def chosen(self) -> BoolArray:
        """Coordinates that there is something to say of, ``(d,)``; all if it is one number."""
        chosen = np.zeros(self.facts.data.dimension, dtype=bool)
        by_component = self.clear.reshape(*self.clear.shape[:1], -1).any(axis=-1)
        chosen[: by_component.size if by_component.ndim else None] = by_component
        return chosen

    @property
    def names(self) -> str:
        """Names of these coordinates."""
        return self.facts.named(self.chosen)

    @cached_property
    def place(self) -> tuple[int, ...]:
        """Where the clearest number is: by its standard errors or, without these, by its size."""
        first = self.numbers[0]
        by = first.size if first.errors is None else first.errors
        place = np.unravel_index(np.argmax(np.where(self.clear, by, -np.inf)), self.clear.shape)
        return tuple(int(index) for index in place)

    @property
    def name(self) -> str:
        """Name of the coordinate of the clearest number."""
        return self.facts.data.names[self.place[0]]

    @property
    def along(self) -> tuple[Any, ...]:
        """What the clearest number is about beside its coordinate."""
        return tuple(axis[k] for axis, k in zip(self.numbers[0].axes, self.place[1:], strict=True))

    @property
    def size(self) -> float:
        """The clearest number."""
        return float(np.asarray(self.numbers[0].size)[self.place])

    @property
    def errors(self) -> float:
        """The clearest number in standard errors."""
        return float(np.asarray(self.numbers[0].errors)[self.place])

    @property
    def share(self) -> str:
        """The clearest number as a share of the drift."""
        return of_its_size(self.size)

    @property
    def largest(self) -> float:
        """Largest number of the coordinates that are named."""
        return float(np.max(self.numbers[0].size[self.chosen]))

    @property
    def largest_errors(self) -> float:
        """The same of their standard errors."""
        return float(np.max(np.asarray(self.numbers[0].errors)[self.chosen]))

    @property
    def largest_share(self) -> str:
        """Largest number as a share of the drift."""
        return of_its_size(self.largest)


@dataclass(frozen=True)
class Question:
    """A row of the verdict; questions.toml says what each column is."""

    asks: str
    limitation: Limitation
    name: str  # of the statistic
    statistic: Statistic
    words: str
    advice: str
    thresholds: tuple[Threshold, ...] = (Threshold(),)
    fields: tuple[str, ...] = ()
    clearest: bool = False
    handled: bool = False
    each: bool = False
    instead: bool = False

    @classmethod
    def of(cls, row: Mapping[str, Any], statistics: Mapping[str, Statistic]) -> Question:
        """Read a row, with the function that its statistic is."""
        name = row["statistic"]
        fact = attrgetter(name[6:]) if name.startswith("facts.") else None
        return cls(
            **{
                **row,
                "limitation": Limitation(row["limitation"]),
                "name": name,
                "statistic": fact or statistics[name],
                "thresholds": tuple(map(Threshold.of, row.get("thresholds", [{}]))),
                "fields": tuple(row.get("fields", ())),
            }
        )

    def answer(self, facts: Measurements, coordinate: int | None = None) -> Finding | None:
        """Ask it, of all coordinates or of one alone."""
        measured = self.statistic(facts)
        if measured is None:
            return None
        parts = measured if isinstance(measured, tuple) else (measured,)
        numbers = tuple(one if isinstance(one, Numbers) else Numbers(one) for one in parts)
        passed = [limit.passed(one) for limit, one in zip(self.thresholds, numbers, strict=True)]
        if coordinate is not None:
            passed = [one & (np.arange(len(one)) == coordinate) for one in passed]
        it = Answer(facts, numbers, tuple(passed))
        if not it.clear.any():
            return None
        told = numbers[0].tells(it)
        if not told.get("asked", True):
            return None
        words, advice = (
            text.format(it=it, facts=facts, **told) for text in (self.words, self.advice)
        )
        handled = bool(told.get("handled", self.handled))
        return Finding(self.limitation, self._fields(it, told), words, advice, handled)

    def _fields(self, it: Answer, told: Mapping[str, Any]) -> tuple[str, ...]:
        """Fields that an answer concerns."""
        if "fields" in told:
            return tuple(told["fields"])
        chosen = it.chosen
        if self.clearest:
            chosen = np.arange(len(chosen)) == it.place[0]
        return tuple(name for kind in self.fields for name in getattr(it.facts, kind)(chosen))
