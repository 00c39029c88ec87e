"""What is known of the drift where there are no data.

Bands are those of the chosen terms. How much of them is knowledge, and how much is that other terms
were left out, tells the error of a fit with every term of the library.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.model import Generator

CENTRAL = (0.02, 0.98)  # quantiles of each coordinate between which the box lies
BOX_POINTS = 1000
LOW_NOISE = 0.05  # share of the mean noise that weights follow the tensor down to


class KnownDrift(NamedTuple):
    """Errors of each drift component over its size, root mean squares, ``(d,)``."""

    box: FloatArray  # with every term of the library, in the box about the data
    data: FloatArray  # the same at the data
    bands: FloatArray  # of the chosen terms, in the box


def known_drift(generator: Generator, points: FloatArray, total_time: float) -> KnownDrift | None:
    """Compare the box about ``points (n, d)``, states of the data, with the data themselves.

    Nothing in one dimension, where there is no place between the data without data.
    """
    if generator.dimension < 2 or generator.uncertainty is None:
        return None
    low, high = np.quantile(points, CENTRAL, axis=0)
    box = np.random.default_rng(0).uniform(low, high, (BOX_POINTS, len(low)))
    inside, outside = generator.basis.values(points), generator.basis.values(box)
    size = np.linalg.norm(inside, axis=0)
    inside, outside = inside[:, size > 0] / size[size > 0], outside[:, size > 0] / size[size > 0]
    noise = generator.fluctuation(points)
    rows = []
    for p in range(generator.dimension):
        floor = LOW_NOISE * noise[:, p].mean() or 1.0
        weight = total_time / len(points) / np.maximum(noise[:, p], floor)
        covariance = np.linalg.pinv((inside.T * weight) @ inside, hermitian=True)
        rows.append([_mean_square(inside, covariance), _mean_square(outside, covariance)])
    at_data, in_box = np.sqrt(np.array(rows)).T
    band = generator.bands(box)
    claimed = np.sqrt(np.mean((band.drift_high - band.drift_low) ** 2, axis=0)) / (2 * 1.96)
    size_data, size_box = (
        np.sqrt(np.mean(generator.drift(where) ** 2, axis=0)) for where in (points, box)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return KnownDrift(in_box / size_box, at_data / size_data, claimed / size_box)


def _mean_square(theta: FloatArray, covariance: FloatArray) -> float:
    return max(float(np.mean(np.sum((theta @ covariance) * theta, axis=1))), 0.0)
