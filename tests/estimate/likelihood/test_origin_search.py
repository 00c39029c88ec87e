"""The search for an origin, on landscapes of evidence that are made up."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from working_models import linear_model

from wgsindy.data import FloatArray, Frame
from wgsindy.estimate.likelihood import origin_search
from wgsindy.estimate.likelihood.origin_search import _at_rest, about_sparsest

CENTRE, SPREAD, START = 300.0, 2.0, 301.0
UNMOVED = "as it was"


def searched(
    worth: Callable[[float], float],
    monkeypatch: pytest.MonkeyPatch,
    *,
    rest: float = CENTRE,
    other_terms: bool = False,
    **selection: Any,
) -> Any:
    """Origin of the first of two coordinates, the other of which is not far from zero."""
    summary = SimpleNamespace(region=Frame(np.array([CENTRE, 0.1]), np.array([SPREAD, 1.0])))
    given = {"given": None, "extrapolation": SimpleNamespace(summary=summary)} | selection
    basis = given.pop("basis", SimpleNamespace(origin=np.array([START, 0.0]), is_closed=True))
    chosen: Any = SimpleNamespace(basis=basis, **given)

    def supports(where: Any, _: Any) -> list[list[bool]]:
        return [[other_terms and where is not before]]

    before: Any = SimpleNamespace(model=None)
    monkeypatch.setattr(origin_search, "_about", lambda last, one, origin: (origin, one))
    monkeypatch.setattr(origin_search, "_worth", lambda origin, _: worth(float(origin[0])))
    monkeypatch.setattr(origin_search, "_supports", supports)
    monkeypatch.setattr(origin_search, "_at_rest", lambda _: np.array([rest, 7.0]))
    found: Any = about_sparsest(before, chosen)[0]
    if found is before:
        return UNMOVED
    assert found[1] == 0.0  # not far from zero: never moved
    return float(found[0])


@pytest.mark.parametrize("true", [299.37, 302.37, 297.7])
def test_the_best_point_is_found_on_a_grid_and_rounded_as_far_as_that_costs_nothing(
    true: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # From 0.0224 on the log-evidence falls by more than 0.05: 0.01 of a spread is 0.02.
    def worth(x: float) -> float:
        return 1000.0 - 100 * (x - true) ** 2

    found = searched(worth, monkeypatch)
    assert abs(found - true) <= 0.0224
    assert found == round(found, 2)


def test_a_point_where_the_drift_vanishes_is_tried_however_far_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def worth(x: float) -> float:
        return 100.0 if abs(x - 312.0) < 0.01 else 0.0

    assert searched(worth, monkeypatch, rest=312.0) == 312.0
    # Neither of the grids reaches there: 30 times 0.04 of a spread from the best that is known.
    assert searched(worth, monkeypatch) == UNMOVED


@pytest.mark.parametrize(
    ("gained", "other_terms", "moved"),
    [(1.9, False, False), (2.1, False, True), (3.9, True, False), (4.1, True, True)],
)
def test_a_point_must_be_better_by_more_than_chance(
    gained: float, other_terms: bool, moved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def worth(x: float) -> float:
        return gained if abs(x - CENTRE) < 0.5 else 0.0

    found = searched(worth, monkeypatch, other_terms=other_terms)
    assert found == (CENTRE if moved else UNMOVED)


def test_the_coarse_grid_reaches_a_spread_and_a_fifth(monkeypatch: pytest.MonkeyPatch) -> None:
    for true, reached in ((START + 2.4, True), (START - 2.4, True), (START + 2.7, False)):

        def worth(x: float, true: float = true) -> float:
            return 50.0 if abs(x - true) < 0.03 else float(x == START)

        found = searched(worth, monkeypatch)
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
def test_where_there_is_nothing_to_choose_nothing_is_searched(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert searched(lambda x: -abs(x - CENTRE) * 1e3, monkeypatch, **given) == UNMOVED


def rest_of(high: float) -> FloatArray:
    matrix, offset = np.array([[-1.0, 0.5], [0.2, -2.0]]), np.array([0.3, 1.0])
    model = linear_model(matrix, offset, np.eye(2))
    model.place.high[:] = high
    return _at_rest(model)


def test_a_linear_drift_vanishes_where_it_should_or_at_the_edge_of_the_data() -> None:
    matrix, offset = np.array([[-1.0, 0.5], [0.2, -2.0]]), np.array([0.3, 1.0])
    np.testing.assert_allclose(rest_of(100.0), np.linalg.solve(matrix, -offset), rtol=1e-9)
    assert rest_of(0.1).max() <= 0.1


def test_points_are_tried_as_far_to_either_side(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[float] = []

    def flat(x: float) -> float:
        tried.append(x)
        return 0.0

    assert searched(flat, monkeypatch) == UNMOVED
    coarse, fine = 0.04 * np.arange(-30, 31), 0.01 * np.arange(-4, 5)
    expected = np.concatenate([coarse, fine, [(CENTRE - START) / SPREAD]])
    found = (np.array(tried) - START) / SPREAD
    assert set(np.round(found, 9).tolist()) == set(np.round(expected, 9).tolist())


def test_where_nothing_is_lost_the_number_of_fewest_digits_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # From 298.87 to 299.87 all points are as good; 300 is not among them, nor need it be 299.4.
    def plateau(x: float) -> float:
        return 50.0 if abs(x - 299.37) < 0.5 else 0.0

    assert searched(plateau, monkeypatch, rest=299.37) == 299.0
    # A point alone is rounded all the same, to within 0.005 of a spread.
    assert searched(lambda x: 50.0 * (x == 299.3741), monkeypatch, rest=299.3741) == 299.37
