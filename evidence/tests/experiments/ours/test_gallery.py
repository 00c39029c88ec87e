"""The gallery: kinds come again from their seed, and are what their names say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wgsindy.data import FloatArray
from wgsindy.diagnostics import Finding, Limitation
from wgsindy.errors import DataError
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.ours import gallery
from wgsindy_evidence.experiments.ours.gallery_data import controls, later, latest
from wgsindy_evidence.experiments.ours.gallery_data.everything import HARD, KINDS, NULLS, keys_of
from wgsindy_evidence.experiments.ours.gallery_data.kind import LARGE, LONG, SMALL, Size
from wgsindy_evidence.experiments.ours.gallery_data.noises import fractional_noise, stable
from wgsindy_evidence.experiments.ours.gallery_data.spoilt import week_places
from wgsindy_evidence.scope import Scope

FEW, MANY = Size(2, 40), Size(2, 2000)


def made(key: str, size: Size = MANY) -> FloatArray:
    return KINDS[key].make(np.random.default_rng(7), *size)


def lag_one(x: FloatArray) -> float:
    """Correlation of neighbouring increments of one column."""
    steps = np.diff(x[..., 0], axis=1)
    return float(np.corrcoef(steps[:, 1:].ravel(), steps[:, :-1].ravel())[0, 1])


def test_there_are_enough_kinds_of_their_own_names() -> None:
    every = [*NULLS, *later.KINDS, *latest.KINDS, *HARD, *controls.CONTROLS]
    assert len({kind.key for kind in every}) == len({kind.title for kind in every}) == len(every)
    assert len(keys_of("null")) == len(NULLS) >= 42
    assert len(keys_of("control")) == len(controls.CONTROLS) >= 12
    assert len(KINDS) == len(every)
    assert all(kind.why for kind in every)
    assert all(kind.truth is not None for kind in every if kind.role in ("hard", "control"))


def test_a_third_has_one_long_trajectory_and_all_are_seen_large() -> None:
    firsts = [kind.sizes[0] for kind in KINDS.values()]
    assert set(firsts) == {SMALL, LONG}
    assert firsts.count(LONG) > len(firsts) / 3
    assert {kind.sizes[1] for kind in KINDS.values()} == {LARGE}


@pytest.mark.parametrize("key", KINDS)
def test_data_come_again_from_their_seed_finite_and_of_their_shape(key: str) -> None:
    kind = KINDS[key]
    first, again = (kind.data(3, FEW) for _ in range(2))
    assert len(first) == FEW.trajectories
    assert first.n_increments == FEW.trajectories * FEW.steps
    assert np.isfinite(first.states).all()
    np.testing.assert_array_equal(first.states, again.states)
    if kind.truth is not None:
        assert kind.truth.dimension == first.dimension


@pytest.mark.parametrize("key", keys_of("control"))
def test_tensors_of_controls_have_noise_in_all_directions(key: str) -> None:
    truth = KINDS[key].truth
    assert truth is not None
    points = np.random.default_rng(0).uniform(-1, 1, (50, truth.dimension))
    assert np.linalg.eigvalsh(truth.diffusion(points)).min() > 0.05


@pytest.mark.parametrize("key", ["white", "clock", "logistic", "spline", "control_ou"])
def test_another_seed_gives_other_data(key: str) -> None:
    first, other = (KINDS[key].data(seed, FEW).states for seed in (3, 4))
    assert not np.array_equal(first, other)


def test_smoothed_samples_have_increments_that_go_on() -> None:
    # Increments of an average of five share four of five: 0.8 for white increments.
    assert lag_one(made("average")) == pytest.approx(0.8, abs=0.05)
    assert lag_one(made("smoothed")) > 0.5
    assert abs(lag_one(made("control_ou"))) < 0.1  # a diffusion does not


def test_white_noise_turns_back_and_fractional_noise_remembers() -> None:
    assert lag_one(made("white")) == pytest.approx(-0.5, abs=0.05)
    noise = fractional_noise(np.random.default_rng(0), 4, 20_000, 0.7)
    # 2 ** (2 H - 1) - 1 at lag one, and a variance of one.
    assert np.mean(noise[:, 1:] * noise[:, :-1]) == pytest.approx(2**0.4 - 1, abs=0.03)
    assert noise.var() == pytest.approx(1, abs=0.05)


def test_stable_numbers_have_the_characteristic_function_of_their_index() -> None:
    numbers = stable(np.random.default_rng(0), (200_000,), 1.5)
    for k in (0.5, 1.0, 2.0):  # standard error 0.002
        assert np.cos(k * numbers).mean() == pytest.approx(np.exp(-(k**1.5)), abs=0.01)


def test_weekends_are_not_on_the_clock() -> None:
    assert week_places(6).tolist() == [0, 1, 2, 3, 4, 7, 8]
    data = KINDS["weekends"].data(0, Size(1, 500))
    assert data.total_time == pytest.approx(500 * KINDS["weekends"].dt)  # the clock is even
    squares = np.diff(data.states[:, 0]) ** 2
    over_weekend = np.arange(500) % 5 == 4
    assert squares[over_weekend].mean() > 1.8 * squares[~over_weekend].mean()


def test_copies_lag_and_sums_add_up() -> None:
    lagged = made("lagged")
    np.testing.assert_array_equal(lagged[:, 5:, 1], lagged[:, :-5, 0])
    summed = made("summed")
    np.testing.assert_allclose(summed[..., 0] + summed[..., 1], summed[..., 2])
    assert np.abs(np.diff(made("copied"), axis=2)).max() < 0.01


def test_gaps_are_filled_and_ends_cut_as_they_say() -> None:
    bends = np.diff(made("every_second")[..., 0], n=2, axis=1)
    np.testing.assert_allclose(bends[:, ::2], 0, atol=1e-12)
    assert np.abs(bends[:, 1::2]).min() > 0
    repeats = np.diff(made("forward")[..., 0], axis=1) == 0
    assert repeats.mean() == pytest.approx(0.2, abs=0.03)
    clipped = made("clipped")
    assert np.mean(clipped == clipped.max()) > 0.1
    assert made("reflected").min() >= -0.3
    assert (np.diff(made("counter"), axis=1) >= 0).all()
    assert len(np.unique(made("levels"))) < 9


def test_births_and_deaths_are_poissonian() -> None:
    counts = made("births", Size(20, 2000))
    assert counts.mean() == pytest.approx(5, abs=0.3)
    assert counts.var() == pytest.approx(5, abs=0.6)


def test_cases_are_all_kinds_in_two_sizes_and_a_look_has_one_of_each() -> None:
    cases = gallery.gallery_cases(Scope())
    assert len(cases) == len(KINDS) * 2 * 10
    look = gallery.gallery_cases(Scope(quick=True))
    assert {KINDS[case.system].role for case in look} == {"null", "control"}


def test_a_control_is_compared_and_a_null_is_not() -> None:
    found = gallery.run_case(Case("gallery", "control_ou", "sharp", 100, 4, 400))
    assert found["verdict"] in ("identified", "partly identified", "not identified")
    assert {"drift", "tensor", "drift_covered", "tensor_covered"} <= set(found)
    null = gallery.run_case(Case("gallery", "jumps", "sharp", 100, 4, 400))
    assert "drift" not in null
    assert null["seconds"] > 0


@pytest.mark.parametrize(
    ("error", "verdict"), [(DataError("no | way."), "refused"), (KeyError("x"), "crashed")]
)
def test_errors_are_results(
    error: Exception, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise error

    monkeypatch.setattr(gallery, "fitted", fails)
    found = gallery.run_case(Case("gallery", "white", "sharp", 100, 1, 50))
    assert found["verdict"] == verdict
    assert found["first"].startswith(f"{verdict}: {type(error).__name__}: ")
    assert "|" not in found["first"]


def test_what_the_fit_allows_for_comes_last() -> None:
    findings = (
        Finding(Limitation.NOISE, (), "", "", handled=True),
        Finding(Limitation.JUMPS, (), "", ""),
        Finding(Limitation.NOISE, (), "", "", handled=True),
    )

    class Found:
        verdict = "partly identified"

        def __init__(self) -> None:
            self.findings = findings

    found = gallery.judged(Found())  # type: ignore[arg-type]
    assert found["limitations"] == ["jumps or outliers", "observation noise"]
    assert found["handled"] == ["observation noise"]
    assert found["first"] == "jumps or outliers"
