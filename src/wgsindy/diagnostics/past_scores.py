"""Does the past tell of the next step, beside the fitted terms? If the fit is right, it does not.

Something that acts on a state and is not observed lasts: what the drift leaves of a few steps is a
sign of it, and so of the next step. In the same way a coefficient that wanders is above its mean
for a while: by how much the last steps ask for a larger one tells of the next. And of two things
that fade at two rates, one drift can follow neither: it leaves too much of the fast one, which is
taken back soon, and too little of the slow one, which goes on. What is drawn to a centre that no
term has (of its kind, or of its time) goes back to where it was on average. Any drift takes up what
it can of all that, so that it shows only beside the fitted terms. These are Lagrange multiplier
tests, and what they sum over the past is known before the step: residuals of a right fit make a
martingale of it, however slowly the process forgets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wgsindy.data import BoolArray, Chunk, FloatArray, IntArray, Spans, zeros
from wgsindy.diagnostics.groups import in_deviations
from wgsindy.estimate import Predictions
from wgsindy.terms import Basis

WINDOWS = (2, 4, 8, 16, 32, 64, 128)  # steps back over which residuals are summed [by hand]
# Windows that two rates show between. [by hand]
RATE_WINDOWS = ((2, 16), (4, 32), (8, 64), (16, 128))
SPELLS = (16, 64, 256)  # the same of what coefficients are asked to change by [by hand]
MEANS = (32, 512)  # steps back over which states are averaged [gallery]
FEWEST_AVERAGED = 16  # steps of such a mean; of fewer it lies nearer to the middle [by hand]
LEAST_UNEXPLAINED = 1e-6  # share of a window that fitted terms must leave [by hand: rounding]


@dataclass
class PastSums:
    """Sums of products of K fitted terms with R signs of the past, by component.

    The signs are W windows of the residuals of each of d coordinates, M means of the states of the
    component, and S spells of each term.
    """

    terms: FloatArray  # (d, K, K)
    across: FloatArray  # (d, K, R)
    squares: FloatArray  # (d, R)
    explained: FloatArray  # (d, K + R) products with the residual
    windows: FloatArray  # (d, W, W) products of the windows of the component's own residuals

    def errors(self, fitted: BoolArray) -> FloatArray:
        """Slopes along signs of the past in standard errors, ``(d, R)``.

        ``fitted (d, K)`` are the terms of each component, whose coefficients give way to it. Zero
        where a formula explodes at a sample, which other checks say, and along spells of terms
        that a component does not have.
        """
        k = fitted.shape[1]
        signs = zip(self.across, self.squares, self.explained[:, k:], strict=True)
        return np.stack([self._beside(p, fitted[p], *sign) for p, sign in enumerate(signs)])

    def _beside(
        self,
        p: int,
        fitted: BoolArray,
        across: FloatArray,
        squares: FloatArray,
        explained: FloatArray,
    ) -> FloatArray:
        """Errors ``(r,)`` of signs beside the terms of component ``p``, from their sums."""
        found = np.zeros(len(squares))
        if not (np.isfinite(squares).all() and np.isfinite(self.terms[p]).all()):
            return found
        own = np.flatnonzero(fitted)
        size = np.sqrt(np.diag(self.terms[p]))[own]
        size[size == 0] = 1.0  # terms have units of their own
        gram = self.terms[p][np.ix_(own, own)] / np.outer(size, size)
        beside = across[own] / size[:, None]
        taken = np.linalg.lstsq(gram, beside)[0]
        slope = explained - taken.T @ (self.explained[p, own] / size)
        left = squares - np.einsum("kr,kr->r", beside, taken)
        there = left > LEAST_UNEXPLAINED * squares
        found[there] = slope[there] / np.sqrt(left[there])
        return found

    def of_residuals(self, fitted: BoolArray) -> FloatArray:
        """The same of residuals, ``(d, d, W)``: component, coordinate, window."""
        d = len(fitted)
        return self.errors(fitted)[:, : d * len(WINDOWS)].reshape(d, d, -1)

    def of_means(self, fitted: BoolArray) -> FloatArray:
        """The same of earlier states, ``(d, M)``: positive where it goes back to their mean."""
        first = len(fitted) * len(WINDOWS)
        return self.errors(fitted)[:, first : first + len(MEANS)]

    def of_rates(self, fitted: BoolArray) -> FloatArray:
        """The same of what the longer of two windows has beyond the shorter, ``(d, V)``."""
        (d, k), w, mix = fitted.shape, len(WINDOWS), _between()
        found = np.empty((d, len(RATE_WINDOWS)))
        for p in range(d):
            own = slice(p * w, (p + 1) * w)
            found[p] = self._beside(
                p,
                fitted[p],
                self.across[p][:, own] @ mix.T,
                np.einsum("vw,wx,vx->v", mix, self.windows[p], mix),
                mix @ self.explained[p, k:][own],
            )
        return found

    def of_terms(self, fitted: BoolArray) -> FloatArray:
        """The same of coefficients, ``(d, K, S)``: component, term, spell."""
        d, k = fitted.shape
        return self.errors(fitted)[:, d * len(WINDOWS) + len(MEANS) :].reshape(d, k, -1)


@dataclass(frozen=True)
class PastScores:
    """Sums what :class:`PastSums` has; ``terms (K,)`` are those that any drift has."""

    basis: Basis
    terms: IntArray
    fitted: BoolArray  # (d, K) which of these each component has
    centre: FloatArray  # (d,) of the states

    @classmethod
    def of(cls, basis: Basis, drift: FloatArray, centre: FloatArray) -> PastScores:
        """Listen beside the terms of a ``drift (d, K)``, about a ``centre (d,)``."""
        terms = np.flatnonzero(drift.any(axis=0))
        return cls(basis, terms, drift[:, terms] != 0, centre)

    def empty(self) -> PastSums:
        (d, k), w = self.fitted.shape, len(WINDOWS)
        r = d * w + len(MEANS) + k * len(SPELLS)
        return PastSums(*zeros((d, k, k), (d, k, r), (d, r), (d, k + r), (d, w, w)))

    def add(
        self, total: PastSums, chunk: Chunk, found: Predictions, z: FloatArray, noisy: BoolArray
    ) -> None:
        """Add a chunk; ``z (d, n)`` is zero where it is not ``noisy``."""
        values = self.basis.values(found.states)[:, self.terms].T
        spans, w = Spans.of(chunk.trajectory), len(WINDOWS)
        windows = _past(z, WINDOWS, spans)
        earlier = self._earlier(found.states, spans)
        root = in_deviations(found, chunk.dt) * noisy
        # Only where windows meet themselves is there nothing that is zero unless it is noisy.
        squares = windows**2 @ noisy.T.astype(np.float64)
        for p, fitted in enumerate(self.fitted):
            terms, own = values[fitted] * root[p], windows[p * w : (p + 1) * w]
            spells = _past(terms * z[p], SPELLS, spans) * np.repeat(terms, len(SPELLS), axis=0)
            more = np.vstack([earlier[p] * root[p], spells])
            always = np.ones(len(windows) + len(MEANS), dtype=bool)
            there = np.append(always, np.repeat(fitted, len(SPELLS)))
            total.terms[p][np.ix_(fitted, fitted)] += terms @ terms.T
            total.across[p][np.ix_(fitted, there)] += np.hstack([terms @ windows.T, terms @ more.T])
            total.squares[p, there] += np.append(squares[:, p], np.einsum("rn,rn->r", more, more))
            total.explained[p, np.append(fitted, there)] += np.concatenate(
                [one @ z[p] for one in (terms, windows, more)]
            )
            total.windows[p] += (own * noisy[p]) @ own.T

    def _earlier(self, states: FloatArray, spans: Spans) -> FloatArray:
        """Means of earlier ``states (n, d)`` about the centre, ``(d, M, n)``."""
        d, n = len(self.centre), len(states)
        within = np.arange(n) - np.repeat(spans.first, spans.length)
        steps = np.clip(within, FEWEST_AVERAGED, np.array(MEANS)[:, None])
        return _past((states - self.centre).T, MEANS, spans).reshape(d, -1, n) / steps


def _past(values: FloatArray, windows: tuple[int, ...], spans: Spans) -> FloatArray:
    """Sums of ``values (m, n)`` over the steps before each, of its own trajectory, ``(m W, n)``."""
    m, n = values.shape
    summed = np.zeros((m, n + 1))
    np.cumsum(values, axis=1, out=summed[:, 1:])
    row, start = np.arange(n), np.repeat(spans.first, spans.length)
    back = np.empty((m, len(windows), n))
    for k, w in enumerate(windows):
        np.subtract(summed[:, :-1], summed.take(np.maximum(row - w, start), axis=1), out=back[:, k])
    return back.reshape(-1, n)


def _between() -> FloatArray:
    """Longer of :data:`RATE_WINDOWS` minus shorter ones, in deviations of each, ``(V, W)``."""
    mix = np.zeros((len(RATE_WINDOWS), len(WINDOWS)))
    for row, pair in enumerate(RATE_WINDOWS):
        for sign, steps in zip((-1.0, 1.0), pair, strict=True):
            mix[row, WINDOWS.index(steps)] = sign / np.sqrt(steps)
    return mix
