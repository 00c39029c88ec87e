"""Array types that the whole package shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def frozen(array: FloatArray) -> FloatArray:
    """Return a private copy of ``array`` that raises when written to."""
    copy = np.array(array, dtype=np.float64)
    copy.flags.writeable = False
    return copy
