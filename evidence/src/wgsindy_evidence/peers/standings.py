"""What a campaign of rivals adds up to: a row a system and method, a total a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wgsindy_evidence.campaign import Case, Line


@dataclass(frozen=True)
class Standing:
    """One method over some cases: medians of the finished ones, and how many did not finish.

    ``psd`` is the smallest fraction of grid points with a semidefinite tensor, ``recall`` and
    ``exact`` are shares, ``false_positives`` is a number of terms; all three are means.
    """

    method: str
    n: int
    failed: int
    drift: float
    tensor: float
    psd: float
    recall: float
    false_positives: float
    exact: float
    cold: float
    warm: float


@dataclass(frozen=True)
class Row:
    """All methods on one system."""

    system: str
    standings: tuple[Standing, ...]


@dataclass(frozen=True)
class Total:
    """One method over all systems, relative to the reference method.

    ``drift`` and ``tensor`` are geometric means of error over the reference's error on the cases
    that both finished; ``cold`` and ``warm`` are ratios of median seconds.
    """

    standing: Standing
    reference: str
    shared: int
    drift: float
    tensor: float
    cold: float
    warm: float


@dataclass(frozen=True)
class Standings:
    """Rows, totals, the versions that ran, and a sentence for every case that failed."""

    rows: tuple[Row, ...]
    totals: tuple[Total, ...]
    versions: dict[str, str]
    failures: tuple[str, ...]


def summarise(lines: Sequence[Line], reference: str = "sharp-euler") -> Standings:
    """Collect lines in the order of systems and methods in which they come."""
    systems = dict.fromkeys(line.case.system for line in lines)
    methods = dict.fromkeys(line.case.recipe for line in lines)
    rows = [
        Row(
            system,
            tuple(
                _standing(method, [line for line in lines if _is(line.case, method, system)])
                for method in methods
            ),
        )
        for system in systems
    ]
    return Standings(
        rows=tuple(rows),
        totals=tuple(_total(method, reference, lines) for method in methods),
        versions={
            line.case.recipe: result["version"]
            for line in lines
            if (result := finished(line)) is not None
        },
        failures=tuple(
            f"{line.case.recipe} on {line.case.system}, seed {line.case.seed}: {failure(line)}"
            for line in lines
            if finished(line) is None
        ),
    )


def finished(line: Line) -> dict[str, Any] | None:
    """Return the figures of a case whose fit came to an end."""
    return None if line.result is None or line.result["failure"] else line.result


def failure(line: Line) -> str:
    """Return why there are no figures."""
    return str(line.error if line.result is None else line.result["failure"])


def _is(case: Case, method: str, system: str) -> bool:
    return (case.recipe, case.system) == (method, system)


def _standing(method: str, lines: Sequence[Line]) -> Standing:
    results = [result for line in lines if (result := finished(line)) is not None]

    def values(key: str) -> list[float]:
        return [float(result[key]) for result in results] or [float("nan")]

    return Standing(
        method=method,
        n=len(results),
        failed=len(lines) - len(results),
        drift=float(np.median(values("drift"))),
        tensor=float(np.median(values("tensor"))),
        psd=min(values("psd")),
        recall=float(np.mean(values("recall"))),
        false_positives=float(np.mean(values("false_positives"))),
        exact=float(np.mean(values("exact"))),
        cold=float(np.median(values("seconds_cold"))),
        warm=float(np.median(values("seconds_warm"))),
    )


def _total(method: str, reference: str, lines: Sequence[Line]) -> Total:
    own = [line for line in lines if line.case.recipe == method]
    others = [line for line in lines if line.case.recipe == reference]
    standing, yardstick = _standing(method, own), _standing(reference, others)
    results = {_data(line.case): finished(line) for line in others}
    pairs = [
        (mine, theirs)
        for line in own
        if (mine := finished(line)) and (theirs := results.get(_data(line.case)))
    ]
    return Total(
        standing=standing,
        reference=reference,
        shared=len(pairs),
        drift=_mean_ratio(pairs, "drift"),
        tensor=_mean_ratio(pairs, "tensor"),
        cold=standing.cold / yardstick.cold,
        warm=standing.warm / yardstick.warm,
    )


def _data(case: Case) -> tuple[str, int, int]:
    """What decides which trajectories a case is about."""
    return case.system, case.seed, case.trajectories


def _mean_ratio(pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]], key: str) -> float:
    """Geometric mean over the pairs; NaN if there are none."""
    if not pairs:
        return float("nan")
    return float(np.exp(np.mean([np.log(mine[key] / theirs[key]) for mine, theirs in pairs])))
