"""The sums of one pass as problems of evidence, in physical terms, each factorised once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.estimate.likelihood.evidence import Problem, Root
from wgsindy.estimate.likelihood.normal_equations import Sums
from wgsindy.model import tensor

LEAST_SHARE = 1e-3  # of the noise of a step, for lack of a better model of what is left


@dataclass(frozen=True)
class Equations:
    """Normal equations of ``d`` drift components and ``E`` tensor entries.

    ``sums`` are in working terms; ``change (K, K)`` expresses the physical terms by these.
    """

    sums: Sums
    change: FloatArray

    @property
    def dimension(self) -> int:
        return len(self.sums.drift_cross)

    @property
    def coupled(self) -> bool:
        """Whether any two drift components share noise, so that each tells of the other."""
        pairs = enumerate(tensor.pairs(self.dimension))
        return any(p != q and bool(self.sums.drift_gram[e].any()) for e, (p, q) in pairs)

    @cached_property
    def lasting_share(self) -> FloatArray:
        """Share of the noise of each component that is left over many steps, ``(d,)``.

        It is 1 unless there is noise of the observation, of which each step takes back what the
        one before it added.
        """
        stepwise = self.sums.stepwise
        seen = stepwise > 0
        share = np.where(seen, self.sums.lasting, 1.0) / np.where(seen, stepwise, 1.0)
        return np.clip(share, LEAST_SHARE, 1.0)

    def component(self, drift: FloatArray, p: int) -> Problem:
        """Component ``p``, given the others of ``drift (d, K)`` in working terms."""
        cross = self.sums.drift_cross[p].copy()
        for q in range(self.dimension):
            if q != p:
                cross -= self.sums.drift_gram[tensor.entry_number(p, q)] @ drift[q]
        return self._drift_roots[p].problem(cross / self.lasting_share[p])

    @cached_property
    def _drift_roots(self) -> list[Root]:
        own = [tensor.entry_number(p, p) for p in range(self.dimension)]
        shares = zip(own, self.lasting_share, strict=True)
        return [Root.of(self.sums.drift_gram[e] / share, self.change) for e, share in shares]

    @cached_property
    def entries(self) -> list[Problem]:
        """Each tensor entry on its own."""
        pairs = zip(self.sums.entry_gram, self.sums.entry_cross, strict=True)
        return [Problem.from_sums(gram, cross, self.change) for gram, cross in pairs]

    def all_components(self) -> Problem:
        """All drift components at once, ``d K`` coefficients."""
        d, k = self.sums.drift_cross.shape
        gram = np.empty((d, k, d, k))
        for e, (p, q) in enumerate(tensor.pairs(d)):
            gram[p, :, q] = gram[q, :, p] = self.sums.drift_gram[e]
        change: FloatArray = np.kron(np.eye(d), self.change).astype(np.float64)
        return Problem.from_sums(gram.reshape(d * k, d * k), self.sums.drift_cross.ravel(), change)
