"""Honest nulls: systems that data cannot settle, fitted beside oracles that know the terms.

If the oracle is as far off, the data are the limit. If it is not, the limit is the library or the
choice of terms. The paper's oracle solves the weak system with the true terms; ours knows the noise
as well and sees every increment.
"""

from __future__ import annotations

from typing import NamedTuple

from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.fits import ORACLE, WEAK_ORACLE, fit_case
from wgsindy_evidence.scope import Scope

METHODS = ("paper", "sharp-euler", ORACLE, WEAK_ORACLE)
ORACLES = (ORACLE, WEAK_ORACLE)


class Null(NamedTuple):
    """A limit: the system, and the library if it is not the declared one."""

    system: str
    library: str = ""


NULLS = (
    *(Null("partial_observation"), Null("bad_coverage"), Null("too_large_dt")),
    *(Null("nonpoly_drift", "poly2"), Null("nonpoly_drift"), Null("heston_logsv")),
    *(Null("underdamped_langevin"), Null("near_boundary_heston"), Null("near_singular")),
    *(Null("gbm_2d"), Null("two_factor_vasicek"), Null("sabr"), Null("mueller_brown")),
    Null("stalled_sensor"),
)


def null_case(null: Null, method: str, seed: int) -> Case:
    """One fit; oracles have their own terms and need no library."""
    library = "" if method in ORACLES else null.library
    return fit_case(null.system, method, seed, library=library)


def null_cases(scope: Scope) -> list[Case]:
    """Every limit by every method."""
    chosen = scope.of_systems(list(dict.fromkeys(null.system for null in NULLS)))
    cases = [
        null_case(null, method, seed)
        for null in NULLS
        if null.system in chosen
        for seed in scope.of_seeds()
        for method in METHODS
    ]
    return list(dict.fromkeys(cases))  # an oracle serves both libraries of a system
