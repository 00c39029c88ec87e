"""How sure a fit is of its coefficients.

Two covariances of the selected coefficients: model-based, the inverse information of the working
likelihood, and clustered, from how much the slopes of the likelihood differ between whole
trajectories. Both are given the selected terms; how sure the selection itself is, inclusion
probabilities say, and the spread of the drift over supports of similar evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from wgsindy.data.arrays import FloatArray

FEWEST_CLUSTERS = 8  # of which a covariance can be estimated at all


@dataclass(frozen=True)
class Uncertainty:
    """Error bars of a generator, in physical terms and units.

    ``drift (d, K)`` the selected terms, fitted jointly; zero elsewhere. ``drift_covariance
    (d, K, d, K)`` and ``entry_covariance (E, K, K)`` are given these terms; ``drift_clustered`` and
    ``entry_clustered`` the same from trajectories, None if there are fewer than 8.
    ``drift_spread (d, K, K)`` is the covariance of the drift field's coefficients with the choice
    of terms left open. ``inclusion (d + E, K)`` is the probability of each term.
    """

    drift: FloatArray
    drift_covariance: FloatArray
    entry_covariance: FloatArray
    drift_spread: FloatArray
    inclusion: FloatArray
    drift_clustered: FloatArray | None = None
    entry_clustered: FloatArray | None = None

    def std_errors(self, *, clustered: bool = False) -> FloatArray:
        """Standard errors of all coefficients ``(d + E, K)``, given the selected terms.

        Raises
        ------
        ValueError
            If ``clustered`` is asked for and there were too few trajectories.
        """
        drift = self.drift_clustered if clustered else self.drift_covariance
        entries = self.entry_clustered if clustered else self.entry_covariance
        if drift is None or entries is None:
            raise ValueError(
                f"clustered errors need at least {FEWEST_CLUSTERS} trajectories; use the "
                "model-based ones."
            )
        variances = [np.einsum("pkpk->pk", drift), np.einsum("ekk->ek", entries)]
        return np.sqrt(np.maximum(np.concatenate(variances), 0.0))


def clustered_covariance(covariance: FloatArray, slopes: FloatArray) -> FloatArray | None:
    """Sandwich covariance ``(K, K)`` from the slopes ``(R, K)`` of whole trajectories.

    ``covariance`` is the inverse information of the selected coefficients, zero elsewhere; None if
    there are too few trajectories to tell.
    """
    count = len(slopes)
    if count < FEWEST_CLUSTERS:
        return None
    centred = slopes - slopes.mean(axis=0)
    middle = centred.T @ centred * (count / (count - 1))
    return covariance @ middle @ covariance


def normal_quantile(level: float) -> float:
    """Half-width, in standard errors, of a central interval; ``0 < level < 1``.

    >>> round(normal_quantile(0.95), 3)
    1.96
    """
    return NormalDist().inv_cdf(0.5 + level / 2)
