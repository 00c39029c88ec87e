"""The data played again by the recovered equations: same starts, same lengths, other noise.

Of a quantity of the data, the least and the largest value among 19 simulated data sets enclose the
observed one with probability 18 / 20 if the equations are right (Monte Carlo test).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.data.trajectories import Trajectories
from wgsindy.errors import SimulationError
from wgsindy.model.generator import Generator
from wgsindy.report.checks.autocorrelation import autocorrelation

REPLICAS = 19
# Steps are simulated one after the other, paths at once: long paths are cut, and start again where
# the data were.
LONGEST_PIECE = 4000
MOST_STEPS = 40_000
SIMILAR_STEP = 0.01  # paths whose mean step differs by more cannot share lags
RUNAWAY = 1e6  # standard deviations of the data: no longer the same process
BINS = 40
LAG_POINTS = 60
DECAYED = 0.1  # autocorrelation at which a process has forgotten most
HORIZON = 5.0  # how far lags go, in times until then

Paths = list[FloatArray]
Curve = Callable[[Paths], FloatArray]


class Envelope(NamedTuple):
    """A curve of the data at ``places (n,)``, and the range of it over simulated data sets."""

    places: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def inside(self) -> float:
        """Share of the observed curve inside the range."""
        return float(np.mean((self.low <= self.observed) & (self.observed <= self.high)))


@dataclass(frozen=True)
class Rehearsal:
    """Observed paths ``(n, d)`` and simulated data sets of the same make, at steps ``dt``.

    ``share`` is how much of the data they are.
    """

    names: tuple[str, ...]
    dt: float
    observed: Paths
    simulated: tuple[Paths, ...]
    share: float

    def density(self, p: int) -> Envelope:
        """Marginal density of coordinate ``p``."""
        values = np.concatenate(self.observed)[:, p]
        low, high = np.percentile(values, (0.1, 99.9))
        margin = 0.1 * (high - low) or 1.0
        edges = np.linspace(low - margin, high + margin, BINS + 1)

        def heights(paths: Paths) -> FloatArray:
            states = np.concatenate(paths)[:, p]
            return np.histogram(states, edges)[0] / (len(states) * np.diff(edges))

        return self._envelope((edges[1:] + edges[:-1]) / 2, heights)

    def memory(self, p: int) -> Envelope:
        """Autocorrelation of coordinate ``p`` against the time between."""
        column = self._column(self.observed, p)
        longest = max(2, max(map(len, column)) // 2)
        whole = autocorrelation(column, longest)[:, 0]
        decayed = np.flatnonzero(np.abs(whole) < DECAYED)
        most = min(longest, int(HORIZON * decayed[0]) + 1) if len(decayed) else longest
        lags = np.unique(np.linspace(0, most, LAG_POINTS).astype(int))
        return self._envelope(
            lags * self.dt,
            lambda paths: autocorrelation(self._column(paths, p), most)[lags, 0],
        )

    @staticmethod
    def _column(paths: Paths, p: int) -> Paths:
        return [path[:, p : p + 1] for path in paths]

    def _envelope(self, places: FloatArray, curve: Curve) -> Envelope:
        curves = np.array([curve(paths) for paths in self.simulated])
        return Envelope(places, curve(self.observed), curves.min(axis=0), curves.max(axis=0))


def rehearse(generator: Generator, data: Trajectories, random_state: int) -> Rehearsal:
    """Simulate data sets like ``data``.

    Raises
    ------
    WgsindyError
        If a path runs away, becomes infinite or leaves the states where the library is defined.
    """
    pieces, dt = comparable_pieces(data)
    steps = max(map(len, pieces)) - 1
    starts = np.tile([piece[0] for piece in pieces], (REPLICAS, 1))
    paths = generator.simulate(
        starts, dt=dt, steps=steps, trajectories=len(starts), random_state=random_state
    )
    _check_for_runaways(paths, data)
    lengths = [len(piece) for piece in pieces] * REPLICAS
    played = [path[:length] for path, length in zip(paths, lengths, strict=True)]
    sets = tuple(played[i : i + len(pieces)] for i in range(0, len(played), len(pieces)))
    share = sum(len(piece) - 1 for piece in pieces) / data.n_increments
    return Rehearsal(data.names, dt, pieces, sets, min(share, 1.0))


def _check_for_runaways(paths: Trajectories, data: Trajectories) -> None:
    spread = data.states.std(axis=0)
    away = np.abs(paths.states - data.states.mean(axis=0)).max(axis=0) > RUNAWAY * spread
    if (away & (spread > 0)).any():
        name = data.names[int(np.argmax(away & (spread > 0)))]
        raise SimulationError(
            f"a simulated path of {name} ran {RUNAWAY:.0e} standard deviations away from the data: "
            "the drift pushes outwards beyond the fitted region."
        )


def comparable_pieces(data: Trajectories) -> tuple[Paths, float]:
    """Paths with the same step, cut where they are long; evenly thinned if there are too many."""
    means = np.array([data.steps(index).mean() for index in range(len(data))])
    dt = float(np.sort(means)[len(means) // 2])  # of a path, not between two
    alike = np.flatnonzero(np.abs(means - dt) <= SIMILAR_STEP * dt)
    pieces = [piece for index in alike for piece in _cut(data[int(index)])]
    wanted = max(1, len(pieces) * MOST_STEPS // max(sum(map(len, pieces)), 1))
    if wanted < len(pieces):
        pieces = [pieces[i] for i in np.linspace(0, len(pieces) - 1, wanted).astype(int)]
    return pieces, dt


def _cut(path: FloatArray) -> Sequence[FloatArray]:
    count = -(-(len(path) - 1) // LONGEST_PIECE)
    ends = np.linspace(0, len(path) - 1, count + 1).astype(int)
    return [path[a : b + 1] for a, b in pairwise(ends)]
