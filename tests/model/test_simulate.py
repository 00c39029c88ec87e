"""Simulating a generator: steps, seeds, and no global randomness. The laws: tests/statistical."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from generators import in_space

from wgsindy import zoo
from wgsindy.model import Generator, KineticSplitting


def test_the_same_seed_simulates_the_same_paths() -> None:
    generator = zoo.get("nondiag_cholesky").generator

    def paths(seed: int) -> bytes:
        data = generator.simulate([0.3, -0.2], dt=0.01, steps=50, trajectories=3, random_state=seed)
        assert (len(data), data.n_increments, data.names) == (3, 150, ("x", "y"))
        return data.states.tobytes()

    assert paths(1) == paths(1)
    assert paths(1) != paths(2)


def test_one_simulated_step_is_the_one_of_euler_and_maruyama() -> None:
    generator, dt = in_space(), 0.04
    start = np.random.default_rng(5).normal(size=(7, 3))
    data = generator.simulate(start, dt=dt, steps=1, trajectories=7, random_state=11)
    noise = np.random.default_rng(11).standard_normal((1, 7, 3))[0]
    for path, x, dw in zip(data, start, noise * np.sqrt(dt), strict=True):
        factor = np.linalg.cholesky(generator.diffusion(x[None])[0])
        wanted = x + generator.drift(x[None])[0] * dt + factor @ dw
        np.testing.assert_array_equal(path[0], x)
        np.testing.assert_allclose(path[1], wanted, rtol=1e-12)


def test_simulating_does_not_touch_global_randomness() -> None:
    np.random.seed(0)  # noqa: NPY002
    wanted = np.random.random()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    zoo.get("rotational_ou").generator.simulate([0.0, 0.0], dt=0.1, steps=3, random_state=0)
    assert np.random.random() == wanted  # noqa: NPY002


@pytest.mark.parametrize("friction", [0.4, 3.0])
def test_a_momentum_without_a_force_takes_exact_steps(friction: float) -> None:
    # An Ornstein-Uhlenbeck step: decay exp(-g dt), variance s (1 - exp(-2 g dt)) / 2 g.
    p = sympy.Symbol("p", real=True)
    free = Generator.from_sympy(("q", "p"), [p, -friction * p], [[0, 0], [0, 0.7]])
    start, dt = np.array([[0.0, 1.0], [0.5, -2.0]]), 0.3
    found = KineticSplitting()(free, start, dt, 1, np.random.default_rng(5))[:, 1, 1]
    noise = np.random.default_rng(5).standard_normal((1, 2))[0]
    variance = 0.7 * -np.expm1(-2 * friction * dt) / (2 * friction)
    expected = start[:, 1] * np.exp(-friction * dt) + np.sqrt(variance) * noise
    np.testing.assert_allclose(found, expected, rtol=1e-12)
