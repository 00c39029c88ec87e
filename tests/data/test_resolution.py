"""Grids that numbers lie on: found where they were made, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy.data import FloatArray, Resolution, Trajectories, resolution_of
from wgsindy.data.screening import grid_width

STEP = 0.01


def walk(n: int = 3000, seed: int = 0) -> FloatArray:
    return np.cumsum(np.random.default_rng(seed).normal(0.0, STEP, n))


def found(x: FloatArray) -> Resolution:
    return resolution_of(Trajectories(x, 0.1))


@pytest.mark.parametrize("n", [300, 3000, 30_000])
@pytest.mark.parametrize("width", [1e-5, 0.001, 0.007, 2 / 1024, 1 / 3, 0.01, 0.05])
@pytest.mark.parametrize("offset", [0.0, 0.123, 1e4])
def test_a_grid_is_found(n: int, width: float, offset: float) -> None:
    if width < 1e-4 and offset == 1e4:
        return  # the numbers themselves have no such digits
    scale = width / STEP if width > 0.1 else 1.0
    x = offset + np.round(walk(n) * scale / width) * width
    assert found(x).quantum == pytest.approx(width, rel=1e-6)
    assert found(x).discrete.all()


def test_numbers_written_with_some_digits_have_that_grid() -> None:
    written = np.array([float(f"{value:.3f}") for value in walk()])
    assert found(written).quantum.tolist() == [0.001]
    changed = np.round(written * 1e4) * 0.1 * 1000  # tenths of micrometres, in nanometres
    assert found(changed).quantum.tolist() == [1000.0]


@pytest.mark.parametrize("n", [20, 300, 3000, 30_000])
@pytest.mark.parametrize(
    "change",
    [
        lambda x: x,
        lambda x: x.astype(np.float32).astype(float),
        lambda x: x + 1e6,
        lambda x: (x + 10).astype(np.float32).astype(float),
        lambda x: x * 1000.0,
        lambda x: np.round(x, 8),
        lambda x: np.exp(100 * x),
        lambda x: np.sin(np.arange(len(x)) / 7.0),
        lambda x: np.maximum(x, 0.0),  # a limit, which comes again
    ],
)
def test_other_numbers_have_none(n: int, change: object) -> None:
    for seed in range(5):
        seen = found(change(walk(n, seed)))  # type: ignore[operator]
        assert seen.quantum.tolist() == [0.0]
        assert n < 100 or not seen.discrete.any()


def test_a_wrong_piece_does_not_hide_the_grid() -> None:
    x = np.round(walk(), 2)
    x[1000:1100] = np.linspace(x[1000], x[1099], 100)  # interpolated, not rounded again
    assert found(x).quantum.tolist() == [0.01]
    x[1000:1400] = walk(400)
    x[2000:2600] = walk(600)
    assert found(x).quantum.tolist() == [0.0]  # more than a tenth is off


def test_ticks_may_be_wider_at_first() -> None:
    x = np.concatenate([np.round(walk(1000) / 0.05) * 0.05, np.round(walk(2000), 2)])
    assert found(x).quantum.tolist() == [0.01]


def test_values_on_no_even_grid_come_again() -> None:
    seen = found(np.log(np.round(100 + 10 * walk(), 1)))
    assert seen.quantum.tolist() == [0.0]
    assert seen.discrete.all()


def test_too_few_steps_cannot_tell() -> None:
    assert grid_width(np.array([0.0, 0.1, 0.2, 0.0, 0.1])) == 0.0
    assert grid_width(np.zeros(100)) == 0.0
    assert found(np.repeat([0.0, 1.0, 2.0], 1000)).discrete.all()


def test_each_coordinate_has_its_own() -> None:
    x = np.stack([np.round(walk(), 3), walk(seed=1), np.round(walk(seed=2), 2)], axis=1)
    seen = found(x)
    assert seen.quantum.tolist() == [0.001, 0.0, 0.01]
    assert seen.discrete.tolist() == [True, False, True]


def test_quotients_with_more_digits_than_a_float_come_to_an_end() -> None:
    rng = np.random.default_rng(1575)  # of 4000 such draws, one that never did
    size = np.round(10.0 ** rng.uniform(-2, 25, int(rng.integers(20, 80))))
    half = np.where(
        rng.random(len(size)) < 0.5, size, rng.choice([1e-5, 0.5, 1 / 3, 3e-200], len(size))
    )
    with np.errstate(over="ignore", invalid="ignore"):  # as whoever calls it
        assert grid_width(half) >= 0
