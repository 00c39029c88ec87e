"""Verdicts: how often nothing is made into a limit, and a limit called by its name.

Systems that the paper declares recoverable must not be given a limitation that they do not
have. Each limit must get its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from wgsindy import zoo
from wgsindy.diagnostics import Limitation
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.ours.observation_noise import observed
from wgsindy_evidence.scope import REPORTING_SEEDS, Scope, in_scope

EXPERIMENT, RECIPE = "verdict", "sharp-euler"
SEEDS_IN_SCOPE = 5
NOTES = (Limitation.SEVERAL, Limitation.EXTRAPOLATED)


class Limit(NamedTuple):
    """A limit and the limitation that must be named; the system's own unless given."""

    system: str
    options: tuple[tuple[str, str | float], ...] = ()
    limitation: Limitation = Limitation.NONE

    @property
    def expected(self) -> Limitation:
        """The limitation that must be named."""
        return self.limitation or zoo.get(self.system).limitation


LIMITS = (
    Limit("near_singular"),
    Limit("underdamped_langevin"),
    Limit("near_boundary_heston"),
    # A sine over a short range is close to a polynomial: that several formulas do is the answer.
    Limit("nonpoly_drift", (("library", "poly2"),), Limitation.SEVERAL),
    Limit("nonpoly_drift", (("library", "poly3"),), Limitation.SEVERAL),
    Limit("bad_coverage"),
    Limit("too_large_dt", (("dt", 0.2),)),
    Limit("partial_observation"),
    Limit("stalled_sensor"),
    Limit("gbm_2d"),
    Limit("rotational_ou", (("noise", 0.1),), Limitation.NOISE),
    Limit("double_well_transverse", (("noise", 0.1),), Limitation.NOISE),
    Limit("heston_logsv", (("noise", 0.1),), Limitation.NOISE),
)


EXPECTED = tuple(((limit.system, limit.options), limit.limitation) for limit in LIMITS)


def verdict_cases(scope: Scope) -> list[Case]:
    """Every system in scope on five seeds, every limit on all of them."""
    limits, within = [limit.system for limit in LIMITS], in_scope()
    usual = [within[0], *limits, *within]  # a quick look has one of each
    chosen = scope.of_systems(list(dict.fromkeys(usual)))
    seeds = scope.of_seeds(REPORTING_SEEDS)
    cases = [
        verdict_case(Limit(system), seed)
        for system in chosen
        if system in within
        for seed in seeds[:SEEDS_IN_SCOPE]
    ]
    cases += [
        verdict_case(limit, seed) for limit in LIMITS if limit.system in chosen for seed in seeds
    ]
    return cases


def verdict_case(limit: Limit, seed: int) -> Case:
    """One fit to be judged."""
    return Case(EXPERIMENT, limit.system, RECIPE, seed, options=limit.options)


def run_case(case: Case) -> dict[str, Any]:
    """Fit and judge."""
    system = zoo.get(case.system)
    if "dt" in case.settings:
        system = replace(system, dt=float(case.settings["dt"]))
    data = fits.simulate(case, system)
    if "noise" in case.settings:
        data = observed(data, "gaussian", float(case.settings["noise"]), case.seed)
    found = fits.estimator(system, data, case).diagnostics_
    axes = list(dict.fromkeys(str(finding.limitation) for finding in found.findings))
    # That another formula does as well limits nothing, nor does a note on empty corners; it counts
    # where it is what must be said.
    noted = {one.limitation for one in found.findings if one.handled and one.limitation in NOTES}
    limits = [axis for axis in axes if axis not in noted]
    named = [axis for axis in axes if axis == dict(EXPECTED).get((case.system, case.options))]
    return {"verdict": found.verdict, "axis": (*named, *limits, "")[0], "axes": axes}
