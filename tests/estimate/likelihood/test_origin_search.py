"""The search for an origin, on landscapes of evidence that are made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from working_models import linear_model

from wgsindy.data import FloatArray, Frame
from wgsindy.estimate.likelihood.selection import Posed, about_sparsest

CENTRE, SPREAD, START = 300.0, 2.0, 301.0
UNMOVED = "as it was"


@dataclass(frozen=True)
class Landscape:
    """Stands in for :class:`Posed`: evidence of the first of two coordinates, as a function."""

    evidence: Callable[[float], float]
    selection: Any
    rest: float
    other_terms: bool
    origin: FloatArray | None = None  # none before it is moved

    def about(self, origin: FloatArray) -> Landscape:
        return replace(self, origin=origin)

    def at_rest(self) -> FloatArray:
        return np.array([self.rest, 7.0])

    @property
    def worth(self) -> float:
        assert self.origin is not None
        return self.evidence(float(self.origin[0]))

    @property
    def supports(self) -> list[list[bool]]:
        return [[self.other_terms and self.origin is not None]]


def searched(
    worth: Callable[[float], float],
    *,
    rest: float = CENTRE,
    other_terms: bool = False,
    **selection: Any,
) -> Any:
    """Origin of the first of two coordinates, the other of which is not far from zero."""
    summary = SimpleNamespace(region=Frame(np.array([CENTRE, 0.1]), np.array([SPREAD, 1.0])))
    given = {"given": None, "extrapolation": SimpleNamespace(summary=summary)} | selection
    basis = given.pop("basis", SimpleNamespace(origin=np.array([START, 0.0]), is_closed=True))
    landscape: Any = Landscape(worth, SimpleNamespace(basis=basis, **given), rest, other_terms)
    origin = cast(Landscape, about_sparsest(landscape)).origin
    if origin is None:
        return UNMOVED
    assert origin[1] == 0.0  # not far from zero: never moved
    return float(origin[0])


@pytest.mark.parametrize("true", [299.37, 302.37, 297.7])
def test_the_best_point_is_found_on_a_grid_and_rounded_as_far_as_that_costs_nothing(
    true: float,
) -> None:
    # From 0.0224 on the log-evidence falls by more than 0.05: 0.01 of a spread is 0.02.
    def worth(x: float) -> float:
        return 1000.0 - 100 * (x - true) ** 2

    found = searched(worth)
    assert abs(found - true) <= 0.0224
    assert found == round(found, 2)


def test_a_point_where_the_drift_vanishes_is_tried_however_far_it_is() -> None:
    def worth(x: float) -> float:
        return 100.0 if abs(x - 312.0) < 0.01 else 0.0

    assert searched(worth, rest=312.0) == 312.0
    # Neither of the grids reaches there: 30 times 0.04 of a spread from the best that is known.
    assert searched(worth) == UNMOVED


@pytest.mark.parametrize(
    ("gained", "other_terms", "moved"),
    [(1.9, False, False), (2.1, False, True), (3.9, True, False), (4.1, True, True)],
)
def test_a_point_must_be_better_by_more_than_chance(
    gained: float, other_terms: bool, moved: bool
) -> None:
    def worth(x: float) -> float:
        return gained if abs(x - CENTRE) < 0.5 else 0.0

    found = searched(worth, other_terms=other_terms)
    assert found == (CENTRE if moved else UNMOVED)


def test_the_coarse_grid_reaches_a_spread_and_a_fifth() -> None:
    for true, reached in ((START + 2.4, True), (START - 2.4, True), (START + 2.7, False)):

        def worth(x: float, true: float = true) -> float:
            return 50.0 if abs(x - true) < 0.03 else float(x == START)

        found = searched(worth)
        assert (found != UNMOVED and abs(found - true) < 0.03) == reached


@pytest.mark.parametrize(
    "given",
    [
        {"given": np.ones((2, 2), dtype=bool)},
        {"basis": SimpleNamespace(origin=np.zeros(2), is_closed=True)},
        {"basis": SimpleNamespace(origin=np.array([START, 0.0]), is_closed=False)},
    ],
    ids=["given terms", "near zero", "no polynomials"],
)
def test_where_there_is_nothing_to_choose_nothing_is_searched(given: dict[str, Any]) -> None:
    assert searched(lambda x: -abs(x - CENTRE) * 1e3, **given) == UNMOVED


def rest_of(high: float) -> FloatArray:
    matrix, offset = np.array([[-1.0, 0.5], [0.2, -2.0]]), np.array([0.3, 1.0])
    model = linear_model(matrix, offset, np.eye(2))
    model.data_range.high[:] = high
    nothing: Any = None
    return Posed(nothing, model, nothing).at_rest()


def test_a_linear_drift_vanishes_where_it_should_or_at_the_edge_of_the_data() -> None:
    matrix, offset = np.array([[-1.0, 0.5], [0.2, -2.0]]), np.array([0.3, 1.0])
    np.testing.assert_allclose(rest_of(100.0), np.linalg.solve(matrix, -offset), rtol=1e-9)
    assert rest_of(0.1).max() <= 0.1


def test_points_are_tried_as_far_to_either_side() -> None:
    tried: list[float] = []

    def flat(x: float) -> float:
        tried.append(x)
        return 0.0

    assert searched(flat) == UNMOVED
    coarse, fine = 0.04 * np.arange(-30, 31), 0.01 * np.arange(-4, 5)
    expected = np.concatenate([coarse, fine, [(CENTRE - START) / SPREAD]])
    found = (np.array(tried) - START) / SPREAD
    assert set(np.round(found, 9).tolist()) == set(np.round(expected, 9).tolist())


def test_where_nothing_is_lost_the_number_of_fewest_digits_is_taken() -> None:
    # From 298.87 to 299.87 all points are as good; 300 is not among them, nor need it be 299.4.
    def plateau(x: float) -> float:
        return 50.0 if abs(x - 299.37) < 0.5 else 0.0

    assert searched(plateau, rest=299.37) == 299.0
    # A point alone is rounded all the same, to within 0.005 of a spread.
    assert searched(lambda x: 50.0 * (x == 299.3741), rest=299.3741) == 299.37
