"""The measurements of ``wgsindy bench speed``: each is a case, stored as a line, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wgsindy_evidence.campaign import Case
from wgsindy_evidence.peers import comparison
from wgsindy_evidence.speed import cluster, growth, profile, scale, start, threads, yardstick

EXPERIMENT = "speed"
SCALES = {"sharp": (10**6, 10**7, 10**8), "paper": (10**6, 10**7)}
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
            _case("yardstick", recipe=recipe, samples=SMALL, library=library, repeats=repeats)
            for recipe in SCALES
            for library in ("poly2", "poly4")
        ),
        *(
            _case("yardstick", recipe=recipe, samples=LARGE // shrink, library="poly2", repeats=1)
            for recipe in SCALES
        ),
        *(Case(EXPERIMENT, yardstick.SYSTEM, method, 0) for method in (*SCALES, *rivals)),
        *(_case("threads", recipe=name, samples=million, repeats=repeats) for name in SCALES),
        *(_case("profile", recipe=name, samples=million) for name in SCALES),
        _case("cluster", recipe="sharp", samples=10 * million),
        *(_case("growth", dimension=2, degree=degree) for degree in PLANE),
        *(_case("growth", dimension=dimension, degree=3) for dimension in SPACES),
        *(_case("growth", dimension=d, degree=k) for d, k in (() if quick else WIDE)),
        *(
            _case("scale", recipe=recipe, samples=samples // shrink, threads=CORES)
            for recipe, found in sizes.items()
            for samples in found
        ),
    ]


def _case(measure: str, **settings: float | str) -> Case:
    recipe = str(settings.get("recipe", "sharp"))
    return Case(EXPERIMENT, measure, recipe, 0, options=tuple(settings.items()))


def run_case(case: Case, *, pythons: Mapping[str, str]) -> dict[str, Any]:
    """Measure; a case without options is a fit by a method, run as rivals are."""
    if case.system in MEASURES:
        return MEASURES[case.system](**case.settings)
    return comparison.run_case(case, pythons=pythons)
