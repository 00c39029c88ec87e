"""What holds of a chain in the long run: current, entropy, moments; rates, modes, hopping sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import FloatArray, IntArray
from wgsindy.errors import ReadoutError
from wgsindy.readouts.chain import Chain

ComplexArray = NDArray[np.complex128]
MORE = 10  # rates that are computed beside those asked for: the nearest to zero need not be slowest
METASTABLE = 3.0  # the next rate is so many times as fast as the last of the slow ones


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
        raw, vectors = eigs(inverse, k=wanted, v0=start, tol=1e-9)
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
    ratios = decay[1:] / np.maximum(decay[:-1], 1e-300)
    # Complex modes turn, they do not hop.
    turning = np.flatnonzero(np.abs(values.imag) > 1e-9 * np.abs(values))
    last = int(turning[0]) if len(turning) else len(values)
    wide = np.flatnonzero(ratios[: max(last, 0)] >= METASTABLE)
    wide = wide[wide < last]
    return 1 if not len(wide) else int(wide[np.argmax(ratios[wide])]) + 2


def metastable_sets(found: Modes) -> IntArray:
    """Number of the metastable set of each cell, ``(n,)``.

    The slow modes map cells into a simplex whose corners are the sets (Weber and Galliat 2002);
    a cell belongs to the corner that it is nearest to.
    """
    count = slow_count(found.values)
    if count == 1:
        return np.zeros(len(found.functions), dtype=np.int64)
    plane = np.column_stack([np.ones(len(found.functions)), found.functions[:, : count - 1].real])
    corners = [int(np.argmax(np.linalg.norm(plane[:, 1:], axis=1)))]
    apart = plane - plane[corners[0]]
    for _ in range(count - 1):
        corners.append(int(np.argmax(np.linalg.norm(apart, axis=1))))
        unit = apart[corners[-1]] / np.linalg.norm(apart[corners[-1]])
        apart = apart - np.outer(apart @ unit, unit)
    membership = plane @ np.linalg.inv(plane[corners])
    return np.asarray(membership.argmax(axis=1))
