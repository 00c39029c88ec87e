"""Lengths of blocks, worth of steps: what a filter along noisy samples is steered by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter
from working_models import linear_model, model_of

from wgsindy.data import BLOCK, Trajectories
from wgsindy.estimate.likelihood.filter_sums import FilterSums
from wgsindy.estimate.likelihood.filtered_samples import (
    BLOCK_NUMBERS,
    MANY_BLOCKS,
    MOST_BLOCKS,
    SHORTEST_BLOCK,
    _chunk_size,
    _step_worth,
    block_length,
    with_noise,
)
from wgsindy.estimate.likelihood.noise_detection import Noise
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimator import WGSINDy

DT, TENSOR = 0.1, 0.8


def steps(count: int) -> Trajectories:
    return Trajectories([np.arange(count + 1.0)[:, None]], DT)


def states(memory: float) -> Process:
    """Noise that is averaged over so many steps: 1 + sqrt(s / (a dt))."""
    noise = np.array([TENSOR * DT * (memory - 1) ** 2])
    return linear_model(np.array([[-1.0]]), np.zeros(1), np.array([[TENSOR]]), noise=noise)


def positions(memory: float) -> Process:
    """The same of positions: 2 + (s / (a dt^3))^(1/4)."""
    noise = np.array([TENSOR * DT**3 * (memory - 2) ** 4, 0.0, 0.0])
    matrix, field = np.array([[0.0, 1.0], [-2.0, -0.5]]), np.diag([0.0, TENSOR])
    model = linear_model(matrix, np.zeros(2), field, noise=noise)
    return replace(model, positions=np.array([True, False]))


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (100, SHORTEST_BLOCK),
        (MANY_BLOCKS * BLOCK // 2 - 1, SHORTEST_BLOCK),
        (MANY_BLOCKS * BLOCK // 2, BLOCK // 2),
        (MANY_BLOCKS * BLOCK - 1, BLOCK // 2),
        (MANY_BLOCKS * BLOCK, BLOCK),
    ],
)
def test_short_data_are_cut_into_shorter_blocks(count: int, expected: int) -> None:
    assert block_length(states(1.0), steps(count)) == expected


@pytest.mark.parametrize("kind", [states, positions])
def test_a_block_is_sixteen_times_what_a_filter_remembers(
    kind: Callable[[float], Process],
) -> None:
    # Of 128, 64 and 32, the shortest that is as long as that.
    for memory, expected in ((2.01, 64), (3.99, 64), (4.01, 128)):
        assert block_length(kind(memory), steps(100)) == expected


def test_a_step_is_worth_half_the_square_of_the_change_a_coefficient() -> None:
    used = model_of([{"x": -1.0}], [{"1": 0.5}], noise=np.array([0.1]))
    drift, tensor = np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 5.0, 7.0, 11.0])
    sums = FilterSums(
        9, 0.0, 0, drift, np.zeros((1, 3)), tensor, np.zeros((1, 4)), np.zeros((3, 4))
    )
    later = replace(
        used,
        drift=used.drift + np.array([[0.1, 0.2, -0.3]]),
        entries=used.entries + np.array([[0.0, 0.4, 0.5]]),
        observation_noise=used.observation_noise + 0.6,
    )
    square = 0.01 + 2 * 0.04 + 3 * 0.09 + 5 * 0.16 + 7 * 0.25 + 11 * 0.36
    assert _step_worth(used, later, sums) == pytest.approx(0.5 * square / 7)


@pytest.mark.parametrize(("d", "numbers"), [(1, 3 + 2 * (3 + 1)), (3, 9 * 10 + 9 * (6 * 10 + 6))])
def test_chunks_hold_whole_blocks_whose_derivatives_stay_in_the_cache(d: int, numbers: int) -> None:
    names, entries = ("x", "y", "z")[:d], d * (d + 1) // 2
    model = model_of([{name: -1.0} for name in names], [{"1": 0.5}] * entries)
    blocks = min(BLOCK_NUMBERS // numbers, 2 * MOST_BLOCKS)  # as many samples as in blocks of 128
    assert _chunk_size(model, 64) == 64 * blocks


def test_two_records_row_by_row_end_in_a_verdict() -> None:
    """Neighbours are strangers: a step from where the filter begins is worth 1e200 nats."""
    rng, kept = np.random.default_rng(0), np.exp(-0.05)
    shocks = rng.standard_normal((2, 2000)) * 0.5 * np.sqrt((1 - kept**2) / 2)
    two = 1.5 + np.asarray(lfilter([1.0], [1.0, -kept], shocks, axis=1))
    found = WGSINDy("poly2").fit(Trajectories([two.T.reshape(-1, 1)], 0.05))
    x = np.linspace(0.0, 3.0, 7)[:, None]
    assert np.isfinite(found.generator_.drift(x)).all()
    assert found.diagnostics_.verdict == "not identified"


def test_exact_samples_keep_their_fields_and_get_all_of_the_noise() -> None:
    model = linear_model(np.array([[-1.0]]), np.zeros(1), np.array([[0.5]]))
    start = with_noise(model, Noise(np.array([[0.02]]), np.array([0.01])))
    np.testing.assert_array_equal(start.drift, model.drift)
    np.testing.assert_array_equal(start.entries, model.entries)
    np.testing.assert_allclose(start.observation_noise, [0.03])
    np.testing.assert_allclose(start.rounding, [0.01])
    assert start.noisy.all()
    known = with_noise(model, Noise(np.zeros((1, 1)), np.array([0.01])))
    np.testing.assert_allclose(known.observation_noise, [0.01])
    assert not known.noisy.any()  # rounding is known: nothing is to be fitted
