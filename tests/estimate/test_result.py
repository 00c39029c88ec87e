"""What is refused before and after a fit, and from which number on."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy
from processes import DT, linear

from wgsindy.data import Trajectories
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.estimate import Fit, fit_dataset
from wgsindy.estimate.result import (
    check_error_bars,
    check_length,
    check_seen,
    check_sizes,
    check_terms,
)
from wgsindy.model import Generator


@cache
def plain() -> Fit:
    return fit_dataset(linear(0), "poly1")


def steps(count: int) -> Trajectories:
    return linear(0, 1, trajectories=1, steps=count)


def test_there_must_be_as_many_increments_as_terms_and_fifty() -> None:
    check_terms(steps(10), 10)
    with pytest.raises(NotEnoughDataError, match="9 increments cannot determine 10 terms"):
        check_terms(steps(9), 10)
    check_length(steps(50))
    with pytest.raises(NotEnoughDataError, match="49 increments are too few"):
        check_length(steps(49))


def test_a_coordinate_must_have_been_measured_fifty_times() -> None:
    data = linear(0, trajectories=1, steps=100)
    check_seen(data)
    for count, refused in ((50, False), (49, True)):
        seen = np.arange(101)[:, None] < [101, count]
        if not refused:
            check_seen(data.marked(seen, 1))
            continue
        with pytest.raises(NotEnoughDataError, match="'y' has a value in 49 of 101 samples"):
            check_seen(data.marked(seen, 1))
        check_seen(data.marked(seen, 2))  # nobody measures velocities


@pytest.mark.parametrize(("rate", "refused"), [(-29.9, False), (-30.1, True), (30.1, False)])
def test_a_rate_that_leaves_nothing_of_a_step_is_refused(rate: float, refused: bool) -> None:
    drift = plain().generator.drift_coefficients.copy()
    drift[1, plain().generator.basis.terms.index("y")] = rate / DT
    fit = replace(plain(), generator=replace(plain().generator, drift_coefficients=drift))
    if refused:
        with pytest.raises(DataError, match=r"the rate of y came out as -3\.01e"):
            check_sizes(fit)
    else:
        check_sizes(fit)


@pytest.mark.parametrize(("times", "refused"), [(0.99e6, False), (1.01e6, True), (-1.01e6, True)])
def test_a_variance_out_of_all_proportion_is_refused(times: float, refused: bool) -> None:
    generator, summary = plain().generator, plain().summary
    entries = generator.tensor_field.coefficients.copy()
    entries[2] = 0.0
    entries[2, 0] = times * summary.variation[1] * summary.frame.scale[1] ** 2
    field = replace(generator.tensor_field, coefficients=entries)
    fit = replace(plain(), generator=replace(generator, tensor_field=field))
    if refused:
        with pytest.raises(DataError, match="the variance of y came out as"):
            check_sizes(fit)
    else:
        check_sizes(fit)


@pytest.mark.parametrize("size", [0.0, np.inf])
@pytest.mark.parametrize(
    ("name", "what"), [("drift_covariance", "drift of x"), ("entry_covariance", "tensor")]
)
def test_an_error_bar_of_nothing_or_of_no_end_is_refused(name: str, what: str, size: float) -> None:
    check_error_bars(plain())
    bars = plain().generator.uncertainty
    assert bars is not None
    odd = replace(bars, **{name: np.full_like(getattr(bars, name), size)})
    fit = replace(plain(), generator=replace(plain().generator, uncertainty=odd))
    with pytest.raises(
        DataError, match=f"the error bar of .* in the {what} came out as {size:.3g}"
    ):
        check_error_bars(fit)


def test_of_positions_error_bars_are_asked_of_the_force_alone() -> None:
    x, v = sympy.symbols("x v")
    spring = Generator.from_sympy(("x", "v"), [v, -x - v / 2], [[0, 0], [0, 0.4]])
    path = spring.simulate([1, 0], dt=0.01, steps=10_000, random_state=0).states[::5, :1]
    fit = fit_dataset(Trajectories(path, 0.05, names=("x",)), "poly1", order=2)
    bars, d = fit.generator.uncertainty, 2
    assert bars is not None
    assert not bars.std_errors()[: d // 2].any()
    check_error_bars(fit)
    odd = replace(bars, drift_covariance=np.zeros_like(bars.drift_covariance))
    with pytest.raises(DataError, match="in the drift of v_x came out as 0"):
        check_error_bars(replace(fit, generator=replace(fit.generator, uncertainty=odd)))
