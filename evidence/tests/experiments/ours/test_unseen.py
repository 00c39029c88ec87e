"""Processes outside the zoo: simulated finely, with the law that their equations say."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy import zoo
from wgsindy.data import FloatArray
from wgsindy.model import tensor
from wgsindy.terms import library
from wgsindy_evidence.experiments.ours.unseen import (
    SYSTEMS,
    Process,
    X,
    Y,
    fine_path,
    substeps_of,
)
from wgsindy_evidence.experiments.tensors import correlated


def path_of(process: Process, seed: int = 0, **changes: float) -> FloatArray:
    choices = {"dt": 0.1, "steps": 4, "substeps": 5, "trajectories": 3} | changes
    return fine_path(process, **choices, rng=np.random.default_rng(seed))  # type: ignore[arg-type]


@pytest.mark.parametrize("key", SYSTEMS)
def test_no_system_is_in_the_zoo_and_its_library_spans_it(key: str) -> None:
    process = SYSTEMS[key]
    assert key not in zoo.names()
    terms = library(process.library).bind(process.names).terms
    assert {c.term for c in process.truth.coefficients} <= set(terms)
    known = [zoo.get(name).generator for name in zoo.names()]
    points = np.random.default_rng(0).uniform(0.5, 1.5, size=(5, process.truth.dimension))
    for other in known:
        if other.dimension == process.truth.dimension:
            assert not np.allclose(other.drift(points), process.truth.drift(points))


@pytest.mark.parametrize(
    "process",
    [
        *SYSTEMS.values(),
        Process("curved", "", (-X, -Y), correlated(1 + X**2, 2 + Y**2, X), "poly2", (0.2, 0.1)),
    ],
    ids=lambda process: process.key,
)
def test_a_path_is_that_of_an_euler_loop_with_the_same_shocks(process: Process) -> None:
    path, h = path_of(process), 0.1 / 5
    burn_in, truth = int(np.ceil(process.settling / h)), process.truth
    rng = np.random.default_rng(0)
    shocks = rng.standard_normal((burn_in + 20, truth.dimension, 3)) * np.sqrt(h)
    x = np.tile(process.start, (3, 1))
    for n, shock in enumerate(shocks):
        factor = tensor.cholesky(truth.diffusion(x))
        x = x + h * truth.drift(x) + np.einsum("rpq,qr->rp", factor, shock)
        if n + 1 >= burn_in:
            np.testing.assert_allclose(path[:, n + 1 - burn_in], x, rtol=1e-9, atol=1e-12)
    assert path.shape == (3, 21, truth.dimension)


def test_paths_have_the_stationary_variances_of_their_equations() -> None:
    # b = -x: a / 2 for a = 1, and 0.2 / (2 - 0.3) for a = 0.2 + 0.3 x^2.
    for key, variance in (("ou", 0.5), ("multiplicative", 0.2 / 1.7)):
        path = path_of(SYSTEMS[key], dt=0.1, steps=300, substeps=10, trajectories=400)
        # 400 runs of 30 relaxation times: 1 % of the former, a little more of the latter.
        assert path.var() == pytest.approx(variance, rel=0.05)


def test_a_step_has_at_least_five_substeps_and_none_is_long() -> None:
    assert [substeps_of(dt) for dt in (0.005, 0.01, 0.05, 0.2, 0.4)] == [5, 5, 20, 80, 160]


def test_seeds_decide_and_nothing_else() -> None:
    first, again, other = (path_of(SYSTEMS["rotation"], seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)
