"""Chemistry in few copies: the linear form is true, and must be the one that is written.

Births at a constant rate and deaths in proportion have a linear drift and a linear tensor, and
roots and squares of the state are close to both. To be shown as an equal is enough.
"""

from __future__ import annotations

import warnings
import zlib
from typing import Any, NamedTuple

import numpy as np

from wgsindy.data import Trajectories
from wgsindy.errors import WgsindyWarning
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator, field_names
from wgsindy_evidence import recipes
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.ours.gallery import compared, judged
from wgsindy_evidence.experiments.ours.gallery_data.kind import LARGE, SMALL, Size
from wgsindy_evidence.experiments.ours.unseen import Process, X, Y, fine_path, substeps_of
from wgsindy_evidence.experiments.tensors import diagonal
from wgsindy_evidence.scope import Scope

EXPERIMENT, RECIPE, AUTO = "linear-form", "sharp", "auto"
DT = 0.05
SIZES = (SMALL, LARGE)
WRITTEN, EQUAL, ABSENT = "written", "equal", "absent"

PROCESSES: dict[str, Process] = {
    process.key: process
    for process in (
        # 50 copies, made at a rate of 50 and lost at a rate of 1 each.
        Process("birth_death", "birth and death", (50 - X,), ((50 + X,),), "poly1", (50.0,)),
        # 20 copies of mRNA, each of which makes 5 proteins in a unit of time; 200 proteins.
        Process(
            "gene_expression",
            "gene expression",
            (20 - X, 5 * X - Y / 2),
            diagonal(20 + X, 5 * X + Y / 2),
            "poly1",
            (20.0, 200.0),
            settling=20.0,
        ),
    )
}


class Terms(NamedTuple):
    """Terms of one formula of a field, such as ``b1``."""

    field: str
    terms: frozenset[str]


def linear_case(process: str, library: str, size: Size, seed: int) -> Case:
    """One fit; the default library, or the truth's own."""
    return Case(EXPERIMENT, process, RECIPE, seed, *size, options=(("library", library),))


def linear_cases(scope: Scope) -> list[Case]:
    """Both processes in both sizes, with the default library and the truth's own."""
    return [
        linear_case(key, library, size, seed)
        for key in scope.of_systems(tuple(PROCESSES))
        for library in (AUTO, PROCESSES[key].library)
        for size in SIZES[: 1 if scope.quick else None]
        for seed in scope.of_seeds()
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Simulate finely, fit, and look for the linear form of every field."""
    process = PROCESSES[case.system]
    data = samples(process, Size(case.trajectories, case.steps), case.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        found = WGSINDy(case.settings["library"], recipes.get(case.recipe)).fit(data)
        said = judged(found.diagnostics_)
    shown = {name: standing(found.generator_, process.truth, name) for name in names_of(process)}
    return {**said, **compared(found.generator_, process.truth, data), "linear": shown}


def samples(process: Process, size: Size, seed: int) -> Trajectories:
    """Every so many-th state of a fine path."""
    rng = np.random.default_rng([seed, zlib.crc32(process.key.encode())])
    substeps = substeps_of(DT)
    path = fine_path(
        process,
        dt=DT,
        steps=size.steps,
        substeps=substeps,
        trajectories=size.trajectories,
        rng=rng,
    )
    return Trajectories(list(path[:, ::substeps]), DT, names=process.names)


def names_of(process: Process) -> list[str]:
    """Names of the fields that are not zero."""
    drift, entries = field_names(len(process.names))
    true = {one.field for one in _written(process.truth)}
    return [name for name in (*drift, *entries) if name in true]


def standing(estimate: Generator, truth: Generator, name: str) -> str:
    """Whether the linear form of a field is written, or shown as an equal.

    A drift must have the true terms. For a tensor any of the linear terms will do: with few data a
    constant is what they tell of it.
    """
    (true,) = (one.terms for one in _written(truth) if one.field == name)
    linear = frozenset(("1", *truth.names))

    def is_form(terms: frozenset[str]) -> bool:
        return terms == true if name.startswith("b") else bool(terms) and terms <= linear

    written = dict(_written(estimate)).get(name, frozenset())
    if is_form(written):
        return WRITTEN
    others = [frozenset(one.terms) for one in estimate.alternatives if one.target == name]
    return EQUAL if any(map(is_form, others)) else ABSENT


def _written(generator: Generator) -> list[Terms]:
    """The terms of every field that has any."""
    found: dict[str, set[str]] = {}
    for one in generator.coefficients:
        found.setdefault(one.target, set()).add(one.term)
    return [Terms(name, frozenset(terms)) for name, terms in found.items()]
