"""How functions evolve on a chain: exp(Q t) f and (Q - i w)^-1 f, for all t and w at once.

One factorisation and a few dozen solves: Krylov spaces of the resolvent (van den Eshof and
Hochbruck 2006) hold the smooth part of f first, which is what remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.errors import ReadoutError
from wgsindy.readouts.chain import Chain, factorise
from wgsindy.terms import Expression

SOLVES = 48  # dimension of the space
ROUNDING = 1e-24  # of a square: what is left of a constant without its mean
BREAKDOWN = 1e-12  # of a new direction: the space is complete


@dataclass(frozen=True, eq=False)
class Evolution:
    """The action of rates on one function, in a small space."""

    basis: FloatArray  # (n, m) orthonormal
    matrix: FloatArray  # (m, m): Q in the basis
    start: FloatArray  # (m,): the function in the basis

    @classmethod
    def of(cls, factor: Any, start: FloatArray, rate: float) -> Evolution:
        """Build the space of ``start (n,)``; ``factor`` of Q - ``rate``, that of interest."""
        basis = np.zeros((len(start), SOLVES + 1))
        hessenberg = np.zeros((SOLVES + 1, SOLVES))
        size = float(np.linalg.norm(start))
        basis[:, 0] = start / size
        used = SOLVES
        for k in range(SOLVES):
            vector = factor.solve(basis[:, k])
            length = np.linalg.norm(vector)
            for _ in range(2):  # orthogonal to rounding only after a second time
                overlap = basis[:, : k + 1].T @ vector
                hessenberg[: k + 1, k] += overlap
                vector = vector - basis[:, : k + 1] @ overlap
            hessenberg[k + 1, k] = np.linalg.norm(vector)
            if hessenberg[k + 1, k] <= BREAKDOWN * length:
                used = k + 1
                break
            basis[:, k + 1] = vector / hessenberg[k + 1, k]
        small = rate * np.eye(used) + np.linalg.inv(hessenberg[:used, :used])
        return cls(basis[:, :used], small, size * np.eye(used)[0])

    def at(self, times: FloatArray, weights: FloatArray) -> FloatArray:
        """Averages ``weights' exp(Q t) f`` at ``times (k,)``; weights ``(n,)`` or ``(n, m)``."""
        from scipy.linalg import expm

        seen = weights.T @ self.basis
        return np.stack([seen @ (expm(self.matrix * t) @ self.start) for t in times])

    def spectrum(self, frequencies: FloatArray, weights: FloatArray) -> FloatArray:
        """2 Re weights' (i w - Q)^-1 f at angular ``frequencies (k,)``: both sides of time."""
        seen, one = weights @ self.basis, np.eye(len(self.matrix))
        solved = [np.linalg.solve(1j * w * one - self.matrix, self.start) for w in frequencies]
        return np.array([2 * float((seen @ x).real) for x in solved])


def observed(chain: Chain, formula: Expression) -> tuple[FloatArray, FloatArray]:
    """A quantity without its mean ``(n,)``, and the same weighted by the stationary law."""
    with np.errstate(all="ignore"):
        values = formula.value(chain.grid.centres)
        moved = np.asarray(values - chain.probability @ values)
        square, left = chain.probability @ values**2, chain.probability @ moved**2
    if not ROUNDING * square < left < np.inf:
        raise ReadoutError(f"{formula.text} is constant or infinite in the box; it tells nothing.")
    return moved, moved * chain.probability


def moments_after(chain: Chain, start: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
    """Mean ``(d,)`` and covariance ``(d, d)`` of the state at ``time`` after ``start (d,)``.

    Powers of the way from the start are carried back to it, which is smooth at any time; a law
    that starts in a point is not.
    """
    d, weights = len(start), chain.grid.weights_at(start)
    away, after = chain.grid.centres - start, np.array([time])
    factor = factorise(chain.rates, 1.0 / time)

    def expected(values: FloatArray) -> float:
        return float(Evolution.of(factor, values, 1.0 / time).at(after, weights)[0])

    mean = np.array([expected(away[:, p]) for p in range(d)])
    square = np.zeros((d, d))
    for p in range(d):
        for q in range(p + 1):
            square[p, q] = square[q, p] = expected(away[:, p] * away[:, q])
    return start + mean, square - np.outer(mean, mean)
