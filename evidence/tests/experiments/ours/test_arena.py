"""The suite of FIM-SDE: its data, its grid, its errors."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy import Generator
from wgsindy_evidence.experiments.ours import arena
from wgsindy_evidence.experiments.ours.arena import SUITE
from wgsindy_evidence.experiments.ours.unseen import X
from wgsindy_evidence.scope import Scope

NAMES = (
    *("damped_linear", "damped_cubic", "duffing", "glycolysis", "hopf", "double_well"),
    *("wang", "synthetic_drift"),
)


def test_the_suite_has_its_systems_strides_and_noises() -> None:
    assert tuple(SUITE) == NAMES
    cases = arena.arena_cases(Scope())
    assert len(cases) == 8 * 4 * 3 * 5
    assert {case.steps for case in cases} == {5000}
    assert {case.trajectories for case in cases} == {1}


@pytest.mark.parametrize("name", NAMES)
def test_grids_have_1024_points_between_their_ends(name: str) -> None:
    entry = SUITE[name]
    grid = arena.grid_of(entry)
    assert grid.shape == (1024, entry.process.truth.dimension)
    assert (grid.min(axis=0) == entry.low).all()
    assert (grid.max(axis=0) == entry.high).all()


def test_drifts_at_a_point_are_those_of_the_published_equations() -> None:
    # By hand, from the equations with their parameters, at (1, 2), and at 1 for the well.
    found = {
        name: entry.process.truth.drift([[1.0, 2.0][: entry.process.truth.dimension]])[0].tolist()
        for name, entry in SUITE.items()
    }
    expected = {
        "damped_linear": [3.9, -2.2],
        "damped_cubic": [15.9, -2.8],
        "duffing": [2.0, -0.7],
        "glycolysis": [1.16, -1.56],
        "hopf": [-2.5, -10.0],
        "double_well": [0.0],
        "wang": [-6.0, -7.0],
        "synthetic_drift": [-6.0, -7.0],
    }
    for name in NAMES:
        assert found[name] == pytest.approx(expected[name]), name
    assert SUITE["wang"].process.truth.diffusion([[1.0, 2.0]])[0].tolist() == [[5, 0], [0, 2]]


def test_a_chain_begins_at_its_start_and_stays_where_the_well_has_noise() -> None:
    path = arena.chain("double_well", 0, 20_000)
    assert path[0].tolist() == [0.0]
    assert np.isfinite(path).all()
    assert np.abs(path).max() < 2.2  # the noise ends at 1.79, and the drift leads back


def test_noise_is_a_share_of_half_the_range() -> None:
    path = np.linspace(0, 4, 50_001)[:, None]
    seen = arena.observed(path, 10, 0.05, seed=0)
    clean = path[::10][:5000]
    # 5,000 samples: standard error 1 %.
    assert (seen - clean).std() == pytest.approx(0.05 * 2, rel=0.05)
    np.testing.assert_array_equal(arena.observed(path, 10, 0.0, seed=0), clean)


def test_errors_are_mean_squares_of_drift_and_of_the_root_of_the_tensor() -> None:
    truth = Generator.from_sympy(("x",), [-X], [[4]])
    other = Generator.from_sympy(("x",), [-X + 0.5], [[9]])
    assert arena.squared_errors(other, truth, np.zeros((3, 1))) == {"drift": 0.25, "diffusion": 1.0}
