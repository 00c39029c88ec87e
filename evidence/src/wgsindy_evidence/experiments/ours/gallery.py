"""A gallery: what is no diffusion, or was spoilt, must not be identified; clean controls must.

Everything is fitted as a user does it who knows nothing: the library is "auto". A fit that refuses
with a sentence is a result, too: right for a null, wrong for a control. Anything else that is
raised is a crash, wrong for both.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from wgsindy.data import Trajectories
from wgsindy.diagnostics import Diagnostics
from wgsindy.errors import WgsindyError, WgsindyWarning
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator
from wgsindy.zoo import central_grid
from wgsindy_evidence import recipes
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.ours.gallery_data.everything import KINDS, keys_of
from wgsindy_evidence.experiments.ours.gallery_data.kind import Size
from wgsindy_evidence.experiments.ours.measured import coverage, errors_of
from wgsindy_evidence.scope import Scope

EXPERIMENT, RECIPE = "gallery", "sharp"
SEEDS = range(3000, 3010)  # for reporting; choices are made on seeds from 100 on
REFUSED, CRASHED = "refused", "crashed"
BAND_POINTS = 200


def gallery_cases(scope: Scope) -> list[Case]:
    """Every kind in both sizes; a quick look has a null and a control in the first."""
    one_of_each = (keys_of("null")[0], keys_of("control")[0])
    usual = tuple(dict.fromkeys((*one_of_each, *KINDS)))
    return [
        Case(EXPERIMENT, key, RECIPE, seed, *size)
        for key in scope.of_systems(usual)
        for size in KINDS[key].sizes[: 1 if scope.quick else None]
        for seed in scope.of_seeds(SEEDS)
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Make the data, fit, judge; whatever happens is a result."""
    kind, started = KINDS[case.system], time.perf_counter()
    try:
        data = kind.data(case.seed, Size(case.trajectories, case.steps))
        started = time.perf_counter()
        found = fitted(data, case.recipe, kind.truth)
    except WgsindyError as error:
        found = ended(REFUSED, error)
    except Exception as error:  # a crash is what this looks for
        found = ended(CRASHED, error)
    return {**found, "seconds": time.perf_counter() - started}


def fitted(data: Trajectories, recipe: str, truth: Generator | None) -> dict[str, Any]:
    """The verdict of a fit, and how it compares with the truth, if there is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)  # what they say is found as well
        estimator = WGSINDy(recipe=recipes.get(recipe)).fit(data)
        found = judged(estimator.diagnostics_)
    return found if truth is None else found | compared(estimator.generator_, truth, data)


def judged(diagnostics: Diagnostics) -> dict[str, Any]:
    """The verdict, and every limitation once: what the fit does not allow for comes first."""
    findings = sorted(diagnostics.findings, key=lambda finding: finding.handled)
    limitations = list(dict.fromkeys(str(finding.limitation) for finding in findings))
    open_ones = {str(finding.limitation) for finding in findings if not finding.handled}
    return {
        "verdict": diagnostics.verdict,
        "limitations": limitations,
        "handled": [name for name in limitations if name not in open_ones],
        "first": limitations[0] if limitations else "",
    }


def compared(estimate: Generator, truth: Generator, data: Trajectories) -> dict[str, Any]:
    """Errors and the coverage of 95 % bands, at states that were seen."""
    rng = np.random.default_rng(0)
    points = data.states[rng.choice(len(data.states), BAND_POINTS, replace=False)]
    return {
        **errors_of(estimate, truth, central_grid(data.states)),
        **coverage(estimate, truth, points),
    }


def ended(how: str, error: Exception) -> dict[str, Any]:
    """The result of a fit that did not come to an end."""
    sentence = " ".join(f"{type(error).__name__}: {error}".split()).replace("|", "/")
    return {"verdict": how, "limitations": [], "handled": [], "first": f"{how}: {sentence}"}
