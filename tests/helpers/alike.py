"""When two datasets are the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from wgsindy.data import Chunk, Dataset


def assert_same(found: Dataset, expected: Dataset, size: int = 7, *, rtol: float = 0.0) -> None:
    """Steps may differ by ``rtol``, and the total time by rounding; nothing else may."""
    assert found.names == expected.names
    assert found.lengths.tolist() == expected.lengths.tolist()
    assert (len(found), found.dimension) == (len(expected), expected.dimension)
    assert (found.n_samples, found.n_increments) == (expected.n_samples, expected.n_increments)
    assert found.total_time == pytest.approx(expected.total_time, rel=max(rtol, 1e-13))
    np.testing.assert_array_equal(found.first_state, expected.first_state)
    for following in (False, True):
        assert_same_chunks(
            found.chunks(size, following=following),
            expected.chunks(size, following=following),
            rtol=rtol,
        )


def assert_same_chunks(
    found: Iterator[Chunk], expected: Iterator[Chunk], *, rtol: float = 0.0
) -> None:
    """Steps may differ by ``rtol``; nothing else may."""
    for one, other in zip(found, expected, strict=True):
        for name in Chunk._fields:
            a, b = getattr(one, name), getattr(other, name)
            if np.array_equal(a, b):
                continue  # NumPy's assertions take twenty times as long to see the same
            if name == "dt":
                np.testing.assert_allclose(a, b, rtol=rtol, err_msg=name)
            else:
                np.testing.assert_array_equal(a, b, err_msg=name)
