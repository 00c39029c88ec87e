"""What a tensor may not do beyond the data: turn negative, or covary more than it varies.

Close to the data many formulas agree; a little further out most of those with a term too many have
a negative variance. This costs a formula some nats, so that it can still win, but must be worth it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.errors import LibraryError
from wgsindy.estimate.likelihood.evidence import Penalty
from wgsindy.passes.summary import DataSummary
from wgsindy.terms.basis import Basis

NEGATIVE_COST = 5.0  # nats for a variance that turns negative beyond the data
REACH = 2.0  # how far beyond the data a variance must stay positive
FAR_POINTS = 7  # grid points a coordinate for that check
ROUNDING_LEVEL = 1e-9


@dataclass(frozen=True)
class Extrapolation:
    """A box around the data, seen through the library; ``basis`` is in physical terms."""

    basis: Basis
    summary: DataSummary

    @cached_property
    def library(self) -> FloatArray:
        """Library ``(n, K)`` on a grid of the box, as far as it is defined there.

        A coordinate that is never negative is not asked for what it would do below its minimum.
        """
        points = FAR_POINTS if len(self.summary.low) <= 3 else 3
        for reach in (REACH, 1.0):
            axes = []
            for low, high in zip(self.summary.low, self.summary.high, strict=True):
                far = reach * max(abs(low), abs(high))
                ends = (-far if low < 0 else low, far if high > 0 else high)
                axes.append(np.linspace(*ends, points))
            try:
                return self.basis.values(np.array(list(product(*axes))))
            except LibraryError:  # a root or an exponential that ends between here and there
                continue
        return np.empty((0, len(self.basis)))

    def against_negative(self, coefficients: FloatArray) -> FloatArray:
        """Nats ``(M,)`` against variances ``(M, K)`` that turn negative."""
        values = coefficients @ self.library.T
        scale = np.abs(values).max(axis=1, initial=0.0)
        return NEGATIVE_COST * (values.min(axis=1, initial=0.0) < -ROUNDING_LEVEL * scale)

    def against_indefinite(self, first: FloatArray, second: FloatArray) -> Penalty:
        """Nats against covariances that no noise with these two variances ``(K,)`` can have."""
        own = [variance @ self.library.T for variance in (first, second)]
        most = np.maximum(own[0], 0.0) * np.maximum(own[1], 0.0)

        def penalty(coefficients: FloatArray) -> FloatArray:
            square = (coefficients @ self.library.T) ** 2
            impossible = (square > (1 + ROUNDING_LEVEL) * most).any(axis=1)
            return np.where(impossible, NEGATIVE_COST, 0.0)

        return penalty
