"""Random systems: drawn from fixed ranges, seen as said, and a fit that fails is a result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wgsindy.data import Trajectories
from wgsindy.terms import library
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.arrive import random_cases
from wgsindy_evidence.experiments.arrive.families import FAMILIES, drawn_process
from wgsindy_evidence.experiments.arrive.paths import euler_path
from wgsindy_evidence.experiments.arrive.random_cases import NOISE, STEPS, View, drawn
from wgsindy_evidence.scope import Scope

VIEW = View(fastest=1.0, dt=0.1, trajectories=4, steps=2000, noise=0.0, rounding=0.0)


def test_there_are_four_hundred_cases_of_at_least_twelve_families() -> None:
    cases = random_cases.random_cases(Scope())
    assert len(cases) == len(set(cases)) == 400
    assert len({case.system for case in cases}) >= 12
    assert min(case.seed for case in cases) >= 1000


@pytest.mark.parametrize("family", FAMILIES)
def test_the_library_of_a_family_has_the_terms_of_its_truth(family: str) -> None:
    process = drawn_process(family, np.random.default_rng(1))
    terms = set(library(process.library).bind(process.names).terms)
    assert {coefficient.term for coefficient in process.truth.coefficients} <= terms


@pytest.mark.parametrize("family", FAMILIES)
def test_paths_stay_bounded_and_noise_is_in_every_coordinate(family: str) -> None:
    for seed in (1, 2):
        process = drawn_process(family, np.random.default_rng(seed))
        begun = np.tile(np.array(process.start), (4, 1))
        states = euler_path(process, begun, 0.002, 1000, 1000, [seed]).reshape(-1, begun.shape[1])
        assert np.abs(states).max() < 200
        assert np.linalg.eigvalsh(process.truth.diffusion(states)).min() > 0


def test_a_case_is_the_same_each_time_and_within_its_ranges() -> None:
    views = {seed: drawn("linear_1d", seed)[1] for seed in range(6)}
    again = drawn("linear_1d", 3)
    assert again[1] == views[3]
    assert again[0].drift == drawn("linear_1d", 3)[0].drift
    assert len({view.dt for view in views.values()}) == len(views)
    for view in views.values():
        assert STEPS[0] <= view.dt / view.fastest <= STEPS[1]
        assert 0 <= view.noise <= NOISE
        assert view.dt / view.substeps <= view.dt / 5
        assert view.dt / view.substeps <= random_cases.FINEST * view.fastest * (1 + 1e-9)


def test_the_fastest_time_of_a_linear_process_is_one_over_its_rate() -> None:
    process = drawn_process("linear_1d", np.random.default_rng(5))
    rate = -float(process.truth.drift_jacobian([[0.0]])[0, 0, 0])
    assert random_cases.fastest_time(process, [1]) == pytest.approx(1 / rate)


def test_samples_get_noise_and_are_rounded() -> None:
    process = drawn_process("rotation", np.random.default_rng(2))
    clean, floors = random_cases.clean_samples(process, VIEW, [1])
    assert set(floors) == {"drift_floor", "tensor_floor"}
    assert len(clean) == 4
    spread = clean.states.std(axis=0)
    noisy = random_cases.seen(process, VIEW._replace(noise=0.2), clean, [2])
    # 8,000 samples: standard error 0.8 %.
    assert (noisy.states - clean.states).std(axis=0) == pytest.approx(0.2 * spread, rel=0.04)
    rounded = random_cases.seen(process, VIEW._replace(rounding=0.5), clean, [2])
    width = 0.5 * np.sqrt(np.diag(process.truth.diffusion([[0.0, 0.0]])[0]) * VIEW.dt)
    np.testing.assert_allclose(np.rint(rounded.states / width) * width, rounded.states)


def test_a_fit_of_clean_samples_is_compared_with_the_truth() -> None:
    process = drawn_process("rotation", np.random.default_rng(2))
    clean, floors = random_cases.clean_samples(process, VIEW, [1])
    found = random_cases.arrived(process, clean, clean, "sharp-euler")
    assert floors["drift_floor"] < 0.1
    assert found["drift"] < 0.5
    assert 0 <= found["drift_covered"] <= 1
    assert found["verdict"]
    assert found["seconds"] <= found["seconds_with_verdict"]


def test_whatever_ends_a_fit_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(library: str, data: Trajectories, recipe: str) -> Any:
        raise np.linalg.LinAlgError("singular")

    monkeypatch.setattr(random_cases, "fitted", broken)
    found = random_cases.run_case(Case("arrive", "linear_1d", "sharp", 3))
    assert found["error"] == "LinAlgError: singular"
    assert "drift" not in found
    assert found["drift_floor"] > 0
