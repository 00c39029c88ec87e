"""How sure a fit is of its coefficients.

Two covariances of the selected coefficients: model-based, the inverse information of the working
likelihood, widened by what other choices of terms would make of each coefficient, and clustered,
from how much the slopes of the likelihood differ between whole trajectories, given the selected
terms. How sure the selection itself is, inclusion probabilities say, and the spread of the drift
over supports of similar evidence. Where the library was grown, nobody has said that the drift is
one of its formulas: what their form may miss is an error of the field, and of none of its terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from wgsindy.data import FloatArray

FEWEST_CLUSTERS = 8  # of which a covariance can be estimated at all


class Bands(NamedTuple):
    """Pointwise intervals: drift ``(n, d)`` and tensor entries ``(n, d, d)``, lower and upper."""

    drift_low: FloatArray
    drift_high: FloatArray
    diffusion_low: FloatArray
    diffusion_high: FloatArray


@dataclass(frozen=True)
class Uncertainty:
    """Error bars of a generator, in physical terms and units.

    ``d`` coordinates, ``E = d (d + 1) / 2`` tensor entries, ``K`` terms. Covariances are those of
    the selected terms, and zero elsewhere.
    """

    drift: FloatArray  # (d, K): the selected terms, fitted jointly; zero elsewhere
    drift_covariance: FloatArray  # (d, K, d, K): of these, model-based
    entry_covariance: FloatArray  # (E, K, K): of the coefficients of each tensor entry, model-based
    drift_spread: FloatArray  # (d, K, K): of the drift field, with the choice of terms left open
    inclusion: FloatArray  # (d + E, K): probability that a term belongs to a field
    drift_clustered: FloatArray | None = None  # (d, K, d, K): by trajectories; None if too few
    entry_clustered: FloatArray | None = None  # (E, K, K): by trajectories; None if too few
    form_spread: FloatArray | None = None  # (d, K, K): what its form may miss; None if it is given

    @property
    def field_spread(self) -> FloatArray:
        """Covariance ``(d, K, K)`` whose bands hold each drift component, whatever its form."""
        return self.drift_spread + (0.0 if self.form_spread is None else self.form_spread)

    def std_errors(self, *, clustered: bool = False) -> FloatArray:
        """Standard errors of all coefficients ``(d + E, K)``; clustered ones given the terms.

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

    def half_widths(self, theta: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Half-widths of the intervals of drift ``(n, d)`` and entries ``(n, E)``.

        ``theta (n, K)`` are the values of the terms.
        """
        width = normal_quantile(level)

        def half_width(covariance: FloatArray) -> FloatArray:
            variance = np.einsum("nk,fkl,nl->nf", theta, covariance, theta, optimize=True)
            return width * np.sqrt(np.maximum(variance, 0.0))

        return half_width(self.field_spread), half_width(self.entry_covariance)


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
