"""When passes agree, what they take over, and on which data they begin."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from processes import linear
from working_models import model_of

from wgsindy.errors import DataError
from wgsindy.estimate.likelihood import iteration as reweighting
from wgsindy.estimate.likelihood import normal_equations
from wgsindy.estimate.likelihood.iteration import (
    FIRST_FLOOR,
    SAME_DRIFT,
    _same,
    _worth,
    in_residual_units,
    with_drift,
    with_tensor,
    with_variance_floor,
)
from wgsindy.estimate.likelihood.normal_equations import (
    EXTRA_VARIANCES,
    NormalPass,
    Runner,
    Sums,
    chunk_size,
)
from wgsindy.estimate.likelihood.process import Process
from wgsindy.model import tensor
from wgsindy.passes import SERIAL
from wgsindy.passes.engine import Threads

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


def test_a_drift_that_is_no_number_ends_the_passes() -> None:
    drift = np.zeros((2, 6))
    np.testing.assert_array_equal(with_drift(model(), drift).drift, drift)
    drift[1, 4] = np.nan
    with pytest.raises(DataError, match="the fit runs away"):
        with_drift(model(), drift)


@pytest.mark.parametrize(
    ("d", "terms", "expected"),
    [(2, 10, 8192), (3, 20, 500_000 // 240), (10, 66, 256)],
)
def test_chunks_are_as_long_as_the_cache_holds(d: int, terms: int, expected: int) -> None:
    assert chunk_size(d, terms, is_chain=True) == expected
    half = max(500_000 // (2 * d * (d + 1) * terms), 256)  # paths take as much space again
    assert chunk_size(d, terms, is_chain=False) == half


def test_much_data_begin_with_a_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MANY", 3), ("PIECES", 4), ("PIECE", 10)):
        monkeypatch.setattr(normal_equations, name, value)
    for steps, expected in ((119, 119), (120, 40)):
        run = Runner(linear(0, 1, trajectories=1, steps=steps), Threads(2), 64)
        found = run.on_pilot()
        assert found.data.n_increments == expected
        assert (found is run) == (steps == expected)
        assert found.engine == (run.engine if found is run else SERIAL)


@pytest.mark.parametrize(
    ("most", "expected"),
    [(20.0, [17.0]), (6.0, [17.0, 9.0, 5.0]), (4.0, [17.0, 9.0, 5.0, 3.0]), (2.0, None)],
)
def test_a_step_on_which_paths_run_away_is_halved_until_they_do_not(
    most: float, expected: list[float] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = model()
    later = replace(used.in_units(2 * used.units), drift=used.drift * 8.5)  # 17 times as much
    tried: list[float] = []

    def runs_away(one: Process, _: object) -> Any:
        size, before = (np.abs(m.drift * m.units[:, None]).max() for m in (one, used))
        tried.append(float(size / before))
        if tried[-1] > most:
            raise DataError("the fit runs away.")
        return one

    monkeypatch.setattr(reweighting, "_safe_equations", runs_away)
    run: Any = None
    if expected is None:
        with pytest.raises(DataError, match="runs away"):
            reweighting._halved(used, later, run)
    else:
        reweighting._halved(used, later, run)
        np.testing.assert_allclose(tried, expected)
