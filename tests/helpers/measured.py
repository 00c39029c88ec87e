"""The measurements behind the diagnostics of a fitted estimator."""

from __future__ import annotations

from functools import lru_cache

from wgsindy import WGSINDy
from wgsindy.diagnostics import Measurements


@lru_cache(maxsize=8)
def measured(estimator: WGSINDy) -> Measurements:
    return Measurements(estimator.fit_)
