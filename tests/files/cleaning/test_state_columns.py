"""Constant columns and logarithms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from walks import frame, walk

from wgsindy.errors import ConstantColumnWarning, DataError
from wgsindy.files import read


def test_a_constant_column_is_left_out_or_refused() -> None:
    still = frame().assign(k=3.5)
    with pytest.warns(ConstantColumnWarning, match="'k' never changes"):
        assert read(still).data.names == ("x", "y")
    with pytest.raises(DataError, match="'k' never changes within a trajectory"):
        read(still, states=["x", "k"])
    with pytest.raises(DataError, match="never changes"):
        read(np.ones(50), dt=1.0)
    by_run = pd.concat([frame(k).assign(run=k, k=float(k)) for k in range(2)])
    with pytest.warns(ConstantColumnWarning):
        assert read(by_run).data.names == ("x", "y")


def test_a_logarithm_is_read_as_the_state() -> None:
    data = read(frame().assign(x=np.exp(walk()[:, 0])), log=("x",)).data
    assert data.names == ("log_x", "y")
    np.testing.assert_allclose(data.states, walk(), atol=1e-12)
