"""Ten messy files: each gives the generator of the clean one, or the sentence that says why not."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from messy import BY_TRAJECTORY, DT, LOSSY, MESSY, PATHS, TRAJECTORIES, fitted, rows, write

from wgsindy.data import Trajectories
from wgsindy.errors import DataError
from wgsindy.files import Reading, read
from wgsindy.model import Generator


def read_recorded(source: Any, **options: Any) -> tuple[Reading[Trajectories], list[type[Warning]]]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        reading = read(source, **options)
    return reading, [w.category for w in seen]


@pytest.fixture(scope="module")
def clean() -> Generator:
    return fitted(Trajectories(PATHS, DT, names=("x", "y")))


@pytest.mark.parametrize("name", MESSY)
def test_a_messy_file_gives_the_generator_of_the_clean_one(
    name: str, clean: Generator, tmp_path: Path
) -> None:
    writer, expected = MESSY[name]
    options = writer(tmp_path / "data.csv")
    reading, seen = read_recorded(options.pop("source", tmp_path / "data.csv"), **options)
    assert seen == expected
    assert reading.data.names == ("x", "y")
    if name not in LOSSY:
        assert (len(reading.data), reading.data.n_increments) == (
            TRAJECTORIES,
            PATHS[:, 1:, 0].size,
        )
        np.testing.assert_array_equal(reading.data.states, PATHS.reshape(-1, 2))
        np.testing.assert_allclose(reading.data.steps(1), DT, rtol=1e-9)
        return  # the same data have the same fit
    generator = fitted(reading.data)
    wanted = {(c.target, c.term): c for c in clean.coefficients}
    assert {(c.target, c.term) for c in generator.coefficients} == set(wanted)
    for c in generator.coefficients:
        truth = wanted[c.target, c.term]
        assert truth.low is not None
        assert truth.high is not None
        assert truth.low < c.value < truth.high


def test_the_clean_fit_finds_the_system(clean: Generator) -> None:
    # The comparison above would pass for a wrong fit too, if it were wrong in the same way.
    found = {(c.target, c.term) for c in clean.coefficients}
    assert found == {
        ("b1", "x"), ("b1", "y"), ("b2", "x"), ("b2", "y"), ("a11", "1"), ("a12", "1"), ("a22", "1")
    }  # fmt: skip


def test_a_wrong_dt_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    write(path, ["id,t,x,y", *rows(BY_TRAJECTORY)])
    with pytest.raises(DataError, match=r"dt=10 contradicts column 't'.*usually 0\.01: 1/1000 of"):
        read(path, dt=10.0)
    write(path, ["id,t,x,y", *rows(BY_TRAJECTORY, stamp=lambda n: str(10 * n))])
    with pytest.raises(DataError, match=r"dt=0\.01 contradicts column 't'.*usually 10: 1000 times"):
        read(path, dt=0.01)
    data = read(path, unit="s", time_unit="ms", dt=0.01).data
    assert data.mean_dt == pytest.approx(DT)


def test_a_time_read_as_it_is_changes_every_rate(clean: Generator, tmp_path: Path) -> None:
    # The negative control: with milliseconds taken for seconds the tensor is 1000 times too small.
    path = tmp_path / "data.csv"
    write(path, ["id,t,x,y", *rows(BY_TRAJECTORY, stamp=lambda n: str(10 * n))])
    wrong = fitted(read(path).data).diffusion([[0.0, 0.0]])
    np.testing.assert_allclose(wrong * 1000, clean.diffusion([[0.0, 0.0]]), rtol=0.2)
