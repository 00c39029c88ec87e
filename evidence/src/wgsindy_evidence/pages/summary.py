"""Medians over stored lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wgsindy_evidence.campaign import Case, Line


class Index:
    """Lines by case, so that a page can ask for the cases that it is about."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._results = {line.case: line.result for line in lines if line.result is not None}
        self._seeds = sorted({line.case.seed for line in lines})
        self._cases = [line.case for line in lines]

    @property
    def systems(self) -> list[str]:
        """Systems in the order in which they come."""
        return list(dict.fromkeys(case.system for case in self._cases))

    @property
    def seeds(self) -> list[int]:
        """Seeds that occur."""
        return self._seeds

    def results(self, cases: Iterable[Case]) -> list[dict[str, Any]]:
        """Results of those of the cases that have one."""
        return [self._results[case] for case in cases if case in self._results]


class Spread(NamedTuple):
    """Quartiles of a figure."""

    low: float
    median: float
    high: float


def spread(results: Sequence[dict[str, Any]], key: str) -> Spread:
    """Quartiles over results; NaN where nothing is defined."""
    values = np.array([float(result[key]) for result in results], dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values):
        return Spread(float("nan"), float("nan"), float("nan"))
    low, middle, high = np.percentile(values, [25, 50, 75])
    return Spread(float(low), float(middle), float(high))


def median(results: Sequence[dict[str, Any]], key: str) -> float:
    """Median over results; NaN where nothing is defined."""
    return spread(results, key).median
