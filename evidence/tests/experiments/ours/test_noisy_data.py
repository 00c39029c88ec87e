"""Observation noise that experiments add, and what it is compared with."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from wgsindy import Trajectories, WGSINDy, zoo
from wgsindy.data import FloatArray
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.ours import observation_noise
from wgsindy_evidence.experiments.ours.observation_noise import observed
from wgsindy_evidence.scope import Scope

# Kurtosis of the noise: a sample of n has a standard deviation with a relative standard error of
# sqrt((kurtosis - 1) / 4n).
KURTOSIS = {"gaussian": 3.0, "laplace": 6.0}


def paths(n: int = 20_000) -> Trajectories:
    """Two coordinates of very different size, cut into four pieces."""
    whole = np.random.default_rng(0).standard_normal((n, 2)) * [50.0, 0.02] + [7.0, -1.0]
    return Trajectories(np.split(whole, 4), dt=0.25, names=("s", "v"))


def added(kind: str, level: float, seed: int, data: Trajectories) -> FloatArray:
    return observed(data, kind, level, seed).states - data.states


@pytest.mark.statistical
@pytest.mark.parametrize("level", [0.05, 0.1])
@pytest.mark.parametrize("kind", observation_noise.KINDS)
def test_noise_has_the_level_relative_to_each_coordinate(kind: str, level: float) -> None:
    data = paths()
    noise = added(kind, level, 3, data)
    n = len(noise)
    relative = noise.std(axis=0) / (level * data.states.std(axis=0))
    # Five standard errors: one false alarm in a million.
    assert np.abs(relative - 1).max() < 5 * math.sqrt((KURTOSIS[kind] - 1) / (4 * n))
    scaled = noise / noise.std(axis=0)
    assert np.abs(scaled.mean(axis=0)).max() < 5 / math.sqrt(n)
    # Independent of each other, of the states and from sample to sample.
    states = (data.states - data.states.mean(axis=0)) / data.states.std(axis=0)
    assert abs(np.mean(scaled[:, 0] * scaled[:, 1])) < 5 / math.sqrt(n)
    assert np.abs(np.mean(scaled * states, axis=0)).max() < 5 / math.sqrt(n)
    assert np.abs(np.mean(scaled[1:] * scaled[:-1], axis=0)).max() < 5 / math.sqrt(n)


@pytest.mark.statistical
def test_the_two_kinds_of_noise_differ_in_their_tails() -> None:
    # Share beyond 4 standard deviations: 6.3e-5 of a Gaussian, exp(-4 sqrt 2) = 3.5e-3 of a
    # Laplace law; of 40,000 numbers 2.5 and 140 are expected.
    for kind, low, high in (("gaussian", 0, 15), ("laplace", 80, 210)):
        noise = added(kind, 0.1, 1, paths())
        beyond = np.count_nonzero(np.abs(noise) > 4 * noise.std(axis=0))
        assert low <= beyond <= high


@pytest.mark.parametrize("kind", observation_noise.KINDS)
def test_the_seed_decides_the_noise(kind: str) -> None:
    data = paths(400)
    first = added(kind, 0.1, 1, data)
    np.testing.assert_array_equal(added(kind, 0.1, 1, data), first)
    assert not np.isclose(added(kind, 0.1, 2, data), first, rtol=1e-3).any()


def test_noise_is_not_the_randomness_of_the_paths() -> None:
    # Paths by the same generator with the same seed: increments and noise would be one.
    steps = np.random.default_rng(5).standard_normal((400, 1))
    noise = added("gaussian", 0.1, 5, Trajectories([np.cumsum(steps, axis=0)], dt=1.0))
    assert abs(np.corrcoef(noise[:, 0], steps[:, 0])[0, 1]) < 5 / math.sqrt(400)


@pytest.mark.parametrize("kind", observation_noise.KINDS)
def test_noise_keeps_steps_names_and_lengths_and_none_changes_nothing(kind: str) -> None:
    data = paths(400)
    for level in (0.0, 0.1):
        noisy = observed(data, kind, level, 1)
        assert noisy.names == ("s", "v")
        assert noisy.mean_dt == pytest.approx(0.25)
        assert [len(path) for path in noisy] == [100] * 4
        assert np.array_equal(noisy.states, data.states) == (level == 0)


def test_levels_without_noise_are_run_once() -> None:
    cases = observation_noise.noise_cases(Scope())
    quiet = [case for case in cases if case.settings["level"] == 0]
    assert {case.settings["kind"] for case in quiet} == {"gaussian"}
    assert {case.settings["kind"] for case in cases} == set(observation_noise.KINDS)


def test_errors_of_a_noisy_fit_are_on_the_clean_grid() -> None:
    case = Case("noise", "rotational_ou", "paper", 2, 2, 300, (("kind", "laplace"), ("level", 0.1)))
    found = observation_noise.run_case(case)
    system = zoo.get("rotational_ou")
    clean = system.simulate(2, trajectories=2, steps=300)
    noisy = observed(clean, "laplace", 0.1, 2)
    estimate = WGSINDy("poly2", "paper", random_state=2).fit(noisy).generator_
    expected = metrics.scores_of(estimate, system.generator, clean.states)
    assert found["drift"] == expected.drift
    assert found["tensor"] == expected.tensor
    assert found["psd"] == expected.psd
    assert found["fields"]["a22"] == expected.fields["a22"]
    # Noise of a tenth is far larger than a step: it inflates the tensor.
    quiet = replace(case, options=(("kind", "gaussian"), ("level", 0.0)))
    assert found["tensor"] > 3 * observation_noise.run_case(quiet)["tensor"]
