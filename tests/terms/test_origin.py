"""From where terms measure a coordinate: decided by the data, possible for some libraries only."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy.data import Frame
from wgsindy.terms import Basis, Expression, library, origin_notes, origin_of, round_number
from wgsindy.terms.candidates import FAR

NAMES = ("x", "y")
ORIGIN = np.array([500_000.0, -1_234_567.8])


def region(*pairs: tuple[float, float]) -> Frame:
    centre, scale = np.array(pairs).T
    return Frame(centre, scale)


@pytest.mark.parametrize(
    ("mean", "spread", "expected"),
    [
        (0.0, 1.0, 0.0),
        (0.3, 1e-1, 0.0),
        (100.0, 15.0, 0.0),  # a price
        (FAR, 1.0, 0.0),  # exactly as far as is still near
        (293.4, 2.0, 293.0),  # kelvin
        (-293.4, 2.0, -293.0),
        (500_000.7, 3.0, 500_000.0),  # metres
        (1.7e9 + 12_345.6, 600.0, 1.7000123e9),  # seconds since 1970
        (5.123e-7, 1e-9, 5.12e-7),
    ],
)
def test_an_origin_is_the_roundest_number_near_the_mean_of_data_far_from_zero(
    mean: float, spread: float, expected: float
) -> None:
    origin = origin_of(library("poly2").bind(("x",)), region((mean, spread)))
    assert origin == pytest.approx([expected], rel=1e-15, abs=0)
    assert not expected or abs(expected - mean) <= spread / 2


def test_a_round_number_has_as_few_digits_as_the_tolerance_allows() -> None:
    for tolerance, digits in ((3e5, 1), (4e4, 2), (500.0, 4), (0.3, 7), (0.0, 8)):
        short = round_number(1_234_567.8, tolerance)
        assert abs(short - 1_234_567.8) <= tolerance
        assert len(f"{short:.15g}".replace(".", "").rstrip("0")) == digits


@pytest.mark.parametrize(
    ("terms", "movable"),
    [
        ("poly3", (True, True)),
        ("trig", (True, True)),
        ("sqrt", (False, False)),
        (["1", "x", "y", "sqrt(x)"], (False, True)),
        (["1", "x", "y", "log(y)"], (True, False)),
        (["1", "x", "y", "1/x"], (False, True)),
        (["1", "x", "y", "abs(y)"], (True, False)),
        (["1", "x", "y", "min(x, 1)"], (False, True)),
        (["1", "y", "exp(-2*x)"], (True, True)),
        (["1", "y", "exp(-x**2)"], (False, True)),
        (["sin(x)", "y", "1"], (False, True)),  # the cosine is missing
        (["sin(x)", "cos(x)", "y", "1"], (True, True)),
        (["sin(x)", "cos(x)", "x*sin(x)", "x*cos(x)"], (True, True)),
        (["x", "x**3", "1", "y"], (False, True)),  # the square is missing
        (["sqrt(x)"], (False, True)),
    ],
)
def test_a_library_moves_where_shifts_stay_in_its_span(
    terms: str | list[str], movable: tuple[bool, bool]
) -> None:
    basis = library(terms).bind(NAMES)
    assert tuple(basis.movable) == movable
    moved = origin_of(basis, region((1e6, 2.0), (1e6, 2.0))) != 0
    assert tuple(moved) == movable


def test_each_coordinate_far_from_zero_is_told_of() -> None:
    seen = region((500_000.4, 3.0), (0.1, 1.0))
    polynomials, roots = (library(name).bind(NAMES, seen) for name in ("poly2", "sqrt"))
    assert polynomials.coordinates == ("x - 500000", "y")
    (told,) = origin_notes(polynomials, seen)
    assert "500000 ± 3" in told
    assert "functions of x - 500000." in told
    assert roots.coordinates == NAMES
    (kept,) = origin_notes(roots, seen)
    assert "stay functions of x," in kept
    assert not origin_notes(polynomials, region((5.0, 3.0), (0.1, 1.0)))


def far_basis(terms: str | list[str]) -> Basis:
    return library(terms).bind(NAMES).about(ORIGIN)


@pytest.mark.parametrize("terms", ["poly3", "trig", ["x + y", "y - x", "exp(-x*y)", "1"]])
def test_terms_about_an_origin_are_those_of_the_distance_from_it(terms: str | list[str]) -> None:
    plain, basis = library(terms).bind(NAMES), far_basis(terms)
    # Distances that are exact in floating point also this far from zero.
    near = np.random.default_rng(0).integers(-512, 512, (20, 2)) / 256.0
    x = ORIGIN + near
    near = x - ORIGIN
    assert basis.values(x).tobytes() == plain.values(near).tobytes()
    assert basis.gradients(x).tobytes() == plain.gradients(near).tobytes()
    assert basis.hessians(x).tobytes() == plain.hessians(near).tobytes()
    assert basis.relative() == plain
    # The formulas in x say the same, and subtract first.
    written = np.stack([Expression.parse(f, NAMES).value(x) for f in basis.formulas], axis=1)
    np.testing.assert_allclose(written, basis.values(x), rtol=1e-9, atol=1e-9)


def test_formulas_have_the_origin_in_them() -> None:
    basis = far_basis(["1", "x", "x**2", "x*y", "sin(y)", "exp(x - y)"])
    assert basis.formulas == (
        "1",
        "x - 500000",
        "(x - 500000)**2",
        "(x - 500000)*(y + 1234567.8)",
        "sin(y + 1234567.8)",
        "exp((x - 500000) - (y + 1234567.8))",
    )
    assert basis.terms == ("1", "x", "x**2", "x*y", "sin(y)", "exp(x - y)")


def test_coefficients_go_between_a_standardised_frame_and_the_origin() -> None:
    basis = far_basis("poly3")
    work = basis.in_frame(Frame(ORIGIN + np.array([0.3, -0.2]), np.array([0.7, 1.9])))
    x = ORIGIN + np.random.default_rng(1).normal(size=(30, 2))
    coefficients = np.random.default_rng(2).normal(size=(2, len(basis)))
    found = basis.values(x) @ (coefficients @ work.to_physical).T
    np.testing.assert_allclose(found, work.values(x) @ coefficients.T, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(work.to_physical @ work.from_physical, np.eye(len(basis)), atol=1e-9)
    # Negative control: through x itself nothing is left of them.
    lost = library("poly3").bind(NAMES).in_frame(work.frame)
    wrong = lost.about(np.zeros(2)).values(x) @ (coefficients @ lost.to_physical).T
    assert np.abs(wrong - found).max() > 0.1


def test_a_basis_with_another_origin_is_another_one() -> None:
    assert far_basis("poly2") != library("poly2").bind(NAMES)
    frame = Frame(ORIGIN, np.ones(2))
    assert far_basis("poly2") != library("poly2").bind(NAMES).in_frame(frame)
    assert far_basis("poly2") == far_basis("poly2")
