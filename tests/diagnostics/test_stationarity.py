"""First and second halves of trajectories against means and covariances of the samples."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy.data import Trajectories
from wgsindy.diagnostics.measurements import HalvesPass
from wgsindy.passes import reduce
from wgsindy.passes.engine import Threads


@pytest.mark.parametrize(("size", "threads"), [(1, 1), (5, 2), (10**6, 1)])
def test_halves_are_those_of_the_samples(size: int, threads: int) -> None:
    rng = np.random.default_rng(0)
    paths = [rng.normal(5.0, 1.0, size=(n, 2)) for n in (2, 3, 20, 41)]
    data = Trajectories(paths, dt=0.1)
    found = reduce(HalvesPass(data), data, chunk_size=size, engine=Threads(threads))
    first = np.concatenate([path[: len(path) // 2] for path in paths])
    second = np.concatenate([path[len(path) // 2 :] for path in paths])
    for half, samples in enumerate((first, second)):
        assert found.count[half] == len(samples)
        np.testing.assert_allclose(found.mean[half], samples.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(found.covariance[half], np.cov(samples.T), rtol=1e-10)


def test_a_half_of_one_sample_has_no_spread() -> None:
    data = Trajectories([[[0.0], [1.0]]], dt=0.1)
    assert np.isnan(reduce(HalvesPass(data), data).covariance).all()
