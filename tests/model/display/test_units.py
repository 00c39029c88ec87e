"""Units of fields and coefficients; fields by name."""

from __future__ import annotations

import pytest

from wgsindy.model import Units, named_fields

PLANE = Units(("x", "v"), "s", ("um", "um/s"))


@pytest.mark.parametrize(
    ("target", "term", "unit"),
    [
        ("b1", "1", "um/s"),
        ("b1", "x", "1/s"),
        ("b1", "sin(x)", "um/s"),
        ("b1", "sqrt(x)", "um^(1/2)/s"),
        ("b1", "1/x", "um^2/s"),
        ("a11", "1", "um^2/s"),
        ("a11", "x**2", "1/s"),
        ("b1", "(x - 5)**2", "1/(um s)"),
        ("a22", "1", "um^2/s^3"),
    ],
)
def test_a_coefficient_has_the_unit_of_its_field_over_that_of_its_term(
    target: str, term: str, unit: str
) -> None:
    assert PLANE.coefficient(target, term) == unit


def test_what_is_not_known_is_left_out() -> None:
    assert Units(("x",), "d").field("b1") == "1/d"
    assert Units(("x",), "", ("um",)).field("b1") == "um/time"
    assert not Units(("x",)).known
    assert Units(("x",)).field("b1") == ""


def test_fields_are_called_by_the_names_of_states() -> None:
    names = [f"c{k}" for k in range(12)]
    assert named_fields("a1,12 = b12", names) == "a[c0, c11] = b[c11]"
    assert named_fields("a12 of b3", ["x", "y"]) == "a[x, y] of b3"
    assert named_fields("b1 = b1", ["b1", "y"]) == "b1 = b1"  # a state of that name


def test_titles_labels_and_curls_have_units() -> None:
    assert PLANE.title("a12") == "a[x, v] (um^2/s^2)"
    assert Units(("x",)).title("b1") == "b[x]"
    assert PLANE.labels() == ["x (um)", "v (um/s)"]
    assert PLANE.labels(["x - 5", "v"]) == ["x - 5 (um)", "v (um/s)"]
    assert Units(("x",)).labels() == ["x"]
    assert Units(("x", "y"), "s", ("um", "um")).rotation(0, 1) == "1/s"
    assert PLANE.rotation(0, 1) == ""  # a turn of um into um/s is no rate
    assert Units(("x", "y")).rotation(0, 1) == ""
