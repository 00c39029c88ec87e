"""The data simulated again by the recovered equations: same starts, same lengths, other noise.

Of a quantity of the data, the least and the largest value among 19 simulated data sets enclose the
observed one with probability 18 / 20 if the equations are right (Monte Carlo test).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from wgsindy.data import FloatArray, IntArray, Trajectories
from wgsindy.errors import SimulationError
from wgsindy.model import Diffusion, EulerMaruyama, Generator

REPLICAS = 19
# Steps are simulated one after the other, segments at once: long trajectories are cut, and start
# again where the data were.
LONGEST_SEGMENT = 4000
MOST_STEPS = 40_000
SIMILAR_STEP = 0.01  # trajectories whose mean step differs by more cannot share lags
RUNAWAY = 1e6  # standard deviations of the data: no longer the same process
BINS = 40
LAG_POINTS = 60
DECAYED = 0.1  # autocorrelation at which a process has forgotten most
HORIZON = 5.0  # how far lags go, in times until then
Segments = list[FloatArray]
Curve = Callable[[Segments], FloatArray]


def autocorrelation(series: Sequence[FloatArray], lags: int) -> FloatArray:
    """Correlations ``(lags + 1, d)`` of values a number of steps apart; NaN marks missing ones.

    The mean is that of all series together: one that stays away from it is slow, not wide. NaN
    where no two values are that far apart, or nothing varies.

    >>> import numpy as np
    >>> autocorrelation([np.array([[1.0], [-1.0], [1.0], [-1.0]])], 2).ravel().round(6).tolist()
    [1.0, -1.0, 1.0]
    """
    everything = np.concatenate(series)
    finite = np.isfinite(everything)
    mean = np.where(finite, everything, 0.0).sum(axis=0) / np.maximum(finite.sum(axis=0), 1)
    products = np.zeros((lags + 1, len(mean)))
    pairs = np.zeros_like(products)
    # Series of one length are transformed at once, which takes a fraction of the time.
    for length in {len(one) for one in series}:
        alike = np.stack([one for one in series if len(one) == length], axis=1)
        there, most = np.isfinite(alike), min(lags + 1, length)
        products[:most] += _lagged_products(np.where(there, alike - mean, 0.0), most)
        if there.all():
            pairs[:most] += alike.shape[1] * (length - np.arange(most))[:, None]
        else:
            pairs[:most] += np.round(_lagged_products(there.astype(np.float64), most))
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = products / pairs
        return np.asarray(covariance / covariance[0])


def _lagged_products(values: FloatArray, lags: int) -> FloatArray:
    """Sums of ``v[n] v[n + lag]`` over the series of ``values (n, R, d)``; ``(lags, d)``."""
    size = 1 << (2 * len(values) - 1).bit_length()
    spectrum = np.fft.rfft(values, size, axis=0)
    return np.asarray(np.fft.irfft((np.abs(spectrum) ** 2).sum(axis=1), size, axis=0)[:lags])


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
class SimulationCheck:
    """Observed segments of the data beside simulated ones."""

    names: tuple[str, ...]
    dt: float
    observed: Segments
    simulated: tuple[
        Segments, ...
    ]  # data sets with the starts and lengths of the observed segments
    share: float  # of the data that the segments are

    def density(self, p: int) -> Envelope:
        """Marginal density of coordinate ``p``."""
        values = np.concatenate(self.observed)[:, p]
        low, high = np.percentile(values, (0.1, 99.9))
        margin = 0.1 * (high - low) or 1.0
        edges = np.linspace(low - margin, high + margin, BINS + 1)

        def heights(segments: Segments) -> FloatArray:
            states = np.concatenate(segments)[:, p]
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
            lambda segments: autocorrelation(self._column(segments, p), most)[lags, 0],
        )

    @staticmethod
    def _column(segments: Segments, p: int) -> Segments:
        return [segment[:, p : p + 1] for segment in segments]

    def _envelope(self, places: FloatArray, curve: Curve) -> Envelope:
        curves = np.array([curve(segments) for segments in self.simulated])
        return Envelope(places, curve(self.observed), curves.min(axis=0), curves.max(axis=0))


@dataclass(frozen=True)
class UntilTheirEnds:
    """Euler-Maruyama for paths of ``lengths (R,)`` samples; one that has ended stays where it is.

    Data may end where the process leaves for good: what it would do afterwards says nothing.
    """

    lengths: IntArray

    def __call__(
        self, process: Diffusion, start: FloatArray, dt: float, steps: int, rng: np.random.Generator
    ) -> FloatArray:
        paths, step = np.empty((len(start), steps + 1, start.shape[1])), EulerMaruyama()
        paths[:, 0] = start
        for n in range(steps):
            paths[:, n + 1] = paths[:, n]
            going = self.lengths > n + 1
            paths[going, n + 1] = step(process, paths[going, n], dt, 1, rng)[:, 1]
        return paths


def check_by_simulation(
    generator: Generator, data: Trajectories, random_state: int
) -> SimulationCheck:
    """Simulate data sets like ``data``.

    Raises
    ------
    WgsindyError
        If a trajectory runs away, becomes infinite or leaves the states for which the
        library is defined.
    """
    segments, dt = comparable_segments(data)
    steps = max(map(len, segments)) - 1
    starts = np.tile([segment[0] for segment in segments], (REPLICAS, 1))
    lengths = [len(segment) for segment in segments] * REPLICAS
    again = generator.simulate(
        starts,
        dt=dt,
        steps=steps,
        trajectories=len(starts),
        random_state=random_state,
        scheme=UntilTheirEnds(np.array(lengths)),
    )
    _check_for_runaways(again, data)
    cut = [states[:length] for states, length in zip(again, lengths, strict=True)]
    sets = tuple(cut[i : i + len(segments)] for i in range(0, len(cut), len(segments)))
    share = sum(len(segment) - 1 for segment in segments) / data.n_increments
    return SimulationCheck(data.names, dt, segments, sets, min(share, 1.0))


def _check_for_runaways(simulated: Trajectories, data: Trajectories) -> None:
    spread = data.states.std(axis=0)
    away = np.abs(simulated.states - data.states.mean(axis=0)).max(axis=0) > RUNAWAY * spread
    if (away & (spread > 0)).any():
        name = data.names[int(np.argmax(away & (spread > 0)))]
        raise SimulationError(
            f"a simulated trajectory of {name} ran {RUNAWAY:.0e} standard deviations away from the "
            "data: the drift pushes outwards beyond the fitted region."
        )


def comparable_segments(data: Trajectories) -> tuple[Segments, float]:
    """Segments with the same step; evenly thinned if there are too many."""
    means = np.array([data.steps(index).mean() for index in range(len(data))])
    dt = float(np.sort(means)[len(means) // 2])  # of a trajectory, not between two
    alike = np.flatnonzero(np.abs(means - dt) <= SIMILAR_STEP * dt)
    segments = [segment for index in alike for segment in _cut(data[int(index)])]
    wanted = max(1, len(segments) * MOST_STEPS // max(sum(map(len, segments)), 1))
    if wanted < len(segments):
        segments = [segments[i] for i in np.linspace(0, len(segments) - 1, wanted).astype(int)]
    return segments, dt


def _cut(states: FloatArray) -> Sequence[FloatArray]:
    count = -(-(len(states) - 1) // LONGEST_SEGMENT)
    ends = np.linspace(0, len(states) - 1, count + 1).astype(int)
    return [states[a : b + 1] for a, b in pairwise(ends)]
