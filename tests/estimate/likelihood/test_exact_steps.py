"""When passes agree, what they take over, and on which data they begin."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pilots import set_pilots
from processes import linear
from working_models import model_of

from wgsindy.data import Trajectories
from wgsindy.errors import LibraryError
from wgsindy.estimate.likelihood import exact_steps
from wgsindy.estimate.likelihood.exact_steps import (
    FIRST_FLOOR,
    SAME_DRIFT,
    ExactSteps,
    _same,
    _worth,
    first_drift,
    fit_exact,
    in_residual_units,
    with_tensor,
    with_variance_floor,
)
from wgsindy.estimate.likelihood.improve import SAME_END
from wgsindy.estimate.likelihood.normal_equations import (
    EXTRA_VARIANCES,
    NormalPass,
    Runner,
    Sums,
    chunk_size,
)
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.selection import Extrapolation, TermSelection
from wgsindy.model import tensor
from wgsindy.passes import SERIAL, data_summary
from wgsindy.passes.engine import Threads
from wgsindy.recipes import SHARP, SHARP_EULER, LikelihoodRecipe
from wgsindy.terms import library

DRIFT = [{"x": -1.0, "y": 2.0}, {"1": 0.3, "x**2": -0.5}]
ENTRIES = [{"1": 0.5, "x": 0.1}, {"y": 0.2}, {"1": 0.4}]


def model() -> Process:
    return model_of(DRIFT, ENTRIES)


def sums() -> Sums:
    """Sums of two samples about :func:`model`, with all that says nothing left at zero."""
    found = NormalPass(model()).empty()
    found.count = 2
    for e, (p, q) in enumerate(tensor.pairs(2)):
        found.drift_gram[e] = (p == q) * (p + 1) * np.eye(found.drift_gram.shape[1])
    return found


def chosen(*best: list[bool]) -> list[Any]:
    return [SimpleNamespace(best=np.array(one)) for one in best]


TERMS = chosen([True, False], [False, True])


def same(later: Process, used: Process | None = None, left: Sums | None = None) -> bool:
    return _same(TERMS, TERMS, used or model(), later, left or sums())


def test_passes_agree_if_nothing_changes_in_whatever_units() -> None:
    assert same(model())
    assert same(model().in_units(np.array([3.0, 0.2])))


def test_passes_that_choose_other_terms_do_not_agree() -> None:
    other = chosen([True, False], [True, True])
    assert not _same(TERMS, other, model(), model(), sums())


@pytest.mark.parametrize(("share", "expected"), [(0.019, True), (0.021, False)])
def test_a_tensor_may_move_by_two_percent_of_its_largest_coefficient(
    share: float, expected: bool
) -> None:
    entries = model().entries.copy()
    entries[0, 3] += share * np.abs(entries[0]).max()
    assert same(replace(model(), entries=entries)) == expected


@pytest.mark.parametrize(("factor", "expected"), [(4.9, True), (5.1, False), (1 / 5.1, False)])
def test_low_noise_may_change_fivefold_where_there_is_any(factor: float, expected: bool) -> None:
    used = replace(model(), variance_floor=np.full(2, 0.03))
    whole = used.variance_floor + used.extra_variance
    later = replace(used, extra_variance=factor * whole - used.variance_floor)
    assert same(later, used)  # nobody asked
    asked = sums()
    asked.low_noise_likelihood[1, 4] = -1.0
    assert same(later, used, asked) == expected


@pytest.mark.parametrize(("share", "expected"), [(0.99, True), (1.01, False)])
def test_a_drift_of_a_process_may_move_by_what_is_worth_little(
    share: float, expected: bool
) -> None:
    # Half of the information, which is 1 of the first component and 2 of the second.
    change, least = np.zeros_like(model().drift), SAME_DRIFT * model().drift.size
    change[0, 1], change[1, 2] = np.sqrt(share * least), np.sqrt(share * least / 2)
    assert _worth(change, sums()) == pytest.approx(share * least)
    moved = replace(model(), drift=model().drift + change)
    assert same(moved) == expected
    chain = replace(model(), is_chain=True)
    assert same(replace(moved, is_chain=True), chain)  # its sums are exact whatever the drift


def test_other_units_are_the_same_fields() -> None:
    one = replace(model(), rounding=np.array([0.1, 0.2]), observation_noise=np.arange(1.0, 4.0))
    other = one.in_units(np.array([2.0, 0.25]))
    ratio = one.units / other.units
    square = tensor.entries_of(np.outer(ratio, ratio)[None])[0]
    np.testing.assert_allclose(other.drift, one.drift * ratio[:, None])
    np.testing.assert_allclose(other.entries, one.entries * square[:, None])
    np.testing.assert_allclose(other.observation_noise, one.observation_noise * square)
    np.testing.assert_allclose(other.rounding, one.rounding * ratio**2)


def test_units_are_those_of_residuals_where_there_is_noise() -> None:
    left = sums()
    left.residual[:] = [8.0, 18.0]  # of two samples
    quiet = replace(model(), noiseless_level=np.array([0.0, 1e-6]))
    np.testing.assert_allclose(in_residual_units(quiet, left).units, quiet.units * [2.0, 1.0])


def test_the_likeliest_extra_variance_is_taken_over_and_forced_floors_stay() -> None:
    left = sums()
    left.low_noise_likelihood[0, 3], left.low_noise_likelihood[1, 5] = 1.0, 2.0
    found: list[Any] = [SimpleNamespace(coefficients=np.full((1, 6), e + 1.0)) for e in range(3)]
    before = replace(model(), floor_forced=np.array([True, False]))
    later = with_tensor(before, left, found, variance_floor=0.02)
    np.testing.assert_array_equal(later.variance_floor, [FIRST_FLOOR, 0.02])
    np.testing.assert_array_equal(later.extra_variance, EXTRA_VARIANCES[[3, 5]])
    expected = np.full((3, 6), [[1.0], [2.0], [3.0]]) @ before.basis.from_physical
    np.testing.assert_allclose(later.entries, expected)
    assert not with_tensor(before, left, found).variance_floor[1]


def test_the_tensor_of_a_pilot_is_followed_where_it_is_not_small() -> None:
    found = with_variance_floor(model())
    np.testing.assert_array_equal(found.variance_floor, [FIRST_FLOOR, FIRST_FLOOR])
    np.testing.assert_array_equal(found.extra_variance, EXTRA_VARIANCES[[0, 0]])


@pytest.mark.parametrize(
    ("d", "terms", "expected"),
    [(2, 10, 8192), (3, 20, 500_000 // 240), (10, 66, 256)],
)
def test_chunks_are_as_long_as_the_cache_holds(d: int, terms: int, expected: int) -> None:
    assert chunk_size(d, terms, is_chain=True) == expected
    half = max(500_000 // (2 * d * (d + 1) * terms), 256)  # paths take as much space again
    assert chunk_size(d, terms, is_chain=False) == half


def test_much_data_begin_with_a_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    set_pilots(monkeypatch, 4, 10, 3)
    for steps, expected in ((119, 119), (120, 40)):
        run = Runner(linear(0, 1, trajectories=1, steps=steps), Threads(2), 64)
        found = run.on_pilot()
        assert found.data.n_increments == expected
        assert (found is run) == (steps == expected)
        assert found.engine == (run.engine if found is run else SERIAL)


def kernel_and_start(
    data: Trajectories, terms: str | list[str], recipe: LikelihoodRecipe = SHARP
) -> tuple[ExactSteps, Process]:
    basis, summary = library(terms).bind(data.names), data_summary(data, standardise=True)
    selection = TermSelection(basis, Extrapolation(basis, summary), recipe, None)
    is_chain = recipe.transition == "chain"
    work = basis.in_frame(summary.region) if basis.is_closed else basis
    run = Runner(data, SERIAL, 4096)
    return ExactSteps(selection, run), Process.start(work, summary, is_chain=is_chain)


def test_a_process_without_numbers_is_looked_at_in_vain() -> None:
    kernel, start = kernel_and_start(linear(0, 1), "poly2")
    assert kernel.begin(start) is not None
    for drift in (np.inf, np.nan):
        lost = replace(start, drift=np.full_like(start.drift, drift))
        assert kernel.look(lost, (), 0.0) is None
        assert kernel.begin(lost) is None


def test_a_look_says_what_to_do_next_and_ends_where_that_is_nothing() -> None:
    kernel, start = kernel_and_start(linear(0, 1), "poly2")
    first = kernel.begin(start)
    assert first is not None
    assert not kernel.ends(first, 0.0)  # nothing was chosen before
    last, passes = first, 0
    while not kernel.ends(last, 0.0):
        later = kernel.look(last.proposal, last.chosen, last.left)
        assert later is not None
        assert later.process.drift is last.proposal.drift
        last, passes = later, passes + 1
    assert passes <= 3
    # What was chosen before is what the process pays for; that of a start, what it asks for.
    assert first.paid == sum(one.paid[0] for one in first.chosen) > 0
    assert last.evidence > first.evidence
    # Of a linear process it is the drift that was put in, three times the state.
    drift = last.proposal.drift @ last.proposal.basis.values(np.array([[0.0], [1.0]])).T
    assert drift[0, 1] - drift[0, 0] == pytest.approx(-3.0 / last.proposal.units[0], rel=0.2)


def test_likelihoods_do_not_depend_on_the_units_of_the_noise() -> None:
    kernel, start = kernel_and_start(linear(0, 2), "poly2")
    first = kernel.begin(start)
    assert first is not None
    found = [
        kernel.look(first.proposal.in_units(first.proposal.units * np.array(factor)), (), 0.0)
        for factor in ([1.0, 1.0], [1.05, 0.95])
    ]
    assert found[0] is not None
    assert found[1] is not None
    # But for the soft floor, which is a share of the noise.
    assert found[1].log_likelihood == pytest.approx(found[0].log_likelihood, abs=1.0)


def test_a_term_that_is_nowhere_is_named() -> None:
    data = linear(0, 1)
    kernel, start = kernel_and_start(data, ["1", "x", "max(x - 1000, 0)"])
    with pytest.raises(LibraryError, match="is 0 at all 3200 samples"):
        kernel.begin(start)


@pytest.mark.parametrize(
    ("terms", "recipe", "roughly", "expected"),
    [
        ("poly3", SHARP, False, 4),  # the guess, the trapezoid rule, quadratic terms first, rest
        ("poly2", SHARP, False, 3),
        ("poly3", SHARP, True, 2),
        ("poly3", SHARP_EULER, False, 2),
    ],
)
def test_there_are_as_many_starts_as_may_lead_elsewhere(
    terms: str,
    recipe: LikelihoodRecipe,
    roughly: bool,
    expected: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel, start = kernel_and_start(linear(0, 1), terms, recipe)
    _, guess = first_drift(start, kernel)
    usual = fit_exact(start, guess, kernel.selection, kernel.run, roughly=roughly)
    ends: list[Any] = []

    def all_of(starts: Any) -> Any:
        ends.extend(one() for one in starts)
        return ends[-1]

    monkeypatch.setattr(exact_steps, "first_settled", all_of)
    fit_exact(start, guess, kernel.selection, kernel.run, roughly=roughly)
    assert len(ends) == expected
    # Data as kind as these lead to one end from everywhere.
    x = np.array([[-1.0], [0.0], [1.0]])
    fields = [
        (one.proposal.drift * one.proposal.units) @ one.proposal.basis.values(x).T
        for one in (usual, *ends)
    ]
    for end, field in zip(ends, fields[1:], strict=True):
        assert end.settled
        assert abs(end.evidence - usual.evidence) < SAME_END
        np.testing.assert_allclose(field, fields[0], atol=0.02)
