"""The chosen terms fitted once more, all drift components jointly, with their error bars."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray
from wgsindy.estimate.likelihood.evidence import Posterior, Problem
from wgsindy.estimate.likelihood.normal_equations import NormalEquations, Scores
from wgsindy.estimate.likelihood.term_selection import best_entries
from wgsindy.estimate.likelihood.working_model import WorkingModel
from wgsindy.model import tensor
from wgsindy.model.uncertainty import Uncertainty, clustered_covariance

LEAST_WEIGHT = 1e-3  # of a support whose coefficients count in the spread of the drift


@dataclass(frozen=True)
class ErrorBars:
    """Error bars of chosen terms, in physical terms and units.

    ``equations`` and ``scores`` are those of the last pass, ``model`` what was chosen from it.
    """

    equations: NormalEquations
    model: WorkingModel
    drift: list[Posterior]
    entries: list[Posterior]
    scores: Scores

    @property
    def units(self) -> FloatArray:
        """Units of the drift, ``(d,)``."""
        return self.model.units

    @property
    def entry_units(self) -> FloatArray:
        """Units of the tensor entries, ``(E,)``."""
        return self.units[np.array(tensor.pairs(len(self.units)))].prod(axis=1)

    def averaged_drift(self, formula: FloatArray) -> FloatArray:
        """Move the jointly fitted ``formula (d, K)`` by what averaging over supports adds."""
        apart = np.array([posterior.mean - posterior.coefficients[0] for posterior in self.drift])
        return formula + apart * self.units[:, None]

    def tensor_entries(self) -> FloatArray:
        """Coefficients ``(E, K)``."""
        return best_entries(self.entries, self.model.noiseless_level) * self.entry_units[:, None]

    @cached_property
    def _support(self) -> BoolArray:
        return np.array([posterior.best for posterior in self.drift])

    @cached_property
    def _joint(self) -> Problem:
        return self.equations.all_components()

    @cached_property
    def _stepwise(self) -> FloatArray:
        """Covariance ``(d K, d K)`` of the drift if steps are independent."""
        return self._joint.covariance(self._support.ravel())

    @cached_property
    def _slopes(self) -> FloatArray:
        """Slope of the log-likelihood ``(R, d K)``, trajectory by trajectory."""
        slopes = self.scores.drift @ self.equations.change.T
        return slopes.reshape(len(slopes), self._support.size)

    def uncertainty(self) -> Uncertainty:
        """Refit the drift jointly and say how sure everything is.

        With observation noise, two things are left out of the covariance of the tensor:
        neighbouring steps share the noise of the sample between them, and the amount of noise that
        is subtracted is an estimate itself.
        """
        shape = self._support.shape
        formula = self._joint.solve(self._support.ravel()).reshape(shape)
        share = np.sqrt(np.repeat(self.equations.lasting_share, shape[1]))
        # Noise that the next step takes back is no error.
        given = self._stepwise * np.outer(share, share)
        clustered = clustered_covariance(self._stepwise, self._slopes)
        blocks = self._entry_covariances()
        return Uncertainty(
            drift=formula * self.units[:, None],
            drift_covariance=self._in_units(given.reshape(shape * 2)),
            drift_spread=self._spread(given.reshape(shape * 2)),
            drift_clustered=(
                None if clustered is None else self._in_units(clustered.reshape(shape * 2))
            ),
            entry_covariance=blocks * self.entry_units[:, None, None] ** 2,
            entry_clustered=self._clustered_entries(blocks),
            inclusion=np.array([found.inclusion for found in (*self.drift, *self.entries)]),
        )

    def _in_units(self, covariance: FloatArray) -> FloatArray:
        """Put a covariance ``(d, K, d, K)`` of drift coefficients into physical units."""
        return covariance * self.units[:, None, None, None] * self.units[:, None]

    def _entry_covariances(self) -> FloatArray:
        noiseless_level, blocks = self.model.noiseless_level, []
        for e, (p, q) in enumerate(tensor.pairs(len(noiseless_level))):
            silent = noiseless_level[p] > 0 or noiseless_level[q] > 0
            support = self.entries[e].best & (not silent)
            blocks.append(self.equations.entries[e].covariance(support))
        return np.array(blocks)

    def _clustered_entries(self, blocks: FloatArray) -> FloatArray | None:
        slopes = self.scores.entries @ self.equations.change.T
        found = [clustered_covariance(block, slopes[:, e]) for e, block in enumerate(blocks)]
        kept = [block for block in found if block is not None]
        return np.array(kept) * self.entry_units[:, None, None] ** 2 if kept else None

    def _spread(self, given: FloatArray) -> FloatArray:
        """Covariance of averaged coefficients ``(d, K, K)``: within supports and between them."""
        spread = []
        for p, posterior in enumerate(self.drift):
            problem = self.equations.component(self.model.drift, p)
            counted = posterior.weights >= min(LEAST_WEIGHT, posterior.weights[0])
            weights = posterior.weights[counted] / posterior.weights[counted].sum()
            within = [problem.covariance(support) for support in posterior.supports[counted]]
            apart = posterior.coefficients[counted] - posterior.mean
            total = given[p, :, p] - within[0] + np.einsum("m,mkl->kl", weights, np.array(within))
            total += np.einsum("m,mk,ml->kl", weights, apart, apart)
            spread.append(total * self.units[p] ** 2)
        return np.array(spread)
