"""Where a process may go: a fan of simulated paths, the doubt about its equations included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data import FloatArray, real_number, real_numbers, whole_number
from wgsindy.errors import DataError, SimulationError
from wgsindy.model import tensor
from wgsindy.model.simulate import EulerMaruyama, check_size, randomness

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from wgsindy.model.generator import Generator

# A step of Euler-Maruyama covers at most this share of the time in which the drift changes.
FINEST = 0.05
MOST_SUBSTEPS = 50


@dataclass(frozen=True)
class Fan:
    """Simulated futures and their pointwise bands; ``T`` times, ``L`` levels, ``R`` paths.

    Bands hold a share ``levels`` of the paths at each time. Paths that leave the finite numbers
    count as beyond both ends: with more of them than a band leaves out, its ends are infinite.
    """

    names: tuple[str, ...]
    times: FloatArray  # (T,) from 0
    median: FloatArray  # (T, d)
    levels: tuple[float, ...]  # (L,)
    low: FloatArray  # (L, T, d)
    high: FloatArray  # (L, T, d)
    paths: FloatArray  # (R, T, d); NaN from where a path is no longer finite
    doubts: bool  # whether equations were drawn from their error bars

    @property
    def diverged(self) -> float:
        """Share of paths that left the finite numbers."""
        return float(np.mean(~np.isfinite(self.paths[:, -1]).all(axis=1)))

    def plot(self, coordinate: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the bands and the median of one coordinate, by default the first, against time."""
        from wgsindy.model.plots.portrait import new_axes

        name = self.names[0] if coordinate is None else coordinate
        if name not in self.names:
            raise DataError(f"there is no coordinate {name!r}; there are {list(self.names)}.")
        p, axes = self.names.index(name), new_axes(ax)
        (line,) = axes.plot(self.times, self.median[:, p], label="median")
        ends = zip(self.levels, self.low[..., p], self.high[..., p], strict=True)
        for rank, (level, low, high) in enumerate(ends, 1):
            there = np.isfinite(low) & np.isfinite(high)
            axes.fill_between(
                self.times[there],
                low[there],
                high[there],
                color=line.get_color(),
                alpha=0.4 / rank,
                linewidth=0,
                label=f"{100 * level:g} %",
            )
        if self.diverged:
            axes.set_title(f"{100 * self.diverged:.2g} % of the paths diverge")
        axes.set_xlabel("time")
        axes.set_ylabel(name)
        axes.legend()
        return axes


def forecast(
    generator: Generator,
    x0: ArrayLike,
    horizon: float,
    *,
    steps: int,
    paths: int,
    levels: Sequence[float],
    doubts: bool,
    random_state: int | np.random.Generator | None,
) -> Fan:
    """Simulate a fan; see :meth:`wgsindy.Generator.forecast`."""
    start = real_numbers(x0, "x0", SimulationError).reshape(-1)
    horizon = real_number(horizon, "horizon", SimulationError)
    shares = sorted(np.atleast_1d(real_numbers(levels, "levels", SimulationError)).tolist())
    if start.shape != (generator.dimension,) or not np.isfinite(start).all():
        raise SimulationError(f"x0 must be {generator.dimension} finite numbers, got {x0!r:.80}.")
    if not 0 < horizon < np.inf:
        raise SimulationError(f"a forecast needs horizon > 0, got {horizon}.")
    check_size(whole_number(paths, "paths", 2, SimulationError), steps, generator.dimension)
    if not shares or not all(0 < level < 1 for level in shares):
        raise SimulationError(f"levels are probabilities like 0.9, got {shares}.")
    rng, dt = randomness(random_state), horizon / steps
    known = doubts and generator.uncertainty is not None
    process = Drawn(generator, paths, rng if known else None)
    scheme = EulerMaruyama(substeps=_substeps(generator, start, dt))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found = scheme(process, np.tile(start, (paths, 1)), dt, steps, rng)
    lost = ~np.isfinite(found).all(axis=2)
    found[np.maximum.accumulate(lost, axis=1)] = np.nan
    ends = np.array([[(1 - level) / 2, (1 + level) / 2] for level in shares])
    below, above = (np.nan_to_num(found, nan=end) for end in (-np.inf, np.inf))
    middle = np.quantile(below, 0.5, axis=0, method="inverted_cdf")
    return Fan(
        names=generator.names,
        times=np.linspace(0.0, horizon, steps + 1),
        median=np.where(np.isfinite(middle), middle, np.nan),
        levels=tuple(shares),
        low=np.quantile(below, ends[:, 0], axis=0, method="inverted_cdf"),
        high=np.quantile(above, ends[:, 1], axis=0, method="inverted_cdf"),
        paths=found,
        doubts=known,
    )


def _substeps(generator: Generator, start: FloatArray, dt: float) -> int:
    """Steps within ``dt`` that are short against the rates of the drift near start and data."""
    places = [start]
    if generator.region is not None:
        centre, scale = generator.region.centre, generator.region.scale
        places += [centre, centre + scale, centre - scale]
    slopes = generator.drift_jacobian(np.array(places))
    rates = np.linalg.norm(slopes[np.isfinite(slopes).all(axis=(1, 2))], ord=2, axis=(1, 2))
    return int(np.clip(np.ceil(dt * rates.max(initial=0.0) / FINEST), 1, MOST_SUBSTEPS))


class Drawn:
    """A process of ``R`` paths, each with equations of its own, drawn from the error bars.

    Drift coefficients from their spread with the choice of terms left open, as in
    :meth:`wgsindy.Generator.bands`; entries of the tensor from theirs, negative eigenvalues set to
    zero. Without ``rng`` all have the fitted equations.
    """

    def __init__(self, generator: Generator, paths: int, rng: np.random.Generator | None) -> None:
        self.names, self.generator = generator.names, generator
        self.drift_of_path: FloatArray | None = None
        if rng is None:
            return
        sure = generator.uncertainty
        assert sure is not None
        self.drift_of_path = _draws(generator.drift_coefficients, sure.drift_spread, paths, rng)
        entries = generator.tensor_field.coefficients
        self.entries_of_path = _draws(entries, sure.entry_covariance, paths, rng)

    def drift(self, points: ArrayLike) -> FloatArray:
        """Drift ``(R, d)``, a row for each path."""
        if self.drift_of_path is None:
            return self.generator.drift(points)
        theta = self.generator.basis.values(np.asarray(points))
        return np.einsum("rk,rdk->rd", theta, self.drift_of_path)

    def diffusion(self, points: ArrayLike) -> FloatArray:
        """Tensor ``(R, d, d)``; zero where a path is no longer finite."""
        states = np.asarray(points)
        finite = np.isfinite(states).all(axis=1)
        d = states.shape[1]
        field = np.zeros((len(states), d, d))
        theta, form = self.generator.basis.values(states[finite]), self.generator.tensor_field
        if self.drift_of_path is None:
            values = theta @ form.coefficients.T
        else:
            values = np.einsum("rk,rek->re", theta, self.entries_of_path[finite])
        whole = np.isfinite(values).all(axis=1)  # a finite state may have an infinite tensor
        inside = np.flatnonzero(finite)[whole]
        if self.drift_of_path is None:
            field[inside] = form(theta[whole])
        else:
            field[inside] = tensor.clip(tensor.symmetric(values[whole], d))
        return field


def _draws(
    mean: FloatArray, covariance: FloatArray, count: int, rng: np.random.Generator
) -> FloatArray:
    """Normal draws ``(count, F, K)`` of fields ``mean (F, K)``, ``covariance (F, K, K)``."""
    values, vectors = np.linalg.eigh(covariance)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    noise = rng.standard_normal((count, *mean.shape))
    return mean + np.einsum("fkl,rfl->rfk", roots, noise)
