"""Leverage, curl and validity at the samples: values by hand, bands by how often they hold."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import sympy

from wgsindy import Generator, WGSINDy, zoo
from wgsindy.data.arrays import frozen
from wgsindy.model.readout_bands import ReadOut, readouts
from wgsindy.model.tensor import TensorField

X, Y, Z = sympy.symbols("x y z")
SEEDS = 60
# Of 60 intervals at 95 %, fewer than 51 hold with probability 1e-4.
LEAST = 51


def by_name(found: list[ReadOut]) -> dict[str, ReadOut]:
    return {item.name: item for item in found}


def test_values_by_hand_in_three_dimensions() -> None:
    tensor = [[4, 1, 0], [1, 1, 0], [0, 0, 1]]
    truth = Generator.from_sympy(("x", "y", "z"), [-3 * Y, X + Z**2, 0], tensor)
    states = np.column_stack([np.zeros((3, 2)), [0.0, 1.0, 5.0]])
    found = by_name(readouts(truth, states))
    assert found["leverage of x and y"].value == pytest.approx(0.5)
    assert found["leverage of x and z"].value == 0
    assert found["curl of x and y"].value == pytest.approx((1 + 3) / 2)
    # (d_y b_z - d_z b_y) / 2 = -z, of which the median state has -1.
    assert found["curl of y and z"].value == pytest.approx(-1)
    assert all(math.isnan(item.low) and math.isnan(item.high) for item in found.values())
    assert len(found) == 7


def test_one_coordinate_has_neither_leverage_nor_curl() -> None:
    truth = Generator.from_sympy(("x",), [-X], [[1]])
    assert [item.name for item in readouts(truth, np.zeros((4, 1)))] == [
        "positive semidefinite before clipping"
    ]


def test_validity_is_that_of_the_formula_and_not_of_the_clipped_tensor() -> None:
    truth = Generator.from_sympy(("x", "y"), [-X, -Y], [[X, 0], [0, 1]])
    clipped = TensorField("clipped", truth.tensor_field.coefficients, 0.0, frozen(np.ones(2)))
    generator = Generator(truth.basis, truth.drift_coefficients, clipped)
    states = np.column_stack([[-3.0, -1.0, 1.0, 2.0], np.zeros(4)])
    assert readouts(generator, states)[-1].value == 0.5


@cache
def fitted(seed: int) -> tuple[dict[str, ReadOut], int]:
    system = zoo.get("spiral_sink_corr")
    data = system.simulate(seed, trajectories=8, steps=1600)
    est = WGSINDy(system.library, "sharp-euler").fit(data)
    return by_name(readouts(est.generator_, data.states)), data.n_increments


def holds(name: str, true: float) -> int:
    found = [fitted(seed)[0][name] for seed in range(SEEDS)]
    return sum(item.low <= true <= item.high for item in found)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("name", "true"), [("leverage of x and y", -0.5), ("curl of x and y", 1.5)]
)
def test_bands_hold_the_truth(name: str, true: float) -> None:
    assert holds(name, true) >= LEAST
    # And they do not hold everything: one and a half widths away is outside of most.
    widths = [fitted(seed)[0][name] for seed in range(SEEDS)]
    apart = float(np.median([item.high - item.low for item in widths]))
    assert holds(name, true + 1.5 * apart) < SEEDS // 4


@pytest.mark.slow
@pytest.mark.statistical
def test_the_band_of_a_leverage_is_that_of_a_correlation() -> None:
    # Standard error (1 - rho^2) / sqrt(n), and a little more for terms that are left open: entries
    # with errors of their own would give 1.6 times as much.
    for seed in range(5):
        found, n = fitted(seed)
        item = found["leverage of x and y"]
        expected = 2 * 1.96 * (1 - item.value**2) / math.sqrt(n)
        assert 0.95 < (item.high - item.low) / expected < 1.3


def test_a_covariance_that_was_not_selected_says_so() -> None:
    system = zoo.get("rotational_ou")
    data = system.simulate(0, trajectories=4, steps=400)
    est = WGSINDy(system.library, "sharp-euler").fit(data)
    found = by_name(readouts(est.generator_, data.states))
    assert found["leverage of x and y"].text == "0 (no term was selected)"
    assert "to" in found["curl of x and y"].text
    assert found["positive semidefinite before clipping"].text == "100 %"


def test_the_paper_s_recipe_has_values_without_bands() -> None:
    system = zoo.get("correlated_ou")
    data = system.simulate(0, trajectories=4, steps=400)
    found = readouts(WGSINDy(system.library, "paper").fit(data).generator_, data.states)
    assert all(math.isnan(item.low) for item in found)
    assert found[-1].text == "100 %"
