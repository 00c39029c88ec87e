"""States as all samples tell them: positions, velocities that nobody measured, gaps, with bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wgsindy.data import BoolArray, Dataset, FloatArray, IntArray, Trajectories, frozen
from wgsindy.errors import DataError
from wgsindy.estimate.filtering.smoother import Smoothed, smoothed
from wgsindy.estimate.predictions import ORDER, Predictor
from wgsindy.model import Generator, pandas_frame
from wgsindy.passes import DataSummary, data_summary

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes

NORMAL = 1.959963984540054  # standard deviations to either side that hold 95 %


@dataclass(frozen=True)
class States:
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
        return self.mean - NORMAL * self.deviation

    @property
    def high(self) -> FloatArray:
        """Upper ends of 95 % bands, ``(N, d)``."""
        return self.mean + NORMAL * self.deviation

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

    def to_polars(self) -> polars.DataFrame:
        """Return a data frame, a row for each sample."""
        import polars

        return polars.DataFrame(self.columns())

    def to_pandas(self) -> Any:
        """Return a data frame, a row for each sample; pandas has to be installed.

        Raises
        ------
        MissingPackageError
            If it is not.
        """
        return pandas_frame(self.columns())

    def plot(
        self, coordinate: str | None = None, *, trajectory: int = 0, ax: Axes | None = None
    ) -> Axes:
        """Draw a coordinate of one trajectory over time: samples, mean and 95 % band.

        Raises
        ------
        DataError
            If there is no such coordinate or trajectory.
        """
        from wgsindy.model import plot_band

        name = self.names[-1] if coordinate is None else coordinate
        if name not in self.names:
            raise DataError(f"there is no coordinate {name!r}; there are {list(self.names)}.")
        rows = self.trajectory == trajectory
        if not rows.any():
            raise DataError(
                f"there is no trajectory {trajectory}; there are {self.trajectory.max() + 1}."
            )
        p = self.names.index(name)
        columns = (self.mean, self.low, self.high, self.measured)
        return plot_band(self.time[rows], *(one[rows, p] for one in columns), name=name, ax=ax)


def with_states(generator: Generator, data: Dataset) -> Dataset:
    """Let what all samples say of a state stand in for what was not measured of it.

    If the ``generator`` is of second order, its velocities are added to the positions.
    """
    if generator.info.get(ORDER) == 2 and data.order == 1 and isinstance(data, Trajectories):
        data = data.with_velocities()
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
    if not isinstance(data, Trajectories):
        raise DataError("states need data in memory; read them with stream=False.")
    if generator.info.get(ORDER) == 2 and data.order == 1:
        data = data.with_velocities()
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
