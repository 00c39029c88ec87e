"""Does anything come back in time? The spectrum of residuals, and residuals by length of step.

A drift or a noise that follows the hour or the day of the year leaves a line in the spectrum of the
residuals, whatever the clock counts. Residuals are summed over short stretches of equal numbers of
steps, so that data of any length fit into memory; periods of a few steps show in correlations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from wgsindy.data import Chunk, Dataset, FloatArray, IntArray
from wgsindy.diagnostics.residuals.probes import beyond_chance

MOST_STRETCHES = 32_768
FEWEST_STRETCHES = 32  # of a trajectory that is looked at
LONGEST_SHARE = 8  # so many times shorter than the longest trajectory, one tells little more
FEWEST_CYCLES = 1.5  # of the longest trajectory: less is a trend
PACES = 17  # lengths of steps by half octaves about their mean


class Line(NamedTuple):
    """The clearest line of a spectrum, of each of ``d`` coordinates."""

    errors: FloatArray  # (d,) standard errors beyond what the whole is at one frequency by chance
    excess: FloatArray  # (d,) sum of squares that it explains beyond that
    period: FloatArray  # (d,) in steps
    frequencies: int  # that are independent of each other


@dataclass(frozen=True)
class Stretches:
    """How the steps of all trajectories are cut into stretches of ``width`` steps."""

    width: int
    first: IntArray  # (R,) stretch at which each trajectory begins
    count: IntArray  # (R,) stretches of each
    starts: IntArray  # (R,) steps before each
    mean_dt: float

    @classmethod
    def of(cls, data: Dataset) -> Stretches:
        """Cut so that there are few enough."""
        steps = data.lengths - 1
        width = -(-int(steps.sum()) // MOST_STRETCHES)
        count = -(-steps // width)
        return cls(width, np.cumsum(count) - count, count, np.cumsum(steps) - steps, data.mean_dt)

    @property
    def total(self) -> int:
        """Stretches of all trajectories."""
        return int(self.count.sum())

    def add(self, total: FloatArray, chunk: Chunk, z: FloatArray) -> None:
        """Add z and z^2 - 1 of ``z (d, n)``, zero where there is none, to ``total (2, d, S)``."""
        owner = chunk.trajectory
        within = chunk.start + np.arange(len(owner)) - self.starts[owner]
        place = self.first[owner] + within // self.width
        low, high = int(place[0]), int(place[-1]) + 1
        for row, values in enumerate((z, np.where(z != 0, z**2 - 1, 0.0))):
            for p, value in enumerate(values):
                total[row, p, low:high] += np.bincount(place - low, value)

    def add_paces(self, total: FloatArray, chunk: Chunk, z: FloatArray) -> None:
        """Add number of z and z^2 to ``total (2, P, d)``, by the length of the step."""
        octave = np.rint(2 * np.log2(chunk.dt / self.mean_dt)).astype(np.int64)
        pace = np.clip(octave + PACES // 2, 0, PACES - 1)
        for p, value in enumerate(z):
            for row, weights in enumerate((value != 0, value**2)):
                total[row, :, p] += np.bincount(pace, weights, minlength=PACES)

    def line(self, sums: FloatArray) -> Line:
        """Find the clearest line of ``sums (d, S)``; none if every trajectory is too short.

        Spectra of all trajectories are added up, since nobody knows when each began.
        """
        long = self.count >= max(FEWEST_STRETCHES, int(self.count.max()) // LONGEST_SHARE)
        if not long.any():
            none = np.zeros(len(sums))
            return Line(none, none, none, 1)
        longest = int(self.count[long].max())
        size = 2 ** int(np.ceil(np.log2(2 * longest)))
        power, squares, counts = np.zeros((len(sums), size // 2 + 1)), np.zeros(len(sums)), []
        for first, count in zip(self.first[long], self.count[long], strict=True):
            part = sums[:, first : first + count]
            part = part - part.mean(axis=1, keepdims=True)
            power += np.abs(np.fft.rfft(part, size)) ** 2
            squares += np.sum(part**2, axis=1)
            counts.append(float(count))
        freedom = 2 * sum(counts) ** 2 / sum(one**2 for one in counts)
        relative = power / np.maximum(squares, np.finfo(np.float64).tiny)[:, None]
        relative[:, : int(np.ceil(FEWEST_CYCLES * size / longest))] = 0.0
        at = np.argmax(relative, axis=1)
        peak = relative[np.arange(len(sums)), at] * freedom
        found = beyond_chance(peak, np.full(len(peak), freedom))
        return Line(found.errors, found.excess, self.width * size / np.maximum(at, 1), longest // 2)
