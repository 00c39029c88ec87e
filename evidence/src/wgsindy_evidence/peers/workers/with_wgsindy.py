"""Our own recipes, run in the way of its rivals: a fresh process, the same task file."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

PACKAGES = ("wgsindy.estimator",)
DISTRIBUTION = "wgsindy"
NAMES = ("x", "y", "z")


def _measured(task: dict[str, Any]) -> tuple[str, ...]:
    return NAMES[: task["paths"].shape[2]]


def _order(task: dict[str, Any]) -> int:
    """2 where terms are of positions and velocities, and only the former were measured."""
    return int(task["powers"].shape[1] // task["paths"].shape[2])


def _names(task: dict[str, Any]) -> tuple[str, ...]:
    measured = _measured(task)
    return (*measured, *(f"v_{name}" for name in measured)) if _order(task) == 2 else measured


def _terms(task: dict[str, Any]) -> list[str]:
    from wgsindy.terms import monomial_name

    return [monomial_name(row, _names(task)) for row in task["powers"].tolist()]


def fit(task: dict[str, Any]) -> Any:
    """Fit the recipe that the task names."""
    from wgsindy.data import Trajectories
    from wgsindy.errors import RepeatedSamplesWarning
    from wgsindy.estimator import WGSINDy
    from wgsindy_evidence.recipes import get

    data = Trajectories(task["paths"], float(task["dt"]), names=_measured(task))
    recipe = get(str(task["recipe"]))
    seed, hidden = int(task["seed"]), _order(task) == 2
    estimator = WGSINDy(_terms(task), recipe, random_state=seed, order=2 if hidden else 1)
    with warnings.catch_warnings():
        # A floored variance repeats its floor: part of these systems, not a fault of the data.
        warnings.simplefilter("ignore", RepeatedSamplesWarning)
        return estimator.fit(data).generator_


def read(generator: Any, task: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Fields at the points; the support is that of the formulas in the physical states.

    Of positions whose velocities are hidden, those of the velocities.
    """
    found = {(c.target, c.term) for c in generator.coefficients}
    targets = [f"b{number + 1}" for number in range(len(_names(task)))]
    support = [[(target, term) in found for term in _terms(task)] for target in targets]
    drift, tensor = generator.drift(task["points"]), generator.diffusion(task["points"])
    kept = slice(len(_measured(task)) if _order(task) == 2 else 0, None)
    return drift[:, kept], tensor[:, kept, kept], np.array(support)[kept]
