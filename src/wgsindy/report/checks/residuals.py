"""What a fit leaves of each increment, in units of the noise it states.

If drift and tensor are right, these are independent standard normal numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data import FloatArray, IntArray, Trajectories
from wgsindy.diagnostics import Diagnostics, standardised
from wgsindy.estimate import Predictor
from wgsindy.model import Generator, normal_quantile
from wgsindy.passes import data_summary
from wgsindy.report.checks.simulation import autocorrelation

LAGS = 30
BINS = 15  # of equally many samples along a coordinate


class Moment(NamedTuple):
    """A statistic of residuals and the interval that holds it in 95 of 100 right fits."""

    name: str
    value: float
    low: float
    high: float

    @property
    def expected(self) -> bool:
        """Whether it lies inside."""
        return self.low <= self.value <= self.high


class Profile(NamedTuple):
    """Residuals along a coordinate, in ``B`` bins of equally many."""

    places: FloatArray  # (B,) mean states
    mean: FloatArray  # (B,) mean residuals
    size: FloatArray  # (B,) root mean squares
    counts: IntArray  # (B,) numbers of residuals


@dataclass(frozen=True)
class Residuals:
    """Standardised residuals of steps."""

    names: tuple[str, ...]
    states: FloatArray  # (n, d) from which the steps started
    values: FloatArray  # (n, d) residuals, NaN where the fit states almost no noise
    trajectory: IntArray  # (n,) number of the trajectory of each step
    share: float = 1.0  # of all steps that these are

    def of(self, p: int) -> FloatArray:
        """Residuals of coordinate ``p`` where it has noise."""
        column = self.values[:, p]
        return column[np.isfinite(column)]

    def autocorrelation(self) -> FloatArray:
        """``(lags + 1, d)``."""
        ends = np.flatnonzero(np.diff(self.trajectory)) + 1
        series = np.split(self.values, ends)
        return autocorrelation(series, min(LAGS, max(map(len, series)) - 1))

    def moments(self, p: int, diagnostics: Diagnostics) -> list[Moment]:
        """Mean, size, shape and correlation of neighbours of the residuals of ``p``.

        What the diagnostics measure is taken from there.
        """
        values = self.of(p)
        own = normal_quantile(0.95) / np.sqrt(len(values))
        whole = own * np.sqrt(self.share)  # the diagnostics have seen all steps
        centred = values - values.mean()
        # Sampling variances of normal data: 1, 2, 6, 24 and 1 over n.
        found = (
            ("mean", values.mean(), 0.0, own),
            ("variance", diagnostics.residual_variance[p], 1.0, whole * np.sqrt(2)),
            ("skewness", np.mean(centred**3) / centred.std() ** 3, 0.0, own * np.sqrt(6)),
            ("excess kurtosis", diagnostics.excess_kurtosis[p], 0.0, whole * np.sqrt(24)),
            ("correlation of neighbours", diagnostics.lag_one[p], 0.0, whole),
        )
        return [
            Moment(name, float(value), centre - width, centre + width)
            for name, value, centre, width in found
        ]

    def profile(self, p: int, along: int) -> Profile:
        """Residuals of coordinate ``p`` against coordinate ``along``."""
        there = np.isfinite(self.values[:, p])
        order = np.argsort(self.states[there, along], kind="stable")
        places, values = self.states[there, along][order], self.values[there, p][order]
        bins = [rows for rows in np.array_split(np.arange(len(order)), BINS) if len(rows)]
        return Profile(
            np.array([places[rows].mean() for rows in bins]),
            np.array([values[rows].mean() for rows in bins]),
            np.array([np.sqrt(np.mean(values[rows] ** 2)) for rows in bins]),
            np.array([len(rows) for rows in bins]),
        )


def residuals(
    generator: Generator, data: Trajectories, noise_level: ArrayLike, *, share: float = 1.0
) -> Residuals:
    """Standardise every increment of ``data`` by what ``generator`` says of it.

    As the diagnostics do: those are left out where the coordinate has almost none of the mean
    ``noise_level (d,)``. ``data`` are that ``share`` of what the diagnostics saw.
    """
    level, found = np.asarray(noise_level), []
    predictor = Predictor.of(generator, data_summary(data, standardise=False))
    for chunk in data.chunks():
        predicted = predictor(chunk)
        values = standardised(predicted, chunk.dt, level)
        found.append((predicted.states, values, chunk.trajectory))
    states, values, owner = (np.concatenate(column) for column in zip(*found, strict=True))
    return Residuals(data.names, states, values, owner, share)
