"""Moments of the first look against the same quantities of all samples at once."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy.data.trajectories import Trajectories
from wgsindy.passes.engine import Threads, reduce
from wgsindy.passes.summary import MomentPass


@pytest.mark.parametrize(("size", "threads"), [(1, 1), (7, 2), (10**6, 1)])
def test_moments_are_those_of_the_samples(size: int, threads: int) -> None:
    rng = np.random.default_rng(0)
    # Below where they start, so that the largest distance is to the left of the origin.
    paths = [3.0 - np.abs(rng.normal(size=(n, 2))).cumsum(axis=0) for n in (2, 30, 17)]
    paths[1][9] = paths[1][8]
    times = [np.cumsum(rng.uniform(0.1, 1.0, len(path))) for path in paths]
    data = Trajectories(paths, times=times)
    found = reduce(MomentPass(data), data, chunk_size=size, engine=Threads(threads))
    states = np.concatenate([path[:-1] for path in paths])
    steps = np.concatenate([np.diff(path, axis=0) for path in paths])
    dt = np.concatenate([np.diff(t) for t in times])
    x = states - paths[0][0]
    assert (found.count, found.repeated) == (46, 1)
    assert found.moved.all()
    np.testing.assert_array_equal(found.low, states.min(axis=0))
    np.testing.assert_array_equal(found.high, states.max(axis=0))
    np.testing.assert_array_equal(found.reach, np.abs(x).max(axis=0))
    np.testing.assert_array_equal(found.largest, (steps**2 / dt[:, None]).max(axis=0))
    np.testing.assert_allclose(found.time, dt.sum(), rtol=1e-13)
    np.testing.assert_allclose(found.first, x.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.second, x.T @ x, rtol=1e-12)
    np.testing.assert_allclose(found.variation, (steps**2).sum(axis=0), rtol=1e-12)
    by_trajectory = [(path[:-1] - paths[0][0]).sum(axis=0) for path in paths]
    np.testing.assert_allclose(found.by_trajectory, by_trajectory, rtol=1e-12)
