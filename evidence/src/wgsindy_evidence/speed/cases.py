"""The measurements of ``wgsindy bench speed``: each is a case, stored as a line, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wgsindy_evidence.campaign import Case
from wgsindy_evidence.peers import comparison
from wgsindy_evidence.speed import cluster, growth, profile, scale, start, threads, yardstick

EXPERIMENT = "speed"
SCALES = {
    "sharp": (10**6, 10**7),
    "sharp-euler": (10**6, 10**7, 10**8),
    "paper": (10**6, 10**7),
}
PROFILED = ("sharp-euler", "paper")
NOISE = 0.1  # on every sample, as a share of its coordinate's standard deviation
CORES = 2
SMALL, LARGE = 25_600, 400_000
PLANE = range(2, 9)  # degrees in two dimensions
SPACES = (3, 4, 5)  # dimensions of poly3
WIDE = ((2, 13), (5, 4))  # dimension and degree of more than a hundred terms
RIVALS = ("sfi", "pysindy")

MEASURES: dict[str, Callable[..., dict[str, Any]]] = {
    "scale": scale.measure,
    "yardstick": yardstick.measure,
    "threads": threads.measure,
    "growth": growth.measure,
    "start": start.measure,
    "profile": profile.measure,
    "cluster": cluster.measure,
}


def speed_cases(rivals: Sequence[str] = (), *, quick: bool = False) -> list[Case]:
    """All measurements; ``quick`` leaves out what takes more than a few seconds."""
    shrink = 10 if quick else 1
    million, repeats = 10**6 // shrink, 1 if quick else 5
    sizes = {name: found[:1] if quick else found for name, found in SCALES.items()}
    return [
        _case("start", repeats=repeats),
        *(
            _case("yardstick", recipe, samples=SMALL, library=library, repeats=repeats)
            for recipe in SCALES
            for library in ("poly2", "poly3", "poly4")
        ),
        _case("yardstick", "sharp", samples=SMALL, library="poly3", repeats=repeats, noise=NOISE),
        *(
            _case("yardstick", recipe, samples=LARGE // shrink, library="poly2", repeats=1)
            for recipe in SCALES
        ),
        *(Case(EXPERIMENT, yardstick.SYSTEM, method, 0) for method in (*SCALES, *rivals)),
        *(_case("threads", name, samples=million, repeats=repeats) for name in SCALES),
        *(_case("profile", name, samples=million) for name in PROFILED),
        _case("cluster", "sharp-euler", samples=10 * million),
        *(_case("growth", dimension=2, degree=degree) for degree in PLANE),
        *(_case("growth", dimension=dimension, degree=3) for dimension in SPACES),
        *(_case("growth", dimension=d, degree=k) for d, k in (() if quick else WIDE)),
        *(
            _case("scale", recipe, samples=samples // shrink, threads=CORES)
            for recipe, found in sizes.items()
            for samples in found
        ),
        _case("scale", "sharp", samples=sizes["sharp"][-1] // shrink, threads=CORES, noise=NOISE),
    ]


def _case(measure: str, recipe: str = "", **settings: float | str) -> Case:
    """One measurement; those that are told no recipe have one of their own."""
    given = {"recipe": recipe, **settings} if recipe else settings
    return Case(EXPERIMENT, measure, recipe or "sharp-euler", 0, options=tuple(given.items()))


def run_case(case: Case, *, pythons: Mapping[str, str]) -> dict[str, Any]:
    """Measure; a case without options is a fit by a method, run as rivals are."""
    if case.system in MEASURES:
        return MEASURES[case.system](**case.settings)
    return comparison.run_case(case, pythons=pythons)
