"""Libraries beside the fitted one: evidence against brute force, candidates, preference."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from processes import DT, linear
from scipy.stats import chi2, ncx2

from wgsindy import Trajectories, WGSINDy, zoo
from wgsindy.data import BoolArray, FloatArray
from wgsindy.estimate import PREFERRED, RivalLibrary, rival_libraries
from wgsindy.estimate.evidence import Problem, best_support
from wgsindy.estimate.libraries import MOST_TERMS, LibraryComparison, _upper_limit
from wgsindy.estimate.likelihood.normal_equations import NormalEquations, NormalPass, Runner
from wgsindy.estimate.likelihood.selection import SURE
from wgsindy.model import field_names, tensor
from wgsindy.passes import reduce
from wgsindy.recipes import SHARP, LikelihoodRecipe
from wgsindy.terms import library


def fitted(
    data: Trajectories, terms: Any = "poly1", threads: int = 1, recipe: str = "sharp"
) -> LibraryComparison:
    fit = WGSINDy(terms, recipe, threads=threads).fit(data).fit_
    assert fit.likelihood is not None
    assert isinstance(fit.recipe, LikelihoodRecipe)
    return LibraryComparison(fit, fit.likelihood, fit.recipe)


@cache
def positive() -> Trajectories:
    """The first coordinate is never negative, the second is."""
    paths = [np.column_stack([np.exp(path[:, 0]), path[:, 1]]) for path in linear(3)]
    return Trajectories(paths, DT)


# Brute force: one sample at a time, every support on its own.


def weighted_sums(
    found: LibraryComparison, terms: list[str]
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Information and cross products of each field in physical terms, weights of the fit.

    Only for Euler steps, and a diagonal working tensor that is nowhere small.
    """
    data, model = found.fit.data, found.estimate.model
    assert model.is_chain
    assert isinstance(data, Trajectories)
    d, physical = data.dimension, found.estimate.model.basis.to_physical
    pairs = tensor.pairs(d)
    own = found.basis.values(np.concatenate([path[:-1] for path in data]))
    theta = library(terms).bind(data.names).values(np.concatenate([path[:-1] for path in data]))
    steps = np.concatenate([np.diff(path, axis=0) for path in data]) / model.units
    drift = own @ (model.drift @ physical).T
    a = own @ (model.entries @ physical).T
    assert all(not a[:, e].any() for e, (p, q) in enumerate(pairs) if p != q)
    noise = [a[:, tensor.entry_number(p, p)] + model.extra_variance[p] for p in range(d)]
    assert min(values.min() for values in noise) > 0.3
    residual = steps - drift * DT
    sums = {}
    names, entries = field_names(d)
    for p in range(d):
        sums[names[p]] = (
            theta.T @ (theta * DT / noise[p][:, None]),
            theta.T @ (steps[:, p] / noise[p]),
        )
    for e, (p, q) in enumerate(pairs):
        weight = 1 / (noise[p] * noise[q] * (2 if p == q else 1))
        target = residual[:, p] * residual[:, q] / DT
        sums[entries[e]] = (theta.T @ (theta * weight[:, None]), theta.T @ (target * weight))
    return sums  # fmt: skip


def best_worth(
    gram: FloatArray, cross: FloatArray, costs: FloatArray, allowed: list[int]
) -> tuple[float, tuple[int, ...]]:
    """gain - cost of the best support among all supports."""
    best: tuple[float, tuple[int, ...]] = (0.0, ())
    for size in range(1, len(allowed) + 1):
        for support in combinations(allowed, size):
            rows = list(support)
            inside = cross[rows]
            gain = 0.5 * inside @ np.linalg.solve(gram[np.ix_(rows, rows)], inside)
            best = max(best, (float(gain - costs[rows].sum()), support))
    return best


def costs_of(terms: list[str], names: tuple[str, ...]) -> FloatArray:
    """Half the chi-squared number that the largest of K exceeds once in a hundred times."""
    degrees = library(terms).bind(names).degrees
    chance = 0.5 * chi2.isf(SHARP.false_alarm / len(terms), 1)
    return np.asarray(chance + SHARP.degree_cost * np.maximum(degrees - 1, 0))


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("curved", [False, True])
def test_log_evidence_are_the_difference_of_the_best_supports(d: int, curved: bool) -> None:
    data = linear(5, d)
    if curved:
        rng = np.random.default_rng(1)
        x = np.zeros((4, 6001, d))
        for n in range(6000):
            pull = -3 * np.sin(x[:, n])
            x[:, n + 1] = x[:, n] + pull * DT + 1.5 * np.sqrt(DT) * rng.standard_normal((4, d))
        data = Trajectories(list(x), DT)
    found = fitted(data, recipe="sharp-euler")
    compared = rival_libraries(found.fit)
    assert {one.name for one in compared} == {"every term up to degree 2", "sines and cosines"}
    for rival in compared:
        terms = list(rival.library.bind(data.names).terms)
        costs = costs_of(terms, data.names)
        own = [k for k, term in enumerate(terms) if term in found.basis.terms]
        log_evidence, chosen, instead = 0.0, {}, 0.0
        for name, (gram, cross) in weighted_sums(found, terms).items():
            free, support = best_worth(gram, cross, costs, list(range(len(terms))))
            bound, _ = best_worth(gram, cross, costs, own)
            if set(support) - set(own):
                instead = max(instead, bound)
                log_evidence = max(log_evidence, free - bound)
                chosen[name] = {terms[k] for k in support}
        assert rival.log_evidence == pytest.approx(log_evidence, rel=1e-5, abs=1e-6)
        assert {name: set(row) for name, row in rival.chosen.items()} == chosen
        if curved and rival is compared[0]:
            assert log_evidence > PREFERRED
            assert instead > 0, "the smaller library must be worth something too"


def test_log_evidence_of_a_coupled_fit_are_never_negative() -> None:
    for name in ("correlated_ou", "diag_multiplicative", "heston_logsv"):
        data = zoo.get(name).simulate(seed=1, trajectories=4)
        for rival in rival_libraries(fitted(data, zoo.get(name).library).fit):
            assert rival.log_evidence >= 0.0
            assert (rival.log_evidence > 0) == bool(rival.chosen)


def test_formulas_are_those_of_fields_that_take_a_new_term() -> None:
    found = fitted(zoo.get("duffing").simulate(seed=1, trajectories=8), "poly2")
    best = rival_libraries(found.fit)[0]
    assert best.name == "every term up to degree 3"
    assert "b2" in best.chosen
    for terms in best.chosen.values():
        assert set(terms) - set(found.basis.terms)
    assert "x**3" in best.chosen["b2"]


def test_any_amount_of_evidence_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    # With more nats than any fixed cost of foreign terms, these must still be kept out of the
    # smaller library. Each sum is multiplied as if there were 10^7 times as many samples.
    found = fitted(zoo.get("duffing").simulate(seed=1, trajectories=2), "poly2")
    plain = rival_libraries(found.fit)[0]

    assert not found.estimate.observation_noise.any()
    run = Runner.__call__

    def more(self: Runner, step: Any, **options: Any) -> Any:
        sums = run(self, step, **options)
        scaled = {
            name: getattr(sums, name) * 1e7
            for name in ("drift_gram", "drift_cross", "entry_gram", "entry_cross")
        }
        return replace(sums, **scaled)

    monkeypatch.setattr(Runner, "__call__", more)
    best = rival_libraries(found.fit)[0]
    # Costs no longer matter, so that nats are at least as many times more.
    assert best.log_evidence > 1e7 * plain.log_evidence > SURE


@pytest.mark.parametrize("extra", [["x**3", "y**3"], ["sin(x)"]])
def test_weights_are_those_of_the_fit(extra: list[str]) -> None:
    data = zoo.get("diag_multiplicative").simulate(seed=1, trajectories=4)
    found = fitted(Trajectories([path + np.array([3.0, -1.0]) for path in data], DT), "poly2")
    larger = library([*found.basis.terms, *extra]).bind(data.names)
    work = larger.in_frame(found.fit.summary.region) if larger.is_closed else larger
    before, after = found.estimate.model, found._model_in(work, larger)
    states = data.states[::50] + np.array([3.0, -1.0])
    old, new = before.basis.values(states), work.values(states)
    np.testing.assert_allclose(new @ after.drift.T, old @ before.drift.T, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(new @ after.entries.T, old @ before.entries.T, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(before.extra_variance, after.extra_variance)


def test_a_search_that_ends_too_early_prefers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # Beyond 16 terms it climbs, and may end below what the smaller library reaches.
    found = fitted(linear(1))

    def poor(problem: Problem, costs: FloatArray, _: BoolArray) -> tuple[BoolArray, float]:
        best, gain = best_support(problem, costs)
        return (best, gain) if len(problem) == len(found.basis) else (np.ones_like(best), 0.0)

    monkeypatch.setattr("wgsindy.estimate.libraries.best_support", poor)
    assert [(one.log_evidence, one.chosen) for one in rival_libraries(found.fit)] == [(0.0, {})] * 2


# Candidates.


def names_and_terms(data: Trajectories, terms: Any) -> dict[str, list[str]]:
    return dict(fitted(data, terms)._candidates())


@pytest.mark.parametrize("terms", ["poly1", "poly2", "trig", "sqrt", ["1", "x", "y", "sin(x)"]])
def test_no_candidate_is_repeated(terms: Any) -> None:
    data = Trajectories([path + np.array([0.0, 9.0]) for path in positive()], DT)
    found = fitted(data, terms)
    for new in dict(found._candidates()).values():
        assert not set(new) & set(found.basis.terms)
        assert len(set(new)) == len(new)
        assert len(library([*found.basis.terms, *new]).bind(data.names)) == len(found.basis) + len(
            new
        )


def test_what_a_library_has_is_not_proposed() -> None:
    proposed = names_and_terms(positive(), "trig")
    assert "sines and cosines" not in proposed
    assert proposed["every term up to degree 3"] == ["x**3", "x**2*y", "x*y**2", "y**3"]
    assert names_and_terms(linear(1), ["1", "x", "y", "sin(x)"])["sines and cosines"] == [
        *("cos(x)", "sin(y)", "cos(y)")
    ]


def test_roots_are_proposed_for_coordinates_that_are_never_negative() -> None:
    assert names_and_terms(positive(), "poly1")["square roots"] == ["sqrt(x)"]
    both = Trajectories([np.abs(path) for path in linear(3)], DT)
    assert names_and_terms(both, "poly1")["square roots"] == ["sqrt(x)", "sqrt(y)", "sqrt(x*y)"]
    assert "square roots" not in names_and_terms(linear(3), "poly1")


def test_reciprocals_are_proposed_for_coordinates_that_are_positive() -> None:
    both = [np.abs(path) + np.array([0.0, 0.1]) for path in linear(3)]
    both[0][0, 0] = 0.0  # has a root, and no reciprocal
    assert names_and_terms(Trajectories(both, DT), "poly1")["reciprocals"] == ["y**(-1)"]
    assert "reciprocals" not in names_and_terms(linear(3), "poly1")


@pytest.mark.parametrize("terms", [["1", "x", "x**99"], ["1", "x", "y", "x**40*y"]])
def test_a_degree_with_too_many_terms_is_not_proposed(terms: list[str]) -> None:
    data = linear(1, 1 if "y" not in terms else 2)
    proposed = names_and_terms(data, terms)
    assert list(proposed) == ["sines and cosines"]


def test_large_libraries_are_left_alone() -> None:
    data = linear(1, 3)
    found = names_and_terms(data, "poly4")  # 35 terms; the next degree makes 56
    assert len(found["every term up to degree 5"]) == 21
    assert len(found["sines and cosines"]) == 6
    assert MOST_TERMS < 84
    # Of its 56 terms neither 28 of the next degree nor 6 sines and cosines would leave 60.
    assert names_and_terms(data, "poly5") == {}


def test_a_term_that_does_not_exist_at_a_state_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    found = fitted(linear(1))
    usual = dict(found._candidates())
    odd = {"logarithms": ["log(x)"], **usual}
    monkeypatch.setattr(LibraryComparison, "_candidates", lambda self: iter(odd.items()))
    assert {one.name for one in rival_libraries(found.fit)} == set(usual)


# Preference.


def alternative(name: str, log_evidence: float) -> RivalLibrary:
    return RivalLibrary(name, library("poly1"), log_evidence, {}, {}, 0)


@pytest.mark.parametrize(
    ("degree", "sines", "first"),
    [
        (10.0, 14.4, "every term up to degree 2"),
        (10.0, 14.6, "sines and cosines"),
        (700.0, 735.0, "every term up to degree 2"),
        (700.0, 740.0, "sines and cosines"),
        (10.0, 3.0, "every term up to degree 2"),
        (1.0, 4.5, "sines and cosines"),  # the only one that is more than chance
        (0.0, 0.0, "every term up to degree 2"),
    ],
)
def test_a_degree_is_preferred_unless_sines_are_clearly_better(
    monkeypatch: pytest.MonkeyPatch, degree: float, sines: float, first: str
) -> None:
    found = fitted(linear(1))

    def preference(
        self: LibraryComparison, larger: Any
    ) -> tuple[float, dict[str, Any], dict[str, Any]]:
        return (sines if "sin(x)" in larger.terms else degree), {}, {}

    monkeypatch.setattr(LibraryComparison, "_preference", preference)
    compared = rival_libraries(found.fit)
    assert [one.name for one in compared].index(first) == 0
    assert [one.degrees for one in compared] == [
        int(one.name.startswith("every term")) for one in compared
    ]


@pytest.mark.parametrize(("one", "four", "first"), [(10.0, 13.3, 2), (10.0, 13.4, 5)])
def test_among_equals_fewer_degrees_are_preferred(
    monkeypatch: pytest.MonkeyPatch, one: float, four: float, first: int
) -> None:
    found = replace(fitted(linear(1, 1), "poly1"), open_form=True)

    def preference(
        self: LibraryComparison, larger: Any
    ) -> tuple[float, dict[str, Any], dict[str, Any]]:
        return (four if "x**5" in larger.terms else one), {}, {}

    monkeypatch.setattr(LibraryComparison, "_preference", preference)
    ranked = [rival for rival in found.ranked() if rival.degrees]
    assert [rival.degrees for rival in ranked] == ([1, 4] if first == 2 else [4, 1])
    assert ranked[0].name == f"every term up to degree {first}"


def test_preferred_is_more_than_chance() -> None:
    assert not alternative("a", PREFERRED).is_preferred
    assert alternative("a", PREFERRED + 1e-9).is_preferred


def test_threads_change_nothing() -> None:
    data = zoo.get("duffing").simulate(seed=2, trajectories=4)
    one, two = (rival_libraries(fitted(data, "poly2", threads).fit) for threads in (1, 2))
    assert [rival.name for rival in one] == [rival.name for rival in two]
    for a, b in zip(one, two, strict=True):
        assert a.log_evidence == pytest.approx(b.log_evidence, rel=1e-6)
        assert a.chosen == b.chosen


def test_a_coordinate_without_noise_is_not_asked() -> None:
    data = zoo.get("duffing_degenerate").simulate(seed=1, trajectories=8)
    found = fitted(data, "poly2")
    assert found.estimate.noiseless.tolist() == [True, False]
    for rival in rival_libraries(found.fit):
        assert set(rival.chosen) <= {"b2", "a22"}
    assert "b2" in rival_libraries(found.fit)[0].chosen
    work = found.estimate.model
    sums = reduce(NormalPass(work), data)
    equations = NormalEquations.of(sums, work.basis.from_physical)
    assert [name for name, _ in found._problems(equations, work)] == ["b2", "a22"]


@pytest.mark.parametrize("d", [1, 3])
def test_other_dimensions(d: int) -> None:
    compared = rival_libraries(fitted(linear(2, d)).fit)
    assert [one.name for one in compared] == ["every term up to degree 2", "sines and cosines"]
    assert all(len(one.library.bind(("x", "y", "z")[:d])) > d + 1 for one in compared)


# Chance.


@pytest.mark.statistical
def test_a_right_library_is_seldom_left_for_another() -> None:
    # Given that the fitted library is right, a formula of a rival is more likely by 4 nats with
    # probability exp(-4) at most; 5 fields and 2 rivals make 0.18 a data set, 7.3 in 40. That is a
    # bound: new terms must also pay for themselves, and these seeds have none at all.
    preferred = 0
    for seed in range(40):
        compared = rival_libraries(fitted(linear(100 + seed, steps=300)).fit)
        preferred += sum(one.is_preferred for one in compared)
    bound = 40 * np.exp(-PREFERRED) * 5 * 2
    assert preferred <= bound


@pytest.mark.statistical
def test_a_wrong_library_is_left_for_another() -> None:
    # The negative control of the test above: a cubic restoring force that a line cannot follow.
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = np.zeros((8, 1501))
        for n in range(1500):
            x[:, n + 1] = x[:, n] + (4 * x[:, n] - 4 * x[:, n] ** 3) * DT
            x[:, n + 1] += np.sqrt(0.5 * DT) * rng.standard_normal(8)
        best = rival_libraries(fitted(Trajectories(list(x[:, :, None]), DT), "poly2").fit)[0]
        assert best.name == "every term up to degree 3"
        assert best.is_preferred


# Bands that leave the form open.


@cache
def saturating(seed: int) -> Trajectories:
    """A drift that no polynomial is: exp(-x) - 1, seen 320 relaxation times long."""
    rng, substeps, dt = np.random.default_rng(seed), 10, 0.05
    x, paths = np.zeros(8), np.empty((801, 8))
    for n in range(-100, 801):
        if n >= 0:
            paths[n] = x
        for _ in range(substeps):
            shock = 0.8 * np.sqrt(dt / substeps) * rng.standard_normal(8)
            x = x + np.expm1(-x) * dt / substeps + shock
    return Trajectories([path[:, None] for path in paths.T], dt)


def share_in_bands(estimator: WGSINDy, data: Trajectories) -> float:
    points = data.states[::37]
    bands, truth = estimator.generator_.bands(points), np.expm1(-points)
    return float(np.mean((bands.drift_low <= truth) & (truth <= bands.drift_high)))


def test_bands_of_a_grown_library_hold_a_drift_that_is_none_of_its_formulas() -> None:
    seeds = range(20, 28)
    shares = []
    for seed in seeds:
        grown = WGSINDy().fit(saturating(seed))
        named = WGSINDy(grown.library_).fit(saturating(seed))  # the control: somebody said so
        shares.append([share_in_bands(one, saturating(seed)) for one in (grown, named)])
    open_form, given_form = np.mean(shares, axis=0)
    assert open_form > 0.9
    assert given_form < open_form - 0.05


def test_what_a_form_may_miss_is_shared_out_among_its_own_terms() -> None:
    found = fitted(linear(3, 1), "poly1")
    doubt, every = found.form_doubt(), np.ones(6, dtype=bool)
    larger = found._bound(library("poly5"))
    work, equations = found._system(larger)
    problem = equations.component(found._model_in(work, larger).drift, 0)
    unit = found.estimate.model.units[0]
    centre = np.zeros(6)
    centre[:2] = found.fit.generator.drift_coefficients[0] / unit
    apart = problem.solve(every) - centre
    gram = (problem.root * problem.norm).T @ (problem.root * problem.norm)
    squares, freedom = float(apart @ gram @ apart), float(doubt.freedom[0])
    # In units of what the data tell of the two terms of the library: half of it each.
    shared = _upper_limit(squares, freedom) / 2 * np.linalg.inv(gram[:2, :2] / unit**2)
    np.testing.assert_allclose(doubt.spread[0], np.asarray(shared, dtype=np.float64))


@pytest.mark.parametrize("freedom", [2, 5, 20])
@pytest.mark.parametrize("missed", [5.0, 40.0])
def test_one_truth_in_five_misses_more_than_the_upper_limit(freedom: int, missed: float) -> None:
    # By the normal approximation; a lucky number is no reason to be surer, so it may be fewer.
    squares = np.linspace(0.0, 200.0, 20_001)
    law = ncx2(freedom, missed)
    reached = np.array([_upper_limit(one, freedom) for one in squares]) < missed
    below = float(law.cdf(squares[reached].max(initial=0.0)))
    assert below < 0.22
    assert below > 0.17 or missed < _upper_limit(0.0, freedom)


def test_a_lucky_number_makes_nobody_surer() -> None:
    assert _upper_limit(0.0, 5) == _upper_limit(5.0, 5) < _upper_limit(5.1, 5)


@pytest.mark.statistical
def test_what_further_terms_add_to_a_form_that_is_right_is_chance() -> None:
    # Twice the log-likelihood that k terms add is a chi-squared number of freedom k. Ten runs of
    # two components, each outside with probability 1e-4.
    for seed in range(10):
        found = fitted(linear(seed), "poly1")
        doubt, further = found.form_doubt(), len(found._further[1])
        spread = found.fit.generator.uncertainty
        assert spread is not None
        unused = np.count_nonzero(spread.drift == 0, axis=1)
        np.testing.assert_array_equal(doubt.freedom, unused + further)
        share = chi2.cdf(doubt.squares, doubt.freedom)
        assert np.all((share > 5e-5) & (share < 1 - 5e-5))
    # Negative control: a cubic that is left out is more than chance.
    bent = [path + 2 * path**3 for path in linear(0)]
    doubt = fitted(Trajectories(bent, DT), "poly1").form_doubt()
    assert np.all(chi2.sf(doubt.squares, doubt.freedom) < 5e-5)


def test_without_room_for_further_terms_bands_stay_as_they_are() -> None:
    few = Trajectories([linear(1)[0][:301]], DT)
    np.testing.assert_array_equal(fitted(few, "poly1").form_doubt().spread, 0.0)


@pytest.mark.parametrize(
    ("terms", "degree", "further"),
    [
        (["1"], 5, ["x", "x**2", "x**3", "x**4", "x**5"]),
        ("poly1", 5, ["x**2", "x**3", "x**4", "x**5"]),
        (["x**3"], 5, ["1", "x", "x**2", "x**4", "x**5"]),
        ("poly4", 6, ["x**5", "x**6"]),
    ],
)
def test_further_terms_are_those_of_two_more_degrees_and_up_to_the_fifth(
    terms: Any, degree: int, further: list[str]
) -> None:
    assert fitted(linear(0, 1), terms)._further == (degree, further)


@pytest.mark.parametrize(("steps", "count"), [(400, 2), (399, 1), (300, 1), (299, 0)])
def test_further_terms_are_as_many_as_can_be_afforded(steps: int, count: int) -> None:
    # A hundred steps for each term, of which the library has two.
    found = fitted(linear(0, 1, trajectories=1, steps=steps), "poly1")
    assert found._further == (1 + count, ["x**2", "x**3"][:count])


def test_further_terms_are_few_enough_to_be_searched() -> None:
    degree, terms = fitted(linear(0, 3, steps=2000), "poly1")._further
    assert (degree, len(terms)) == (4, 31)  # the fifth degree would make it 56 terms
