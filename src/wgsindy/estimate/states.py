"""What all samples together say of each state: a filter forth, a smoother back.

The filter knows the past. Backwards, with the gain G = P F' Q^-1 of a step whose flow is F, from
covariance P to the prediction Q (Rauch, Tung and Striebel),

    m <- m + G (m' - F-prediction),    P <- P + G (P' - Q) G'.

Trajectories are cut into pieces that overlap: at the ends of a piece the smoother has forgotten
what it was not told, and only the middle is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wgsindy.data import BoolArray, Chunk, Dataset, FloatArray, IntArray, Trajectories, frozen
from wgsindy.errors import DataError
from wgsindy.estimate.likelihood.filter import (
    Blocks,
    Innovation,
    innovations,
    inverse_factor,
    updated,
)
from wgsindy.estimate.likelihood.process import Predictor
from wgsindy.estimate.likelihood.transition import Dynamics, multiply
from wgsindy.model import Generator, Tabular, normal_quantile, tensor
from wgsindy.passes import DataSummary, data_summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CORE, MARGIN = 128, 48  # samples of a piece that are kept, and to either side of them
LOST = 2.0  # times the variance that a state has without what comes later
MANY_PIECES = 256  # at a time, to bound what is held


class Smoothed(NamedTuple):
    """Mean and standard deviation of each state, ``(n_samples, d)``, as measured."""

    mean: FloatArray
    deviation: FloatArray


def smoothed(dynamics: Dynamics, observation_noise: FloatArray, data: Trajectories) -> Smoothed:
    """Run forth and back along all trajectories; ``observation_noise (E,)`` is a covariance."""
    chunk = next(data.chunks(data.n_samples))
    found = Smoothed(np.empty(data.states.shape), np.empty(data.states.shape))
    for pieces, kept in _pieces(data.lengths):
        means, spreads = _forth_and_back(dynamics, observation_noise, chunk, pieces)
        for number, (first, last) in enumerate(kept.tolist()):
            begin = int(pieces.first[number])
            place = begin + int(pieces.owner[number])  # a trajectory has a sample more than steps
            rows = slice(first - begin, last - begin)
            to = slice(place + rows.start, place + rows.stop)
            found.mean[to] = means[rows, number]
            found.deviation[to] = (
                np.sqrt(np.maximum(spreads[rows, :, number], 0.0)) * dynamics.units
            )
    return found


def _pieces(lengths: IntArray) -> Iterator[tuple[Blocks, IntArray]]:
    """Yield pieces, some at a time, and the samples ``(B, 2)`` that are kept of each.

    Samples are counted as increments are: the last one of a trajectory by the row after its last.
    """
    whole, kept = [], []
    start = 0
    for owner, steps in enumerate((lengths - 1).tolist()):
        for first in range(0, steps, CORE):
            last = min(first + CORE, steps)
            low, high = max(first - MARGIN, 0), min(last + MARGIN, steps)
            whole.append((start + low, high - low, owner))
            kept.append((start + first, start + last + (last == steps)))
        start += steps
    order = np.argsort([-length for _, length, _ in whole], kind="stable")
    for some in range(0, len(order), MANY_PIECES):
        chosen = order[some : some + MANY_PIECES]
        first, length, owner = np.array(whole)[chosen].T
        yield Blocks(first, length, owner), np.array(kept)[chosen]


def _forth_and_back(
    dynamics: Dynamics, observation_noise: FloatArray, chunk: Chunk, pieces: Blocks
) -> tuple[FloatArray, FloatArray]:
    """Means ``(L + 1, B, d)`` and variances ``(L + 1, d, B)`` at the samples of each piece."""
    d, count = len(dynamics.units), len(pieces.first)
    noise = tensor.symmetric(observation_noise[None], d).transpose(1, 2, 0)
    steps = list(innovations(dynamics, observation_noise, chunk, pieces))
    means, variances = np.empty((len(steps) + 1, count, d)), np.empty((len(steps) + 1, d, count))
    mean, spread = np.empty((count, d)), np.empty((d, d, count))  # of the state after each step
    after = 0  # pieces that go on beyond this step
    for k in range(len(steps) - 1, -1, -1):
        step, n = steps[k], len(steps[k].rows)
        # Pieces that end with this step know no more than the filter.
        ends, wide = updated(dynamics, noise, step)
        mean[after:n], spread[:, :, after:n] = ends[after:n], wide[:, :, after:n]
        means[k + 1, :n] = mean[:n]
        variances[k + 1, :, :n] = np.einsum("ppn->pn", spread[:, :, :n])
        mean[:n], spread[:, :, :n] = _back(dynamics, step, mean[:n], spread[:, :, :n])
        after = n
    means[0], variances[0] = mean, np.einsum("ppn->pn", spread)
    return means, variances


def _back(
    dynamics: Dynamics, step: Innovation, mean: FloatArray, spread: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Carry ``mean (n, d)`` and covariance ``(d, d, n)`` from the end of a step to its start."""
    units, path = dynamics.units, step.path
    root = inverse_factor(path.covariance)
    precision = multiply(root.swapaxes(0, 1), root)
    gain = multiply(multiply(step.spread, path.flow.swapaxes(0, 1)), precision)
    off = (mean - step.states).T / units[:, None] - path.mean
    shift = multiply(gain, off[:, None])[:, 0]
    wider = multiply(multiply(gain, spread - path.covariance), gain.swapaxes(0, 1))
    back = step.states + (shift * units[:, None]).T
    back = np.clip(back, dynamics.data_range.low, dynamics.data_range.high)
    spread = step.spread + wider
    # What comes later never leaves less known: where it seems to, the step has hardly any noise,
    # and a closure that is a little off is divided by it.
    known = np.einsum("ppn->pn", step.spread)
    lost = ~(np.einsum("ppn->pn", spread) <= LOST * known).all(axis=0)
    spread[:, :, lost], back[lost] = step.spread[:, :, lost], step.states[lost]
    return back, spread


@dataclass(frozen=True)
class States(Tabular):
    """Mean and standard deviation of the state at each of ``N`` samples, given all of them.

    ``measured`` are the samples themselves, NaN where there was none.
    """

    names: tuple[str, ...]
    trajectory: IntArray  # (N,)
    time: FloatArray  # (N,) since the first sample of the trajectory
    mean: FloatArray  # (N, d)
    deviation: FloatArray  # (N, d)
    measured: FloatArray  # (N, d)

    @property
    def low(self) -> FloatArray:
        """Lower ends of 95 % bands, ``(N, d)``."""
        return self.mean - normal_quantile(0.95) * self.deviation

    @property
    def high(self) -> FloatArray:
        """Upper ends of 95 % bands, ``(N, d)``."""
        return self.mean + normal_quantile(0.95) * self.deviation

    def __len__(self) -> int:
        return len(self.time)

    def columns(self) -> dict[str, FloatArray | IntArray]:
        """All of it by columns: ``trajectory``, ``time``, then four for each coordinate.

        These are ``x``, ``x_low``, ``x_high`` and ``x_measured``.
        """
        found: dict[str, FloatArray | IntArray] = {"trajectory": self.trajectory, "time": self.time}
        for p, name in enumerate(self.names):
            found[name] = self.mean[:, p]
            found[f"{name}_low"], found[f"{name}_high"] = self.low[:, p], self.high[:, p]
            found[f"{name}_measured"] = self.measured[:, p]
        return found

    def plot(
        self, coordinate: str | None = None, *, trajectory: int = 0, ax: Axes | None = None
    ) -> Axes:
        """Draw a coordinate of one trajectory over time: samples, mean and 95 % band.

        Raises
        ------
        DataError
            If there is no such coordinate or trajectory.
        """
        from wgsindy.draw import draw_picture, time_picture

        name = self.names[-1] if coordinate is None else coordinate
        if name not in self.names:
            raise DataError(f"there is no coordinate {name!r}; there are {list(self.names)}.")
        rows = self.trajectory == trajectory
        if not rows.any():
            raise DataError(
                f"there is no trajectory {trajectory}; there are {self.trajectory.max() + 1}."
            )
        p = self.names.index(name)
        picture = time_picture(
            name,
            self.time[rows],
            (self.mean[rows, p], "mean"),
            [(self.low[rows, p], self.high[rows, p], "95 % band")],
            measured=self.measured[rows, p],
        )
        return draw_picture(picture, ax)


def with_states(generator: Generator, data: Dataset) -> Dataset:
    """Let what all samples say of a state stand in for what was not measured of it.

    If the ``generator`` is of second order, its velocities are added to the positions.
    """
    data = generator.observation.coordinates(data)
    if not isinstance(data, Trajectories) or data.seen is None:
        return data
    return data.completed(states_of(generator, data).mean)


def states_of(generator: Generator, data: Dataset, summary: DataSummary | None = None) -> States:
    """Say what all samples together tell of each state.

    ``data`` have the coordinates of the ``generator``; or, if it is of second order, its positions.

    Raises
    ------
    DataError
        If the data have other coordinates, or are not in memory.
    """
    data = generator.observation.coordinates(data)
    if not isinstance(data, Trajectories):
        raise DataError("states need data in memory; read them with stream=False.")
    if data.names != generator.names:
        raise DataError(
            f"the generator is one of {list(generator.names)}, the data have {list(data.names)}."
        )
    if generator.inputs:  # such a fit takes samples for exact, and leaves out rows that lack some
        data = data.complete()
        found = Smoothed(data.states, np.zeros_like(data.states))
    else:
        predictor = Predictor.of(generator, summary or data_summary(data, standardise=False))
        with np.errstate(all="ignore"):
            found = smoothed(predictor.dynamics, predictor.observation_noise, data)
    seen: BoolArray = np.ones(data.states.shape, dtype=bool) if data.seen is None else data.seen
    if not np.isfinite(found.mean).all():
        raise DataError(
            "no states can be followed along these data: the equations run away from them, or "
            "leave no noise at all. If the motion has none, measure its velocities, too, and fit "
            "order=1."
        )
    return States(
        data.names,
        np.repeat(np.arange(len(data)), data.lengths),
        frozen(data.times),
        frozen(found.mean),
        frozen(np.nan_to_num(found.deviation)),
        frozen(np.where(seen, data.states, np.nan)),
    )
