"""The generator: fields, formulas and files that say the same thing."""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

from wgsindy import zoo
from wgsindy.data.arrays import FloatArray
from wgsindy.data.frame import Frame
from wgsindy.errors import DataError, ModelFileError
from wgsindy.model import tensor
from wgsindy.model.generator import Generator
from wgsindy.model.tensor import TensorField, TensorForm
from wgsindy.terms.expression import Expression
from wgsindy.terms.library import library

SYSTEMS = zoo.names(variants=True)


def near_start(name: str, n: int = 6, seed: int = 0) -> FloatArray:
    """Points beside the start of a system, where every term of its fields is defined."""
    start = np.array(zoo.get(name).start, dtype=np.float64)
    return start + np.random.default_rng(seed).uniform(0.01, 0.2, size=(n, len(start)))


def evaluated(expressions: Any, names: Sequence[str], points: FloatArray) -> FloatArray:
    """Evaluate an array of SymPy expressions point by point."""
    symbols = sympy.symbols(names, real=True)
    f = sympy.lambdify(symbols, sympy.Array(expressions).tolist())
    return np.array([f(*row) for row in points.tolist()], dtype=np.float64)


@pytest.mark.parametrize("name", SYSTEMS)
def test_fields_of_the_zoo_are_its_formulas(name: str) -> None:
    system, x = zoo.get(name), near_start(name)
    for found, truth in (
        (system.generator.drift(x), system.drift),
        (system.generator.diffusion(x), system.diffusion),
    ):
        wanted = evaluated(truth, system.names, x)
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


def in_space() -> Generator:
    """Three coordinates, correlated state-dependent noise."""
    x, y, z = sympy.symbols("x y z", real=True)
    root = sympy.Matrix([[1 + x**2, 0, 0], [y, 2, 0], [x * z, sympy.cos(y), 1]])
    return Generator.from_sympy(
        ("x", "y", "z"), [y - x * z, sympy.sin(x) - y, -(z**3)], (root * root.T).tolist()
    )


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


def made(
    spec: str | Sequence[str],
    names: tuple[str, ...],
    form: TensorForm,
    *,
    shrinkage: float = 0.0,
    framed: bool = False,
    seed: int = 0,
) -> Generator:
    """Make a generator with random coefficients, as a fit would leave it."""
    rng = np.random.default_rng(seed)
    d = len(names)
    basis = library(spec).bind(names)
    if framed:
        basis = basis.in_frame(
            Frame(np.array([0.4, -1.3, 2.0])[:d], np.array([0.7, 2.0, 1.1])[:d] / 0.9)
        )
    field = TensorField(
        form,
        rng.normal(size=(len(tensor.pairs(d)), len(basis))),
        shrinkage,
        np.array([0.5, 3.0, 1.7])[:d],
    )
    return Generator(basis, rng.normal(size=(d, len(basis))), field, {"made": "by hand"})


XY = ("x", "y")
MADE: dict[str, Generator] = {
    "entries": made("poly2", XY, "entries", framed=True),
    "entries, shrunk": made("poly2", XY, "entries", shrinkage=0.2, framed=True),
    "entries, trig": made("trig", XY, "entries"),
    "clipped": made("poly2", XY, "clipped", framed=True),
    "factor": made("poly2", XY, "factor", framed=True),
    "factor, shrunk": made("poly2", XY, "factor", shrinkage=0.2, framed=True),
    "factor, 1-D": made("poly3", ("x",), "factor", shrinkage=0.2, framed=True),
    "factor, 3-D": made("poly1", ("x", "y", "z"), "factor", shrinkage=0.2, framed=True),
    "factor, sqrt": made("sqrt", XY, "factor", shrinkage=0.2),
    "factor, trig": made("trig", XY, "factor", shrinkage=0.2),
    "factor, gaps": made(["1", "x**2", "x*y"], XY, "factor"),
}
# Functions that SymPy simplifies once it believes that states are positive.
KINKED: dict[str, Generator] = {
    "factor, abs": made(["1", "abs(x)", "y"], XY, "factor", shrinkage=0.2),
    "factor, max": made(["1", "max(x, 0)", "min(y, 0)"], XY, "factor"),
    "factor, sum": made(["x", "x + sin(y)"], XY, "factor"),
}
EVERY = {**MADE, **KINKED}


def points_for(name: str) -> FloatArray:
    d = EVERY[name].dimension
    x = np.random.default_rng(3).normal(size=(8, d))
    return np.abs(x) if "sqrt" in name else x


def entry_fields(generator: Generator, x: FloatArray) -> FloatArray:
    """Evaluate all fields, drift components then tensor entries, ``(n, F)``."""
    return np.hstack([generator.drift(x), tensor.entries_of(generator.diffusion(x))])


def assert_same_fields(generator: Generator, x: FloatArray, written: FloatArray) -> None:
    """Compare fields ``(n, F)`` read from formulas with the callable ones."""
    d = generator.dimension
    if generator.tensor_field.form == "clipped":
        # Formulas of a clipped tensor are those before the clip; it is known to act here.
        raw = tensor.symmetric(written[:, d:], d)
        assert not tensor.is_semidefinite(raw).all()
        written = np.hstack([written[:, :d], tensor.entries_of(tensor.clip(raw))])
    wanted = entry_fields(generator, x)
    # Some hundred products of coefficients of order one: 1e-16 times the size of the sums.
    np.testing.assert_allclose(written, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("name", EVERY)
def test_the_coefficient_table_is_the_field(name: str) -> None:
    generator, x = EVERY[name], points_for(name)
    d = generator.dimension
    targets = [f"b{p + 1}" for p in range(d)]
    targets += [f"a{q + 1}{p + 1}" for p, q in tensor.pairs(d)]
    written = np.zeros((len(x), len(targets)))
    for row in generator.coefficients:
        term = Expression.parse(row.term, generator.names).value(x)
        written[:, targets.index(row.target)] += row.value * term
    assert_same_fields(generator, x, written)
    assert all(row.value != 0 for row in generator.coefficients)
    assert len({(row.target, row.term) for row in generator.coefficients}) == len(
        generator.coefficients
    )


@pytest.mark.parametrize("name", EVERY)
def test_the_equations_are_the_field(name: str) -> None:
    generator, x = EVERY[name], points_for(name)
    right = [line.split(" = ")[1] for line in generator.equations(digits=17, cutoff=0.0)]
    written = [Expression.parse(formula, generator.names).value(x) for formula in right]
    assert_same_fields(generator, x, np.stack(written, axis=1))


@pytest.mark.parametrize("name", EVERY)
def test_the_sympy_matrices_are_the_field(name: str) -> None:
    generator, x = EVERY[name], points_for(name)
    symbols, drift, diffusion = generator.to_sympy()
    assert [s.name for s in symbols] == list(generator.names)
    assert diffusion == diffusion.T
    assert drift.shape == (generator.dimension, 1)
    entries = [diffusion[p, q] for p, q in tensor.pairs(generator.dimension)]
    assert_same_fields(generator, x, evaluated([*drift, *entries], generator.names, x))


@pytest.mark.parametrize("name", EVERY)
def test_sympy_and_back_is_the_same_generator(name: str) -> None:
    generator, x = EVERY[name], points_for(name)
    _, drift, diffusion = generator.to_sympy()
    again = Generator.from_sympy(generator.names, list(drift), diffusion.tolist())
    assert_same_fields(generator, x, entry_fields(again, x))


def test_equations_round_and_drop_what_contributes_nothing() -> None:
    x, y = sympy.symbols("x y", real=True)
    truth = Generator.from_sympy(XY, [-1.23456 * x + 1e-9 * y, 0], [[1, 1e-9], [1e-9, 0.5 - x * y]])
    fitted = replace(truth, region=Frame(np.zeros(2), np.ones(2)))
    assert fitted.equations(digits=3) == [
        "b1 = -1.23*x",
        "b2 = 0",
        "a11 = 1",
        "a12 = 0",
        "a22 = 0.5 - x*y",
    ]
    assert fitted.equations(digits=2, cutoff=0.0)[0] == "b1 = -1.2*x + 1e-09*y"
    # A truth has no data to compare with: nothing of it is left out.
    assert truth.equations(digits=2)[0] == "b1 = -1.2*x + 1e-09*y"


@pytest.mark.parametrize(("covariance", "written"), [(1.0, "a12 = 0"), (5.0, "a12 = 5")])
def test_a_covariance_is_compared_with_both_variances(covariance: float, written: str) -> None:
    # sqrt(a11 a22) = 100, of which 2 % are 2: neither variance alone would draw the line there.
    truth = Generator.from_sympy(("x", "y"), [0, 0], [[1e4, covariance], [covariance, 1]])
    region = Frame(np.zeros(2), np.ones(2))
    for columns in ((0, 1), (1, 0)):
        entries = truth.to_sympy().diffusion.extract(columns, columns).tolist()
        swapped = Generator.from_sympy(("x", "y"), [0, 0], entries)
        assert replace(swapped, region=region).equations()[3] == written


def test_what_matters_is_judged_where_the_data_are() -> None:
    x = sympy.Symbol("x", real=True)
    truth = Generator.from_sympy(XY, [0.001 + x, 0.01 + 100 * x**2], [[1, 0], [0, 1]])
    small = replace(truth, region=Frame(np.zeros(2), np.full(2, 1e-3)))
    large = replace(truth, region=Frame(np.zeros(2), np.full(2, 1e3)))
    assert small.equations()[:2] == ["b1 = 0.001 + x", "b2 = 0.01 + 100*x**2"]
    assert large.equations()[:2] == ["b1 = x", "b2 = 100*x**2"]


def test_latex_writes_the_same_equations() -> None:
    x, y = sympy.symbols("x y", real=True)
    truth = Generator.from_sympy(XY, [-x - 2 * y, x * y**2], [[1, 0], [0, sympy.sqrt(x)]])
    assert truth.to_latex() == "\n".join(
        [
            r"\begin{aligned}",
            r"b_{1} &= - x - 2 y \\",
            r"b_{2} &= x y^{2} \\",
            r"a_{11} &= 1 \\",
            r"a_{12} &= 0 \\",
            r"a_{22} &= \sqrt{x}",
            r"\end{aligned}",
        ]
    )


def arrays_of(generator: Generator) -> list[bytes]:
    field = generator.tensor_field
    frame = generator.basis.frame
    arrays = (generator.drift_coefficients, field.coefficients, field.units)
    return [array.tobytes() for array in (*arrays, frame.centre, frame.scale)]


@pytest.mark.parametrize("name", [*MADE, *SYSTEMS])
def test_a_model_file_keeps_every_bit(name: str, tmp_path: Path) -> None:
    generator = MADE[name] if name in MADE else zoo.get(name).generator
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    generator.save(first)
    loaded = Generator.load(first)
    loaded.save(second)
    assert arrays_of(loaded) == arrays_of(generator)
    assert loaded.basis == generator.basis
    assert loaded.tensor_field.form == generator.tensor_field.form
    assert loaded.tensor_field.shrinkage == generator.tensor_field.shrinkage
    assert dict(loaded.info) == dict(generator.info)
    assert first.read_bytes() == second.read_bytes()
    x = points_for(name) if name in MADE else near_start(name)
    assert loaded.drift(x).tobytes() == generator.drift(x).tobytes()
    assert loaded.diffusion(x).tobytes() == generator.diffusion(x).tobytes()


@pytest.mark.parametrize("term", ["sin(x - 2*y)", "-(-x)*y", "exp(-(x**2 + y**2)/2)"])
def test_models_of_everyday_formulas_can_be_read_back(term: str, tmp_path: Path) -> None:
    generator = made(["1", "x", term], XY, "entries")
    generator.save(tmp_path / "model.json")
    assert Generator.load(tmp_path / "model.json").basis == generator.basis


def test_awkward_numbers_survive_the_file(tmp_path: Path) -> None:
    awkward = np.array([0.1 + 0.2, 1 / 3, -0.0, 5e-324, 1.7976931348623157e308, -1e-300])
    basis = library("poly2").bind(XY)
    field = TensorField("entries", np.stack([awkward] * 3), 0.05, np.array([1 / 3, 1e-7]))
    generator = Generator(basis, np.stack([awkward, -awkward]), field, {"text": "\u00b5 \u2713"})
    generator.save(tmp_path / "model.json")
    loaded = Generator.load(tmp_path / "model.json")
    assert arrays_of(loaded) == arrays_of(generator)
    assert loaded.info == {"text": "\u00b5 \u2713"}


def test_loaded_arrays_cannot_be_written_to(tmp_path: Path) -> None:
    MADE["factor"].save(tmp_path / "model.json")
    loaded = Generator.load(tmp_path / "model.json")
    with pytest.raises(ValueError, match="read-only"):
        loaded.drift_coefficients[0, 0] = 1.0


def content_with(keys: tuple[str, ...], value: Any) -> Any:
    content = json.loads(json.dumps(MADE["factor, shrunk"].to_dict()))
    inner = content
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return content


NAN, INF = float("nan"), float("inf")
SIX = [1.0] * 6


@pytest.mark.parametrize(
    ("keys", "value", "sentence"),
    [
        (("format",), "sindy", "wgsindy-generator"),
        (("version",), 2, "version 2.*reads version 1"),
        (("names",), ["x"], "damaged"),
        (("names",), 7, "damaged"),
        (("terms",), ["1", "x"], "damaged.*shape"),
        (("terms",), ["x", "1", "y", "x**2", "x*y", "y**2"], "damaged.*order"),
        (("terms",), ["1", "1", "y", "x**2", "x*y", "y**2"], "damaged"),
        (("terms",), ["1", "x", "y", "x**2", "x*y", 3], "damaged"),
        (("drift",), [SIX], "damaged"),
        (("drift",), None, "damaged"),
        (("drift",), [["a"] * 6, SIX], "damaged"),
        (("drift",), [SIX, SIX[:5]], "damaged"),
        (("drift",), [SIX, [NAN, *SIX[1:]]], "contains (NaN|Infinity)"),
        (("drift",), [SIX, [INF, *SIX[1:]]], "contains (NaN|Infinity)"),
        (("drift",), [SIX, [10**400, *SIX[1:]]], "damaged"),
        (("frame",), None, "damaged"),
        (("frame", "centre"), [NAN, 0.0], "contains (NaN|Infinity)"),
        (("frame", "scale"), [1.0], "damaged"),
        (("frame", "scale"), [0.0, 1.0], "damaged"),
        (("frame", "scale"), [-1.0, 1.0], "damaged"),
        (("tensor",), [], "damaged"),
        (("tensor", "form"), "root", "damaged.*root"),
        (("tensor", "coefficients"), [SIX, SIX], "damaged"),
        (("tensor", "coefficients"), [SIX, SIX, [NAN, *SIX[1:]]], "contains (NaN|Infinity)"),
        (("tensor", "shrinkage"), NAN, "damaged"),
        (("tensor", "shrinkage"), 1.5, "damaged"),
        (("tensor", "shrinkage"), "much", "damaged"),
        (("tensor", "units"), [1.0, NAN], "damaged"),
        (("tensor", "units"), [1.0, 0.0], "damaged"),
        (("info",), None, "damaged"),
    ],
)
def test_damaged_content_is_refused(
    keys: tuple[str, ...], value: Any, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(content_with(keys, value)))
    with pytest.raises(ModelFileError, match=sentence):
        Generator.load(path)


def test_arrays_that_are_not_finite_are_refused_without_a_file_too() -> None:
    with pytest.raises(ModelFileError, match=r"damaged.*finite"):
        Generator.from_dict(content_with(("drift",), [SIX, [NAN, *SIX[1:]]]))


def test_a_factor_may_take_the_coordinates_in_another_order(tmp_path: Path) -> None:
    basis = library("poly1").bind(("x", "y", "z"))
    rng = np.random.default_rng(3)
    coefficients = rng.standard_normal((6, 4))
    field = TensorField("factor", coefficients, 0.1, np.array([1.0, 2.0, 3.0]), (2, 0, 1))
    made = Generator(basis, np.zeros((3, 4)), field)
    points = rng.standard_normal((5, 3))
    # By hand: row i of L belongs to coordinate order[i].
    factor = tensor.lower_triangle(basis.values(points) @ coefficients.T, 3)
    product = factor @ factor.transpose(0, 2, 1)
    expected = np.empty_like(product)
    for i, p in enumerate((2, 0, 1)):
        for j, q in enumerate((2, 0, 1)):
            expected[:, p, q] = product[:, i, j]
    expected = tensor.shrink(expected, 0.1, field.units)
    np.testing.assert_allclose(made.diffusion(points), expected, rtol=1e-12)
    written = sympy.lambdify(made.to_sympy().symbols, made.to_sympy().diffusion)
    for point, value in zip(points, expected, strict=True):
        np.testing.assert_allclose(written(*point), value, rtol=1e-9, atol=1e-12)
    made.save(tmp_path / "model.json")
    assert Generator.load(tmp_path / "model.json").tensor_field.order == (2, 0, 1)
    content = made.to_dict()
    content["tensor"]["order"] = [0, 0, 1]
    with pytest.raises(ModelFileError, match="order of coordinates"):
        Generator.from_dict(content)


def test_the_content_that_is_damaged_above_is_sound_before(tmp_path: Path) -> None:
    content = content_with(("info",), {})
    assert Generator.from_dict(content).dimension == 2


@pytest.mark.parametrize(
    "key", ["format", "version", "names", "terms", "frame", "drift", "tensor", "info"]
)
def test_missing_content_is_refused(key: str) -> None:
    content = MADE["factor"].to_dict()
    del content[key]
    with pytest.raises(ModelFileError):
        Generator.from_dict(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'"wgsindy-generator"',
        b"t,x,y\n0,1,2\n",
        b"\xff\xfe\x00\x01",
        b"[" * 100_000,
        pickle.dumps({"format": "wgsindy-generator"}),
    ],
)
def test_foreign_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(ModelFileError):
        Generator.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.json"
    with pytest.raises(ModelFileError, match=re.escape(str(path))):
        Generator.load(path)


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    MADE["factor"].save(path)
    whole = path.read_bytes().rstrip()
    for length in range(0, len(whole), 41):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            Generator.load(path)


def test_code_in_a_model_file_is_not_run(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    term = f"__import__('pathlib').Path({str(witness)!r}).touch()"
    for code in (term, f"sin({term})", f"x + (lambda: {term})()"):
        terms = ["1", "x", "y", "x**2", "x*y", code]
        with pytest.raises(ModelFileError, match="no place in a formula"):
            Generator.from_dict(content_with(("terms",), terms))
    assert not witness.exists()


def test_saving_leaves_nothing_but_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    for generator in (MADE["entries"], MADE["factor"]):
        generator.save(path)
    assert os.listdir(tmp_path) == ["model.json"]
    assert arrays_of(Generator.load(str(path))) == arrays_of(MADE["factor"])


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_failing_write_leaves_the_old_file_intact(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    MADE["entries"].save(path)
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, broken, fail)
    with pytest.raises(OSError, match="no space"):
        MADE["factor"].save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_generator_that_is_not_finite_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    sound = MADE["entries"]
    sound.save(path)
    before = path.read_bytes()
    broken = Generator(sound.basis, sound.drift_coefficients * NAN, sound.tensor_field)
    with pytest.raises(ValueError, match="JSON"):
        broken.save(path)
    assert path.read_bytes() == before


def test_the_same_seed_simulates_the_same_paths() -> None:
    generator = zoo.get("nondiag_cholesky").generator

    def paths(seed: int) -> bytes:
        data = generator.simulate([0.3, -0.2], dt=0.01, steps=50, trajectories=3, random_state=seed)
        assert (len(data), data.n_increments, data.names) == (3, 150, ("x", "y"))
        return data.states.tobytes()

    assert paths(1) == paths(1)
    assert paths(1) != paths(2)


def test_one_simulated_step_is_the_one_of_euler_and_maruyama() -> None:
    generator, dt = in_space(), 0.04
    start = np.random.default_rng(5).normal(size=(7, 3))
    data = generator.simulate(start, dt=dt, steps=1, trajectories=7, random_state=11)
    noise = np.random.default_rng(11).standard_normal((1, 7, 3))[0]
    for path, x, dw in zip(data, start, noise * np.sqrt(dt), strict=True):
        factor = np.linalg.cholesky(generator.diffusion(x[None])[0])
        wanted = x + generator.drift(x[None])[0] * dt + factor @ dw
        np.testing.assert_array_equal(path[0], x)
        np.testing.assert_allclose(path[1], wanted, rtol=1e-12)


def test_simulating_does_not_touch_global_randomness() -> None:
    np.random.seed(0)  # noqa: NPY002
    wanted = np.random.random()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    zoo.get("rotational_ou").generator.simulate([0.0, 0.0], dt=0.1, steps=3, random_state=0)
    assert np.random.random() == wanted  # noqa: NPY002
