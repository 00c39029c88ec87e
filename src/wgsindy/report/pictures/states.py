"""What was not measured over time: its mean and band, beside what was."""

from __future__ import annotations

import numpy as np

from wgsindy.errors import WgsindyError
from wgsindy.estimate import states_of
from wgsindy.model import Generator, with_unit
from wgsindy.report.digest import Digest
from wgsindy.report.pictures.picture import OBSERVED, Picture, axes, band, curve, numbers

SHOWN = 200  # samples of the first trajectory


def state_pictures(generator: Generator, data: Digest, unit: str) -> list[Picture]:
    """Draw each coordinate that was not measured at some of the first samples."""
    if data.segments.seen is None:
        return []
    try:
        found = states_of(generator, data.segments.subset([0]))
    except WgsindyError:
        return []
    rows = slice(0, min(SHOWN, len(found)))
    lacking = np.isnan(found.measured[rows]).any(axis=0)
    time = found.time[rows]
    pictures = []
    for p in np.flatnonzero(lacking).tolist():
        shown, measured = data.names[p], found.measured[rows, p]
        traces = [
            band(time, found.low[rows, p], found.high[rows, p], "95 % band", OBSERVED),
            curve(time, found.mean[rows, p], "mean"),
        ]
        there = ~np.isnan(measured)
        if there.any():
            dots = {"x": numbers(time[there]), "y": numbers(measured[there]), "name": "measured"}
            marks = {"mode": "markers", "marker": {"color": "var(--reference)", "size": 4}}
            traces.append({"type": "scatter", **marks, **dots})
        pictures.append(
            Picture(
                name=f"states-{p}",
                title=f"{shown} over time",
                alt=f"Mean and 95 % band of {shown} over time, given all samples.",
                caption="The first trajectory, estimated from all of its samples.",
                traces=traces,
                layout=axes(with_unit("time", unit), shown),
                aspect=0.4,
                wide=True,
            )
        )
    return pictures
