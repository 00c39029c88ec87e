"""Laws and orders of the simulators, and what the zoo declares about its systems.

Every test of a law has a false-alarm rate of 1e-3 on a fixed seed, and a negative control: the
same test rejects a wrong parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest
import sympy
from scipy import stats
from scipy.integrate import quad
from scipy.linalg import expm, solve_continuous_lyapunov

from wgsindy import zoo
from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import SimulationError
from wgsindy.model import (
    EulerMaruyama,
    ExactLinear,
    ExactLognormal,
    Generator,
    KineticSplitting,
    simulate,
)
from wgsindy.model.simulation import linear_transition

pytestmark = pytest.mark.statistical

FALSE_ALARM = 1e-3
X, Y = sympy.symbols("x y", real=True)


def accepts(sample: FloatArray, law: Any) -> bool:
    """Kolmogorov-Smirnov test at the false-alarm rate."""
    return bool(stats.kstest(sample, law.cdf).pvalue > FALSE_ALARM)


def chi_square_window(degrees: int) -> tuple[float, float]:
    """Two-sided acceptance region of a chi-square statistic."""
    law = stats.chi2(degrees)
    return float(law.ppf(FALSE_ALARM / 2)), float(law.isf(FALSE_ALARM / 2))


# Exact Ornstein-Uhlenbeck transitions.

MATRIX = np.array([[-1.0, 2.0], [-0.5, -1.5]])
OFFSET = np.array([0.3, -0.2])
NOISE = np.array([[1.0, -0.4], [-0.4, 0.64]])
STEP = 0.7  # long: an Euler step would be far off


@cache
def linear_process(scale: float = 1.0) -> Generator:
    drift = [float(MATRIX[p, 0]) * X + float(MATRIX[p, 1]) * Y + float(OFFSET[p]) for p in range(2)]
    return Generator.from_sympy(("x", "y"), drift, (scale * NOISE).tolist())


def exact_moments(start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance after one step, from the matrix exponential and Lyapunov's equation."""
    flow = expm(MATRIX * STEP)
    fixed = -np.linalg.solve(MATRIX, OFFSET)
    stationary = solve_continuous_lyapunov(MATRIX, -NOISE)
    return fixed + flow @ (start - fixed), stationary - flow @ stationary @ flow.T


# The resolution of a KS test is 1.95 / sqrt(DRAWS) = 0.01 at this false-alarm rate; a variance
# that is off by 15 % moves a normal distribution function by 0.017.
DRAWS = 40_000


def whitened(points: FloatArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Standard normal numbers ``(d, n)`` if points ``(n, d)`` have these moments."""
    root = np.linalg.cholesky(covariance)
    return np.linalg.solve(root, (points - mean).T).astype(np.float64)


@cache
def one_step_sample(scale: float = 1.0) -> FloatArray:
    """Whitened endpoints after one step: standard normal if the law is right."""
    start = np.array([1.5, -0.5])
    data = simulate(
        linear_process(scale),
        start,
        dt=STEP,
        steps=1,
        trajectories=DRAWS,
        random_state=0,
        scheme=ExactLinear(),
    )
    return whitened(data.states[1::2], *exact_moments(start))


def test_linear_transitions_have_the_moments_of_expm_and_lyapunov() -> None:
    start = np.array([1.5, -0.5])
    flow, shift, covariance = linear_transition(MATRIX, OFFSET, NOISE, STEP)
    mean, expected = exact_moments(start)
    np.testing.assert_allclose(flow, expm(MATRIX * STEP), rtol=1e-12)
    np.testing.assert_allclose(flow @ start + shift, mean, rtol=1e-12)
    np.testing.assert_allclose(covariance, expected, rtol=1e-12)


def test_linear_transitions_work_where_the_drift_matrix_is_singular() -> None:
    # dX = Y dt, dY = dW: the integrated walk, Var X = t^3 / 3, Cov = t^2 / 2, Var Y = t.
    matrix, noise = np.array([[0.0, 1.0], [0.0, 0.0]]), np.diag([0.0, 1.0])
    flow, shift, covariance = linear_transition(matrix, np.array([0.0, 2.0]), noise, 0.5)
    np.testing.assert_allclose(flow, [[1.0, 0.5], [0.0, 1.0]], atol=1e-14)
    np.testing.assert_allclose(shift, [2 * 0.125, 1.0], rtol=1e-12)
    np.testing.assert_allclose(covariance, [[0.125 / 3, 0.125], [0.125, 0.5]], rtol=1e-12)


def test_one_exact_step_has_the_exact_law() -> None:
    first, second = one_step_sample()
    normal = stats.norm()
    assert accepts(first, normal)
    assert accepts(second, normal)
    assert accepts((first + second) / np.sqrt(2), normal)  # and they are independent
    assert accepts((first - second) / np.sqrt(2), normal)


def test_one_exact_step_with_the_wrong_noise_is_rejected() -> None:
    # Negative control: 15 % more variance. Anything the test cannot see is smaller than that.
    first, second = one_step_sample(1.15)
    assert not accepts(first, stats.norm())
    assert not accepts(second, stats.norm())


def test_an_euler_step_of_the_same_length_is_rejected() -> None:
    start = np.array([1.5, -0.5])
    data = simulate(linear_process(), start, dt=STEP, steps=1, trajectories=4000, random_state=0)
    white = whitened(data.states[1::2], *exact_moments(start))
    assert not accepts(white[0], stats.norm())


def test_the_exact_process_has_its_stationary_covariance() -> None:
    # Paths of 20 relaxation times: the endpoints are independent draws of the stationary law.
    data = simulate(
        linear_process(),
        (0.0, 0.0),
        dt=0.2,
        steps=100,
        trajectories=4000,
        random_state=1,
        scheme=ExactLinear(),
    )
    ends = np.array([path[-1] for path in data])
    fixed = -np.linalg.solve(MATRIX, OFFSET).astype(np.float64)
    white = whitened(ends, fixed, solve_continuous_lyapunov(MATRIX, -NOISE))
    assert accepts(white[0], stats.norm())
    assert accepts(white[1], stats.norm())
    # n times the sample variance is chi-square.
    low, high = chi_square_window(4000)
    for row in white:
        assert low < (row**2).sum() < high
        assert not low < 1.15 * (row**2).sum() < high  # negative control


def test_exact_schemes_refuse_other_processes() -> None:
    cubic = Generator.from_sympy(("x", "y"), [-(X**3), -Y], [[1, 0], [0, 1]])
    with pytest.raises(SimulationError, match="linear drift"):
        simulate(cubic, (0.0, 0.0), dt=0.1, steps=2, scheme=ExactLinear())
    with pytest.raises(SimulationError, match="lognormal"):
        simulate(cubic, (1.0, 2.0), dt=0.1, steps=2, scheme=ExactLognormal())
    with pytest.raises(SimulationError, match="kinetic"):
        simulate(cubic, (1.0, 2.0), dt=0.1, steps=2, scheme=KineticSplitting())


# Geometric Brownian motion.


def lognormal_sample(rho: float) -> FloatArray:
    """Whitened logarithms after two steps of half a year."""
    mu, s1, s2 = np.array([0.4, -0.2]), 0.22, 0.30
    a = [[s1**2 * X**2, rho * s1 * s2 * X * Y], [rho * s1 * s2 * X * Y, s2**2 * Y**2]]
    process = Generator.from_sympy(("x", "y"), [mu[0] * X, mu[1] * Y], a)
    data = simulate(
        process,
        (1.0, 1.2),
        dt=0.5,
        steps=2,
        trajectories=DRAWS,
        random_state=0,
        scheme=ExactLognormal(),
    )
    logs = np.log(data.states[2::3] / data.states[::3])
    covariance = np.array([[s1**2, 0.45 * s1 * s2], [0.45 * s1 * s2, s2**2]])
    mean = mu - np.diag(covariance) / 2
    return whitened(logs, mean, covariance)


def test_geometric_brownian_motion_is_lognormal() -> None:
    first, second = lognormal_sample(rho=0.45)
    normal = stats.norm()
    assert accepts(first, normal)
    assert accepts(second, normal)
    assert accepts((first + second) / np.sqrt(2), normal)


def test_geometric_brownian_motion_with_the_wrong_correlation_is_rejected() -> None:
    first, second = lognormal_sample(rho=0.25)
    assert not accepts((first + second) / np.sqrt(2), stats.norm())


# Strong order of Euler-Maruyama.


class Prescribed:
    """Stands in for a random generator: hands out prepared normal numbers, step by step."""

    def __init__(self, numbers: FloatArray) -> None:
        self.numbers = iter(numbers)

    def standard_normal(self, shape: Sequence[int]) -> FloatArray:
        return next(self.numbers).reshape(shape)


def euler_ends(process: Generator, start: float, brownian: FloatArray, dt: float) -> FloatArray:
    """Endpoints of Euler-Maruyama paths driven by given increments ``(steps, paths)``."""
    steps, paths = brownian.shape
    rng = cast(np.random.Generator, Prescribed(brownian / np.sqrt(dt)))
    out = EulerMaruyama()(process, np.full((paths, 1), start), dt, steps, rng)
    return out[:, -1, 0]


PATHS = 4000
LEVELS = np.array([16, 32, 64, 128, 256])  # steps to time 1
RATE, VOLATILITY = 0.5, 0.8


def mean_square_tolerance(square_errors: FloatArray) -> float:
    """Half-width of the interval of a mean at the false-alarm rate of a test of all levels."""
    quantile = stats.norm.isf(FALSE_ALARM / 2 / len(LEVELS))
    return float(quantile * square_errors.std(ddof=1) / np.sqrt(len(square_errors)))


def slope_and_error(squares: FloatArray) -> tuple[float, float]:
    """Slope of log root-mean-square error in log dt, and its standard error over paths.

    ``squares (levels, paths)``; the slope is linear in the logarithms of the means, so its error
    follows from the relative error of each mean (delta method).
    """
    x = -np.log(LEVELS)
    lever = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    means = squares.mean(axis=1)
    slope = float(lever @ np.log(means)) / 2
    influence = (lever[:, None] * squares / means[:, None]).sum(axis=0) / 2
    return slope, float(influence.std(ddof=1) / np.sqrt(squares.shape[1]))


@cache
def multiplicative_errors() -> FloatArray:
    """Squared endpoint errors for dX = r X dt + v X dW, whose solution is known."""
    process = Generator.from_sympy(("x",), [RATE * X], [[VOLATILITY**2 * X**2]])
    rng = np.random.default_rng(0)
    fine = rng.standard_normal((256, PATHS)) / 16
    exact = np.exp(RATE - VOLATILITY**2 / 2 + VOLATILITY * fine.sum(axis=0))
    out = []
    for steps in LEVELS:
        coarse = fine.reshape(steps, 256 // steps, PATHS).sum(axis=1)
        out.append((euler_ends(process, 1.0, coarse, 1 / steps) - exact) ** 2)
    return np.array(out)


def multiplicative_mean_square(steps: int) -> float:
    """E (X_1 - Y_1)^2 in closed form: products of independent steps.

    E X^2 = exp(2 r + v^2), E Y^2 = ((1 + r h)^2 + v^2 h)^n, E X Y = (e^{r h} (1 + r h + v^2 h))^n.
    """
    h, r, v = 1 / steps, RATE, VOLATILITY
    exact = np.exp(2 * r + v**2)
    euler = ((1 + r * h) ** 2 + v**2 * h) ** steps
    mixed = (np.exp(r * h) * (1 + r * h + v**2 * h)) ** steps
    return float(exact + euler - 2 * mixed)


def test_euler_maruyama_has_its_exact_error_for_multiplicative_noise() -> None:
    for steps, squares in zip(LEVELS.tolist(), multiplicative_errors(), strict=True):
        error = abs(squares.mean() - multiplicative_mean_square(steps))
        assert error < mean_square_tolerance(squares)


def test_euler_maruyama_has_strong_order_one_half_for_multiplicative_noise() -> None:
    slope, error = slope_and_error(multiplicative_errors())
    # The closed form itself is not a pure power at these steps: its slope is 0.5 to 0.02.
    h = np.array([multiplicative_mean_square(n) for n in LEVELS.tolist()])
    bias = abs(float(np.polyfit(-np.log(LEVELS), np.log(h) / 2, 1)[0]) - 0.5)
    window = bias + stats.norm.isf(FALSE_ALARM / 2) * error
    assert abs(slope - 0.5) < window
    assert window < 0.15  # narrow enough to tell order 1/2 from order 1


@cache
def additive_errors() -> FloatArray:
    """Squared endpoint errors for dX = -r X dt + v dW.

    Over one step the increment of W and the integral of e^{-r (h - u)} dW_u are jointly normal;
    drawing both gives exact endpoints driven by the same path.
    """
    process = Generator.from_sympy(("x",), [-RATE * X], [[VOLATILITY**2]])
    rng = np.random.default_rng(1)
    out = []
    for steps in LEVELS.tolist():
        h = 1 / steps
        mixed = (1 - np.exp(-RATE * h)) / RATE
        spread = (1 - np.exp(-2 * RATE * h)) / (2 * RATE)
        root = np.linalg.cholesky([[h, mixed], [mixed, spread]])
        brownian, integral = np.einsum("ij,jsp->isp", root, rng.standard_normal((2, steps, PATHS)))
        x = np.full(PATHS, 1.0)
        for noise in integral:
            x = np.exp(-RATE * h) * x + VOLATILITY * noise
        out.append((euler_ends(process, 1.0, brownian, h) - x) ** 2)
    return np.array(out)


def additive_mean_square(steps: int) -> float:
    """Squared bias of the mean, plus v^2 times the squared distance of the impulse responses."""
    h, r = 1 / steps, RATE
    bias = np.exp(-r) - (1 - r * h) ** steps
    left = np.arange(steps)[::-1]  # whole steps left after each one
    euler = (1 - r * h) ** left
    # Over one step, u from 0 to h before its end: integral of (e^{-r (left h + u)} - euler)^2.
    decay = np.exp(-r * left * h)
    square = decay**2 * (1 - np.exp(-2 * r * h)) / (2 * r)
    cross = decay * euler * (1 - np.exp(-r * h)) / r
    return float(bias**2 + VOLATILITY**2 * (square - 2 * cross + euler**2 * h).sum())


def test_euler_maruyama_has_its_exact_error_for_additive_noise() -> None:
    for steps, squares in zip(LEVELS.tolist(), additive_errors(), strict=True):
        error = abs(squares.mean() - additive_mean_square(steps))
        assert error < mean_square_tolerance(squares)


def test_euler_maruyama_has_strong_order_one_for_additive_noise() -> None:
    slope, error = slope_and_error(additive_errors())
    h = np.array([additive_mean_square(n) for n in LEVELS.tolist()])
    bias = abs(float(np.polyfit(-np.log(LEVELS), np.log(h) / 2, 1)[0]) - 1.0)
    window = bias + stats.norm.isf(FALSE_ALARM / 2) * error
    assert abs(slope - 1.0) < window
    assert window < 0.15


def test_substeps_refine_the_grid_between_observations() -> None:
    # Four substeps are four times as many steps, seen every fourth time: same numbers.
    process = linear_process()
    fine = simulate(process, (1.0, 0.0), dt=0.025, steps=40, random_state=3)
    coarse = simulate(
        process, (1.0, 0.0), dt=0.1, steps=10, random_state=3, scheme=EulerMaruyama(substeps=4)
    )
    np.testing.assert_allclose(coarse[0], fine[0][::4], rtol=1e-12)


# Kinetic splitting.


@cache
def kinetic_paths() -> FloatArray:
    """Momentum and position of 64 paths of the zoo's system, ``(64, 1201, 2)``."""
    return np.array(list(zoo.get("underdamped_langevin").simulate(0, trajectories=64)))


def test_quadratic_variation_of_the_momentum_is_one() -> None:
    # The full noise enters each step: sum dp^2 / T = 1, not 1/2 as in the release. Its sampling
    # error is sqrt(2 / N). The finite step adds E(force - p)^2 dt - gamma dt + O(dt^2), whose
    # size follows from the states themselves.
    paths, dt = kinetic_paths(), 0.01
    q, p = paths[:, :-1, 0], paths[:, :-1, 1]
    variation = np.sum(np.diff(paths[:, :, 1], axis=1) ** 2) / (p.size * dt)
    finite_step = dt * (1 + np.mean((q - q**3 - p) ** 2))
    tolerance = stats.norm.isf(FALSE_ALARM / 2) * np.sqrt(2 / p.size) + finite_step
    assert abs(variation - 1) < tolerance < 0.05


def test_the_position_has_no_quadratic_variation() -> None:
    # dq = p dt exactly up to O(dt^2): sum dq^2 / T = E p^2 dt, which vanishes with the step.
    paths, dt = kinetic_paths(), 0.01
    variation = np.sum(np.diff(paths[:, :, 0], axis=1) ** 2) / (paths[:, :-1, 0].size * dt)
    assert variation == pytest.approx(dt * np.mean(paths[:, :, 1] ** 2), rel=0.02)


@cache
def equilibrium() -> FloatArray:
    """6000 independent draws after 40 time units, many times the passage over the barrier."""
    system = zoo.get("underdamped_langevin")
    start = np.tile([1.0, 0.0], (6000, 1))
    start[::2, 0] = -1.0
    data = simulate(
        system.generator,
        start,
        dt=0.05,
        steps=800,
        trajectories=6000,
        random_state=0,
        scheme=KineticSplitting(),
    )
    return np.array([path[-1] for path in data])


def double_well_law(temperature: float) -> Any:
    """The law of |q| for the density exp(-V / temperature), V = q^4 / 4 - q^2 / 2."""

    def density(q: float) -> float:
        return float(np.exp(-(q**4 / 4 - q**2 / 2) / temperature))

    total = quad(density, 0, 5)[0]
    grid = np.linspace(0, 4, 801)
    values = np.array([density(q) for q in grid]) / total
    cumulative = np.concatenate([[0], np.cumsum((values[1:] + values[:-1]) / 2 * np.diff(grid))])

    class Law:
        @staticmethod
        def cdf(q: FloatArray) -> FloatArray:
            return np.interp(q, grid, cumulative)

    return Law


def test_the_double_well_has_its_stationary_law() -> None:
    # gamma = 1 and a22 = 1: temperature 1/2, density exp(-2 V(q)) exp(-p^2). The splitting's own
    # bias is O(dt^2) = 0.0025, far below the resolution 1.95 / sqrt(6000) = 0.025 of the test.
    q, p = equilibrium().T
    assert accepts(np.abs(q), double_well_law(0.5))
    assert accepts(p, stats.norm(scale=np.sqrt(0.5)))
    # Both wells alike: the number of paths on the right is binomial.
    assert abs((q > 0).sum() - 3000) < stats.norm.isf(FALSE_ALARM / 2) * np.sqrt(6000 / 4)


def test_the_release_s_half_kicks_would_be_rejected() -> None:
    # Negative control: with half of the noise the temperature would be 1/4.
    q, p = equilibrium().T
    assert not accepts(np.abs(q), double_well_law(0.25))
    assert not accepts(p, stats.norm(scale=0.5))


# The zoo.

ALL = zoo.names(variants=True)


@cache
def zoo_data(name: str, seed: int = 0) -> Trajectories:
    return zoo.get(name).simulate(seed)


def limits(name: str) -> tuple[FloatArray, FloatArray]:
    """The box that the scheme declares."""
    scheme = zoo.get(name).scheme
    if isinstance(scheme, KineticSplitting):
        return np.full(2, -scheme.limit), np.full(2, scheme.limit)
    if isinstance(scheme, EulerMaruyama) and scheme.lower is not None and scheme.upper is not None:
        return np.array(scheme.lower), np.array(scheme.upper)
    return np.full(2, -np.inf), np.full(2, np.inf)


def test_there_are_29_systems_2_with_another_library_and_4_variants() -> None:
    assert len(zoo.names()) == 29
    assert len(zoo.names(spanned=True)) == 31
    assert len(ALL) == len(set(ALL)) == 35


@pytest.mark.parametrize("name", ["sabr", "mueller_brown"])
def test_a_spanning_library_is_fitted_to_the_same_data(name: str) -> None:
    np.testing.assert_array_equal(
        zoo.get(name).simulate(4).states, zoo.get(f"{name}_spanned").simulate(4).states
    )


@pytest.mark.parametrize("name", ALL)
def test_every_system_simulates_finite_data_of_its_shape_in_its_box(name: str) -> None:
    system, data = zoo.get(name), zoo_data(name)
    coordinates = 1 if name == "partial_observation" else 2
    samples = system.steps + 1 + (400 if name == "stalled_sensor" else 0)
    assert [path.shape for path in data] == [(samples, coordinates)] * 16
    assert np.isfinite(data.states).all()
    assert data.mean_dt == pytest.approx(system.dt, rel=1e-12)
    if name != "partial_observation":
        low, high = limits(name)
        assert (data.states >= low).all()
        assert (data.states <= high).all()
    if system.start_spread == 0 and coordinates == 2:
        np.testing.assert_array_equal([path[0] for path in data], [system.start] * 16)


@pytest.mark.parametrize("name", ["maier_stein", "rotational_ou", "gbm_2d", "bad_coverage"])
def test_the_same_seed_gives_the_same_data_and_another_one_does_not(name: str) -> None:
    again = zoo.get(name).simulate(0)
    np.testing.assert_array_equal(again.states, zoo_data(name).states)
    assert not np.allclose(zoo.get(name).simulate(1).states, again.states)


def test_each_system_has_its_own_random_numbers() -> None:
    # Same drift, tensor, protocol and seed, another name: other noise.
    first, second = zoo_data("rotational_ou"), zoo_data("partial_observation")
    assert not np.allclose(first.states[:, :1], second.states)


def test_trajectories_of_one_system_are_independent_draws() -> None:
    # Correlation of neighbouring paths' increments: N(0, 1 / n) if independent, 15 pairs.
    steps = np.array([np.diff(path[:, 0]) for path in zoo_data("rotational_ou")])
    found = [np.corrcoef(a, b)[0, 1] for a, b in pairwise(steps)]
    limit = stats.norm.isf(FALSE_ALARM / 2 / 15) / np.sqrt(steps.shape[1])
    assert np.abs(found).max() < limit


def repeats(data: Trajectories) -> int:
    return sum(int((np.diff(path, axis=0) == 0).all(axis=1).sum()) for path in data)


def test_bad_coverage_is_short_and_not_padded() -> None:
    data = zoo_data("bad_coverage")
    assert {len(path) for path in data} == {201}
    assert repeats(data) == 0
    starts = np.array([path[0] for path in data])
    # 32 numbers of standard deviation 0.03 around (2, 2).
    low, high = chi_square_window(32)
    assert low < (((starts - 2) / 0.03) ** 2).sum() < high


def test_the_stalled_sensor_repeats_its_last_value() -> None:
    assert repeats(zoo_data("stalled_sensor")) == 16 * 400


@pytest.mark.parametrize(
    ("name", "silent"), [("duffing_degenerate", "x"), ("van_der_pol_degenerate", "x")]
)
def test_degenerate_variants_have_no_noise_on_the_position(name: str, silent: str) -> None:
    data, truth = zoo_data(name), zoo.get(name).generator
    (chunk,) = data.select([silent]).chunks(10**9)
    (whole,) = data.chunks(10**9)
    expected = truth.drift(whole.states)[:, 0] * whole.dt
    np.testing.assert_allclose(chunk.increments[:, 0], expected, atol=1e-12)


DAY = 1 / 252
# Protocol of each system as the benchmark lists it: start, step, steps, library, verdict.
PROTOCOL: dict[str, tuple[tuple[float, float], float, int, str, str]] = {
    "indep_ou": ((0, 0), 0.01, 1600, "poly2", "pass"),
    "correlated_ou": ((0, 0), 0.01, 1600, "poly2", "pass"),
    "coupled_ou": ((0, 0), 0.01, 1600, "poly2", "pass"),
    "two_factor_vasicek": ((0.03, 0.05), DAY, 1600, "poly2", "review"),
    "rotational_ou": ((0, 0), 0.01, 1600, "poly2", "pass"),
    "spiral_sink_corr": ((0, 0), 0.01, 1600, "poly2", "pass"),
    "nongradient_circulation": ((-1, 0), 0.01, 1600, "poly3", "pass"),
    "double_well_transverse": ((-1, 0), 0.01, 1600, "poly3", "pass"),
    "gradient_potential": ((-1, 0), 0.01, 1600, "poly3", "pass"),
    "maier_stein": ((-1, 0), 0.01, 1200, "poly3", "pass"),
    "duffing": ((-1, 0), 0.01, 1200, "poly3", "pass"),
    "mueller_brown": ((-0.55, 1.45), 0.004, 1000, "poly4", "limit"),
    "diag_multiplicative": ((0, 0), 0.01, 1600, "poly2", "pass"),
    "nondiag_cholesky": ((0, 0), 0.01, 1600, "poly4", "pass"),
    "near_singular": ((0, 0), 0.01, 1200, "poly2", "limit"),
    "heston_logsv": ((0, 0.04), DAY, 2600, "poly2", "pass"),
    "heston_sv": ((100, 0.04), DAY, 2600, "poly3", "pass"),
    "cir_pair": ((0.04, 0.04), DAY, 2600, "sqrt", "pass"),
    "sabr": ((1, 0.25), DAY, 1600, "sqrt", "limit"),
    "gbm_2d": ((1, 1.2), DAY, 1600, "poly2", "review"),
    "van_der_pol": ((1, 0), 0.01, 1200, "poly3", "pass"),
    "fitzhugh_nagumo": ((-1, 1), 0.01, 1200, "poly3", "pass"),
    "stuart_landau": ((1, 0), 0.01, 1200, "poly3", "pass"),
    "brusselator": ((1, 2.6), 0.01, 1200, "poly3", "pass"),
    "underdamped_langevin": ((-1, 0), 0.01, 1200, "poly3", "limit"),
    "near_boundary_heston": ((0, 0.02), 0.01, 1200, "poly2", "limit"),
    "nonpoly_drift": ((0, 0), 0.01, 1200, "trig", "limit"),
    "bad_coverage": ((2, 2), 0.01, 200, "poly2", "limit"),
    "too_large_dt": ((0, 0), 0.05, 600, "poly2", "limit"),
}


@pytest.mark.parametrize("name", zoo.names())
def test_every_system_follows_the_protocol_of_the_table(name: str) -> None:
    system = zoo.get(name)
    found = (system.start, system.dt, system.steps, system.library, system.verdict)
    assert found == PROTOCOL[name]
    assert system.trajectories == 16
    assert system.scored == ((1,) if name in ("heston_logsv", "heston_sv") else None)


def multiplicative(x: float, y: float, rho: float = 0.0) -> tuple[float, float, float]:
    a11, a22 = 0.5 + 0.1 * (x**2 + y**2), 0.4 + 0.1 * (x**2 + y**2)
    return a11, rho * np.sqrt(a11 * a22), a22


# Drift and (a11, a12, a22) of each system, typed from the paper's datasheets a second time.
FIELDS: dict[str, Callable[[float, float], tuple[tuple[float, float], tuple[float, ...]]]] = {
    "indep_ou": lambda x, y: ((-x, -2 * y), (1, 0, 0.49)),
    "correlated_ou": lambda x, y: ((-x, -1.5 * y), (1, -0.48, 0.64)),
    "coupled_ou": lambda x, y: ((-x + 0.5 * y, 0.5 * x - y), (1, 0, 1)),
    "two_factor_vasicek": lambda x, y: (
        (1.1 * (0.03 - x) + 0.25 * (y - 0.05), 0.7 * (0.05 - y) - 0.15 * (x - 0.03)),
        (0.018**2, 0.35 * 0.018 * 0.024, 0.024**2),
    ),
    "rotational_ou": lambda x, y: ((-x - 2 * y, 2 * x - y), (1, 0, 1)),
    "spiral_sink_corr": lambda x, y: ((-x - 1.5 * y, 1.5 * x - y), (1, -0.40, 0.64)),
    "nongradient_circulation": lambda x, y: (
        (
            -(x**3 - x + x * y**2 / 2) - (y + x**2 * y / 2),
            -(y + x**2 * y / 2) + (x**3 - x + x * y**2 / 2),
        ),
        (0.49, 0, 0.49),
    ),
    "double_well_transverse": lambda x, y: ((x - x**3 - y / 2, x / 2 - y), (0.49, 0, 0.49)),
    "gradient_potential": lambda x, y: (
        (-(x**3 - x + x * y**2 / 2), -(y + x**2 * y / 2)),
        (0.49, 0, 0.49),
    ),
    "maier_stein": lambda x, y: (
        (x - x**3 - 0.35 * x * y**2, -(1 + x**2) * y),
        (0.1225, 0, 0.1225),
    ),
    "duffing": lambda x, y: ((y, -0.35 * y + x - x**3), (0.09, 0, 0.09)),
    "diag_multiplicative": lambda x, y: ((-x, -y), multiplicative(x, y)),
    "nondiag_cholesky": lambda x, y: (
        (-x, -y),
        (
            (0.5 + 0.1 * x**2) ** 2,
            (0.5 + 0.1 * x**2) * 0.2 * x * y,
            (0.2 * x * y) ** 2 + (0.4 + 0.1 * y**2) ** 2,
        ),
    ),
    "near_singular": lambda x, y: ((-x, -y), multiplicative(x, y, 0.95)),
    "heston_logsv": lambda x, v: (
        (0.05 - v / 2, 2 * (0.04 - v)),
        (v, -0.65 * 0.3 * v, 0.09 * v),
    ),
    "heston_sv": lambda s, v: (
        (0.05 * s, 2 * (0.04 - v)),
        (s**2 * v, -0.65 * 0.3 * s * v, 0.09 * v),
    ),
    "cir_pair": lambda x, y: (
        (2 * (0.04 - x), 2 * (0.04 - y)),
        (0.09 * x, -0.65 * 0.09 * np.sqrt(x * y), 0.09 * y),
    ),
    "sabr": lambda f, v: (
        (0, 0),
        (v**2 * f, -0.55 * 0.45 * v**2 * np.sqrt(f), 0.45**2 * v**2),
    ),
    "gbm_2d": lambda x, y: (
        (0.04 * x, 0.02 * y),
        (0.22**2 * x**2, 0.45 * 0.22 * 0.30 * x * y, 0.30**2 * y**2),
    ),
    "van_der_pol": lambda x, y: ((y, 1.2 * (1 - x**2) * y - x), (0.1225, 0, 0.1225)),
    "fitzhugh_nagumo": lambda x, y: (
        (x - x**3 / 3 - y + 0.5, 0.08 * (x + 0.7 - 0.8 * y)),
        (0.0625, 0, 0.0625),
    ),
    "stuart_landau": lambda x, y: (
        ((1 - x**2 - y**2) * x - 1.5 * y, 1.5 * x + (1 - x**2 - y**2) * y),
        (0.0784, 0, 0.0784),
    ),
    "brusselator": lambda x, y: (
        (1 - 3.6 * x + x**2 * y, 2.6 * x - x**2 * y),
        (0.0144, 0, 0.0144),
    ),
    "underdamped_langevin": lambda q, p: ((p, -p - (q**3 - q)), (0, 0, 1)),
    "near_boundary_heston": lambda x, v: (
        (0.05 - v / 2, 0.02 - v),
        (v, -0.65 * 0.4 * v, 0.16 * v),
    ),
    "nonpoly_drift": lambda x, y: ((-x + np.sin(y), -y + np.cos(x)), (0.49, 0, 0.49)),
    "bad_coverage": lambda x, y: ((-x - 2 * y, 2 * x - y), (1, 0, 1)),
    "too_large_dt": lambda x, y: ((-x, -y), multiplicative(x, y)),
    "duffing_degenerate": lambda x, y: ((y, -0.35 * y + x - x**3), (0, 0, 0.09)),
    "van_der_pol_degenerate": lambda x, y: ((y, 1.2 * (1 - x**2) * y - x), (0, 0, 0.1225)),
}


@pytest.mark.parametrize("name", FIELDS)
def test_every_system_has_the_fields_of_its_datasheet(name: str) -> None:
    points = np.array([[0.7, 0.3], [1.3, 0.9]])
    truth = zoo.get(name).generator
    drift, field = truth.drift(points), truth.diffusion(points)
    for n, (x, y) in enumerate(points.tolist()):
        b, (a11, a12, a22) = FIELDS[name](x, y)
        np.testing.assert_allclose(drift[n], b, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(field[n], [[a11, a12], [a12, a22]], rtol=1e-12, atol=1e-15)


def test_the_mueller_brown_drift_points_down_its_surface_and_is_clipped() -> None:
    # The deepest minimum of the classical surface is at (-0.558, 1.442), its value -146.70.
    truth = zoo.get("mueller_brown").generator
    np.testing.assert_allclose(truth.drift([[-0.5582, 1.4417]]), 0, atol=5e-3)
    step, here = 1e-5, np.array([-0.3, 1.0])

    def surface(x: float, y: float) -> float:
        table = (
            (-200, -1, 0, -10, 1, 0),
            (-100, -1, 0, -10, 0, 0.5),
            (-170, -6.5, 11, -6.5, -0.5, 1.5),
            (15, 0.7, 0.6, 0.7, -1, 1),
        )
        return float(
            sum(
                size * np.exp(a * (x - u) ** 2 + b * (x - u) * (y - v) + c * (y - v) ** 2)
                for size, a, b, c, u, v in table
            )
        )

    assert surface(-0.5582, 1.4417) == pytest.approx(-146.70, abs=0.01)
    slope = [
        (surface(*(here + step * e)) - surface(*(here - step * e))) / (2 * step) for e in np.eye(2)
    ]
    np.testing.assert_allclose(truth.drift([here])[0], -0.004 * np.array(slope), rtol=1e-6)
    assert np.abs(truth.drift([[-1.7, -0.4], [1.3, 2.1], [1.3, -0.4]])).max() == 25
