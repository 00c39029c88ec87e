"""Warnings about single samples, given before a fit uses them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from wgsindy.errors import OutlierWarning, RepeatedSamplesWarning
from wgsindy.passes.summary import DataSummary

# The largest of a million Gaussian increments is 5 typical ones, of a strongly state-dependent
# diffusion 10; a single wrong sample among many thousands stands out by more.
OUTLIER_RATIO = 20.0


def warn_of_samples(summary: DataSummary, names: Sequence[str], *, dropped: bool = False) -> None:
    """Warn of repeated samples and of outliers, which both bias the tensor."""
    consequence = (
        "they are left out of the fit."
        if dropped
        else "they count as steps without noise and pull the tensor down. Drop them if they are "
        "not real."
    )
    if summary.repeated:
        warnings.warn(
            f"{summary.repeated} samples repeat the one before them exactly (a stalled sensor, "
            f"padding or a state stuck at a limit); {consequence}",
            RepeatedSamplesWarning,
            stacklevel=3,
        )
    worst = int(np.argmax(summary.worst))
    if summary.worst[worst] > OUTLIER_RATIO:
        warnings.warn(
            f"the largest increment of {names[worst]} is {summary.worst[worst]:.3g} times the "
            "typical one: an outlier, a jump or a gap in the record. Split or clean the "
            "trajectory there.",
            OutlierWarning,
            stacklevel=3,
        )
