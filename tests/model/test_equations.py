"""Tables, equations, SymPy and LaTeX that say the same as the fields."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy
from generators import EVERY, XY, evaluated, points_for

from wgsindy.data import FloatArray, Frame
from wgsindy.model import Generator, TensorField, tensor, tensor_fields
from wgsindy.terms import Expression, library


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


def test_a_factor_of_nothing_is_a_tensor_of_one_term_that_is_zero() -> None:
    basis = library(["1", "sin(x)"]).bind(("x",))
    found = tensor_fields(basis, TensorField("factor", np.zeros((1, 2)), 0.0, np.ones(1)))
    assert found.terms == ("1",)
    assert found.coefficients.tolist() == [[0.0]]


def test_a_summary_leaves_out_what_is_below_two_percent() -> None:
    x, y = sympy.symbols("x y", real=True)
    truth = Generator.from_sympy(XY, [-1.23456 * x + 0.03 * y, x + 0.015 * y], [[1, 0], [0, 2]])
    fitted = replace(truth, region=Frame(np.zeros(2), np.ones(2)))
    assert str(fitted).split("\n  ") == [
        "Generator of (x, y)",
        "b1 = -1.23*x + 0.03*y",
        "b2 = x",
        "a11 = 1",
        "a12 = 0",
        "a22 = 2",
    ]


@pytest.mark.parametrize(("d", "more"), [(5, None), (6, 3), (7, 11)])
def test_a_summary_has_as_many_lines_as_a_terminal_shows(d: int, more: int | None) -> None:
    # d components and d (d + 1) / 2 entries, of which 24 are shown.
    names = tuple("uvwxyzt"[:d])
    blank = Generator.from_sympy(names, [0] * d, np.eye(d).astype(int).tolist())
    shown = str(blank).split("\n  ")[1:]
    assert shown[-1] == (f"... and {more} more; see equations()" if more else f"a{d}{d} = 1")
    assert len(shown) == (25 if more else d + d * (d + 1) // 2)


def test_a_line_of_a_summary_ends_between_two_terms() -> None:
    terms = [f"x**{power}" for power in range(1, 30)]
    long = Generator.from_sympy(("x",), [sum(sympy.sympify(term) for term in terms)], [[1]])
    (whole, _), (_, line, _) = long.equations(), str(long).split("\n  ")
    assert len(whole) > 110
    assert line.endswith(" ...")
    assert whole.startswith(line[:-4])
    assert whole[len(line) - 4] == " "
    assert len(line) - 4 <= 110 < len(line) + len(" + x**10")
