"""Intervals from draws, grid errors from two grids, and the models that have a name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wgsindy import zoo
from wgsindy.errors import ReadoutError
from wgsindy.estimate import fit_dataset
from wgsindy.model import Generator
from wgsindy.readouts import Value
from wgsindy.readouts.grid_error import Field, drawn_generators
from wgsindy.readouts.textbook_models import named_model


@pytest.fixture(scope="module")
def fitted() -> Generator:
    return fit_dataset(zoo.get("rotational_ou").simulate(11), "poly2", "sharp").generator


def test_draws_have_the_covariance_of_the_fit(fitted: Generator) -> None:
    drawn = drawn_generators(fitted, 4000, np.random.default_rng(0))
    found = np.array([one.drift_coefficients for one in drawn])
    sure = fitted.uncertainty
    assert sure is not None
    spread = found.var(axis=0)
    expected = np.einsum("pkk->pk", sure.drift_spread)
    # A variance of 2,000 independent pairs has a relative error of sqrt(2 / 2000), 3 %.
    np.testing.assert_allclose(spread, expected, rtol=0.16, atol=1e-12)
    np.testing.assert_allclose(found.mean(axis=0), fitted.drift_coefficients, atol=1e-12)


def test_intervals_hold_the_truth_and_scale_with_the_errors(fitted: Generator) -> None:
    told = fitted.readouts(cells=48)
    assert told.gap.low < 1.0 < told.gap.high
    assert told.entropy_production.low < 8.0 < told.entropy_production.high
    sure = fitted.uncertainty
    assert sure is not None
    surer = replace(
        sure,
        drift_spread=sure.drift_spread / 100,
        drift_covariance=sure.drift_covariance / 100,
        entry_covariance=sure.entry_covariance / 100,
    )
    narrow = replace(fitted, uncertainty=surer).readouts(cells=48).gap
    ratio = (narrow.high - narrow.low) / (told.gap.high - told.gap.low)
    assert ratio == pytest.approx(0.1, rel=0.3)
    wide = fitted.readouts(cells=48, level=0.99).gap
    assert wide.low < told.gap.low < told.gap.high < wide.high


def test_a_reversible_process_may_have_no_entropy_production() -> None:
    """Every fit has some by chance; the interval must reach down to none."""
    data = zoo.get("coupled_ou").simulate(12)
    told = fit_dataset(data, "poly2", "sharp").generator.readouts(cells=48)
    assert told.entropy_production.low == 0.0


def test_fields_have_bands_and_a_truth_has_none(fitted: Generator) -> None:
    points = np.array([[0.0, 0.0], [0.5, 0.2]])
    found = fitted.readouts(cells=48).density(points)
    assert isinstance(found, Field)
    assert (found.low < found.values).all()
    assert (found.values < found.high).all()
    np.testing.assert_array_equal(np.asarray(found), found.values)
    truth = zoo.get("rotational_ou").generator.readouts(cells=48)
    assert np.isnan(truth.density(points).low).all()
    assert np.isnan(truth.gap.low)


def test_grid_errors_are_as_large_as_errors_are() -> None:
    for cells in (32, 64):
        told = zoo.get("rotational_ou").generator.readouts(cells=cells)
        error = abs(float(told.gap) - 1.0)
        assert error < told.gap.grid_error < 0.1


def test_the_same_seed_gives_the_same_interval(fitted: Generator) -> None:
    first, second = (fitted.readouts(cells=32, random_state=5).gap for _ in range(2))
    assert first == second
    assert fitted.readouts(cells=32, random_state=6).gap.low != first.low


def test_two_wells_are_two_metastable_sets() -> None:
    told = zoo.get("maier_stein").generator.readouts(cells=64)
    sets = told.metastable_sets([[-1.0, 0.0], [-0.9, 0.1], [1.0, 0.0]])
    assert sets[0] == sets[1] != sets[2]
    one = zoo.get("coupled_ou").generator.readouts(cells=64)
    assert set(one.metastable_sets([[-1.0, 0.0], [1.0, 0.0]])) == {0}
    slow = told.modes([[-1.0, 0.0], [1.0, 0.0]])[:, 0]
    assert slow[0].real * slow[1].real < 0


def test_named_models() -> None:
    heston = named_model(zoo.get("heston_logsv").generator)
    expected = {"kappa": 2.0, "theta": 0.04, "xi": 0.3, "rho": -0.65}
    for name, value in expected.items():
        assert float(heston.parameters[name]) == pytest.approx(value)
    assert float(heston.parameters["Feller ratio"]) == pytest.approx(2 * 2.0 * 0.04 / 0.09)
    assert named_model(zoo.get("heston_sv").generator).name == "Heston"
    langevin = named_model(zoo.get("underdamped_langevin").generator)
    assert {k: v.value for k, v in langevin.parameters.items()} == pytest.approx(
        {"friction": 1.0, "temperature": 0.5}
    )
    assert named_model(zoo.get("spiral_sink_corr").generator).name == "Ornstein-Uhlenbeck"
    with pytest.raises(ReadoutError, match="none of"):
        named_model(zoo.get("maier_stein").generator)


def test_parameters_of_a_fit_have_intervals() -> None:
    system = zoo.get("heston_logsv")
    fitted = fit_dataset(system.simulate(13), system.library, "sharp-euler").generator
    found = named_model(fitted).parameters
    for name, value in {"kappa": 2.0, "theta": 0.04, "xi": 0.3, "rho": -0.65}.items():
        assert found[name].low < value < found[name].high


def test_values_are_numbers() -> None:
    value = Value(2.0, 1.5, 2.5, 0.01)
    assert float(value) == 2.0
    assert repr(value) == "2.00 (95 % interval 1.50 to 2.50, grid 0.010)"
