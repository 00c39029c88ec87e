"""The one iteration, with a toy kernel: a likelihood of one number that has several summits."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from working_models import model_of

from wgsindy.data import FloatArray
from wgsindy.estimate.likelihood.improve import (
    FALLEN,
    LEAST_LEVEL,
    MOST_HALVINGS,
    SAME_END,
    Iterate,
    constant_tensor,
    first_settled,
    improve,
    made_positive,
    midway,
    paid_for,
)
from wgsindy.estimate.likelihood.process import Process
from wgsindy.model import tensor

MANY = settings(max_examples=200, deadline=None, derandomize=True)
BASE = model_of([{"x": -1.0}], [{"1": 0.5}])
BUDGET = 30
SETTLED = 1e-3  # change that is not worth another pass


def at(place: float) -> Process:
    return replace(BASE, drift=np.array([[0.0, place, 0.0]]))


def place_of(process: Process) -> float:
    return float(process.drift[0, 1])


@dataclass
class Toy:
    """Proposes from a place another one; ``terms`` says what is chosen at a place, and its cost."""

    likelihood: Callable[[float], float]
    towards: Callable[[float], float]
    terms: Callable[[float], tuple[bool, float]] = lambda place: (True, 0.0)
    budget: int = BUDGET
    seen: list[Iterate[None]] = field(default_factory=list)
    looks: int = 0

    def look(self, process: Process, earlier: Sequence[Any], before: float) -> Iterate[None] | None:
        self.looks += 1
        place = place_of(process)
        likelihood = self.likelihood(place)
        if not np.isfinite(likelihood):
            return None
        has, cost = self.terms(place)
        chosen: list[Any] = [SimpleNamespace(best=np.array([has]), paid=np.array([cost]))]
        later = self.towards(place)
        same = bool(earlier) and bool(earlier[0].best[0]) == has
        nothing: Any = Unasked()
        self.seen.append(
            Iterate(
                process,
                None,
                nothing,
                chosen,
                at(later),
                likelihood,
                paid_for(earlier or chosen),
                abs(later - place),
                settled=same and abs(later - place) < SETTLED,
            )
        )
        return self.seen[-1]

    def ends(self, last: Iterate[None], before: float) -> bool:
        return last.settled

    @property
    def taken(self) -> list[Iterate[None]]:
        """The iterates that were gone on from."""
        return [
            one for one in self.seen if any(other.process is one.proposal for other in self.seen)
        ]

    def improved(self, place: float) -> Iterate[None] | None:
        return improve(self.look(at(place), (), 0.0), self)


class Unasked:
    """Stands in for normal equations, of which only their solution is set."""

    def solved_by(self, drift: FloatArray, entries: FloatArray) -> Unasked:
        return self


def hills(place: float) -> float:
    """Summits near multiples of two thirds of pi, the highest at zero."""
    return float(50 * np.cos(3 * place) - 5 * place**2)


def slope(place: float) -> float:
    return float(-150 * np.sin(3 * place) - 10 * place)


def newton(information: float) -> Callable[[float], float]:
    """Steps by an information that is not that of this place: too long, if it is too small."""
    return lambda place: place + slope(place) / information


@MANY
@given(start=st.floats(-6, 6), information=st.floats(5, 2000), cost=st.floats(0, 30))
def test_no_step_loses_more_than_it_may(start: float, information: float, cost: float) -> None:
    toy = Toy(hills, newton(information), lambda place: (abs(place) < 1, cost * (abs(place) < 1)))
    end = toy.improved(start)
    assert end is not None
    assert toy.looks <= BUDGET + MOST_HALVINGS
    path = [*toy.taken, end]
    for one, other in itertools.pairwise(path):
        assert other.evidence >= one.evidence - FALLEN
    if end.settled:
        assert abs(slope(place_of(end.process))) < information * SETTLED


@MANY
@given(start=st.floats(-6, 6), information=st.floats(225, 2000))
def test_steps_that_are_at_most_twice_too_long_end_on_a_summit(
    start: float, information: float
) -> None:
    toy = Toy(hills, newton(information))
    end = toy.improved(start)
    assert end is not None
    assert end.evidence >= toy.seen[0].evidence - 1e-6 or not end.settled
    if toy.looks < BUDGET:
        assert end.settled


@MANY
@given(start=st.floats(-6, 6), information=st.floats(5, 400))
def test_what_is_handed_back_is_nearly_the_best_that_was_seen(
    start: float, information: float
) -> None:
    """At a fixed set of terms, with steps up to ninety times too long."""
    toy = Toy(hills, newton(information))
    end = toy.improved(start)
    assert end is not None
    assert end.evidence >= max(one.evidence for one in toy.seen) - FALLEN


def test_good_steps_are_taken_whole_and_said_to_be() -> None:
    toy = Toy(hills, newton(460.0))  # the second derivative at the summit
    end = toy.improved(0.3)
    assert end is not None
    assert end.settled
    assert place_of(end.process) == pytest.approx(0.0, abs=SETTLED)
    assert toy.looks < 8


def test_a_shortened_step_is_halved_until_it_does_not_lose() -> None:
    # From 1 towards 17, where nothing is likely beyond 3.
    toy = Toy(lambda place: -100.0 * (place > 3), lambda place: place + 16 * (place < 1.5))
    end = toy.improved(1.0)
    assert end is not None
    assert [place_of(one.process) for one in toy.seen] == [1.0, 17.0, 9.0, 5.0, 3.0]
    assert end.settled


@pytest.mark.parametrize("worse", [-100.0, np.nan, -np.inf])
def test_where_no_shorter_step_is_better_the_end_is_where_it_was(worse: float) -> None:
    toy = Toy(lambda place: 0.0 if place == 1.0 else worse, lambda place: 17.0)
    end = toy.improved(1.0)
    assert end is not None
    assert place_of(end.process) == 1.0
    assert not end.settled  # which asks for other starts
    assert toy.looks == 2 + MOST_HALVINGS


def test_a_loss_that_is_allowed_is_taken() -> None:
    for loss, expected in ((FALLEN - 0.1, 2.0), (FALLEN + 0.1, 1.0)):
        toy = Toy(lambda place, lost=loss: -lost * (place > 1), lambda place: 2.0)  # type: ignore[misc]
        end = toy.improved(1.0)
        assert end is not None
        assert place_of(end.process) == expected


def test_nothing_is_made_of_nothing() -> None:
    toy = Toy(lambda place: np.nan, lambda place: place)
    assert toy.improved(1.0) is None
    assert toy.looks == 1


@pytest.mark.parametrize("budget", [1, 2, 7, BUDGET])
def test_it_ends_with_the_budget(budget: int) -> None:
    toy = Toy(lambda place: place, lambda place: place + 1, budget=budget)
    end = toy.improved(0.0)
    assert end is not None
    assert toy.looks == budget
    assert place_of(end.process) == budget - 1
    assert not end.settled


@pytest.mark.parametrize("better", [0.0, 1.0])
def test_two_sets_of_terms_that_ask_for_each_other_are_an_end(better: float) -> None:
    """At one the term is chosen, at zero it is not, and each proposes the other."""
    likelihood = {0.0: 2.0 * (better == 0.0), 1.0: 2.0 * (better == 1.0)}
    toy = Toy(
        lambda place: likelihood[place], lambda place: 1 - place, lambda place: (place > 0, 0.0)
    )
    end = toy.improved(0.0)
    assert end is not None
    assert toy.looks == 3
    # What is handed over is what the last pass proposes: that of the better process.
    assert place_of(end.proposal) == better or end.evidence == 2.0


def test_a_round_that_gains_is_gone_again() -> None:
    """The same two sets, but each round is worth more than ends may differ by."""
    toy = Toy(
        lambda place: 2 * SAME_END * place,
        lambda place: place + 1,
        lambda place: (place % 2 > 0, 0.0),
        budget=9,
    )
    assert toy.improved(0.0) is not None
    assert toy.looks == 9


def ended(evidence: float, *, settled: bool = False) -> Any:
    nothing: Any = Unasked()
    return Iterate(BASE, None, nothing, [], BASE, evidence + 7.0, 7.0, 0.0, settled)


@pytest.mark.parametrize(
    ("ends", "best", "tried"),
    [
        ([ended(1.0, settled=True), ended(50.0)], 0, 1),  # what has settled is not questioned
        ([ended(1.0), ended(2.0, settled=True), ended(99.0, settled=True)], 1, 2),
        ([ended(50.0), ended(48.0), ended(49.0)], 0, 3),
        ([ended(1.0), ended(3.0), ended(2.0)], 1, 3),
        ([None, ended(1.0), ended(2.0)], 2, 3),
        ([None, ended(1.0), None], 1, 3),
        ([None, None], None, 2),
    ],
)
def test_the_first_end_that_settles_is_taken_or_that_of_most_evidence(
    ends: list[Any], best: int | None, tried: int
) -> None:
    asked: list[int] = []

    def start(number: int) -> Any:
        asked.append(number)
        return ends[number]

    found = first_settled([lambda k=k: start(k) for k in range(len(ends))])  # type: ignore[misc]
    assert asked == list(range(tried))
    assert found is (None if best is None else ends[best])


def test_what_is_likelier_by_less_than_its_terms_cost_is_no_better() -> None:
    plain, rich = ended(1.0), ended(0.5)._replace(log_likelihood=20.0, paid=19.5)
    assert (plain.evidence, rich.evidence) == (1.0, 0.5)
    assert first_settled([lambda: rich, lambda: plain]) is plain
    # Nor is a step that loses likelihood by dropping a dear term any worse.
    toy = Toy(
        lambda place: -20.0 * (place == 2.0),
        lambda place: min(place + 1, 2.0),
        lambda place: (place == 0.0, 30.0 * (place == 0.0)),
    )
    end = toy.improved(0.0)
    assert end is not None
    assert place_of(end.process) == 2.0


def test_midway_is_the_mean_of_all_that_is_estimated_in_whatever_units() -> None:
    one = model_of([{"x": -1.0}], [{"1": 0.5}], noise=np.array([0.1]))
    other = model_of([{"x": -3.0}], [{"1": 1.5}], noise=np.array([0.5]))
    half = model_of([{"x": -2.0}], [{"1": 1.0}], noise=np.array([0.3]))
    for factor in (1.0, 4.0):
        found = midway(one.in_units(one.units * factor), other)
        np.testing.assert_array_equal(found.units, other.units)
        for name in ("drift", "entries", "observation_noise"):
            np.testing.assert_allclose(getattr(found, name), getattr(half, name), rtol=1e-14)


def test_midway_of_a_start_without_a_tensor_has_one() -> None:
    start = replace(BASE, entries=np.zeros_like(BASE.entries))
    found = midway(start, BASE)
    expected = (constant_tensor(start) + BASE.entries) / 2
    np.testing.assert_allclose(found.entries, expected)
    assert tensor.has_root(values(found)).all()


def values(process: Process) -> FloatArray:
    """Entries ``(E, n)`` of the tensor at states that were probed."""
    return np.asarray(process.entries @ process.basis.values(process.data_range.probe).T)


def plane(terms: str | list[str] = "poly2") -> Process:
    name = "x" if "x" in terms or terms == "poly2" else "exp(x)"
    return model_of([{name: -1.0}, {name: 0.3}], [{name: 0.1}] * 3, terms=terms)


def test_a_constant_tensor_is_one_everywhere() -> None:
    np.testing.assert_allclose(values(replace(plane(), entries=constant_tensor(plane()))),
                               np.tile([[1.0], [0.0], [1.0]], 50), atol=1e-12)  # fmt: skip
    levels = np.array([0.3, 2.0])
    found = values(replace(plane(), entries=constant_tensor(plane(), levels)))
    np.testing.assert_allclose(found, np.tile([[0.3], [0.0], [2.0]], 50), atol=1e-12)


def test_a_coordinate_without_noise_has_no_constant_tensor() -> None:
    quiet = replace(plane(), noiseless_level=np.array([1e-6, 0.0]))
    found = values(replace(quiet, entries=constant_tensor(quiet)))
    np.testing.assert_allclose(found, np.tile([[0.0], [0.0], [1.0]], 50), atol=1e-12)


def test_a_library_without_a_constant_comes_as_near_as_it_can() -> None:
    process = plane(["exp(x)", "exp(-x)", "y"])
    theta = process.basis.values(process.data_range.probe)
    found = values(replace(process, entries=constant_tensor(process)))
    expected = theta @ np.linalg.lstsq(theta, np.ones(len(theta)))[0]
    np.testing.assert_allclose(found, np.stack([expected, 0 * expected, expected]), atol=1e-12)
    assert abs(found[0].mean() - 1) < 0.2


def clipped(process: Process) -> float:
    return float(np.mean(~tensor.has_root(values(process))))


@MANY
@given(d=st.integers(1, 3), seed=st.integers(0, 2**16), size=st.floats(-3, 3), most=st.floats(0, 1))
def test_most_states_have_a_tensor_afterwards(d: int, seed: int, size: float, most: float) -> None:
    names = ("x", "y", "z")[:d]
    e = d * (d + 1) // 2
    process = model_of([{one: -1.0} for one in names], [{"1": 0.5}] * e)
    entries = np.random.default_rng(seed).normal(size=process.entries.shape) * 10.0**size
    process = replace(process, entries=entries)
    found = made_positive(process, most)
    assert clipped(found) <= most
    if clipped(process) <= most:
        assert found is process
        return
    # No further from what it was than it must be: the rest is the same everywhere.
    own = [tensor.entry_number(p, p) for p in range(d)]
    levels = np.maximum(np.median(values(process)[own], axis=1), LEAST_LEVEL)
    constant = values(replace(process, entries=constant_tensor(process, levels)))
    shares = [0.1, 0.3, 0.6, 0.9, 1.0]
    mixed = [(1 - share) * values(process) + share * constant for share in shares]
    first = next(one for one in mixed if np.mean(~tensor.has_root(one)) <= most)
    np.testing.assert_allclose(values(found), first, atol=1e-9 * np.abs(first).max())


def test_what_terms_cost_is_summed_over_fields() -> None:
    fields: list[Any] = [SimpleNamespace(paid=np.array([2.0, 9.0])), SimpleNamespace(paid=[0.5])]
    assert paid_for(fields) == 2.5
    assert paid_for([]) == 0.0
