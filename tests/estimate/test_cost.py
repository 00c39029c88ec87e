"""What a long fit is announced with, and that many columns stay within bounds."""

from __future__ import annotations

import numpy as np
import pytest
from walks import walk

from wgsindy.data import Trajectories
from wgsindy.estimate import Order, cost, work_ahead
from wgsindy.estimate import evidence as evidence
from wgsindy.estimate.cost import PASSING, SEARCHING, expected_seconds
from wgsindy.estimate.likelihood.selection import MOST_POINTS, _grid


def test_only_long_work_is_announced() -> None:
    wide = Trajectories([walk(d=20, n=600)], 0.1)
    sentence = work_ahead("wide.csv", wide, "poly1")
    assert "599 steps of 20 states (x1, x2," in sentence
    assert "21 terms for each of 230 fields: about 15 s" in sentence
    assert work_ahead("plane.csv", Trajectories([walk()], 0.1), "poly2") == ""
    assert expected_seconds(wide, "poly2") > expected_seconds(wide, "poly1")
    long = Trajectories([walk(d=2, n=20_000)], 0.1)
    assert work_ahead("plane.csv", long, "poly2") == ""
    assert "4 states (x, y, v_x, v_y). 15 terms" in work_ahead("plane.csv", long, "poly2", 2)
    assert expected_seconds(long, ["x", "v_x"], 2) > 0  # a term of a velocity that is hidden


def test_a_grid_beyond_the_data_is_bounded_and_whole_where_it_is_small() -> None:
    axis = np.array([-1.0, 0.0, 1.0])
    assert len(_grid([axis] * 6)) == 3**6
    large = _grid([axis] * 20)
    assert len(large) <= MOST_POINTS + 41
    assert {tuple(row) for row in np.eye(20)} <= {tuple(row) for row in large}
    np.testing.assert_array_equal(large, _grid([axis] * 20))


def test_few_terms_of_many_are_solved_for_as_all_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    design = rng.normal(size=(200, 80))
    gram, cross = design.T @ design, design.T @ rng.normal(size=200)
    problem = evidence.Problem.from_sums(gram, cross, np.eye(80))
    supports = rng.random((50, 80)) < 0.05
    supports[0] = False
    few = problem.solve_all(supports), problem.covariances(supports)
    monkeypatch.setattr(evidence, "MANY_TERMS", 1000)
    whole = problem.solve_all(supports), problem.covariances(supports)
    for one, other in zip(few, whole, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)


@pytest.mark.parametrize(
    ("terms", "order", "expected"),
    [
        # N (d^3 + F K) of the passes and F K^3 of the search, with F = d + d (d + 1) / 2.
        ("poly1", 1, PASSING * 199 * (8 + 5 * 3) + SEARCHING * 5 * 3**3),
        ("poly2", 1, PASSING * 199 * (8 + 5 * 6) + SEARCHING * 5 * 6**3),
        ("auto", 1, cost.ROUNDS * (PASSING * 199 * (8 + 5 * 6) + SEARCHING * 5 * 6**3)),
        ("poly1", 2, cost.FILTERING * PASSING * 199 * (64 + 14 * 5) + SEARCHING * 14 * 5**3),
    ],
)
def test_what_a_fit_costs_by_hand(terms: str, order: Order, expected: float) -> None:
    data = Trajectories([walk(d=2, n=200)], 0.1)
    assert expected_seconds(data, terms, order) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("seconds", "words"), [(2.9, ""), (3.0, "3 s"), (99.0, "99 s"), (101.0, "2 min")]
)
def test_seconds_are_said_as_people_say_them(
    seconds: float, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "expected_seconds", lambda *_: seconds)
    said = work_ahead("a.csv", Trajectories([walk(d=1)], 0.1), "poly1")
    assert bool(said) == bool(words)
    assert f"about {words}. " in said or not words


def test_of_many_states_some_are_named_and_the_others_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cost, "expected_seconds", lambda *_: 10.0)
    for d, more in ((12, "x12). "), (13, "x12 and 1 more). ")):
        said = work_ahead("a.csv", Trajectories([walk(d=d)], 0.1), "poly1")
        assert f", x11, {more}{d + 1} terms for each" in said
    grown = work_ahead("a.csv", Trajectories([walk(d=1)], 0.1), "auto")
    assert "3 terms to begin with for each" in grown
