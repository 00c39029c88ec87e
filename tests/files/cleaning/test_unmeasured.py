"""Stalls and interpolation in files: left out and noted, before a logarithm hides them."""

from __future__ import annotations

import numpy as np
import pytest
from walks import DT, TIMES, frame, walk

from wgsindy.errors import InterpolatedSamplesWarning, RepeatedSamplesWarning
from wgsindy.files import read


def test_a_stall_is_left_out_and_noted() -> None:
    x = walk()
    x[50:60] = x[50]
    with pytest.warns(RepeatedSamplesWarning, match="9 samples repeat .*first: sample 51 of"):
        reading = read(x, dt=DT)
    assert reading.data.lengths.tolist() == [191]
    assert reading.data.steps(0).max() == pytest.approx(10 * DT)
    assert [(note.kind, note.count) for note in reading.notes][-1] == ("repeated", 9)


def test_interpolation_is_left_out_and_noted_of_logarithms_too() -> None:
    x = 10 + walk()
    x[50:81] = np.linspace(x[50], x[80], 31)
    with pytest.warns(InterpolatedSamplesWarning, match="29 samples .*first: sample 51 of"):
        reading = read(frame().assign(x=x[:, 0], y=x[:, 1]), log="x")
    assert reading.data.lengths.tolist() == [51, 120]
    np.testing.assert_array_equal(reading.data[1], np.stack([np.log(x[80:, 0]), x[80:, 1]], axis=1))
    assert [(note.kind, note.count) for note in reading.notes][-1] == ("straight", 29)


@pytest.mark.parametrize("log", [(), ("x", "y")])
def test_single_repeats_of_few_digits_stay(log: tuple[str, ...]) -> None:
    x = np.round(10 + walk(), 1)
    assert np.count_nonzero(~np.diff(x, axis=0).any(axis=1)) > 10
    data = read(frame().assign(x=x[:, 0], y=x[:, 1]), log=log).data
    assert data.lengths.tolist() == [200]
    np.testing.assert_allclose(data.steps(0), np.diff(TIMES), rtol=1e-9)
