"""What holds of every fit: units, order, names and storage of the data do not matter."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from drawn_streams import EDGES, blocks_of, streamed
from drawn_systems import FEW, SEEDS, UNITS, Linear, linear_systems, turned_by
from hypothesis import given, settings
from hypothesis import strategies as st

from wgsindy.data import Dataset, FloatArray, Trajectories
from wgsindy.errors import WgsindyWarning
from wgsindy.estimate import fit_dataset, fit_likelihood
from wgsindy.model import EulerMaruyama, Generator, simulate
from wgsindy.passes import data_summary
from wgsindy.passes.engine import Threads
from wgsindy.recipes import SHARP
from wgsindy.terms import library

# Two fits of the same numbers in other units or another order differ by rounding, 1e-16, times
# the condition of the equations, up to 1e6, and by what a search stops at.
ROUNDING = 1e-6
PLANE = st.just(2)


def fitted(data: Dataset, terms: str = "poly2") -> Generator:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        return fit_dataset(data, terms).generator


def assert_same_fields(
    found: Generator, expected: Generator, points: FloatArray, turn: FloatArray, rate: float = 1.0
) -> None:
    """``found`` is ``expected`` seen by who says ``turn @ x`` for x, and measures time anew."""
    there = points @ turn.T
    size = np.sqrt(np.abs(np.diagonal(expected.diffusion(points), axis1=1, axis2=2)).mean(axis=0))
    drift = expected.drift(points)
    scale = np.abs(drift).max(axis=0) + size
    off = np.linalg.solve(turn, found.drift(there).T).T * rate - drift
    assert (np.abs(off) <= ROUNDING * scale.max()).all()
    back = np.linalg.inv(turn)
    field = back @ found.diffusion(there) @ back.T * rate
    assert np.abs(field - expected.diffusion(points)).max() <= ROUNDING * (size**2).max()


@FEW
@given(system=linear_systems(), seed=SEEDS, units=st.tuples(UNITS, UNITS, UNITS), second=UNITS)
def test_units_of_states_and_time_do_not_matter(
    system: Linear, seed: int, units: tuple[float, float, float], second: float
) -> None:
    data = system.simulated(seed)
    scale = np.array(units)[: data.dimension]
    other = Trajectories([path * scale for path in data], data.mean_dt * second)
    points = data.states[::60]
    found, expected = fitted(other), fitted(data)
    assert_same_fields(found, expected, points, np.diag(scale), second)


@FEW
@given(system=linear_systems(PLANE), seed=SEEDS)
def test_the_order_of_coordinates_and_trajectories_does_not_matter(
    system: Linear, seed: int
) -> None:
    data = system.simulated(seed)
    swapped = Trajectories([path[:, ::-1] for path in data][::-1], data.mean_dt)
    turn = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert_same_fields(fitted(swapped), fitted(data), data.states[::60], turn)


@FEW
@given(system=linear_systems(PLANE), seed=SEEDS)
def test_a_rotation_turns_the_fit_of_all_terms(system: Linear, seed: int) -> None:
    # Which terms are chosen depends on the axes; if all are, nothing else does.
    data = system.simulated(seed)
    turn = turned_by(seed, 2)
    both = [data, Trajectories([path @ turn.T for path in data], data.mean_dt)]
    every = np.ones((5, 3), dtype=bool)
    expected, found = (
        fit_likelihood(
            one, library("poly1"), SHARP, data_summary(one, standardise=True), name="poly1",
            given=every,
        ).generator
        for one in both
    )  # fmt: skip
    points = data.states[::60]
    off = found.drift(points @ turn.T) @ turn - expected.drift(points)
    # Weights are taken component by component, so that they differ in second order.
    assert np.abs(off).max() <= 0.02 * np.abs(expected.drift(points)).max()


@FEW
@given(system=linear_systems(), seed=SEEDS, edges=EDGES, threads=st.integers(1, 3))
def test_memory_stream_and_threads_give_one_fit(
    system: Linear, seed: int, edges: list[int], threads: int
) -> None:
    data = system.simulated(seed)
    cut = [edge * 20 for edge in edges]
    stream = streamed(blocks_of(list(data), data.mean_dt, cut), per_source=2)
    expected = fitted(data)
    assert fitted(stream).to_dict() == expected.to_dict() | {"names": list(stream.names)}
    with_threads = fit_dataset(data, "poly2", engine=Threads(threads)).generator
    assert_same_fields(with_threads, expected, data.states[::60], np.eye(data.dimension))


@settings(FEW, max_examples=5)
@given(system=linear_systems(PLANE), seed=SEEDS)
def test_what_is_simulated_from_a_fit_has_the_moments_of_the_data(
    system: Linear, seed: int
) -> None:
    data = system.simulated(seed, steps=200, runs=16)
    found = fitted(data, "poly1")
    again = simulate(
        found,
        np.stack([path[0] for path in data]),
        dt=0.05,
        steps=200,
        trajectories=16,
        random_state=seed,
        scheme=EulerMaruyama(substeps=20),
    )
    first, second = (np.stack([path[len(path) // 4 :] for path in one]) for one in (data, again))
    for power in (1, 2):
        means = [(one**power).mean(axis=1) for one in (first, second)]
        # Sixteen independent runs a side; 6 standard errors of theirs, with 15 degrees of
        # freedom a side, are passed by chance in less than one of 100,000 comparisons.
        error = np.sqrt(sum(mean.var(axis=0, ddof=1) / 16 for mean in means))
        assert (np.abs(means[0].mean(axis=0) - means[1].mean(axis=0)) < 6 * error).all()


def test_a_fit_of_other_data_would_be_noticed() -> None:
    system = Linear(np.array([[-1.0]]), np.array([0.5]), np.array([[0.4]]))
    points = np.linspace(-1, 1, 5)[:, None]
    with pytest.raises(AssertionError):
        assert_same_fields(
            fitted(system.simulated(1)), fitted(system.simulated(2)), points, np.eye(1)
        )
