"""A pilot sample: short pieces of long data, evenly spread, enough to start a fit from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from wgsindy.arrays import FloatArray
from wgsindy.engine import SERIAL, Engine, reduce
from wgsindy.recordings import Chunk, Recording
from wgsindy.trajectories import Trajectories

PIECE = 100  # increments: few, so that there are many places; enough to have neighbours


class Piece(NamedTuple):
    """Neighbouring samples ``(n, d)`` at ``times (n,)``; ``start`` increments come before them."""

    start: int
    states: FloatArray
    times: FloatArray


@dataclass(frozen=True)
class PilotPass:
    """Keep ``PIECE`` increments from every ``every``-th one on, fewer where a chunk or path ends.

    So pieces depend on chunks. That is good enough to start from, and for nothing else.
    """

    every: int

    def empty(self) -> list[Piece]:
        return []

    def add(self, total: list[Piece], chunk: Chunk) -> list[Piece]:
        for first in range(-chunk.start % self.every, len(chunk.dt), self.every):
            owner = chunk.trajectory[first : first + PIECE]
            rows = slice(first, first + int(np.searchsorted(owner, owner[0], side="right")))
            end = chunk.states[rows][-1] + chunk.increments[rows][-1]
            states = np.concatenate([chunk.states[rows], [end]])
            times = np.append(0.0, chunk.dt[rows].cumsum())
            total.append(Piece(chunk.start + first, states, times))
        return total

    def merge(self, left: list[Piece], right: list[Piece]) -> list[Piece]:
        return left + right


def pilot_of(data: Recording, increments: int, *, engine: Engine = SERIAL) -> Trajectories:
    """Return about so many ``increments`` of ``data`` in pieces, each a trajectory of its own.

    >>> walk = np.cumsum(np.random.default_rng(0).normal(size=(10_000, 2)), axis=0)
    >>> pilot_of(Trajectories(walk, dt=0.1), 1000)
    Trajectories(10 x (x, y), 1000 increments, mean dt = 0.1)
    """
    every = max(PIECE, data.n_increments * PIECE // increments)
    pieces = reduce(PilotPass(every), data, engine=engine)
    pieces.sort(key=lambda piece: piece.start)  # threads find them in any order
    return Trajectories(
        [piece.states for piece in pieces],
        times=[piece.times for piece in pieces],
        names=data.names,
    )
