"""Sums of past residuals as further terms of the drift: if the fit is right, they tell nothing.

Something that acts on a state and is not observed lasts: what the drift leaves of a few steps is a
sign of it, and so of the next step. Any drift takes up what it can of that, so that it shows only
beside the fitted terms. This is a Lagrange multiplier test of windows of the past.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray
from wgsindy.data.chunk import Chunk, Spans
from wgsindy.diagnostics.residuals.probes import in_deviations
from wgsindy.estimate.predictions import Predictions
from wgsindy.terms.basis import Basis

WINDOWS = (2, 4, 8, 16, 32, 64, 128)  # steps back over which residuals are summed
LEAST_LEFT = 1e-6  # share of a window that the fitted terms must leave, for a test of it


@dataclass
class Echoes:
    """Sums of products of K fitted terms and of windows W of all d coordinates, by component."""

    gram: FloatArray  # (d, K + d W, K + d W)
    explained: FloatArray  # (d, K + d W) products with the residual

    def errors(self, fitted: BoolArray) -> FloatArray:
        """Slopes along windows in standard errors, ``(d, d, W)``: component, coordinate, window.

        ``fitted (d, K)`` are the terms of each component, whose coefficients give way to it. Zero
        where a formula explodes at a sample: other checks say so.
        """
        d, k = fitted.shape
        found = np.zeros((d, self.explained.shape[1] - k))
        for p in np.flatnonzero(np.isfinite(self.gram).all(axis=(1, 2))).tolist():
            size = np.sqrt(np.diag(self.gram[p]))
            size[size == 0] = 1.0  # terms have units of their own
            gram, explained = self.gram[p] / np.outer(size, size), self.explained[p] / size
            own, past = np.flatnonzero(fitted[p]), slice(k, None)
            across = gram[own, past]
            taken = np.linalg.lstsq(gram[np.ix_(own, own)], across)[0]
            slope = explained[past] - taken.T @ explained[own]
            left = np.diag(gram)[past] - np.einsum("kw,kw->w", across, taken)
            there = left > LEAST_LEFT
            found[p, there] = slope[there] / np.sqrt(left[there])
        return found.reshape(d, d, len(WINDOWS))


@dataclass(frozen=True)
class Listener:
    """Sums what :class:`Echoes` has; ``terms (K,)`` are those of the library that any drift has."""

    basis: Basis
    terms: IntArray
    fitted: BoolArray  # (d, K) which of these each component has

    @classmethod
    def of(cls, basis: Basis, drift: FloatArray) -> Listener:
        """Listen beside the terms of a ``drift (d, K)``."""
        terms = np.flatnonzero(drift.any(axis=0))
        return cls(basis, terms, drift[:, terms] != 0)

    def empty(self) -> Echoes:
        d, k = self.fitted.shape
        size = k + d * len(WINDOWS)
        return Echoes(np.zeros((d, size, size)), np.zeros((d, size)))

    def add(
        self, total: Echoes, chunk: Chunk, found: Predictions, z: FloatArray, noisy: BoolArray
    ) -> None:
        """Add a chunk; ``z (d, n)`` is zero where it is not ``noisy``."""
        terms = self.basis.values(found.states)[:, self.terms].T
        past = _windows(z, Spans.of(chunk.trajectory))
        root = in_deviations(found, chunk.dt) * noisy
        for p in range(len(z)):
            told = np.concatenate([terms * root[p], past * noisy[p]])
            total.gram[p] += told @ told.T
            total.explained[p] += told @ z[p]


def _windows(z: FloatArray, spans: Spans) -> FloatArray:
    """Sums of ``z (d, n)`` over the steps before each, of its own trajectory, ``(d W, n)``."""
    d, n = z.shape
    summed = np.concatenate([np.zeros((d, 1)), np.cumsum(z, axis=1)], axis=1)
    row, start = np.arange(n), np.repeat(spans.first, spans.length)
    back = [summed[:, row] - summed[:, np.maximum(row - window, start)] for window in WINDOWS]
    return np.stack(back, axis=1).reshape(-1, n)
