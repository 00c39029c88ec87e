"""Does the past tell of the next step, beside the fitted terms? If the fit is right, it does not.

Something that acts on a state and is not observed lasts: what the drift leaves of a few steps is a
sign of it, and so of the next step. In the same way a coefficient that wanders is above its mean
for a while: by how much the last steps ask for a larger one tells of the next. And of two things
that fade at two rates, one drift can follow neither: it leaves too much of the fast one, which is
taken back soon, and too little of the slow one, which goes on. Any drift takes up what it can of
all that, so that it shows only beside the fitted terms. These are Lagrange multiplier tests, and
what they sum over the past is known before the step: residuals of a right fit make a martingale of
it, however slowly the process forgets.
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
RATES = ((2, 16), (4, 32), (8, 64), (16, 128))  # windows that two rates show between
SPELLS = (16, 64, 256)  # the same of what coefficients are asked to change by
LEAST_LEFT = 1e-6  # share of a window that the fitted terms must leave, for a test of it


@dataclass
class Echoes:
    """Sums of products of K fitted terms with R signs of the past, by component.

    The signs are W windows of the residuals of each of d coordinates, V pairs of windows of the
    component's own, and S spells of each term.
    """

    terms: FloatArray  # (d, K, K)
    across: FloatArray  # (d, K, R)
    squares: FloatArray  # (d, R)
    explained: FloatArray  # (d, K + R) products with the residual

    def errors(self, fitted: BoolArray) -> FloatArray:
        """Slopes along signs of the past in standard errors, ``(d, R)``.

        ``fitted (d, K)`` are the terms of each component, whose coefficients give way to it. Zero
        where a formula explodes at a sample, which other checks say, and along spells of terms
        that a component does not have.
        """
        d, k = fitted.shape
        found = np.zeros_like(self.squares)
        sums = np.concatenate([self.squares, self.terms.reshape(d, -1)], axis=1)
        for p in np.flatnonzero(np.isfinite(sums).all(axis=1)).tolist():
            own = np.flatnonzero(fitted[p])
            size = np.sqrt(np.diag(self.terms[p]))[own]
            size[size == 0] = 1.0  # terms have units of their own
            gram = self.terms[p][np.ix_(own, own)] / np.outer(size, size)
            across = self.across[p][own] / size[:, None]
            taken = np.linalg.lstsq(gram, across)[0]
            slope = self.explained[p, k:] - taken.T @ (self.explained[p, own] / size)
            left = self.squares[p] - np.einsum("kr,kr->r", across, taken)
            there = left > LEAST_LEFT * self.squares[p]
            found[p, there] = slope[there] / np.sqrt(left[there])
        return found

    def of_residuals(self, fitted: BoolArray) -> FloatArray:
        """The same of residuals, ``(d, d, W)``: component, coordinate, window."""
        d = len(fitted)
        return self.errors(fitted)[:, : d * len(WINDOWS)].reshape(d, d, -1)

    def of_rates(self, fitted: BoolArray) -> FloatArray:
        """The same of what goes on beyond what is taken back, ``(d, V)``."""
        first = len(fitted) * len(WINDOWS)
        return self.errors(fitted)[:, first : first + len(RATES)]

    def of_terms(self, fitted: BoolArray) -> FloatArray:
        """The same of coefficients, ``(d, K, S)``: component, term, spell."""
        d, k = fitted.shape
        return self.errors(fitted)[:, d * len(WINDOWS) + len(RATES) :].reshape(d, k, -1)


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
        r = d * len(WINDOWS) + len(RATES) + k * len(SPELLS)
        return Echoes(
            np.zeros((d, k, k)), np.zeros((d, k, r)), np.zeros((d, r)), np.zeros((d, k + r))
        )

    def add(
        self, total: Echoes, chunk: Chunk, found: Predictions, z: FloatArray, noisy: BoolArray
    ) -> None:
        """Add a chunk; ``z (d, n)`` is zero where it is not ``noisy``."""
        values = self.basis.values(found.states)[:, self.terms].T
        spans = Spans.of(chunk.trajectory)
        windows = _past(z, WINDOWS, spans)
        rates = _between(windows.reshape(len(z), len(WINDOWS), -1))
        root = in_deviations(found, chunk.dt) * noisy
        for p, fitted in enumerate(self.fitted):
            terms = values[fitted] * root[p]
            spells = _past(terms * z[p], SPELLS, spans) * np.repeat(terms, len(SPELLS), axis=0)
            past = np.concatenate([windows * noisy[p], rates[p] * noisy[p], spells])
            always = len(past) - len(spells)
            own = np.append(np.ones(always, dtype=bool), np.repeat(fitted, len(SPELLS)))
            total.terms[p][np.ix_(fitted, fitted)] += terms @ terms.T
            total.across[p][np.ix_(fitted, own)] += terms @ past.T
            total.squares[p, own] += np.einsum("rn,rn->r", past, past)
            total.explained[p, np.append(fitted, own)] += np.append(terms @ z[p], past @ z[p])


def _past(values: FloatArray, windows: tuple[int, ...], spans: Spans) -> FloatArray:
    """Sums of ``values (m, n)`` over the steps before each, of its own trajectory, ``(m W, n)``."""
    m, n = values.shape
    summed = np.concatenate([np.zeros((m, 1)), np.cumsum(values, axis=1)], axis=1)
    row, start = np.arange(n), np.repeat(spans.first, spans.length)
    back = [summed[:, :-1] - summed.take(np.maximum(row - w, start), axis=1) for w in windows]
    return np.stack(back, axis=1).reshape(-1, n)


def _between(windows: FloatArray) -> FloatArray:
    """What the longer window of each pair has beyond the shorter, ``(d, V, n)``, in deviations."""
    unit = windows / np.sqrt(WINDOWS)[:, None]
    short, long = (np.array([WINDOWS.index(pair[k]) for pair in RATES]) for k in (0, 1))
    return unit[:, long] - unit[:, short]
