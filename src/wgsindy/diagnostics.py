"""What the data and the linear systems of a fit looked like."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wgsindy.errors import OutlierWarning, RepeatedSamplesWarning
from wgsindy.survey import Cloud
from wgsindy.weakform import WeakForm

# The largest of a million Gaussian increments is 5 typical ones, of a strongly state-dependent
# diffusion 10; a single wrong sample among many thousands stands out by more.
OUTLIER_RATIO = 20.0


@dataclass(frozen=True)
class Diagnostics:
    """Facts about a fit.

    ``condition_number`` of the weak design with unit columns; ``repeated_samples`` that equal
    the one before them exactly; ``largest_increment`` over the typical one, worst coordinate.
    """

    n_increments: int
    n_rows: int
    n_terms: int
    condition_number: float
    repeated_samples: int
    largest_increment: float

    @classmethod
    def of(cls, weak: WeakForm) -> Diagnostics:
        """Collect the facts of one fit."""
        return cls(
            n_increments=weak.data.n_increments,
            n_rows=len(weak.design),
            n_terms=len(weak.basis),
            condition_number=weak.condition_number,
            repeated_samples=weak.cloud.repeated,
            largest_increment=float(weak.cloud.worst.max()),
        )


def warn_of_samples(cloud: Cloud, names: Sequence[str]) -> None:
    """Warn of repeated samples and of outliers, which both bias the tensor."""
    if cloud.repeated:
        warnings.warn(
            f"{cloud.repeated} samples repeat the one before them exactly (a stalled sensor, "
            "padding or a state stuck at a limit); they count as steps without noise and pull the "
            "tensor down. Drop them if they are not real.",
            RepeatedSamplesWarning,
            stacklevel=3,
        )
    worst = int(np.argmax(cloud.worst))
    if cloud.worst[worst] > OUTLIER_RATIO:
        warnings.warn(
            f"the largest increment of {names[worst]} is {cloud.worst[worst]:.3g} times the "
            "typical one: an outlier, a jump or a gap in the record. Split or clean the "
            "trajectory there.",
            OutlierWarning,
            stacklevel=3,
        )
