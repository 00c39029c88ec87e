"""Read-outs of processes whose answers are known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from scipy.integrate import quad
from scipy.linalg import solve_continuous_lyapunov

from wgsindy import zoo
from wgsindy.data import FloatArray
from wgsindy.model import Generator
from wgsindy.readouts import Readouts
from wgsindy.readouts.chain import Chain, Grid
from wgsindy.readouts.long_run import entropy_production

X, Y = sympy.symbols("x y", real=True)
LINEAR = {
    "correlated": ([[-1.0, 0.0], [0.0, -1.5]], [[1.0, 0.5], [0.5, 1.0]]),
    "rotational": ([[-1.0, -2.0], [2.0, -1.0]], [[1.0, 0.0], [0.0, 1.0]]),
    "spiral": ([[-1.0, -1.5], [1.5, -1.0]], [[1.0, -0.4], [-0.4, 0.64]]),
}


class Linear:
    """dX = A X dt + L dW, with everything that is known of it."""

    def __init__(self, matrix: list[list[float]], noise: list[list[float]]) -> None:
        self.matrix, self.noise = np.array(matrix), np.array(noise)
        drift = sympy.Matrix(matrix) * sympy.Matrix([X, Y])
        self.generator = Generator.from_sympy(("x", "y"), list(drift), noise)
        self.covariance = solve_continuous_lyapunov(self.matrix, -self.noise)
        self.inverse = np.linalg.inv(self.covariance)
        # The current is W x pi(x), with W = A + a C^-1 / 2.
        self.turn = self.matrix + self.noise @ self.inverse / 2

    def density(self, points: FloatArray) -> FloatArray:
        height = 2 * np.pi * np.sqrt(np.linalg.det(self.covariance))
        distance = np.einsum("np,pq,nq->n", points, self.inverse, points)
        return np.asarray(np.exp(-distance / 2) / height)

    def current(self, points: FloatArray) -> FloatArray:
        return points @ self.turn.T * self.density(points)[:, None]

    @property
    def entropy_production(self) -> float:
        inner = self.turn.T @ np.linalg.inv(self.noise) @ self.turn @ self.covariance
        return float(2 * np.trace(inner))


def total_variation(told: Readouts, exact: FloatArray) -> float:
    found = told.density(told.grid.centres).values
    return float(np.abs(found - exact).sum() * told.grid.volume / 2)


@pytest.mark.parametrize("name", LINEAR)
def test_a_linear_process_at_the_default_grid(name: str) -> None:
    known = Linear(*LINEAR[name])
    told = known.generator.readouts()
    points = told.grid.centres
    assert total_variation(told, known.density(points)) < 1e-3
    scale = np.sqrt(np.outer(np.diag(known.covariance), np.diag(known.covariance)))
    assert np.abs(told.covariance.values - known.covariance).max() < 0.005 * scale.min()
    flow, exact = told.current(points).values, known.current(points)
    assert np.abs(flow - exact).max() < 0.005 * np.abs(exact).max()
    assert float(told.entropy_production) == pytest.approx(known.entropy_production, rel=0.005)
    rates = np.linalg.eigvals(known.matrix)
    assert float(told.gap) == pytest.approx(-rates.real.max(), rel=0.005)
    # Every sum of multiples of the drift's eigenvalues is one of the generator.
    sums = [i * rates[0] + j * rates[1] for i in range(5) for j in range(5) if i + j]
    for rate in told.rates:
        nearest = min(abs(complex(rate) - one) for one in sums)
        assert nearest < 0.005 * abs(complex(rate))


def test_the_current_of_another_rotation_is_not_found() -> None:
    told = Linear(*LINEAR["rotational"]).generator.readouts(cells=64)
    other = Linear([[-1.0, 2.0], [-2.0, -1.0]], LINEAR["rotational"][1])
    points = told.grid.centres
    exact = other.current(points)
    assert np.abs(told.current(points).values - exact).max() > np.abs(exact).max()


@pytest.mark.parametrize("name", LINEAR)
def test_errors_fall_as_the_square_of_the_cells(name: str) -> None:
    known = Linear(*LINEAR[name])
    reach = 5.2 * np.sqrt(np.diag(known.covariance))
    errors = []
    for cells in (40, 80, 160):
        chain = Chain.of(known.generator, Grid(-reach, reach, (cells, cells)))
        law = np.abs(chain.density - known.density(chain.grid.centres)).sum() * chain.grid.volume
        errors.append([law, abs(entropy_production(chain) - known.entropy_production)])
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.8).all()


def test_a_gradient_has_the_density_of_gibbs_and_no_current() -> None:
    told = zoo.get("gradient_potential").generator.readouts()
    x, y = told.grid.centres.T
    height = (x**2 - 1) ** 2 / 4 + y**2 / 2 + x**2 * y**2 / 4
    exact = np.exp(-2 * height / 0.49)
    exact /= exact.sum() * told.grid.volume
    assert total_variation(told, exact) < 1e-3
    turning = zoo.get("nongradient_circulation").generator.readouts()
    scale = np.abs(turning.current(turning.grid.centres).values).max()
    assert np.abs(told.current(told.grid.centres).values).max() < 1e-6 * scale
    assert float(told.entropy_production) < 1e-6 * float(turning.entropy_production)
    shown = told.potential([[1.0, 0.0], [0.0, 0.0]]).values
    assert shown[1] - shown[0] == pytest.approx(2 * 0.25 / 0.49, rel=1e-3)


def test_the_split_adds_up_to_the_drift() -> None:
    generator = zoo.get("nongradient_circulation").generator
    reversible = zoo.get("gradient_potential").generator
    points = np.array([[0.5, 0.3], [-1.0, 0.2], [0.1, -0.6]])
    parts = generator.readouts().split(points)
    total = parts.conservative.values + parts.rotational.values
    np.testing.assert_allclose(total, generator.drift(points), rtol=1e-10)
    np.testing.assert_allclose(parts.conservative.values, reversible.drift(points), atol=0.01)


def double_integral(start: float, end: float, noise: float) -> float:
    def height(u: float) -> float:
        return (u**4 / 4 - u**2 / 2) * 2 / noise

    def inner(u: float) -> float:
        return float(quad(lambda w: np.exp(-height(w)), -4, u)[0])

    return float(quad(lambda u: 2 / noise * np.exp(height(u)) * inner(u), start, end)[0])


@pytest.mark.parametrize("end", [0.0, 0.913])
def test_passage_in_a_double_well_on_a_line(end: float) -> None:
    generator = Generator.from_sympy(("x",), [X - X**3], [[0.49]])
    found = generator.readouts().passage_time([-1.0], f"x > {end}").mean
    assert float(found) == pytest.approx(double_integral(-1.0, end, 0.49), rel=0.005)
    assert abs(float(found) - double_integral(-1.0, end, 0.49)) < 10 * found.grid_error


def test_underdamped_motion_has_the_density_of_gibbs() -> None:
    told = zoo.get("underdamped_langevin").generator.readouts()
    q, p = told.grid.centres.T
    exact = np.exp(-2 * (p**2 / 2 + q**4 / 4 - q**2 / 2))
    exact /= exact.sum() * told.grid.volume
    assert total_variation(told, exact) < 0.01


def nearly_singular(turning: float) -> Generator:
    """Noise of correlation 0.95 whose direction turns through the plane; the law is Gaussian."""
    angle = 0.7 * X + 0.9 * Y
    turn = sympy.Matrix(
        [[sympy.cos(angle), -sympy.sin(angle)], [sympy.sin(angle), sympy.cos(angle)]]
    )
    noise = turn * sympy.diag(1.95, 0.05) * turn.T
    slope = sympy.Matrix([2 * X + Y / 2, 2 * Y + X / 2])  # of x^2 + y^2 + x y / 2
    spread = sympy.Matrix([sum(noise[p, q].diff((X, Y)[q]) for q in (0, 1)) for p in (0, 1)])
    drift = (spread - noise * slope) / 2 + turning * sympy.Matrix([-slope[1], slope[0]])
    return Generator.from_sympy(("x", "y"), list(drift), noise.tolist())


@pytest.mark.parametrize("turning", [0.0, 0.1])
def test_a_tensor_that_is_nearly_singular_and_turns(turning: float) -> None:
    told = nearly_singular(turning).readouts(box=[(-4, 4), (-4, 4)])
    chain = told.solved.fine
    assert (chain.edges.forward >= 0).all()
    assert (chain.edges.backward >= 0).all()
    assert (chain.probability > 0).all()
    x, y = told.grid.centres.T
    exact = np.exp(-(x**2 + y**2 + x * y / 2))
    exact /= exact.sum() * told.grid.volume
    assert total_variation(told, exact) < 1e-2


def test_three_coordinates() -> None:
    states = sympy.symbols("x y z", real=True)
    matrix = np.array([[-1.0, -0.5, 0.0], [0.5, -1.0, 0.2], [0.0, 0.0, -1.5]])
    noise = np.array([[1.0, 0.3, 0.1], [0.3, 0.8, 0.0], [0.1, 0.0, 0.6]])
    drift = sympy.Matrix(matrix) * sympy.Matrix(states)
    generator = Generator.from_sympy(("x", "y", "z"), list(drift), noise.tolist())
    told = generator.readouts(cells=20)
    exact = solve_continuous_lyapunov(matrix, -noise)
    np.testing.assert_allclose(told.covariance.values, exact, atol=0.02)


def test_autocorrelation_spectrum_and_forecast_of_a_rotation() -> None:
    told = zoo.get("rotational_ou").generator.readouts()
    times = np.array([0.0, 0.1, 0.5, 1.0, 3.0])
    found = told.autocorrelation(times).values
    np.testing.assert_allclose(found, np.exp(-times) * np.cos(2 * times), atol=1e-3)
    frequencies = np.array([0.05, 0.3, 0.6, 2.0])
    w = 2 * np.pi * frequencies
    exact = ((1 + 1j * w) / ((1 + 1j * w) ** 2 + 4)).real
    np.testing.assert_allclose(told.power_spectrum(frequencies).values, exact, rtol=5e-3)
    law = told.forecast([1.0, 0.0], 0.5)
    turned = np.exp(-0.5) * np.array([np.cos(1.0), np.sin(1.0)])
    np.testing.assert_allclose(law.mean.values, turned, atol=1e-3)
    spread = (1 - np.exp(-1.0)) / 2 * np.eye(2)
    np.testing.assert_allclose(law.covariance.values, spread, atol=1e-3)
    assert float(told.oscillation.frequency) == pytest.approx(1 / np.pi, rel=1e-3)
