"""Nulls that were diffusions until a sensor, a filter, a table or a clock spoilt them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import lfilter, savgol_filter

from wgsindy.data import FloatArray
from wgsindy.model import Generator
from wgsindy_evidence.experiments.ours.gallery_data.kind import (
    ALONE,
    DT,
    Kind,
    Make,
    double_well,
    recursion,
    relaxation,
    rotation,
    simulate,
)
from wgsindy_evidence.experiments.ours.unseen import X, Y
from wgsindy_evidence.experiments.tensors import diagonal

Rng = np.random.Generator
Spoil = Callable[[Rng, FloatArray], FloatArray]
FINE = 20  # times as many samples as are kept, where a clock is wrong


def spoilt(spoil: Spoil, base: Make = relaxation) -> Make:
    """Make a base and spoil it."""
    return lambda rng, r, n: spoil(rng, base(rng, r, n))


def _average(rng: Rng, r: int, n: int) -> FloatArray:
    x = double_well(rng, r, n + 4)
    return np.asarray(sum(x[:, k : k + n + 1] for k in range(5))) / 5


def _smooth(rng: Rng, x: FloatArray) -> FloatArray:
    start = 0.7 * x[:, :1]
    return np.asarray(lfilter([0.3], [1, -0.7], x, axis=1, zi=start)[0])


def _savgol(rng: Rng, x: FloatArray) -> FloatArray:
    return np.asarray(savgol_filter(x, 9, 2, axis=1))


def _bridged(x: FloatArray, known: FloatArray) -> FloatArray:
    """Straight lines between the samples ``known`` (R, n) is one at."""
    at = np.arange(x.shape[1])
    lines = [
        np.interp(at, at[seen], path[seen, 0]) for path, seen in zip(x, known > 0, strict=True)
    ]
    return np.array(lines)[..., None]


def _every_second(rng: Rng, x: FloatArray) -> FloatArray:
    known = np.zeros(x.shape[:2])
    known[:, ::2] = 1
    known[:, -1] = 1
    return _bridged(x, known)


def _known(rng: Rng, x: FloatArray) -> FloatArray:
    """Four of five samples, and the first."""
    known = (rng.uniform(size=x.shape[:2]) > 0.2).astype(np.float64)
    known[:, [0, -1]] = 1
    return known


def _filled(rng: Rng, x: FloatArray) -> FloatArray:
    return _bridged(x, _known(rng, x))


def _repeated(x: FloatArray, known: FloatArray) -> FloatArray:
    """The last known sample, wherever one is not known."""
    last = np.maximum.accumulate(np.where(known > 0, np.arange(x.shape[1]), 0), axis=1)
    return np.take_along_axis(x, last[..., None], axis=1)


def _forward(rng: Rng, x: FloatArray) -> FloatArray:
    return _repeated(x, _known(rng, x))


def _stalls(rng: Rng, x: FloatArray) -> FloatArray:
    """The sensor hangs for twenty samples, once in two hundred."""
    known = np.ones(x.shape[:2])
    for k in np.flatnonzero(rng.uniform(size=x.shape[1]) < 0.005):
        known[:, k + 1 : k + 21] = 0
    return _repeated(x, known)


def _spline(rng: Rng, r: int, n: int) -> FloatArray:
    """Samples four steps apart, and a curve through them."""
    x = relaxation(rng, r, n // 4 + 1, dt=4 * DT)
    return np.asarray(CubicSpline(np.arange(x.shape[1]), x, axis=1)(np.arange(n + 1) / 4))


def _clipped(rng: Rng, x: FloatArray) -> FloatArray:
    return np.clip(x, -x.std(), x.std())


def _reflected(rng: Rng, r: int, n: int) -> FloatArray:
    """A relaxation to zero above a wall at -0.3, from which it is thrown back."""
    x, h = np.full(r, 0.5), DT / FINE
    path = np.empty((n + 1, r))
    for k in range(-100 * FINE, n * FINE + 1):
        if k >= 0 and k % FINE == 0:
            path[k // FINE] = x
        x = np.abs(x - h * x + np.sqrt(h) * rng.standard_normal(r) + 0.3) - 0.3
    return path.T[..., None]


def _jittered(rng: Rng, r: int, n: int) -> FloatArray:
    """Each sample up to 0.45 of a step away from where the clock says: never two at once."""
    fine = relaxation(rng, r, n * FINE, dt=DT / FINE)
    at = np.rint(FINE * (np.arange(n + 1) + rng.uniform(-0.45, 0.45, (r, n + 1))))
    places = np.clip(at, 0, n * FINE).astype(np.int64)
    return np.take_along_axis(fine, places[..., None], axis=1)


def week_places(n: int) -> FloatArray:
    """Where the samples lie of a week of five days: after the fifth comes a step of three."""
    days = np.arange(n + 1)
    return (days + 2 * (days // 5)).astype(np.float64)


def _weekends(rng: Rng, r: int, n: int) -> FloatArray:
    places = week_places(n).astype(np.int64)
    return relaxation(rng, r, int(places[-1]), dt=DT * 2)[:, places]


def _shuffled(rng: Rng, x: FloatArray) -> FloatArray:
    return np.stack([path[rng.permutation(len(path))] for path in x])


def _shuffled_near(rng: Rng, x: FloatArray) -> FloatArray:
    """Rows sorted by a clock that is off by a step or two."""
    order = np.argsort(np.arange(x.shape[1]) + rng.normal(0, 1, x.shape[:2]), axis=1)
    return np.take_along_axis(x, order[..., None], axis=1)


def _differences(rng: Rng, r: int, n: int) -> FloatArray:
    return np.diff(relaxation(rng, r, n + 1), axis=1)


def _rounded(rng: Rng, x: FloatArray, width: float) -> FloatArray:
    return np.rint(x / width) * width


def _own_size(rng: Rng, x: FloatArray) -> FloatArray:
    """Noise of a tenth of the reading, about two."""
    return (2 + x) * (1 + 0.1 * rng.standard_normal(x.shape))


def _lasting(rng: Rng, x: FloatArray) -> FloatArray:
    shocks = rng.standard_normal((len(x), x.shape[1] + 200, 1))
    return x + 0.3 * 0.6 * recursion(shocks, 0.8)


def _bias(rng: Rng, x: FloatArray) -> FloatArray:
    return x + np.cumsum(0.05 * rng.standard_normal(x.shape), axis=1)


def _outliers(rng: Rng, x: FloatArray) -> FloatArray:
    wrong = rng.uniform(size=x.shape) < 0.01
    return x + 5 * x.std() * rng.standard_normal(x.shape) * wrong


def _heavy_errors(rng: Rng, x: FloatArray) -> FloatArray:
    return x + 0.1 * rng.standard_cauchy(x.shape)


def _tall_well(rng: Rng, r: int, n: int) -> FloatArray:
    return simulate(lambda x, t: 2 * (x - x**3 / 4), 1.0, rng, r, n, start=1.0)


def _overlapping(rng: Rng, r: int, n: int) -> FloatArray:
    """Windows of one record, each of which has half of the one before."""
    (record,) = relaxation(rng, 1, (r + 1) * (n // 2))
    return np.stack([record[k * (n // 2) :][: n + 1] for k in range(r)])


def _given_twice(rng: Rng, r: int, n: int) -> FloatArray:
    return np.repeat(relaxation(rng, r // 2, n), 2, axis=0)


_SPOILT: tuple[Kind, ...] = (
    Kind("average", "moving average of five", _average, "samples share their noise", ALONE),
    Kind("smoothed", "exponential smoothing", spoilt(_smooth), "samples lag behind", ALONE),
    Kind("savgol", "Savitzky-Golay filter", spoilt(_savgol, rotation), "the noise is ironed out"),
    Kind("every_second", "every other sample a mean", spoilt(_every_second), "half is invented"),
    Kind("filled", "a fifth filled by lines", spoilt(_filled), "a fifth is invented", ALONE),
    Kind("forward", "a fifth repeats the last", spoilt(_forward), "a fifth is invented", ALONE),
    Kind("spline", "curve through every fourth", _spline, "three of four are invented", ALONE),
    Kind("stalls", "sensor that hangs", spoilt(_stalls), "it stands still at times", ALONE),
    Kind("clipped", "sensor that saturates", spoilt(_clipped), "the ends are cut off", ALONE),
    Kind("reflected", "thrown back by a wall", _reflected, "the wall is no drift", ALONE),
    Kind("jittered", "clock wrong by up to half a step", _jittered, "steps are uneven", ALONE),
    Kind("weekends", "weekends left out", _weekends, "steps are uneven", ALONE, dt=2 * DT),
    Kind("shuffled", "rows shuffled", spoilt(_shuffled, rotation), "there is no order"),
    Kind("shuffled_near", "neighbours swapped", spoilt(_shuffled_near), "the order is wrong"),
    Kind("differences", "differences of samples", _differences, "no path at all", ALONE),
    Kind(
        "rounded",
        "rounded to 1.5 steps",
        spoilt(partial(_rounded, width=1.5 * DT**0.5)),
        "most steps are not seen",
    ),
    Kind(
        "levels",
        "rounded to whole numbers",
        spoilt(partial(_rounded, width=1.0), _tall_well),
        "seven levels do not show the noise",
        ALONE,
    ),
    Kind("own_size", "noise of 10 % of the reading", spoilt(_own_size), "noise is no diffusion"),
    Kind("lasting", "sensor noise that lasts", spoilt(_lasting), "the sensor has memory", ALONE),
    Kind("bias", "sensor that drifts away", spoilt(_bias), "the bias wanders", ALONE),
    Kind("outliers", "1 % outliers", spoilt(_outliers, double_well), "outliers are no steps"),
    Kind("overlapping", "windows that overlap by half", _overlapping, "samples count twice"),
    Kind("given_twice", "every trajectory given twice", _given_twice, "samples count twice"),
    Kind("heavy_errors", "Cauchy errors", spoilt(_heavy_errors), "errors without a variance"),
)
# What was spoilt: whoever says "identified" should at least have found that.
ONE, PAIR = ("x",), ("x", "y")
RELAXATION = Generator.from_sympy(ONE, [-X], [[1]])
WELL = Generator.from_sympy(ONE, [X - X**3], [[0.5]])
TALL_WELL = Generator.from_sympy(ONE, [2 * X - X**3 / 2], [[1]])
ROTATION = Generator.from_sympy(PAIR, [-X / 2 - 2 * Y, 2 * X - Y / 2], diagonal(0.49, 0.49))
OTHERS = {
    **dict.fromkeys(("average", "outliers"), WELL),
    **dict.fromkeys(("savgol", "shuffled"), ROTATION),
    "levels": TALL_WELL,
}
ELSEWHERE = ("differences", "own_size")  # not in the coordinates of what was spoilt


KINDS: tuple[Kind, ...] = tuple(
    kind if kind.key in ELSEWHERE else kind._replace(truth=OTHERS.get(kind.key, RELAXATION))
    for kind in _SPOILT
)
