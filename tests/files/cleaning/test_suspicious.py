"""Doubts about states: named, and the data stay as they are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from walks import DT, TIMES, frame, walk

from wgsindy.data import FloatArray
from wgsindy.errors import (
    MissingValuesWarning,
    MixedUnitsWarning,
    OutlierWarning,
)
from wgsindy.files import read
from wgsindy.files.cleaning.suspicious import _changes_of_scale


def doubts(x: FloatArray) -> list[tuple[type[Warning], str]]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        data = read(x, dt=DT).data
    np.testing.assert_array_equal(data.states, x)  # doubts never change the data
    return [(w.category, str(w.message)) for w in seen]


def spoiled(rows: Any, value: float) -> FloatArray:
    x = walk()
    x[rows, 0] = value
    return x


def test_spikes_jumps_and_units_are_named() -> None:
    assert doubts(walk()) == []
    ((kind, sentence),) = doubts(spoiled([50], 40.0))
    assert kind is OutlierWarning
    assert sentence.startswith("1 value of x more than 20 times farther")
    ((kind, sentence),) = doubts(spoiled([50, 51, 80], -999.0))
    assert kind is OutlierWarning
    assert "3 values of x at exactly -999" in sentence
    assert "missing=[-999]" in sentence
    shifted = walk()
    shifted[100:, 1] += 300
    ((kind, sentence),) = doubts(shifted)
    assert kind is OutlierWarning
    assert "1 value of y" in sentence
    scaled = walk()
    scaled[100:150, 1] *= 1000
    ((kind, sentence),) = doubts(scaled)
    assert kind is MixedUnitsWarning
    assert "increments of y change by a factor of 100 or more, 2 times" in sentence


def test_a_change_of_unit_is_seen_wherever_it_falls() -> None:
    for seed in range(20):
        for row in range(100, 111):
            path = walk(seed, d=1)[:, 0]
            path[row:] *= 1000
            assert _changes_of_scale(path) == 1


def test_a_file_in_another_unit_is_named() -> None:
    files = [frame(k) for k in range(4)]
    files[2] = files[2].assign(x=files[2].x * 1000)
    with pytest.warns(
        MixedUnitsWarning, match=r"1 trajectory \(first: data frame 2\) with increments"
    ):
        read(files)
    files[2] = frame(2).assign(t=TIMES * 1000)
    with pytest.warns(
        MixedUnitsWarning, match=r"\(first: data frame 2\) with steps in time 1e\+03"
    ):
        read(files)


def test_growing_noise_is_not_another_unit() -> None:
    # The negative control: noise proportional to the state, over five decades.
    rng = np.random.default_rng(0)
    x = np.exp(np.cumsum(rng.normal(0.0, 0.1, (20_000, 1)), axis=0))
    assert np.ptp(np.log10(x)) > 5
    assert doubts(x) == []


@pytest.mark.parametrize("x", [[1, 2, 1], [2, 1, 2], [0, 1, 0, 1], [0, 1, 0, 2, 0]])
def test_a_few_values_are_not_far_from_all_others(x: list[float]) -> None:
    # Two values have no spread to be far away from, nor are most of them the odd ones.
    assert doubts(np.array(x, dtype=float)[:, None]) == []


def test_two_levels_are_no_stand_in() -> None:
    # Nine values near 0 and eleven at 50 exactly: the others are not most of the values.
    x = np.concatenate([np.linspace(0, 1, 9), np.full(11, 50.0)])
    assert "at exactly" not in str(doubts(x[:, None]))


def test_numbers_that_stand_for_nothing_can_be_named() -> None:
    with pytest.warns(MissingValuesWarning, match="2 rows"):
        data = read(spoiled([50, 80], -999.0), dt=DT, missing=-999).data
    assert data.complete().n_samples == 198
