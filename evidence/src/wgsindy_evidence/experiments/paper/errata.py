"""What each slip of the authors' release does to a figure: the same fit with and without it.

A slip is in the data (a simulator that does not do what it says), in the estimator, or in the
truth that an estimate is compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy.data import Trajectories, frozen
from wgsindy.model import Generator
from wgsindy.zoo import System
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.scope import Scope

EXPERIMENT = "errata"
PADDED_ROWS = 1200
QUICK_SLIPS = 3
RELEASE_UNITS = 1000.0


class Slip(NamedTuple):
    """One comparison: systems and recipe as they should be, and what the release does instead."""

    systems: tuple[str, ...]
    name: str  # key into the tables below, or a recipe that has the slip built in
    recipe: str = "paper"


SLIPS = (
    Slip(
        ("correlated_ou", "spiral_sink_corr", "heston_logsv", "cir_pair", "near_singular"),
        "paper-diagonal-kernel",
    ),
    Slip(("correlated_ou", "rotational_ou", "double_well_transverse"), "paper-separate-rows"),
    Slip(("underdamped_langevin",), "half kicks"),
    Slip(("bad_coverage",), "padded"),
    Slip(("two_factor_vasicek",), "other units"),
    Slip(("duffing", "van_der_pol"), "truth as written"),
    Slip(("heston_logsv", "heston_sv"), "shrinkage in raw units"),
    Slip(("correlated_ou", "heston_logsv", "heston_sv"), "paper-no-shrinkage"),
)


def half_kicks(system: System, case: Case) -> Trajectories:
    """Two half-kicks of half the noise each: a simulated variance of half of what is declared."""
    halved = replace(system, diffusion=("0", "0", f"{system.diffusion[2]}/2"))
    return fits.simulate(case, halved)


def padded(system: System, case: Case) -> Trajectories:
    """Short trajectories drawn out to full length by repeating their last point."""
    data = fits.simulate(case, system)
    states = [np.vstack([x, np.repeat(x[-1:], PADDED_ROWS - len(x), axis=0)]) for x in data]
    return Trajectories(states, data.mean_dt, names=data.names)


def other_units(system: System, case: Case) -> Trajectories:
    """The same rates in tenths of a percent: an answer must not depend on it."""
    data = fits.simulate(case, system)
    return Trajectories([RELEASE_UNITS * states for states in data], data.mean_dt, names=data.names)


def shrunk_in_raw_units(estimate: Generator) -> Generator:
    """Mix variances of different units, as the release does."""
    field = replace(estimate.tensor_field, units=frozen(np.ones(estimate.dimension)))
    return replace(estimate, tensor_field=field)


def as_written(system: System) -> Generator:
    """The truth of the paper's datasheet: noise on the velocity only."""
    return zoo.get(f"{system.key}_degenerate").generator


def rescaled_truth(system: System) -> Generator:
    """The truth in the other units, with the same names."""
    symbols = system.generator.to_sympy()
    back = {symbol: symbol / RELEASE_UNITS for symbol in symbols.symbols}
    drift = [RELEASE_UNITS * item.subs(back, simultaneous=True) for item in symbols.drift]
    entries = symbols.diffusion.subs(back, simultaneous=True) * RELEASE_UNITS**2
    return Generator.from_sympy(system.names, drift, entries.tolist())


DATA: dict[str, Callable[[System, Case], Trajectories]] = {
    "half kicks": half_kicks,
    "padded": padded,
    "other units": other_units,
}
ESTIMATES: dict[str, Callable[[Generator], Generator]] = {
    "shrinkage in raw units": shrunk_in_raw_units,
}
TRUTHS: dict[str, Callable[[System], Generator]] = {
    "truth as written": as_written,
    "other units": rescaled_truth,
}


def slip_case(slip: Slip, system: str, seed: int, *, slipped: bool) -> Case:
    """One fit, as it should be or with the slip."""
    if not slipped:
        return Case(EXPERIMENT, system, slip.recipe, seed)
    if slip.name in DATA | ESTIMATES | TRUTHS:
        return Case(EXPERIMENT, system, slip.recipe, seed, options=(("slip", slip.name),))
    return Case(EXPERIMENT, system, slip.name, seed)


def errata_cases(scope: Scope) -> list[Case]:
    """Every slip, and the same without it."""
    slips = SLIPS[:QUICK_SLIPS] if scope.quick and scope.systems is None else SLIPS
    used = tuple(dict.fromkeys(system for slip in slips for system in slip.systems))
    chosen = used if scope.systems is None else scope.of_systems(used)
    cases = [
        slip_case(slip, system, seed, slipped=slipped)
        for slip in slips
        for system in slip.systems
        if system in chosen
        for slipped in (False, True)
        for seed in scope.of_seeds()
    ]
    return list(dict.fromkeys(cases))  # two slips of one system are compared with the same fit


def run_case(case: Case) -> dict[str, Any]:
    """Simulate, fit and compare, each with the slip of the case or as it should be."""
    system, slip = zoo.get(case.system), case.settings.get("slip", "")
    data = DATA[slip](system, case) if slip in DATA else fits.simulate(case, system)
    estimate, _ = fits.fit(system, data, case)
    estimate = ESTIMATES[slip](estimate) if slip in ESTIMATES else estimate
    truth = TRUTHS[slip](system) if slip in TRUTHS else system.generator
    scores = metrics.scores_of(estimate, truth, data.states, scored=system.scored)
    return {"drift": scores.drift, "tensor": scores.tensor, "fields": scores.fields}
