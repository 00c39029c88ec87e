"""A library chosen by evidence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from processes import DT, linear

from wgsindy import Trajectories, WGSINDy, zoo
from wgsindy.errors import DataError, NotEnoughDataError, WgsindyWarning
from wgsindy.estimate import PREFERRED, RivalLibrary
from wgsindy.estimate import fit as fits
from wgsindy.estimate.fit import MOST_GROWTHS, grow_library
from wgsindy.estimate.libraries import LEAST_SHARE, LibraryComparison
from wgsindy.passes.engine import Threads
from wgsindy.terms import library

RANKED = "wgsindy.estimate.libraries.LibraryComparison.ranked"


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("duffing", "poly3"),
        ("rotational_ou", "poly2"),
        ("nonpoly_drift", "poly2 + sines and cosines"),
    ],
)
def test_the_library_of_the_truth_is_found(system: str, name: str) -> None:
    data = zoo.get(system).simulate(seed=100)
    chosen = grow_library(data)
    assert chosen.name == name
    basis = chosen.library.bind(data.names)
    assert set(zoo.get(system).generator.basis.terms) <= set(basis.terms)


def test_the_estimator_takes_what_was_chosen() -> None:
    data = zoo.get("duffing").simulate(seed=100)
    est = WGSINDy("auto", "sharp").fit(data)
    chosen = grow_library(data)
    assert est.library_ == chosen.library
    assert est.generator_.info["library"] == chosen.name == "poly3"
    assert est.generator_.basis.terms == library("poly3").bind(data.names).terms
    by_hand = WGSINDy("poly3", "sharp").fit(data)
    assert np.array_equal(est.generator_.drift_coefficients, by_hand.generator_.drift_coefficients)
    assert est.diagnostics_.verdict == "identified"


def test_the_choice_is_deterministic() -> None:
    data = zoo.get("nonpoly_drift").simulate(seed=100)
    one, two, threaded = (grow_library(data, engine=Threads(threads)) for threads in (1, 1, 2))
    assert one[:2] == two[:2] == threaded[:2]


@pytest.mark.parametrize("d", [1, 3])
def test_other_dimensions(d: int) -> None:
    assert grow_library(linear(1, d)).name == "poly2"


def test_a_cubic_in_one_dimension_is_found() -> None:
    rng = np.random.default_rng(0)
    x = np.zeros((8, 2001))
    for n in range(2000):
        x[:, n + 1] = x[:, n] + (3 * x[:, n] - 3 * x[:, n] ** 3) * DT
        x[:, n + 1] += np.sqrt(0.5 * DT) * rng.standard_normal(8)
    assert grow_library(Trajectories(list(x[:, :, None]), DT)).name == "poly3"


def test_an_odd_field_is_found_that_one_degree_more_is_no_better_for() -> None:
    rng, substeps = np.random.default_rng(0), 10
    x, paths = np.zeros(16), np.empty((1601, 16))
    for n in range(-100, 1601):
        if n >= 0:
            paths[n] = x
        for _ in range(substeps):
            shock = 0.7 * np.sqrt(0.05 / substeps) * rng.standard_normal(16)
            x = x + (x - x**5) * 0.05 / substeps + shock
    fitted = WGSINDy().fit(Trajectories(list(paths.T[:, :, None]), 0.05))
    found = {one.term: one for one in fitted.generator_.coefficients if one.target == "b1"}
    assert set(found) == {"x", "x**5"}
    for term, truth in (("x", 1.0), ("x**5", -1.0)):
        assert found[term].low < truth < found[term].high


def test_square_roots_are_found_where_noise_has_them() -> None:
    rng = np.random.default_rng(0)
    x = np.full((8, 3001), 1.0)
    for n in range(3000):
        step = 2 * (1 - x[:, n]) * DT + 0.8 * x[:, n] ** 0.25 * np.sqrt(DT) * rng.normal(size=8)
        x[:, n + 1] = np.maximum(x[:, n] + step, 1e-3)
    chosen = grow_library(Trajectories(list(x[:, :, None]), DT))
    assert chosen.name == "poly2 + square roots"
    assert "sqrt(x)" in chosen.library.bind(("x",)).terms


def test_a_distance_has_a_reciprocal_in_its_drift() -> None:
    """The distance from the middle of a relaxation in five coordinates: 2 / x - x, a = 1."""
    rng, kept = np.random.default_rng(0), np.exp(-DT)
    x = np.empty((8, 3001, 5))
    x[:, 0] = rng.standard_normal((8, 5)) * np.sqrt(0.5)
    for n in range(3000):
        x[:, n + 1] = kept * x[:, n] + np.sqrt((1 - kept**2) / 2) * rng.standard_normal((8, 5))
    far = Trajectories(list(np.linalg.norm(x, axis=2, keepdims=True)), DT)
    fitted = WGSINDy().fit(far)
    assert fitted.generator_.info["library"] == "poly2 + reciprocals"
    found = {one.term: one for one in fitted.generator_.coefficients if one.target == "b1"}
    assert set(found) == {"x", "x**(-1)"}
    for term, truth in (("x", -1.0), ("x**(-1)", 2.0)):
        assert found[term].low < truth < found[term].high
        assert abs(found[term].value - truth) < 0.15 * abs(truth)


def test_too_few_samples_have_a_sentence() -> None:
    data = linear(0, trajectories=1, steps=30)
    with pytest.raises(NotEnoughDataError, match="30 increments are too few to check any choice"):
        WGSINDy("auto", "sharp").fit(data)


def test_nothing_is_fitted_if_nothing_larger_can_be_afforded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("wgsindy.estimate.fit.fit_likelihood")
    assert grow_library(linear(0, trajectories=1, steps=6 * LEAST_SHARE - 1)).name == "poly2"
    with pytest.raises(NameError):
        grow_library(linear(0, trajectories=1, steps=6 * LEAST_SHARE))


def test_fewer_samples_than_terms_have_a_sentence() -> None:
    # 10 coordinates make 66 every term up to degree 2, more than 60 increments can determine.
    data = linear(0, d=10, trajectories=1, steps=60)
    with pytest.raises(NotEnoughDataError, match="60 increments cannot determine 66 terms"):
        WGSINDy("auto", "sharp").fit(data)


@pytest.mark.parametrize("recipe", ["sharp", "paper"])
def test_little_data_keep_the_smallest_library(recipe: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        est = WGSINDy("auto", recipe).fit(linear(0, trajectories=1, steps=60))
    assert est.generator_.info["library"] == "poly2"


def always(name: str, *terms: str) -> Any:
    """A rival that is always preferred."""

    def alternatives(comparison: LibraryComparison) -> list[RivalLibrary]:
        fit = comparison.fit
        grown = [
            *fit.generator.basis.terms,
            *(term.replace("N", str(len(fit.generator.basis))) for term in terms),
        ]
        return [RivalLibrary(name, library(grown), 9.0, {}, {}, 0)]

    return alternatives


def test_growth_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RANKED, always("odd", "sin(N*x)"))
    data = linear(0, 1, steps=2000)
    chosen = grow_library(data)
    assert chosen.name == "poly2" + " + odd" * MOST_GROWTHS
    assert len(chosen.library.bind(data.names)) == 3 + MOST_GROWTHS


def test_however_growth_ends_the_form_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    data = linear(0, 1, steps=2000)
    assert WGSINDy("poly2").fit(data).fit_.form is None
    for rounds in (6, 1):  # until nothing is preferred; or cut short, with a library not fitted yet
        monkeypatch.setattr("wgsindy.estimate.fit.MOST_GROWTHS", rounds)
        if rounds == 1:
            monkeypatch.setattr(RANKED, always("odd", "sin(N*x)"))
        for recipe in ("sharp", "sharp-euler"):
            assert WGSINDy("auto", recipe).fit(data).fit_.form is not None


def test_growth_goes_on_as_long_as_the_data_ask_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def alternatives(comparison: LibraryComparison) -> list[RivalLibrary]:
        degree = int(comparison.fit.generator.basis.degrees.max())
        nats = 9.0 if degree < 5 else 0.0
        return [RivalLibrary("a degree", library(f"poly{degree + 1}"), nats, {}, {}, 1)]

    monkeypatch.setattr(RANKED, alternatives)
    assert grow_library(linear(0, 1, steps=2000)).name == "poly5"


def test_a_library_must_be_affordable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RANKED, always("odd", "sin(x)"))
    monkeypatch.setattr("wgsindy.estimate.fit.MOST_GROWTHS", 1)
    terms = 4
    for increments, expected in (
        (terms * LEAST_SHARE, "poly2 + odd"),
        (terms * LEAST_SHARE - 1, "poly2"),
    ):
        data = linear(0, 1, trajectories=1, steps=increments)
        assert grow_library(data).name == expected


def test_a_rival_that_is_not_preferred_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def alternatives(comparison: LibraryComparison) -> list[RivalLibrary]:
        return [RivalLibrary("odd", library("poly3"), 3.9, {}, {}, 1)]

    monkeypatch.setattr(RANKED, alternatives)
    assert grow_library(linear(0)).name == "poly2"


@pytest.mark.statistical
def test_a_linear_process_keeps_the_smallest_library() -> None:
    # Rivals of poly2: the third degree and sines, for 5 fields: 5 * 2 * exp(-4) = 0.18 at most for
    # each data set, 3.7 in 20.
    grown = [grow_library(linear(200 + seed)).name != "poly2" for seed in range(20)]
    assert sum(grown) <= 20 * 5 * 2 * np.exp(-PREFERRED)


@pytest.mark.parametrize(("fitted", "name"), [(0, "poly2"), (1, "poly2"), (2, "poly2 + odd")])
def test_of_libraries_that_cannot_be_fitted_the_last_that_could_is_kept(
    fitted: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds, fit = [], fits.fit_likelihood

    def fails_later(*given: Any, **more: Any) -> Any:
        rounds.append(1)
        if len(rounds) > fitted:
            raise DataError("it runs away.")
        return fit(*given, **more)

    monkeypatch.setattr(RANKED, always("odd", "sin(N*x)"))
    monkeypatch.setattr(fits, "fit_likelihood", fails_later)
    found = grow_library(linear(0, 1, steps=2000))
    assert found.name == name
    assert (found.fit is not None) == (fitted > 0)
    assert len(rounds) == max(fitted + 1, 2)  # where the first cannot be fitted, the next may


def test_a_library_that_cannot_be_fitted_is_no_reason_not_to_try_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit = fits.fit_likelihood

    def without_cubics_none(data: Any, terms: Any, *given: Any, **more: Any) -> Any:
        if more["name"] == "poly2":
            raise DataError("it runs away.")
        return fit(data, terms, *given, **more)

    monkeypatch.setattr(fits, "fit_likelihood", without_cubics_none)
    found = grow_library(linear(0, 1, steps=2000))
    assert found.name == "poly3"
    assert found.fit is not None
    # Four terms take a few more samples than these, so there is nothing else to try.
    few = grow_library(linear(0, 1, steps=LEAST_SHARE - 1))
    assert (few.name, few.fit) == ("poly2", None)


def test_of_preferred_libraries_the_next_is_tried_if_the_first_cannot_be_fitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit, tried = fits.fit_likelihood, []

    def fails_with_sines(data: Any, terms: Any, *given: Any, **more: Any) -> Any:
        tried.append(more["name"])
        if "sines" in more["name"]:
            raise DataError("it runs away.")
        return fit(data, terms, *given, **more)

    def alternatives(comparison: LibraryComparison) -> list[RivalLibrary]:
        if len(comparison.basis) > 3:
            return []
        sines = library(["1", "x", "x**2", "sin(x)"])
        return [
            RivalLibrary("sines", sines, 9.0, {}, {}, 0),
            RivalLibrary("a degree", library("poly3"), 8.0, {}, {}, 1),
        ]

    monkeypatch.setattr(RANKED, alternatives)
    monkeypatch.setattr(fits, "fit_likelihood", fails_with_sines)
    found = grow_library(linear(0, 1, steps=2000))
    assert tried == ["poly2", "poly2 + sines", "poly3"]
    assert found.name == "poly3"
    assert found.fit is not None
