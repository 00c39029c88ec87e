"""When two recordings are the same."""

from __future__ import annotations

import numpy as np

from wgsindy.data.dataset import Dataset


def assert_same(found: Dataset, expected: Dataset, *, rtol: float = 0.0) -> None:
    """Steps may differ by ``rtol``, nothing else may."""
    assert found.names == expected.names
    assert found.lengths.tolist() == expected.lengths.tolist()
    for one, other in zip(found.chunks(13), expected.chunks(13), strict=True):
        np.testing.assert_array_equal(one.states, other.states)
        np.testing.assert_array_equal(one.increments, other.increments)
        np.testing.assert_array_equal(one.trajectory, other.trajectory)
        np.testing.assert_allclose(one.dt, other.dt, rtol=rtol)
