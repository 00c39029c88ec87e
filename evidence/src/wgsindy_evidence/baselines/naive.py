"""The one-dimensional weak form, one field after the other, in the states as they come."""

from __future__ import annotations

from collections.abc import Sequence

from wgsindy.data import Trajectories
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator
from wgsindy.terms import Library
from wgsindy_evidence.recipes import NAIVE


def fit_naive(
    data: Trajectories, library: str | Sequence[str] | Library, *, seed: int = 0
) -> Generator:
    """Fit b_p and a_pq each on its own to averages under isotropic Gaussian kernels.

    With w_j the kernel about the j-th of 64 centres, evenly over the range of the states, rows are

        sum_n w_j(X_n) dX_n / sum_n w_j(X_n) dt = mean of b under w_j

    and the same for dX dX' and a. Kernels are as wide in one coordinate as in the other, so a
    coordinate of small units is not resolved at all, and nothing keeps the tensor semidefinite.

    Raises
    ------
    DataError, LibraryError, NotEnoughDataError
        As :meth:`wgsindy.WGSINDy.fit` does.
    """
    return WGSINDy(library, NAIVE, random_state=seed).fit(data).generator_
