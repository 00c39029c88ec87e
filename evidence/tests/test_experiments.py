"""The experiments of the evidence: which cases they are made of, and what a slip changes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wgsindy.recipes
from wgsindy import Trajectories, WGSINDy, zoo
from wgsindy.data.arrays import FloatArray, frozen
from wgsindy.errors import RecipeError, UnknownSystemError
from wgsindy.estimate.weak_form.smoother import build_smoother, grid_of_centres
from wgsindy.model.generator import Generator
from wgsindy.model.tensor import TensorField
from wgsindy.passes.summary import data_summary
from wgsindy.terms.library import library
from wgsindy.zoo import scores as metrics
from wgsindy_evidence import recipes
from wgsindy_evidence.baselines import BASELINES, fit_gedmd, fit_oracle
from wgsindy_evidence.campaign import Case, Store, run_campaign
from wgsindy_evidence.cli.commands import having
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.paper import ablation, convergence, errata, ladder, nulls
from wgsindy_evidence.experiments.paper import baselines as proxies
from wgsindy_evidence.recipes import LADDER, NAIVE, PAPER, SHARP, SHARP_ABLATIONS, Recipe
from wgsindy_evidence.registry import EXPERIMENTS
from wgsindy_evidence.scope import QUICK_SEEDS, Scope, in_scope

ALL = Scope()
QUICK = Scope(quick=True)


@cache
def all_cases(name: str) -> list[Case]:
    return EXPERIMENTS[name].cases(ALL)


def differences(one: Recipe, other: Recipe) -> set[str]:
    return {f.name for f in fields(Recipe) if getattr(one, f.name) != getattr(other, f.name)}


# --- cases ---


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


METHODS = {*wgsindy.recipes.names(), *recipes.OWN, *BASELINES, fits.ORACLE}


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


# --- ladder, ablation, baselines ---


def test_the_ladder_starts_without_any_mechanism_and_ends_at_the_paper() -> None:
    first, *_, last = LADDER.values()
    assert first is NAIVE
    assert differences(replace(last, name=PAPER.name), PAPER) == set()
    # None of the six mechanisms of the paper is in the naive port.
    assert not NAIVE.standardise
    assert (NAIVE.bandwidth, NAIVE.centres) == ("isotropic", "grid")
    assert NAIVE.local_order == 0
    assert NAIVE.solver == "stlsq"
    assert (NAIVE.tensor, NAIVE.shrinkage) == ("entries", 0.0)
    assert (NAIVE.gls, NAIVE.rows) == ("none", "pooled")
    # Every choice in which it differs from the paper is made up for exactly once.
    steps = list(LADDER.values())
    changed = [differences(a, b) - {"name"} for a, b in pairwise(steps)]
    assert all(changed)
    assert sorted(x for change in changed for x in change) == sorted(
        differences(NAIVE, PAPER) - {"name"}
    )


def test_the_rungs_follow_the_recipes_and_pooling_comes_last() -> None:
    methods = [rung.method for rung in ladder.RUNGS]
    assert methods == [*LADDER, "paper", "sharp", "sharp"]
    assert [rung.trajectories for rung in ladder.RUNGS] == [1] * 6 + [16, 1, 16]
    assert set(ladder.PAPER_SYSTEMS) <= set(in_scope())
    assert len(set(ladder.PAPER_SYSTEMS)) == 13


def test_ablations_of_sharp_change_one_choice_each() -> None:
    for name, recipe in SHARP_ABLATIONS.items():
        assert recipe.name == name
        assert len(differences(recipe, SHARP) - {"name"}) == 1


def test_each_component_is_left_out_alone() -> None:
    for complete, components in ablation.COMPONENTS.items():
        whole, *others = components
        assert whole.method == complete
        for item in others:
            changed = differences(recipes.get(item.method), recipes.get(complete)) - {"name"}
            pooled = item.trajectories == whole.trajectories
            # Either the recipe differs or the number of trajectories, never both.
            assert bool(changed) == pooled
            # Without Cholesky there is nothing to shrink, so that one goes with it.
            assert len(changed - {"shrinkage"}) <= 1


@pytest.mark.parametrize("system", ["rotational_ou", "heston_logsv", "double_well_transverse"])
def test_a_quarter_of_the_data_is_a_quarter(system: str) -> None:
    for components in ablation.COMPONENTS.values():
        for component in components:
            whole = ablation.ablated_case(component, system, 7)
            part = ablation.ablated_case(component, system, 7, quarter=True)
            declared = zoo.get(system).steps
            amount = [case.trajectories * (case.steps or declared) for case in (whole, part)]
            assert amount[1] * 4 == pytest.approx(amount[0], rel=1e-3)  # steps are whole numbers
            assert (part.recipe, part.seed, part.system) == (whole.recipe, 7, system)
            # Of many trajectories a quarter is left, each of full length; of one a quarter of it.
            assert (part.steps == 0) == (whole.trajectories > 1)


def test_equal_budgets_are_equal_and_the_papers_are_not() -> None:
    fair, unfair = (proxies.entrants(equal=equal) for equal in (True, False))
    assert {item.trajectories for item in fair} == {proxies.EQUAL}
    assert [item.method for item in fair] == [item.method for item in unfair]
    budgets = {item.method: item.trajectories for item in unfair}
    assert budgets == {
        "sharp": 16,
        "paper": 16,
        "naive": 1,
        "kramers-moyal": 4,
        "temporal-weak": 4,
        "gedmd": 16,
    }
    wanted = {(item.method, item.trajectories) for item in (*fair, *unfair)}
    cases = proxies.proxy_cases(ALL)
    assert {(case.recipe, case.trajectories) for case in cases} == wanted
    assert set(proxies.naive_cases(ALL)) <= set(cases)


# --- convergence and nulls ---


@pytest.mark.parametrize("horizon", convergence.HORIZONS)
def test_a_horizon_is_the_total_time(horizon: float) -> None:
    for system in convergence.SYSTEMS:
        case = convergence.horizon_case(system, "sharp", horizon, 0)
        dt = zoo.get(system).dt
        assert case.trajectories * case.steps * dt == pytest.approx(horizon, rel=1e-9)
        # One trajectory as long as that is enough, then more of the longest.
        longest = min(horizon, convergence.LONGEST)
        assert case.steps * dt == pytest.approx(longest, rel=1e-9)


def test_the_oracle_needs_no_library_and_the_others_get_the_one_of_the_limit() -> None:
    wrong = nulls.Null("nonpoly_drift", "poly2")
    right = nulls.Null("nonpoly_drift")
    assert {wrong, right} <= set(nulls.NULLS)
    for method in nulls.METHODS:
        cases = [nulls.null_case(null, method, 1) for null in (wrong, right)]
        given = [case.settings.get("library") for case in cases]
        assert given == ([None, None] if method == fits.ORACLE else ["poly2", None])
        assert (cases[0] == cases[1]) == (method == fits.ORACLE)


def test_the_library_of_a_case_replaces_the_declared_one() -> None:
    system = zoo.get("nonpoly_drift")
    data = system.simulate(0, trajectories=2, steps=150)
    for option, expected in (("poly2", "poly2"), ("", "trig")):
        case = fits.fit_case("nonpoly_drift", "paper", 0, library=option)
        found, _ = fits.fit(system, data, case)
        assert found.basis.terms == library(expected).bind(data.names).terms


# --- fits ---


def test_a_case_is_a_fit_and_its_scores() -> None:
    # Only the second component of this system counts; the other one is kept beside it.
    case = fits.fit_case("heston_logsv", "paper", 4, trajectories=2, steps=200)
    result = fits.run_case(case)
    system = zoo.get("heston_logsv")
    data = system.simulate(4, trajectories=2, steps=200)
    fitted = WGSINDy(system.library, "paper", random_state=4).fit(data)
    expected = metrics.compare(fitted.generator_, system.generator, data.states, scored=(1,))
    whole = metrics.compare(fitted.generator_, system.generator, data.states)
    assert result["drift"] == expected.drift
    assert result["whole_drift"] == whole.drift != expected.drift
    assert result["tensor"] == expected.tensor
    assert result["cosine"] == expected.cosine
    assert result["psd"] == expected.psd
    assert result["score"] == expected.score
    assert result["fields"] == expected.fields
    assert result["condition"] == fitted.diagnostics_.condition_number
    assert result["time"] == pytest.approx(2 * 200 / 252)
    assert result["seconds"] > 0


def test_what_is_observed_is_compared_with_its_own_truth() -> None:
    # Of a rotation only x is seen; its projection is b = -x, a = 1.
    case = fits.fit_case("partial_observation", "sharp", 2, trajectories=2, steps=300)
    result = fits.run_case(case)
    data = zoo.get("partial_observation").simulate(2, trajectories=2, steps=300)
    found = WGSINDy("poly2", "sharp", random_state=2).fit(data).generator_
    grid = metrics.central_grid(data.states)
    error = np.linalg.norm(found.drift(grid) + grid) / np.linalg.norm(grid)
    assert result["drift"] == result["whole_drift"] == pytest.approx(error)
    assert math.isnan(result["cosine"])
    spread = np.linalg.norm(found.diffusion(grid) - 1) / np.sqrt(len(grid))
    assert result["tensor"] == pytest.approx(spread)


def test_each_kind_of_method_takes_its_own_way() -> None:
    system = zoo.get("rotational_ou")
    data = system.simulate(1, trajectories=2, steps=200)
    at = metrics.central_grid(data.states, points=3)

    def drift(method: str) -> tuple[FloatArray, float]:
        found, condition = fits.fit(system, data, fits.fit_case("rotational_ou", method, 1))
        return found.drift(at), condition

    truth = fit_oracle(data, system.generator).drift(at)
    np.testing.assert_array_equal(drift("oracle")[0], truth)
    np.testing.assert_array_equal(
        drift("gedmd")[0], fit_gedmd(data, system.library, seed=1).drift(at)
    )
    # The naive port is both: as a recipe it has a condition number.
    naive = WGSINDy(system.library, NAIVE, random_state=1).fit(data)
    np.testing.assert_array_equal(drift("naive")[0], naive.generator_.drift(at))
    assert drift("naive")[1] > 1
    assert math.isnan(drift("oracle")[1])
    assert math.isnan(drift("gedmd")[1])
    with pytest.raises(RecipeError, match="there is no recipe 'guesswork'"):
        drift("guesswork")


def test_an_unknown_method_is_a_stored_sentence_and_no_crash(tmp_path: Path) -> None:
    cases = [
        fits.fit_case("rotational_ou", method, 0, trajectories=1, steps=60)
        for method in ("guesswork", "oracle")
    ]
    store = Store(tmp_path / "fits.jsonl")
    lines = run_campaign(cases, fits.run_case, store, jobs=1)
    assert lines[0].result is None
    assert str(lines[0].error).startswith("RecipeError: there is no recipe 'guesswork'")
    assert lines[1].error is None
    assert math.isfinite((lines[1].result or {})["drift"])
    stored = {line.case: (line.result is None, line.error) for line in store.lines()}
    assert stored == {line.case: (line.result is None, line.error) for line in lines}


# --- errata ---


def test_a_case_without_the_slip_has_no_option_and_with_it_says_which() -> None:
    for slip in errata.SLIPS:
        right, wrong = (
            errata.slip_case(slip, slip.systems[0], 3, slipped=slipped) for slipped in (False, True)
        )
        assert right.options == ()
        assert right.recipe == "paper"
        assert right != wrong
        built_in = slip.name in recipes.OWN
        assert wrong.recipe == (slip.name if built_in else "paper")
        assert wrong.settings == ({} if built_in else {"slip": slip.name})
    known = {*errata.DATA, *errata.ESTIMATES, *errata.TRUTHS}
    assert known == {slip.name for slip in errata.SLIPS} - set(recipes.OWN)


@pytest.mark.statistical
def test_half_kicks_halve_the_variance_of_the_momentum() -> None:
    system = zoo.get("underdamped_langevin")
    case = Case("errata", system.key, "paper", 0, trajectories=8, steps=1200)
    for data, strength in (
        (errata.half_kicks(system, case), 0.5),
        (fits.simulate(case, system), 1.0),
    ):
        noise = np.concatenate(
            [np.diff(x[:, 1]) - system.generator.drift(x[:-1])[:, 1] * system.dt for x in data]
        )
        # An exact step of unit friction: variance s (1 - exp(-2 dt)) / 2; squares of 9,600
        # Gaussians have a relative standard error of sqrt(2 / 9600). Five of them.
        theory = strength * (1 - math.exp(-2 * system.dt)) / 2
        assert np.mean(noise**2) == pytest.approx(theory, rel=5 * math.sqrt(2 / len(noise)))


def test_padded_paths_end_in_repeats_of_their_last_point() -> None:
    system = zoo.get("bad_coverage")
    case = Case("errata", system.key, "paper", 5, trajectories=3)
    short, long = fits.simulate(case, system), errata.padded(system, case)
    assert long.names == short.names
    assert long.mean_dt == pytest.approx(short.mean_dt)
    for before, after in zip(short, long, strict=True):
        assert len(after) == errata.PADDED_ROWS
        np.testing.assert_array_equal(after[: len(before)], before)
        still = ~np.diff(after, axis=0).any(axis=1)
        assert still.sum() == errata.PADDED_ROWS - len(before)
        np.testing.assert_array_equal(after[-1], before[-1])


def test_other_units_are_the_same_process() -> None:
    system = zoo.get("two_factor_vasicek")
    case = Case("errata", system.key, "paper", 5, trajectories=2, steps=50)
    plain, scaled = fits.simulate(case, system), errata.other_units(system, case)
    for before, after in zip(plain, scaled, strict=True):
        np.testing.assert_array_equal(after, 1000 * before)
    truth, other = system.generator, errata.rescaled_truth(system)
    at = metrics.central_grid(plain.states, points=4)
    np.testing.assert_allclose(other.drift(1000 * at), 1000 * truth.drift(at), rtol=1e-12)
    np.testing.assert_allclose(other.diffusion(1000 * at), 1e6 * truth.diffusion(at), rtol=1e-12)
    assert other.names == truth.names
    # Negative control: it is not the truth in the old units.
    assert not np.allclose(other.diffusion(at), truth.diffusion(at))


def test_shrinkage_in_raw_units_changes_the_units_and_nothing_else() -> None:
    basis = library("poly1").bind(("x", "y"))
    factor = np.array([[2.0, 0.3, 0.0], [0.1, 0.0, 0.2], [0.02, 0.0, 0.01]])
    units = np.array([4.0, 0.05])
    field = TensorField("factor", frozen(factor), 0.05, frozen(units))
    before = Generator(basis, frozen(np.ones((2, 3))), field, {"from": "here"})
    after = errata.shrunk_in_raw_units(before)
    at = np.array([[0.4, -0.2], [1.0, 2.0]])
    np.testing.assert_array_equal(after.drift(at), before.drift(at))
    assert replace(after.tensor_field, units=before.tensor_field.units) == field
    assert after.info == before.info
    # a = 0.95 L L' + 0.05 (mean of the variances in their units) units^2, by hand.
    rows = np.column_stack([np.ones(2), at]) @ factor.T
    for found, unit in ((before, units), (after, np.ones(2))):
        for tensor, (l11, l21, l22) in zip(found.diffusion(at), rows, strict=True):
            lower = np.array([[l11, 0.0], [l21, l22]])
            plain = lower @ lower.T
            mean = np.mean(np.diag(plain) / unit**2)
            np.testing.assert_allclose(tensor, 0.95 * plain + 0.05 * mean * np.diag(unit**2))


@pytest.mark.parametrize("name", ["duffing", "van_der_pol"])
def test_the_truth_as_written_has_noise_on_the_velocity_only(name: str) -> None:
    system = zoo.get(name)
    written, true = errata.as_written(system), system.generator
    at = np.array([[0.5, -1.0], [1.5, 0.3]])
    np.testing.assert_array_equal(written.drift(at), true.drift(at))
    assert not written.diffusion(at)[:, 0].any()
    np.testing.assert_allclose(written.diffusion(at)[:, 1, 1], true.diffusion(at)[:, 1, 1])
    assert true.diffusion(at)[:, 0, 0].all()


def test_a_slip_of_the_estimate_reaches_the_figures() -> None:
    slip = next(item for item in errata.SLIPS if item.name == "shrinkage in raw units")
    case = replace(
        errata.slip_case(slip, "heston_logsv", 0, slipped=True), trajectories=2, steps=99
    )
    found = errata.run_case(case)
    system = zoo.get("heston_logsv")
    data = fits.simulate(case, system)
    right = WGSINDy(system.library, "paper", random_state=0).fit(data).generator_
    for estimate, same in ((errata.shrunk_in_raw_units(right), True), (right, False)):
        scores = metrics.compare(estimate, system.generator, data.states, scored=(1,))
        assert found["drift"] == scores.drift
        assert (found["tensor"] == scores.tensor) == same
        assert (found["fields"]["a22"] == scores.fields["a22"]) == same


def test_a_slip_of_the_truth_reaches_the_figures() -> None:
    slip = next(item for item in errata.SLIPS if item.name == "truth as written")
    right, wrong = (
        errata.run_case(replace(case, trajectories=2, steps=200))
        for case in (errata.slip_case(slip, "duffing", 0, slipped=s) for s in (False, True))
    )
    assert right["drift"] == wrong["drift"]
    assert math.isfinite(right["fields"]["a11"])
    assert math.isnan(wrong["fields"]["a11"])  # no error relative to zero
    assert wrong["tensor"] > 0.5 > right["tensor"]


# --- the grid of the naive port ---


def walk(dimension: int, n: int = 400, seed: int = 0) -> Trajectories:
    noise = np.random.default_rng(seed).standard_normal((n, dimension))
    return Trajectories([np.cumsum(noise, axis=0) * (np.arange(dimension) + 1)], dt=0.1)


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize(("dimension", "side"), [(1, 64), (2, 8), (3, 4)])
def test_grid_centres_cover_the_range_evenly(dimension: int, side: int, standardise: bool) -> None:
    data = walk(dimension)
    summary = data_summary(data, standardise=standardise)
    centres = grid_of_centres(summary, 64)
    assert centres.shape == (64, dimension)
    assert len(np.unique(centres, axis=0)) == 64
    states = data.states[:-1]  # the last one has no increment
    centre = states.mean(axis=0) if standardise else 0.0
    scale = states.std(axis=0, ddof=1) if standardise else 1.0
    for p in range(dimension):
        places = np.unique(centres[:, p])
        assert len(places) == side
        seen = ((states - centre) / scale)[:, p]
        np.testing.assert_allclose([places[0], places[-1]], [seen.min(), seen.max()], rtol=1e-9)
        np.testing.assert_allclose(np.diff(places), (places[-1] - places[0]) / (side - 1))


@pytest.mark.parametrize(("dimension", "wanted"), [(1, 50), (2, 50), (3, 50), (3, 1), (2, 200)])
def test_about_as_many_centres_as_wanted(dimension: int, wanted: int) -> None:
    found = len(grid_of_centres(data_summary(walk(dimension), standardise=True), wanted))
    side = round(found ** (1 / dimension))
    assert side**dimension == found
    # No whole side is closer to the one that would give just as many.
    ideal = wanted ** (1 / dimension)
    assert abs(side - ideal) <= 0.5


def islands() -> Trajectories:
    """Two clouds a hundred widths apart: between them a grid has kernels that see nothing."""
    rng = np.random.default_rng(4)
    return Trajectories([rng.standard_normal((300, 2)) + shift for shift in (0.0, 100.0)], dt=0.1)


def blocks(data: Trajectories, recipe: Recipe) -> Iterator[tuple[FloatArray, FloatArray]]:
    summary = data_summary(data, standardise=recipe.standardise)
    smoother = build_smoother(data, summary, recipe, seed=0)
    for chunk in data.chunks():
        yield smoother.centres, smoother.rows(chunk, data.mean_dt).copy()


@pytest.mark.parametrize("order", [0, 2])
def test_kernels_that_see_nothing_give_rows_of_zeros(order: Any) -> None:
    # Narrow kernels: a small part of the distance of neighbouring centres.
    factor = 0.06
    recipe = replace(NAIVE, name="narrow", local_order=order, bandwidth_factor=factor)
    data = islands()
    ((centres, rows),) = blocks(data, recipe)
    assert np.isfinite(rows).all()
    bandwidth = factor * np.ptp(data.states[:, 0]) / 7
    distance = np.linalg.norm(centres[:, None] - data.states[None], axis=2).min(axis=1)
    # exp(-9^2 / 2) is zero for all purposes, exp(-2^2 / 2) is not.
    unseen, seen = distance > 9 * bandwidth, distance < 2 * bandwidth
    assert unseen.sum() > 10
    # Some of them have weights above the smallest number: not all zeros are rounding.
    assert (distance[unseen] < 30 * bandwidth).any()
    assert seen.sum() >= 2
    assert not rows[unseen].any()
    # Where there are samples the rows still reproduce a constant.
    np.testing.assert_allclose(rows[seen].sum(axis=1), 1, rtol=1e-4)  # a ridge of 1e-8


def test_a_fit_with_empty_kernels_is_finite() -> None:
    paths = [zoo.get("rotational_ou").simulate(s, trajectories=1, steps=200)[0] for s in (0, 1)]
    data = Trajectories([paths[0], paths[1] + 30.0], dt=0.01)
    narrow = replace(NAIVE, name="narrow", bandwidth_factor=0.2)
    found = WGSINDy("poly1", narrow).fit(data).generator_
    assert np.isfinite(found.drift(data.states)).all()
    assert np.isfinite(found.diffusion(data.states)).all()


def test_no_kernel_of_k_means_is_empty() -> None:
    """The control: centres in the samples have no rows of zeros."""
    ((_, rows),) = blocks(islands(), replace(PAPER, n_centres=16))
    assert (np.abs(rows).max(axis=1) > 0).all()
