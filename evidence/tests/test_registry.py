"""The experiments of the evidence: which cases they are made of."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

import wgsindy.recipes
from wgsindy.errors import UnknownSystemError
from wgsindy_evidence import recipes
from wgsindy_evidence.baselines import BASELINES
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.cli.commands import having
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.registry import EXPERIMENTS
from wgsindy_evidence.scope import QUICK_SEEDS, Scope

ALL = Scope()


QUICK = Scope(quick=True)


@cache
def all_cases(name: str) -> list[Case]:
    return EXPERIMENTS[name].cases(ALL)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_have_cases_and_a_look_has_far_fewer(name: str) -> None:
    experiment = EXPERIMENTS[name]
    everything, look = all_cases(name), experiment.cases(QUICK)
    assert experiment.name == name
    assert 0 < len(set(look)) <= len(set(everything)) / 5
    assert len({case.seed for case in look}) == QUICK_SEEDS
    assert {case.system for case in look} <= {case.system for case in everything}
    assert {case.recipe for case in look} <= {case.recipe for case in everything}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_case_is_asked_for_twice(name: str) -> None:
    cases = all_cases(name)
    assert len(cases) == len(set(cases))


def test_cases_of_one_store_mean_one_work() -> None:
    """Two experiments may share a case only if they would do the same with it."""
    owners: dict[tuple[str, Case], Any] = {}
    for experiment in EXPERIMENTS.values():
        for case in all_cases(experiment.name):
            work = owners.setdefault((experiment.store, case), experiment.work)
            assert work is experiment.work
    # The fits are shared on purpose: fewer are run than the experiments ask for.
    shared = [e for e in EXPERIMENTS.values() if e.store == "fits"]
    asked = sum(len(set(all_cases(e.name))) for e in shared)
    assert len({case for store, case in owners if store == "fits"}) < asked


METHODS = {*wgsindy.recipes.names(), *recipes.OWN, *BASELINES, fits.ORACLE, fits.WEAK_ORACLE}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_method_of_an_experiment_exists(name: str) -> None:
    assert {case.recipe for case in all_cases(name)} <= METHODS


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_seeds_and_systems_can_be_chosen(name: str) -> None:
    system = all_cases(name)[0].system
    chosen = EXPERIMENTS[name].cases(Scope(seeds=[3, 5], systems=[system]))
    assert {case.seed for case in chosen} == {3, 5}
    assert {case.system for case in chosen} == {system}
    assert len(chosen) == len(set(chosen))


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("quick", [False, True])
def test_systems_that_an_experiment_cannot_use_get_a_sentence(name: str, quick: bool) -> None:
    with pytest.raises(UnknownSystemError, match="there is no system 'pendulum'"):
        EXPERIMENTS[name].cases(Scope(systems=["pendulum"], quick=quick))
    elsewhere = {"nulls": "indep_ou", "verdicts": "mueller_brown"}
    outside = elsewhere.get(name, "partial_observation")
    with pytest.raises(CampaignError, match=f"{outside} is not part of this .*choose among"):
        EXPERIMENTS[name].cases(Scope(systems=[outside], quick=quick))


def test_of_several_experiments_those_run_that_have_the_system() -> None:
    three = ("leverage", "circulation", "noise")
    assert having(three, None) == list(three)
    assert having(three, ["rotational_ou"]) == ["circulation", "noise"]
    assert having(three, ["heston_logsv"]) == ["leverage", "noise"]
    assert having(three, ["sabr"]) == list(three)  # each of which then says what it has


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_case_read_back_is_the_case_that_was_run(name: str) -> None:
    for case in all_cases(name)[::37]:
        assert Case.from_json(json.loads(json.dumps(case.to_json()))) == case
