"""Steps that are finer than the digits of the samples."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy.data import Trajectories
from wgsindy.errors import RoundedSamplesWarning
from wgsindy.estimate import fit_dataset
from wgsindy.estimate.fit import _within_digits
from wgsindy.estimate.result import FEWEST_INCREMENTS
from wgsindy.passes import SERIAL, DataSummary, data_summary
from wgsindy.recipes import LikelihoodRecipe


def stairs(share: float, steps: int, width: float = 0.5) -> Trajectories:
    """Whole numbers of ``width``; so large a ``share`` of the steps goes up or down by one."""
    up = np.zeros(steps)
    moving = np.floor(np.arange(round(share * steps)) / share).astype(int)
    up[moving] = np.where(np.arange(len(moving)) // 20 % 2, -1, 1)
    return Trajectories([width * np.append(0.0, np.cumsum(up))[:, None]], 0.1)


def within(data: Trajectories) -> tuple[Trajectories, DataSummary]:
    found, summary = _within_digits(data, data_summary(data, standardise=True), SERIAL)
    assert isinstance(found, Trajectories)
    return found, summary


@pytest.mark.parametrize(
    ("share", "every"),
    [
        # Squares of increments in widths of the grid are the share s. On a wide grid the variance
        # of a true one is (s / 0.8)^2, on another s - 1/6; every so many are together 1.5 widths.
        (0.1, 29),  # (0.8 / 0.1)^2 / 2.25 = 28.4
        (0.25, 5),  # 0.25 - 1/6 is below a tenth: (0.8 / 0.25)^2 / 2.25 = 4.6
        (0.31, 4),  # 1 / (0.31 - 1/6) / 2.25 = 3.1
        (0.5, 2),  # 1 / (0.5 - 1/6) / 2.25 = 1.3
    ],
)
def test_samples_are_left_out_until_steps_are_as_wide_as_the_grid(share: float, every: int) -> None:
    data = stairs(share, 3000)
    with pytest.warns(RoundedSamplesWarning, match=f"a grid of 0.5 is .* Every {every}th sample"):
        found, summary = within(data)
    np.testing.assert_array_equal(found[0], data[0][::every])
    assert summary.every == every
    np.testing.assert_allclose(summary.frame.scale, found.states.std(axis=0), rtol=0.01)


def test_steps_as_wide_as_the_grid_stay() -> None:
    data = stairs(0.7, 3000)  # 1 / (0.7 - 1/6) / 2.25 = 0.8
    assert within(data)[0] is data
    fine = Trajectories([np.random.default_rng(0).normal(size=(300, 1)).cumsum(axis=0)], 0.1)
    assert within(fine)[0] is fine


def test_so_few_that_none_may_be_left_out_stay() -> None:
    least = 29 * FEWEST_INCREMENTS
    data = stairs(0.1, least - 10)
    assert within(data)[0] is data
    with pytest.warns(RoundedSamplesWarning):
        assert within(stairs(0.1, least))[0].n_increments == FEWEST_INCREMENTS


def test_samples_that_are_said_to_have_no_noise_are_all_fitted() -> None:
    rng = np.random.default_rng(0)
    x = np.zeros(6001)
    for n in range(6000):
        x[n + 1] = 0.98 * x[n] + 0.3 * rng.standard_normal()
    data = Trajectories([np.round(x)[:, None]], 0.1)
    exact = fit_dataset(data, "poly1", LikelihoodRecipe(noise_correction=False))
    assert (exact.summary.every, exact.data.n_increments) == (1, 6000)
    with pytest.warns(RoundedSamplesWarning):
        thinned = fit_dataset(data, "poly1")
    assert thinned.summary.every > 1
    assert thinned.data.n_increments == 6000 // thinned.summary.every
