"""Paths of any process that has a drift and a diffusion tensor, and forecasts made of them.

Each scheme maps starting points ``(R, d)`` to states ``(R, steps + 1, d)``. A process is anything
with ``names``, ``drift(x)`` and ``diffusion(x)``: a recovered generator or a zoo truth.
A forecast is a fan of paths, the doubt about the equations included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data import FloatArray, Trajectories, real_number, real_numbers, whole_number
from wgsindy.errors import DataError, SimulationError
from wgsindy.model import tensor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from wgsindy.model.generator import Generator


class Diffusion(Protocol):
    """A diffusion process dX = b(X) dt + sigma(X) dW with a = sigma sigma'."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        ...

    def drift(self, points: ArrayLike) -> FloatArray:
        """Drift ``(n, d)``."""
        ...

    def diffusion(self, points: ArrayLike) -> FloatArray:
        """Tensor ``(n, d, d)``."""
        ...


OUTWARDS = (
    "drift or noise may grow outwards beyond the fitted region; try a smaller dt or a start inside "
    "the data."
)
MOST_NUMBERS = 2**31  # of all states of a simulation: 16 GiB
Scheme = Callable[[Diffusion, FloatArray, float, int, np.random.Generator], FloatArray]


@dataclass(frozen=True)
class EulerMaruyama:
    """X + b(X) dt + L(X) dW, with L L' = a; strong order 1/2, weak order 1.

    ``lower`` and ``upper`` clip the state to a box after each step; ``substeps`` refine the grid
    between two observations.
    """

    lower: tuple[float, ...] | None = None
    upper: tuple[float, ...] | None = None
    substeps: int = 1

    def __call__(
        self, process: Diffusion, start: FloatArray, dt: float, steps: int, rng: np.random.Generator
    ) -> FloatArray:
        h = dt / self.substeps
        lower = -np.inf if self.lower is None else np.array(self.lower)
        upper = np.inf if self.upper is None else np.array(self.upper)
        paths = np.empty((steps + 1, *start.shape))
        paths[0] = x = start
        for n in range(steps):
            for noise in rng.standard_normal((self.substeps, *start.shape)) * np.sqrt(h):
                factor = tensor.cholesky(process.diffusion(x))
                x = x + process.drift(x) * h + np.einsum("rpq,rq->rp", factor, noise)
                x = np.clip(x, lower, upper)
            paths[n + 1] = x
        return paths.swapaxes(0, 1)


class ExactLinear:
    """Exact transitions of dX = (A X + c) dt + L dW with constant tensor (Ornstein-Uhlenbeck)."""

    def __call__(
        self, process: Diffusion, start: FloatArray, dt: float, steps: int, rng: np.random.Generator
    ) -> FloatArray:
        matrix, offset, noise_tensor = _linear_parts(process, start)
        flow, shift, covariance = linear_transition(matrix, offset, noise_tensor, dt)
        factor = tensor.cholesky(covariance[None])[0]
        paths = np.empty((steps + 1, *start.shape))
        paths[0] = start
        for n, noise in enumerate(rng.standard_normal((steps, *start.shape)) @ factor.T):
            paths[n + 1] = paths[n] @ flow.T + shift + noise
        return paths.swapaxes(0, 1)


def linear_transition(
    matrix: FloatArray, offset: FloatArray, noise_tensor: FloatArray, dt: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return flow, shift and covariance of X(t + dt) given X(t), by Van Loan's block exponential.

    X(t + dt) = flow X(t) + shift + N(0, covariance).
    """
    from scipy.linalg import expm

    d = len(matrix)
    block = np.zeros((2 * d, 2 * d))
    block[:d, :d], block[:d, d:], block[d:, d:] = -matrix, noise_tensor, matrix.T
    exponential = expm(block * dt)
    flow = exponential[d:, d:].T
    covariance = flow @ exponential[:d, d:]
    augmented = np.zeros((d + 1, d + 1))
    augmented[:d, :d], augmented[:d, d] = matrix, offset
    shift = expm(augmented * dt)[:d, d]
    return flow, shift, (covariance + covariance.T) / 2


def _linear_parts(
    process: Diffusion, start: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    d = start.shape[1]
    probes = np.vstack([np.zeros(d), np.eye(d), np.full(d, 2.5), start[0]])
    drift, field = process.drift(probes), process.diffusion(probes)
    offset = drift[0]
    matrix = (drift[1 : d + 1] - offset).T
    if not (np.allclose(drift, probes @ matrix.T + offset) and np.allclose(field, field[0])):
        raise SimulationError(
            "exact linear transitions need a linear drift and a constant tensor; use "
            "EulerMaruyama for this process."
        )
    return matrix, offset, field[0]


class ExactLognormal:
    """Exact transitions of dX_i = mu_i X_i dt + X_i (L dW)_i (geometric Brownian motion)."""

    def __call__(
        self, process: Diffusion, start: FloatArray, dt: float, steps: int, rng: np.random.Generator
    ) -> FloatArray:
        ones, probe = np.ones((1, start.shape[1])), start[:1]
        growth, covariance = process.drift(ones)[0], process.diffusion(ones)[0]
        scaled = covariance * probe[0][:, None] * probe[0]
        if not (
            np.allclose(process.drift(probe), growth * probe)
            and np.allclose(process.diffusion(probe)[0], scaled)
        ):
            raise SimulationError(
                "exact lognormal transitions need b_i = mu_i x_i and a_ij = c_ij x_i x_j; use "
                "EulerMaruyama for this process."
            )
        factor = tensor.cholesky(covariance[None])[0]
        noise = rng.standard_normal((steps, *start.shape)) @ factor.T * np.sqrt(dt)
        steps_log = (growth - np.diag(covariance) / 2) * dt + noise
        logs = np.concatenate([np.zeros((1, *start.shape)), np.cumsum(steps_log, axis=0)])
        return np.asarray(start * np.exp(logs)).swapaxes(0, 1)


@dataclass(frozen=True)
class KineticSplitting:
    """BAOAB splitting of dq = p dt, dp = (F(q) - gamma p) dt + s dW (Leimkuhler and Matthews 2013).

    Half kick, half drift, exact Ornstein-Uhlenbeck step of the momentum, half drift, half kick:
    the noise enters once, with its full variance.
    """

    limit: float = np.inf

    def __call__(
        self, process: Diffusion, start: FloatArray, dt: float, steps: int, rng: np.random.Generator
    ) -> FloatArray:
        friction, strength = _kinetic_parts(process, start)
        decay = np.exp(-friction * dt)
        spread = np.sqrt(strength * (1 - decay**2) / (2 * friction))

        def force(q: FloatArray) -> FloatArray:
            return process.drift(np.stack([q, np.zeros_like(q)], axis=1))[:, 1]

        q, p = start.T
        paths = np.empty((steps + 1, *start.shape))
        paths[0] = start
        for n, noise in enumerate(rng.standard_normal((steps, len(start)))):
            p = p + force(q) * dt / 2
            q = q + p * dt / 2
            p = decay * p + spread * noise
            q = q + p * dt / 2
            p = p + force(q) * dt / 2
            paths[n + 1] = np.clip(np.stack([q, p], axis=1), -self.limit, self.limit)
            q, p = paths[n + 1].T
        return paths.swapaxes(0, 1)


def _kinetic_parts(process: Diffusion, start: FloatArray) -> tuple[float, float]:
    if start.shape[1] != 2:
        raise SimulationError(f"a kinetic process has 2 coordinates, got {start.shape[1]}.")
    probes = np.array([[0.3, 0.0], [0.3, 1.0], [-1.2, 2.0], [-1.2, 0.0]])
    drift, field = process.drift(probes), process.diffusion(probes)
    friction = drift[0, 1] - drift[1, 1]
    kinetic = (
        np.allclose(drift[:, 0], probes[:, 1])
        and np.allclose(drift[2, 1], drift[3, 1] - 2 * friction)
        and np.allclose(field, field[0])
        and np.allclose(field[0] * [[1, 1], [1, 0]], 0)
        and friction > 0
    )
    if not kinetic:
        raise SimulationError(
            "a kinetic process has b = (p, F(q) - gamma p) with gamma > 0 and noise on the second "
            "coordinate only; use EulerMaruyama for this one."
        )
    return float(friction), float(field[0, 1, 1])


def check_size(trajectories: int, steps: int, dimension: int) -> None:
    """Refuse counts that are none, or that no memory holds."""
    whole_number(trajectories, "trajectories", 1, SimulationError)
    size = trajectories * (whole_number(steps, "steps", 1, SimulationError) + 1) * dimension
    if size > MOST_NUMBERS:
        raise SimulationError(
            f"{trajectories} paths of {steps} steps are {size:.3g} numbers, more than "
            f"{MOST_NUMBERS:.2g}; simulate fewer at a time."
        )


def randomness(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """Return where noise comes from."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise SimulationError(
            f"random_state must be a whole number from 0 on, got {random_state!r:.80}."
        ) from None


def simulate(
    process: Diffusion,
    x0: ArrayLike,
    *,
    dt: float,
    steps: int,
    trajectories: int = 1,
    random_state: int | np.random.Generator | None = None,
    scheme: Scheme | None = None,
) -> Trajectories:
    """Simulate from ``x0``, one point ``(d,)`` for all trajectories or one for each, ``(R, d)``.

    Raises
    ------
    SimulationError
        If a trajectory leaves the finite numbers, or an argument makes no sense.
    """
    dt, start = real_number(dt, "dt", SimulationError), real_numbers(x0, "x0", SimulationError)
    d = len(process.names)
    check_size(trajectories, steps, d)
    if start.shape == (d,):
        start = np.tile(start, (trajectories, 1))
    if start.shape != (trajectories, d):
        raise SimulationError(
            f"x0 must have shape ({d},) or ({trajectories}, {d}), got {start.shape}."
        )
    if not (0 < dt < np.inf and np.isfinite(start).all()):
        raise SimulationError(
            f"dt must be > 0 and x0 finite, got dt={dt} and x0={start.tolist()!r:.80}."
        )
    if not callable(scheme or simulate):
        raise SimulationError(f"scheme must be one such as EulerMaruyama(), got {scheme!r}.")
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            paths = (scheme or EulerMaruyama())(process, start, dt, steps, randomness(random_state))
    except np.linalg.LinAlgError:  # the tensor has no eigenvalues where it is not finite
        raise SimulationError(
            f"a trajectory left the finite numbers within {steps} steps: {OUTWARDS}"
        ) from None
    if not np.isfinite(paths).all():
        first = int(np.argwhere(~np.isfinite(paths).all(axis=(0, 2)))[0, 0])
        raise SimulationError(
            f"a trajectory became infinite at step {first} of {steps}: {OUTWARDS}"
        )
    return Trajectories(list(paths), dt, names=process.names)


# A step of Euler-Maruyama covers at most this share of the time in which the drift changes.
FAN_STEP = 0.05
MOST_FAN_STEPS = 50


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
        from wgsindy.draw import draw_picture, time_picture

        name = self.names[0] if coordinate is None else coordinate
        if name not in self.names:
            raise DataError(f"there is no coordinate {name!r}; there are {list(self.names)}.")
        p, diverging = self.names.index(name), f"{100 * self.diverged:.2g} % of the paths diverge"
        picture = time_picture(
            name,
            self.times,
            (self.median[:, p], "median"),
            [
                (self.low[rank, :, p], self.high[rank, :, p], f"{100 * level:g} %")
                for rank, level in enumerate(self.levels)
            ],
            title=diverging if self.diverged else "",
        )
        return draw_picture(picture, ax)


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
    return int(np.clip(np.ceil(dt * rates.max(initial=0.0) / FAN_STEP), 1, MOST_FAN_STEPS))


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
