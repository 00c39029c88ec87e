"""Libraries: the right terms for the names of the states."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from wgsindy.data import Trajectories
from wgsindy.errors import DataError, LibraryError
from wgsindy.terms import Library, library, monomial_name

NAMES = ("x", "y", "z", "w")


@pytest.mark.parametrize(("degree", "dimension"), list(product(range(6), (1, 2, 3, 4))))
def test_a_polynomial_library_has_every_monomial_once(degree: int, dimension: int) -> None:
    basis = library(f"poly{degree}").bind(NAMES[:dimension])
    assert len(basis) == len(set(basis.terms)) == comb(degree + dimension, dimension)
    powers = basis.monomials.powers
    assert sorted(map(tuple, powers.tolist())) == sorted(
        row for row in product(range(degree + 1), repeat=dimension) if sum(row) <= degree
    )
    assert np.all(np.diff(powers.sum(axis=1)) >= 0)


def test_the_sqrt_library_is_the_one_of_the_zoo() -> None:
    wanted = {"1", "x", "y", "sqrt(x)", "sqrt(y)", "sqrt(x*y)", "x*y", "x**2", "y**2"}
    basis = library("sqrt").bind(("x", "y"))
    assert len(basis) == 9
    assert set(basis.terms) == wanted


def test_the_trig_library_is_the_one_of_the_zoo() -> None:
    wanted = {"1", "x", "y", "x**2", "x*y", "y**2", "sin(x)", "sin(y)", "cos(x)", "cos(y)"}
    basis = library("trig").bind(("x", "y"))
    assert len(basis) == 10
    assert set(basis.terms) == wanted


def test_ready_made_libraries_follow_the_state_names() -> None:
    assert "sqrt(f*v)" in library("sqrt").bind(("f", "v")).terms
    assert "cos(v)" in library("trig").bind(("f", "v")).terms


def test_custom_formulas_are_sorted_into_monomials_and_others() -> None:
    basis = library(["sin(y)", "y*x*y", "1", "x**2.5", "2*x", "y**-1", "x"]).bind(("x", "y"))
    assert basis.monomials.powers.tolist() == [[0, 0], [1, 0], [1, 2]]
    assert basis.terms == ("1", "x", "x*y**2", "sin(y)", "x**2.5", "2*x", "y**(-1)")


def test_a_caret_makes_the_monomial_one_would_expect() -> None:
    assert library(["x*y^2"]).bind(("x", "y")).terms == ("x*y**2",)


def test_joining_libraries_drops_doubles() -> None:
    joined = library("poly2") + library(["y*x", "sin(x)", "x**3"]) + library("trig")
    terms = joined.bind(("x", "y")).terms
    assert len(terms) == len(set(terms))
    assert set(terms) == set(library("trig").bind(("x", "y")).terms) | {"x**3"}


def test_joining_does_not_depend_on_the_order_of_equal_parts() -> None:
    one, two = library("poly1"), library("poly2")
    assert (one + two).bind(("x",)) == (two + one).bind(("x",)) == two.bind(("x",))


def test_a_library_goes_through_library_unchanged() -> None:
    wanted = Library.named("poly2")
    assert library(wanted) is wanted


def test_powers_beyond_integers_are_refused() -> None:
    with pytest.raises(LibraryError, match="1e"):
        library(["x**1e300"]).bind(("x",))


def test_names_of_monomials_read_back_as_the_same_monomials() -> None:
    basis = library("poly3").bind(("x", "y", "z"))
    assert library(list(basis.terms)).bind(("x", "y", "z")) == basis
    assert monomial_name((0, 0), ("x", "y")) == "1"
    assert monomial_name((2, 1), ("x", "y")) == "x**2*y"


@pytest.mark.parametrize("name", ["\u00b5", "\ufb01", "\u212b", "\u03bc", "v_1"])
def test_a_name_that_data_may_have_can_stand_in_a_formula(name: str) -> None:
    # Python's parser normalises identifiers: the micro sign of keyboards becomes the Greek letter.
    try:
        names = Trajectories(np.zeros((2, 1)), 1.0, names=[name]).names
    except DataError:
        return
    basis = library("poly1").bind(names)
    np.testing.assert_array_equal(basis.values(np.array([[2.0]])), [[1.0, 2.0]])
