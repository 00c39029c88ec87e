"""What holds of a chain in the long run: its current, what it costs, and its moments."""

from __future__ import annotations

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.readouts.chain import Chain


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
