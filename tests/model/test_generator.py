"""The generator: its fields are its formulas, and what is read off them has closed forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import sympy
from generators import SYSTEMS, evaluated, in_space, near_start

from wgsindy import zoo
from wgsindy.data import FloatArray
from wgsindy.errors import DataError
from wgsindy.model import Generator
from wgsindy.terms import Expression


@pytest.mark.parametrize("name", SYSTEMS)
def test_fields_of_the_zoo_are_its_formulas(name: str) -> None:
    system, x = zoo.get(name), near_start(name)
    a11, a12, a22 = system.diffusion
    for found, truth in (
        (system.generator.drift(x), list(system.drift)),
        (system.generator.diffusion(x), [[a11, a12], [a12, a22]]),
    ):
        symbols = {name: sympy.Symbol(name, real=True) for name in system.names}
        names = symbols | {"min": sympy.Min, "max": sympy.Max}
        wanted = evaluated(sympy.sympify(truth, locals=names), system.names, x)
        assert found.shape == wanted.shape
        # Sums of at most a few hundred terms, each a dozen operations of 1.1e-16.
        assert np.abs(found - wanted).max() <= 1e-12 * np.abs(wanted).max()


Fields = Callable[[FloatArray, FloatArray], Sequence[Any]]
# (b1, b2, a11, a12, a22), typed in from the table of the zoo.
WRITTEN_OUT: dict[str, Fields] = {
    "rotational_ou": lambda x, y: (-x - 2 * y, 2 * x - y, 1, 0, 1),
    "maier_stein": lambda x, y: (
        x - x**3 - 0.35 * x * y**2,
        -(1 + x**2) * y,
        0.1225,
        0,
        0.1225,
    ),
    "nondiag_cholesky": lambda x, y: (
        -x,
        -y,
        (0.5 + 0.1 * x**2) ** 2,
        (0.5 + 0.1 * x**2) * 0.2 * x * y,
        (0.2 * x * y) ** 2 + (0.4 + 0.1 * y**2) ** 2,
    ),
    "heston_logsv": lambda x, v: (
        0.05 - v / 2,
        2 * (0.04 - v),
        v,
        -0.65 * 0.3 * v,
        0.3**2 * v,
    ),
    "cir_pair": lambda x, y: (
        2 * (0.04 - x),
        2 * (0.04 - y),
        0.3**2 * x,
        -0.65 * 0.3**2 * np.sqrt(x * y),
        0.3**2 * y,
    ),
    "stuart_landau": lambda x, y: (
        (1 - x**2 - y**2) * x - 1.5 * y,
        1.5 * x + (1 - x**2 - y**2) * y,
        0.0784,
        0,
        0.0784,
    ),
    "nonpoly_drift": lambda x, y: (-x + np.sin(y), -y + np.cos(x), 0.49, 0, 0.49),
}


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_fields_are_the_published_ones(name: str) -> None:
    x = near_start(name)
    generator = zoo.get(name).generator
    b1, b2, a11, a12, a22 = (
        np.broadcast_to(field, len(x)) for field in WRITTEN_OUT[name](x[:, 0], x[:, 1])
    )
    np.testing.assert_allclose(generator.drift(x), np.stack([b1, b2], 1), rtol=1e-13)
    field = np.stack([np.stack([a11, a12], 1), np.stack([a12, a22], 1)], 1)
    np.testing.assert_allclose(generator.diffusion(x), field, rtol=1e-13)


@pytest.mark.parametrize(
    "name", ["gradient_potential", "nongradient_circulation", "van_der_pol", "stuart_landau"]
)
def test_polynomial_truths_are_sums_of_monomials(name: str) -> None:
    # The ledger of selected terms and the information floor count terms of this basis.
    assert zoo.get(name).generator.basis.is_polynomial


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_drift_jacobian_is_the_slope_of_the_drift(name: str) -> None:
    generator, x, h = zoo.get(name).generator, near_start(name), 1e-5
    jacobian = generator.drift_jacobian(x)
    for q in range(generator.dimension):
        step = h * np.eye(generator.dimension)[q]
        slope = (generator.drift(x + step) - generator.drift(x - step)) / (2 * h)
        # h^2 b''' / 6 and 1e-16 b / h: below 1e-8 for all of the zoo but Mueller-Brown, whose
        # wells are a tenth wide, so that b''' is a thousand times b.
        size = max(1.0, np.abs(jacobian).max())
        np.testing.assert_allclose(jacobian[:, :, q], slope, rtol=0, atol=2e-6 * size)


def on_a_line() -> Generator:
    x = sympy.Symbol("x", real=True)
    return Generator.from_sympy(("x",), [x - x**3], [[0.25 + x**2]])


@pytest.mark.parametrize(
    ("generator", "function"),
    [
        (on_a_line(), "x**3 + exp(-x)"),
        (zoo.get("spiral_sink_corr").generator, "x**2*y + sin(x*y)"),
        (zoo.get("nondiag_cholesky").generator, "exp(x)*y**2 - cos(x)"),
        (zoo.get("heston_logsv").generator, "x*v + v**2.5"),
        (in_space(), "x*y*z + sin(x*z) + y**3"),
    ],
)
def test_applying_the_generator_is_the_formula_of_ito(generator: Generator, function: str) -> None:
    names = generator.names
    symbols = sympy.symbols(names, real=True)
    f = sympy.sympify(function, locals=dict(zip(names, symbols, strict=True)))
    written = generator.to_sympy()
    formula = sum(b * sympy.diff(f, s) for b, s in zip(written.drift, symbols, strict=True))
    formula += sum(
        sympy.Rational(1, 2) * written.diffusion[p, q] * sympy.diff(f, s, t)
        for p, s in enumerate(symbols)
        for q, t in enumerate(symbols)
    )
    x = np.random.default_rng(1).uniform(0.2, 1.5, size=(5, len(names)))
    wanted = evaluated([formula], names, x)[:, 0]
    np.testing.assert_allclose(generator.apply(function, x), wanted, rtol=1e-12, atol=1e-12)
    parsed = Expression.parse(function, names)
    np.testing.assert_array_equal(generator.apply(parsed, x), generator.apply(function, x))


def test_the_generator_of_a_square_is_twice_the_drift_plus_the_noise() -> None:
    # L x^2 = 2 x b + a, where a forgotten 1/2 would show at once.
    assert on_a_line().apply("x**2", [[2.0]]).tolist() == [2 * 2 * (2 - 8) + 0.25 + 4]


@pytest.mark.parametrize(
    ("name", "curl", "leverage"),
    [
        ("rotational_ou", 2.0, 0.0),
        ("spiral_sink_corr", 1.5, -0.5),
        ("coupled_ou", 0.0, 0.0),
        ("correlated_ou", 0.0, -0.6),
        ("heston_logsv", 0.25, -0.65),
        ("near_singular", 0.0, 0.95),
        ("duffing_degenerate", None, 0.0),
        ("gradient_potential", 0.0, 0.0),
    ],
)
def test_curl_and_leverage_have_their_closed_forms(
    name: str, curl: float | None, leverage: float
) -> None:
    generator, x = zoo.get(name).generator, near_start(name)
    np.testing.assert_allclose(generator.leverage(x), leverage, rtol=1e-13, atol=1e-15)
    if curl is not None:  # (d1 b2 - d2 b1) / 2
        np.testing.assert_allclose(generator.curl(x), curl, rtol=1e-13, atol=1e-15)


def test_the_curl_of_the_duffing_oscillator_varies_in_space() -> None:
    x = near_start("duffing")
    wanted = (1 - 3 * x[:, 0] ** 2 - 1) / 2
    np.testing.assert_allclose(zoo.get("duffing").generator.curl(x), wanted, rtol=1e-13)


def test_fluctuations_are_the_diagonal_of_the_tensor() -> None:
    x = near_start("diag_multiplicative")
    growth = 0.1 * (x**2).sum(axis=1)
    wanted = np.stack([0.5 + growth, 0.4 + growth], axis=1)
    found = zoo.get("diag_multiplicative").generator.fluctuation(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_the_antisymmetric_drift_of_a_rotation_is_the_rotation() -> None:
    x = near_start("rotational_ou")
    found = zoo.get("rotational_ou").generator.antisymmetric_drift(x)
    np.testing.assert_allclose(found, np.stack([-2 * x[:, 1], 2 * x[:, 0]], 1), rtol=1e-13)
    assert not zoo.get("coupled_ou").generator.antisymmetric_drift(x).any()


def test_rotation_and_correlation_work_in_space() -> None:
    generator = in_space()
    x = np.random.default_rng(2).normal(size=(4, 3))
    jacobian = generator.drift_jacobian(x)
    np.testing.assert_allclose(
        generator.rotation(x), (jacobian - jacobian.transpose(0, 2, 1)) / 2, rtol=1e-13
    )
    field, correlation = generator.diffusion(x), generator.correlation(x)
    for p in range(3):
        for q in range(3):
            wanted = field[:, p, q] / np.sqrt(field[:, p, p] * field[:, q, q])
            np.testing.assert_allclose(correlation[:, p, q], wanted, rtol=1e-13)


@pytest.mark.parametrize(("generator", "d"), [(on_a_line(), 1), (in_space(), 3)])
def test_curl_and_leverage_are_refused_off_the_plane(generator: Generator, d: int) -> None:
    x = np.zeros((2, d))
    with pytest.raises(DataError, match=f"curl .* 2 coordinates, .* has {d}; use rotation"):
        generator.curl(x)
    with pytest.raises(DataError, match=f"leverage .* 2 coordinates, .* has {d}; use correlation"):
        generator.leverage(x)


def test_points_of_the_wrong_shape_are_refused() -> None:
    generator = zoo.get("rotational_ou").generator
    for bad, shape in (([1.0, 2.0], r"\(2,\)"), ([[1.0, 2.0, 3.0]], r"\(1, 3\)")):
        with pytest.raises(DataError, match=rf"\(n, 2\).*\['x', 'y'\].*{shape}"):
            generator.drift(bad)
