"""Nulls that were thought of when all checks had been made, and that no check was changed for."""

from __future__ import annotations

import numpy as np

from wgsindy.data import FloatArray
from wgsindy_evidence.experiments.ours.gallery_data.kind import (
    ALONE,
    DT,
    Kind,
    Make,
    double_well,
    relaxation,
    rotation,
    simulate,
)
from wgsindy_evidence.experiments.ours.gallery_data.spoilt import RELAXATION, spoilt

Rng = np.random.Generator


def _hum(rng: Rng, x: FloatArray) -> FloatArray:
    """The mains, of a seventh of the spread, not quite twelve samples a turn."""
    turns = np.arange(x.shape[1]) / 11.7 + rng.uniform(size=(len(x), 1))
    return x + 0.1 * np.sin(2 * np.pi * turns)[..., None]


def _in_turns(rng: Rng, x: FloatArray) -> FloatArray:
    """Two sensors that are read in turns, one of them a little high."""
    return x + 0.15 * (np.arange(x.shape[1]) % 2)[:, None]


def _sum(rng: Rng, r: int, n: int) -> FloatArray:
    return relaxation(rng, r, n, rate=0.5) + relaxation(rng, r, n, rate=5.0)


def _dead_band(rng: Rng, x: FloatArray) -> FloatArray:
    """A recorder that writes a new value only if it has changed by 0.3."""
    seen = x.copy()
    for n in range(1, x.shape[1]):
        moved = np.abs(x[:, n] - seen[:, n - 1]) > 0.3
        seen[:, n] = np.where(moved, x[:, n], seen[:, n - 1])
    return seen


def _slowing_clock(rng: Rng, r: int, n: int) -> FloatArray:
    """Steps that are half as long again at the end as at the beginning."""
    places = np.cumsum(np.rint(np.linspace(20, 30, n + 1)).astype(np.int64))
    return relaxation(rng, r, int(places[-1]), dt=DT / 20)[:, places]


def _reset(rng: Rng, r: int, n: int) -> FloatArray:
    """A walk that is put back to zero once in five units of time."""
    path = np.zeros((r, n + 1, 1))
    for k in range(n):
        kept = rng.uniform(size=(r, 1)) > 0.2 * DT
        path[:, k + 1] = (path[:, k] + np.sqrt(DT) * rng.standard_normal((r, 1))) * kept
    return path


def _runs(rng: Rng, r: int, n: int) -> FloatArray:
    """A swimmer in a trap that turns round at random times."""
    way = np.where(rng.uniform(size=(r, 1)) < 0.5, 1.0, -1.0)
    path = np.zeros((r, n + 1, 1))
    for k in range(n):
        way = np.where(rng.uniform(size=(r, 1)) < DT, -way, way)
        noise = 0.4 * np.sqrt(DT) * rng.standard_normal((r, 1))
        path[:, k + 1] = path[:, k] + (way - path[:, k]) * DT + noise
    return path


def _left_out(rng: Rng, r: int, n: int) -> FloatArray:
    """Rows above one were taken for errors and left out, and the clock does not say so."""
    paths = relaxation(rng, r, n + n // 4 + 50)
    kept = [path[path[:, 0] < 1.0][: n + 1] for path in paths]
    return np.stack(kept)


def _crowd(rng: Rng, r: int, n: int) -> FloatArray:
    return np.asarray(np.mean([double_well(rng, r, n) for _ in range(5)], axis=0))


def _detrended(rng: Rng, x: FloatArray) -> FloatArray:
    """Less the mean of the 101 samples about each."""
    padded = np.pad(x, ((0, 0), (51, 50), (0, 0)), mode="edge")
    sums = np.cumsum(padded, axis=1)
    return x - (sums[:, 101:] - sums[:, :-101]) / 101


def _recalibrated(rng: Rng, x: FloatArray) -> FloatArray:
    """A sensor that drifts by the spread, and is set right every 500 samples."""
    return x + 0.7 * (np.arange(x.shape[1]) % 500 / 500)[:, None]


def _interleaved(rng: Rng, r: int, n: int) -> FloatArray:
    """Two records in one file, row by row."""
    two = [simulate(lambda x, t: 1.5 - x, 0.5, rng, r, n // 2 + 1) for _ in range(2)]
    return np.stack(two, axis=2).reshape(r, -1, 1)[:, : n + 1]


def _staggered(rng: Rng, r: int, n: int) -> FloatArray:
    """Two columns of which the second is read half a step after the first."""
    path = rotation(rng, r, 2 * n + 1)
    return np.stack([path[:, : 2 * n + 1 : 2, 0], path[:, 1 : 2 * n + 2 : 2, 1]], axis=2)


def _standardised(rng: Rng, r: int, n: int) -> FloatArray:
    """Short pieces, each of which was given mean zero and variance one."""
    pieces = relaxation(rng, max(r, r * n // 200), min(n, 199))
    return (pieces - pieces.mean(axis=1, keepdims=True)) / pieces.std(axis=1, keepdims=True)


def _kind(key: str, title: str, make: Make, why: str, *, behind: bool = False) -> Kind:
    """``behind``: a relaxation was spoilt."""
    truth = RELAXATION if behind else None
    return Kind(key, title, make, why, ALONE, DT, "latest", truth)


KINDS: tuple[Kind, ...] = (
    _kind("hum", "with the hum of the mains", spoilt(_hum), "it has a period", behind=True),
    _kind("in_turns", "two sensors in turns", spoilt(_in_turns), "every other is off", behind=True),
    _kind("sum", "sum of two relaxations", _sum, "neither of them is seen"),
    _kind("dead_band", "recorder with a dead band", spoilt(_dead_band), "small steps are not seen"),
    _kind("slowing", "clock that slows down", _slowing_clock, "steps grow", behind=True),
    _kind("reset", "walk that is reset", _reset, "it jumps to zero"),
    _kind("runs", "swimmer that turns round", _runs, "its direction is not seen"),
    _kind("left_out", "rows above one left out", _left_out, "steps over gaps", behind=True),
    _kind("crowd", "mean of five wells", _crowd, "none of them is seen"),
    _kind("detrended", "less a running mean", spoilt(_detrended), "it is pulled by its future"),
    _kind("recalibrated", "sensor set right at times", spoilt(_recalibrated), "the bias grows"),
    _kind("interleaved", "two records row by row", _interleaved, "neighbours are strangers"),
    _kind("staggered", "columns half a step apart", _staggered, "there is no common time"),
    _kind("standardised", "pieces of mean 0, variance 1", _standardised, "each has its own scale"),
)
