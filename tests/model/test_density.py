"""Densities by score matching, and currents: against Gaussians and symbolic derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from wgsindy import Trajectories, zoo
from wgsindy.data import FloatArray
from wgsindy.model import Generator
from wgsindy.model.circulation import DensityPass, LogDensity, current_velocity, fit_density
from wgsindy.passes import reduce
from wgsindy.passes.engine import Threads
from wgsindy.terms import Library, library

MEAN = np.array([3.0, -0.2])
COVARIANCE = np.array([[0.5, -0.24], [-0.24, 0.32]])
PRECISION = np.linalg.inv(COVARIANCE)
X, Y = sympy.symbols("x y", real=True)


def gaussian(n: int, seed: int) -> FloatArray:
    return np.random.default_rng(seed).multivariate_normal(MEAN, COVARIANCE, n)


def skewed(n: int, seed: int) -> FloatArray:
    """Independent draws from no Gaussian: what is fitted depends on how coordinates are weighed."""
    g = np.random.default_rng(seed).standard_normal((n, 2))
    return np.column_stack([g[:, 0] + 0.4 * g[:, 1] ** 2, g[:, 1] + 0.3 * g[:, 0] ** 2])


def points(n: int = 12, dimension: int = 2, seed: int = 9) -> FloatArray:
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (n, dimension))


def exact_gaussian(precision: FloatArray) -> LogDensity:
    """log pi = -x' K x / 2."""
    basis = library("poly2").bind(("x", "y"))
    given = {"x**2": -precision[0, 0] / 2, "x*y": -precision[0, 1], "y**2": -precision[1, 1] / 2}
    return LogDensity(basis, np.array([given.get(term, 0.0) for term in basis.terms]))


def test_a_quadratic_density_has_the_moments_of_its_samples() -> None:
    # With sums of squares only, score matching has a closed form: slope = -S^-1 (x - m), where m
    # and S are mean and covariance of the states (the last of a path has no step and is not one).
    x = gaussian(400, 0)
    fitted = fit_density(Trajectories([x], dt=1.0), "poly2")
    used = x[:-1]
    mean, covariance = used.mean(axis=0), np.cov(used.T, bias=True)
    at = MEAN + points()
    np.testing.assert_allclose(
        fitted.slope(at), -(at - mean) @ np.linalg.inv(covariance), rtol=1e-8, atol=1e-8
    )


@pytest.mark.statistical
def test_the_slope_of_gaussian_samples_is_that_of_their_law() -> None:
    # Precision of n samples: var K_ij = (K_ii K_jj + K_ij^2) / n; mean: covariance / n. So at
    # x = m + u the slope -K u has per component a variance of (K_ii u'Ku + (Ku)_i^2 + K_ii) / n.
    # 24 figures beyond 4.5 standard errors: one false alarm in 6,000 seeds.
    n, u = 20_000, points()
    fitted = fit_density(Trajectories([gaussian(n, 1)], dt=1.0), "poly2").slope(MEAN + u)
    true = -u @ PRECISION
    length = np.einsum("np,np->n", u, -true)[:, None]
    error = np.sqrt((np.diag(PRECISION) * (length + 1) + true**2) / n)
    assert np.abs((fitted - true) / error).max() < 4.5
    # Negative control: the same law with one correlation turned round is far outside.
    turned = np.linalg.inv(COVARIANCE * [[1, -1], [-1, 1]])
    assert np.abs((fitted + u @ turned) / error).max() > 20


def test_a_logarithm_in_the_density_is_found_by_the_normal_equations_written_out() -> None:
    # A gamma law, log pi = c1 log x + c2 x: two equations in averages of 1/x and 1/x^2.
    x = np.random.default_rng(2).gamma(6.0, 0.5, 3000)
    terms = Library.custom(["log(x)", "x"])
    fitted = fit_density(Trajectories([x[:, None]], dt=1.0, names=["x"]), terms)
    r, s = (1 / x[:-1]).mean(), (1 / x[:-1] ** 2).mean()
    expected = np.linalg.solve([[s, r], [r, 1.0]], [s, 0.0])
    found = dict(zip(fitted.basis.terms, fitted.coefficients, strict=True))
    np.testing.assert_allclose([found["log(x)"], found["x"]], expected, rtol=1e-8)
    # And close to the truth: exponent 5, rate 2 (standard errors about 0.2 and 0.07).
    np.testing.assert_allclose(expected, [5.0, -2.0], atol=1.0)


@pytest.mark.parametrize("terms", ["poly2", "poly4"])
def test_units_do_not_change_the_density(terms: str) -> None:
    x, at = skewed(3000, 3), points()
    units, origin = np.array([1000.0, 0.02]), np.array([-40.0, 7.0])
    plain = fit_density(Trajectories([x], dt=1.0), terms).slope(at)
    scaled = fit_density(Trajectories([x * units + origin], dt=1.0), terms)
    np.testing.assert_allclose(scaled.slope(at * units + origin) * units, plain, rtol=1e-6)


def test_unweighted_coordinates_would_depend_on_units() -> None:
    """The control of the test above: with raw units the answer for these samples changes."""
    x, at = skewed(3000, 3), points()
    basis = library("poly4").bind(("x", "y"))

    def slope(weights: list[float]) -> FloatArray:
        sums = reduce(DensityPass(basis, np.array(weights)), Trajectories([x], dt=1.0))
        solution = np.linalg.lstsq(sums.gram, -sums.curvature, rcond=None)[0]
        return LogDensity(basis, np.asarray(solution)).slope(at)

    assert np.abs(slope([1.0, 1.0]) - slope([30.0, 1.0])).max() > 0.01


@pytest.mark.parametrize(("chunk_size", "threads"), [(7, 1), (64, 3), (10_000, 2)])
def test_sums_do_not_depend_on_chunks_and_threads(chunk_size: int, threads: int) -> None:
    data = Trajectories([skewed(211, seed) for seed in range(3)], dt=1.0)
    step = DensityPass(library("poly3").bind(("x", "y")), np.array([0.7, 2.0]))
    whole = reduce(step, data)
    merged = reduce(step, data, chunk_size=chunk_size, engine=Threads(threads))
    np.testing.assert_allclose(merged.gram, whole.gram, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(merged.curvature, whole.curvature, rtol=1e-12, atol=1e-9)


def test_the_sums_are_products_of_gradients_and_laplacians() -> None:
    # By hand for one state (2, 3) and the terms 1, x, y, x^2, xy, y^2, in scales (2, 1).
    data = Trajectories([np.array([[2.0, 3.0], [0.0, 0.0]])], dt=1.0)
    sums = reduce(DensityPass(library("poly2").bind(("x", "y")), np.array([2.0, 1.0])), data)
    slopes = np.array([[0, 0], [2, 0], [0, 1], [8, 0], [6, 2], [0, 6]])
    np.testing.assert_array_equal(sums.gram, slopes @ slopes.T)
    np.testing.assert_array_equal(sums.curvature, [0, 0, 0, 8, 0, 2])


def test_a_reversible_linear_process_has_no_current() -> None:
    # b = -a K x / 2 with density exp(-x' K x / 2): detailed balance, whatever a.
    a = np.array([[1.0, 0.3], [0.3, 0.5]])
    pull = a @ PRECISION / 2
    state = sympy.Matrix([X, Y])
    generator = Generator.from_sympy(("x", "y"), list(-sympy.Matrix(pull) * state), a.tolist())
    at = points()
    flow = generator.current_velocity(at, exact_gaussian(PRECISION))
    np.testing.assert_allclose(flow, 0, atol=1e-12)
    # Negative control: with another density there is a current.
    wrong = generator.current_velocity(at, exact_gaussian(2 * PRECISION))
    np.testing.assert_allclose(wrong, at @ (a @ PRECISION).T / 2, atol=1e-12)


@pytest.mark.parametrize("omega", [-2.0, 0.5])
def test_the_current_of_a_rotation_is_the_rotation(omega: float) -> None:
    # b = -x + omega (-y, x), a = 1: variance 1/2 whatever omega, velocity omega (-y, x).
    generator = zoo.get("rotational_ou", omega=omega).generator
    at = points()
    flow = generator.current_velocity(at, exact_gaussian(2 * np.eye(2)))
    np.testing.assert_allclose(flow, omega * np.column_stack([-at[:, 1], at[:, 0]]), atol=1e-12)


def test_noise_that_depends_on_the_state_carries_no_current_in_balance() -> None:
    # b = (div a + a grad log pi) / 2 is reversible; the divergence of a matters.
    log_density = -(X**4) / 4 + X * Y / 2 - Y**2
    a = sympy.Matrix([[2 + X**2 + Y**2, X * Y / 2], [X * Y / 2, 1 + X**2 / 3]])
    slope = sympy.Matrix([log_density]).jacobian([X, Y]).T
    divergence = sympy.Matrix([sum(a[p, q].diff((X, Y)[q]) for q in range(2)) for p in range(2)])
    drift = ((divergence + a * slope) / 2).expand()
    swirl = sympy.Matrix([Y, -3 * X])
    at = points()
    basis = library("poly4").bind(("x", "y"))
    given = {"x**4": -0.25, "x*y": 0.5, "y**2": -1.0}
    density = LogDensity(basis, np.array([given.get(term, 0.0) for term in basis.terms]))
    for extra, expected in (
        (sympy.zeros(2, 1), np.zeros_like(at)),
        (swirl, np.column_stack([at[:, 1], -3 * at[:, 0]])),
    ):
        generator = Generator.from_sympy(("x", "y"), list(drift + extra), a.tolist())
        np.testing.assert_allclose(
            generator.current_velocity(at, density), expected, atol=1e-8
        )  # central differences: rounding over the step, 1e-16 / 1e-5


def test_the_current_adds_its_four_parts_by_hand() -> None:
    drift, slope = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])
    a = np.array([[[2.0, 0.5], [0.5, 1.0]]])
    divergence = np.array([[0.4, -0.6]])
    # a slope = (5.5, 0.5)
    found = current_velocity(drift, a, divergence, slope)
    np.testing.assert_allclose(found, [[1 - 5.9 / 2, 2 + 0.1 / 2]])


def symbolic_divergence(generator: Generator, at: FloatArray) -> FloatArray:
    form = generator.to_sympy()
    rows = [
        sum(form.diffusion[p, q].diff(symbol) for q, symbol in enumerate(form.symbols))
        for p in range(generator.dimension)
    ]
    return np.array(
        [[float(row.subs(dict(zip(form.symbols, x, strict=True)))) for row in rows] for x in at]
    )


@pytest.mark.parametrize(
    ("system", "centre", "width"),
    [
        ("nondiag_cholesky", (0.0, 0.0), (1.0, 1.0)),
        ("heston_sv", (100.0, 0.04), (30.0, 0.02)),
        ("cir_pair", (0.04, 0.05), (0.02, 0.02)),
    ],
)
def test_the_divergence_of_the_tensor_is_its_symbolic_derivative(
    system: str, centre: tuple[float, ...], width: tuple[float, ...]
) -> None:
    generator = zoo.get(system).generator
    at = np.array(centre) + np.array(width) * points() / 1.5
    if system == "cir_pair":
        at = np.maximum(at, 0.01)  # roots of positive states only
    expected = symbolic_divergence(generator, at)
    size = np.abs(expected).max(axis=0)
    assert (size > 0).all()  # else the test could not fail
    error = np.abs(generator.diffusion_divergence(at) - expected).max(axis=0)
    # Steps of 1e-5: rounding 1e-11, third derivatives of the roots 1e-10 / 0.2^2.
    assert (error < 1e-6 * size).all()


@pytest.mark.parametrize("dimension", [1, 3])
def test_the_divergence_takes_every_dimension(dimension: int) -> None:
    symbols = sympy.symbols("x y z", real=True)[:dimension]
    names = tuple(str(s) for s in symbols)
    tensor: list[list[Any]] = [
        [s * t + (p + 1) * s**2 + (q + 1) * t**2 for q, t in enumerate(symbols)]
        for p, s in enumerate(symbols)
    ]
    # Symmetric: take the entries below the diagonal for those above.
    tensor = [[tensor[max(p, q)][min(p, q)] for q in range(dimension)] for p in range(dimension)]
    generator = Generator.from_sympy(names, [0] * dimension, tensor)
    at = points(dimension=dimension)
    np.testing.assert_allclose(
        generator.diffusion_divergence(at), symbolic_divergence(generator, at), atol=1e-8
    )


def test_the_divergence_at_the_origin_has_a_step_of_its_own() -> None:
    generator = Generator.from_sympy(("x",), [0], [[1 + 3 * X]])
    np.testing.assert_allclose(generator.diffusion_divergence([[0.0]]), [[3.0]], rtol=1e-8)
    assert generator.diffusion_divergence(np.empty((0, 1))).shape == (0, 1)
