"""What a chain does: current, entropy, moments; rates, modes, hopping sets; how functions evolve.

exp(Q t) f and (Q - i w)^-1 f, for all t and w at once, take one factorisation and a few dozen
solves: Krylov spaces of the resolvent (van den Eshof and Hochbruck 2006) hold the smooth part of f
first, which is what remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import FloatArray, IntArray
from wgsindy.errors import ReadoutError
from wgsindy.readouts.chain import LEAST_POSITIVE, Chain, factorise
from wgsindy.terms import Expression

ComplexArray = NDArray[np.complex128]
MORE = 10  # rates that are computed beside those asked for: the nearest to zero need not be slowest
METASTABLE = 3.0  # set by hand: the next rate is so many times as fast as the last of the slow ones
CONVERGED = 1e-9  # relative error of eigenvalues; what turns more slowly does not
SOLVES = 48  # dimension of a Krylov space; one that is complete ends before
CONSTANT = 1e-24  # of a square: what rounding leaves of a constant without its mean
BREAKDOWN = 1e-12  # of a new direction: what rounding leaves where the space is complete


def net_flow(chain: Chain) -> FloatArray:
    """Net probability a unit of time along each edge, ``(m,)``; zero for a reversible process."""
    edges, probability = chain.edges, chain.probability
    return np.asarray(
        probability[edges.first] * edges.forward - probability[edges.second] * edges.backward
    )


def current(chain: Chain) -> FloatArray:
    """Stationary probability current J at the centres, ``(n, d)``.

    Each end of an edge takes half of what flows along it.
    """
    grid, edges = chain.grid, chain.edges
    jump = (grid.cells[edges.second] - grid.cells[edges.first]) * grid.step
    carried = net_flow(chain)[:, None] * jump / (2 * grid.volume)
    out = np.zeros((grid.size, grid.dimension))
    for p in range(grid.dimension):
        out[:, p] = np.bincount(edges.first, carried[:, p], grid.size)
        out[:, p] += np.bincount(edges.second, carried[:, p], grid.size)
    return out


def entropy_production(chain: Chain) -> float:
    """Entropy that is produced a unit of time, in units of Boltzmann's constant.

    The integral of 2 J a^-1 J / pi, as a sum over the edges of the chain (Schnakenberg 1976): net
    flow times the logarithm of the ratio of both flows. It is never negative.
    """
    edges, probability = chain.edges, chain.probability
    ratio = np.log(probability[edges.first] / probability[edges.second]) + edges.force
    return float(net_flow(chain) @ ratio)


def moments(chain: Chain) -> tuple[FloatArray, FloatArray]:
    """Mean ``(d,)`` and covariance ``(d, d)`` of the stationary law."""
    mean = chain.probability @ chain.grid.centres
    apart = chain.grid.centres - mean
    # The law is linear within a cell, not a point at its centre.
    return mean, (apart.T * chain.probability) @ apart


class Modes(NamedTuple):
    """Eigenvalues ``(k,)`` of a generator, the slowest first, without zero; eigenfunctions."""

    values: ComplexArray
    functions: ComplexArray  # (n, k): L f = value f, of unit variance under the stationary law


def modes(chain: Chain, count: int) -> Modes:
    """Return the ``count`` slowest modes, by shift and invert (ARPACK)."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigs

    n = chain.grid.size
    wanted = min(count + MORE, n - 3)
    inverse = LinearOperator((n, n), matvec=chain.factor.solve, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)  # of no consequence once it has converged
    try:
        raw, vectors = eigs(inverse, k=wanted, v0=start, tol=CONVERGED)
    except ArpackError as error:
        raise ReadoutError(
            f"the rates did not converge ({error}); give other cells= or a smaller box=."
        ) from None
    values = chain.shift + 1 / raw
    decay = np.round(-values.real / chain.crossing, 9)  # equal for the two of a pair
    slowest = np.lexsort((-values.imag, decay))
    slowest = np.delete(slowest, int(np.argmin(np.abs(values[slowest]))))[:count]
    return Modes(values[slowest], _scaled(vectors[:, slowest], chain.probability))


def _scaled(functions: ComplexArray, probability: FloatArray) -> ComplexArray:
    """Give functions ``(n, k)`` unit variance, and a real positive value where largest."""
    spread = np.sqrt(probability @ np.abs(functions) ** 2)
    seen = np.abs(functions) * np.sqrt(probability)[:, None]
    largest = functions[np.argmax(seen, axis=0), np.arange(functions.shape[1])]
    return np.asarray(functions / (spread * largest / np.abs(largest)))


def slow_count(values: ComplexArray) -> int:
    """Number of metastable sets: one more than the rates before the first wide gap.

    >>> slow_count(np.array([-0.01, -2.0, -3.0])), slow_count(np.array([-1.0, -2.0, -3.0]))
    (2, 1)
    """
    decay = -values.real
    ratios = decay[1:] / np.maximum(decay[:-1], LEAST_POSITIVE)
    # Complex modes turn, they do not hop.
    turning = np.flatnonzero(np.abs(values.imag) > CONVERGED * np.abs(values))
    last = int(turning[0]) if len(turning) else len(values)
    wide = np.flatnonzero(ratios[:last] >= METASTABLE)
    return 1 if not len(wide) else int(wide[np.argmax(ratios[wide])]) + 2


def metastable_sets(slow: Modes) -> IntArray:
    """Number of the metastable set of each cell, ``(n,)``.

    The slow modes map cells into a simplex whose corners are the sets (Weber and Galliat 2002);
    a cell belongs to the corner that it is nearest to.
    """
    count = slow_count(slow.values)
    if count == 1:
        return np.zeros(len(slow.functions), dtype=np.int64)
    plane = np.column_stack([np.ones(len(slow.functions)), slow.functions[:, : count - 1].real])
    corners = [int(np.argmax(np.linalg.norm(plane[:, 1:], axis=1)))]
    apart = plane - plane[corners[0]]
    for _ in range(count - 1):
        corners.append(int(np.argmax(np.linalg.norm(apart, axis=1))))
        unit = apart[corners[-1]] / np.linalg.norm(apart[corners[-1]])
        apart = apart - np.outer(apart @ unit, unit)
    membership = plane @ np.linalg.inv(plane[corners])
    return np.asarray(membership.argmax(axis=1))


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

        averages = weights.T @ self.basis
        return np.stack([averages @ (expm(self.matrix * t) @ self.start) for t in times])

    def spectrum(self, frequencies: FloatArray, weights: FloatArray) -> FloatArray:
        """2 Re weights' (i w - Q)^-1 f at angular ``frequencies (k,)``: both sides of time."""
        averages, one = weights @ self.basis, np.eye(len(self.matrix))
        solved = [np.linalg.solve(1j * w * one - self.matrix, self.start) for w in frequencies]
        return np.array([2 * float((averages @ x).real) for x in solved])


def observed(chain: Chain, formula: Expression) -> tuple[FloatArray, FloatArray]:
    """A quantity without its mean ``(n,)``, and the same weighted by the stationary law."""
    with np.errstate(all="ignore"):
        values = formula.value(chain.grid.centres)
        moved = np.asarray(values - chain.probability @ values)
        square, variance = chain.probability @ values**2, chain.probability @ moved**2
    if not CONSTANT * square < variance < np.inf:
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
