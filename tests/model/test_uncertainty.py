"""Error bars: their closed forms, how they are written, and that model files keep them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from wgsindy import zoo
from wgsindy.data import FloatArray
from wgsindy.errors import DataError, ModelFileError
from wgsindy.estimator import WGSINDy
from wgsindy.model import (
    FEWEST_CLUSTERS,
    Generator,
    TensorField,
    Uncertainty,
    clustered_covariance,
    normal_quantile,
    tensor,
)
from wgsindy.model.notation import join_terms
from wgsindy.terms import library

ROUNDING = 1e-12


def definite(size: int, seed: int) -> FloatArray:
    root = np.random.default_rng(seed).normal(size=(size, size))
    return root @ root.T


def made_up(d: int, k: int, *, clustered: bool = True) -> Uncertainty:
    """Error bars of full shape: covariances between all coefficients, none of them equal."""
    e = len(tensor.pairs(d))
    rng = np.random.default_rng(d)
    blocks = np.array([definite(k, 10 + i) for i in range(e)])
    return Uncertainty(
        drift=rng.normal(size=(d, k)),
        drift_covariance=definite(d * k, 1).reshape(d, k, d, k),
        entry_covariance=blocks,
        drift_spread=np.array([definite(k, 20 + p) for p in range(d)]),
        inclusion=rng.random((d + e, k)),
        drift_clustered=definite(d * k, 2).reshape(d, k, d, k) if clustered else None,
        entry_clustered=3.0 * blocks if clustered else None,
        form_spread=np.array([definite(k, 30 + p) for p in range(d)]),
    )


@cache
def small_generator() -> Generator:
    """One coordinate, terms 1 and x, round numbers."""
    basis = library("poly1").bind(("x",))
    uncertainty = Uncertainty(
        drift=np.array([[0.0, -2.0]]),
        drift_covariance=np.array([[0.0, 0.0], [0.0, 0.25]]).reshape(1, 2, 1, 2),
        entry_covariance=np.array([[[0.04, -0.01], [-0.01, 0.09]]]),
        drift_spread=np.array([[[1.0, 0.2], [0.2, 0.25]]]),
        inclusion=np.array([[0.1, 0.99], [1.0, 0.6]]),
    )
    field = TensorField("clipped", np.array([[1.5, 0.5]]), 0.0, np.ones(1))
    # The field averages over supports and so differs from the formula.
    return Generator(basis, np.array([[0.1, -1.9]]), field, uncertainty=uncertainty)


@cache
def fitted(trajectories: int = 8) -> Generator:
    data = zoo.get("correlated_ou").simulate(seed=0, trajectories=trajectories, steps=400)
    return WGSINDy("poly2", "sharp").fit(data).generator_


# Closed forms


@pytest.mark.parametrize("level", [0.1, 0.5, 0.683, 0.95, 0.999])
def test_the_quantile_cuts_equal_tails(level: float) -> None:
    width = normal_quantile(level)
    assert norm.cdf(width) - norm.cdf(-width) == pytest.approx(level, abs=ROUNDING)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("clustered", [False, True])
def test_standard_errors_are_roots_of_the_diagonal(d: int, clustered: bool) -> None:
    k = 4
    bars = made_up(d, k)
    found = bars.std_errors(clustered=clustered)
    drift = bars.drift_clustered if clustered else bars.drift_covariance
    entries = bars.entry_clustered if clustered else bars.entry_covariance
    assert drift is not None
    assert entries is not None
    assert found.shape == (d + len(entries), k)
    for p in range(d):
        for i in range(k):
            assert found[p, i] == pytest.approx(math.sqrt(drift[p, i, p, i]))
    for e in range(len(entries)):
        for i in range(k):
            assert found[d + e, i] == pytest.approx(math.sqrt(entries[e, i, i]))


def test_standard_errors_without_enough_trajectories_are_refused() -> None:
    bars = made_up(2, 3, clustered=False)
    with pytest.raises(ValueError, match=f"at least {FEWEST_CLUSTERS} trajectories"):
        bars.std_errors(clustered=True)
    assert np.isfinite(bars.std_errors()).all()


def test_clusters_of_a_mean_give_the_spread_of_the_cluster_means() -> None:
    # Unit noise is assumed, so the information is n and the slope of a cluster its sum of
    # residuals. The variance of a mean of R independent cluster means is their variance over R.
    clusters, size = 12, 30
    rng = np.random.default_rng(0)
    values = 2.0 * rng.normal(size=(clusters, 1)) + rng.normal(size=(clusters, size))
    slopes = (values - values.mean()).sum(axis=1, keepdims=True)
    found = clustered_covariance(np.array([[1 / values.size]]), slopes)
    assert found is not None
    expected = values.mean(axis=1).var(ddof=1) / clusters
    assert found[0, 0] == pytest.approx(expected, rel=ROUNDING)


def test_clusters_of_a_regression_give_the_sandwich() -> None:
    clusters, k = 9, 3
    rng = np.random.default_rng(1)
    slopes, bread = rng.normal(size=(clusters, k)), definite(k, 3)
    found = clustered_covariance(bread, slopes)
    assert found is not None
    expected = bread @ np.cov(slopes.T, ddof=1) @ bread * clusters
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_slopes_off_their_mean_by_a_constant_are_no_noise() -> None:
    # Away from the maximum all slopes share an offset, which says nothing about their spread.
    slopes = np.random.default_rng(2).normal(size=(10, 2))
    off, centred = (clustered_covariance(np.eye(2), slopes + shift) for shift in (7.0, 0.0))
    assert off is not None
    assert centred is not None
    np.testing.assert_allclose(off, centred)


@pytest.mark.parametrize("count", [1, FEWEST_CLUSTERS - 1, FEWEST_CLUSTERS])
def test_too_few_clusters_say_nothing(count: int) -> None:
    found = clustered_covariance(np.eye(2), np.ones((count, 2)))
    assert (found is None) == (count < FEWEST_CLUSTERS)


@pytest.mark.parametrize("trajectories", [FEWEST_CLUSTERS - 1, FEWEST_CLUSTERS])
def test_a_fit_has_clustered_errors_if_there_are_trajectories_enough(trajectories: int) -> None:
    bars = fitted(trajectories).uncertainty
    assert bars is not None
    enough = trajectories >= FEWEST_CLUSTERS
    assert (bars.drift_clustered is not None) == enough
    assert (bars.entry_clustered is not None) == enough


# Bands


def test_bands_are_the_field_plus_and_minus_its_spread() -> None:
    gen = small_generator()
    x = np.array([[0.0], [1.0], [-2.0]])
    low, high, tensor_low, tensor_high = gen.bands(x, level=0.9)
    width = norm.ppf(0.95)
    # Variance of c0 + c1 x: var0 + 2 x cov + x^2 var1, from the spread of the averaged drift.
    drift_error = np.sqrt([1.0, 1.0 + 0.4 + 0.25, 1.0 - 0.8 + 1.0])
    entry_error = np.sqrt([0.04, 0.04 - 0.02 + 0.09, 0.04 + 0.04 + 0.36])
    drift, entry = np.array([0.1, -1.8, 3.9]), np.array([1.5, 2.0, 0.5])
    np.testing.assert_allclose(low[:, 0], drift - width * drift_error)
    np.testing.assert_allclose(high[:, 0], drift + width * drift_error)
    np.testing.assert_allclose(tensor_low[:, 0, 0], entry - width * entry_error)
    np.testing.assert_allclose(tensor_high[:, 0, 0], entry + width * entry_error)


def test_bands_contain_the_field_and_grow_with_the_level() -> None:
    gen = fitted()
    x = np.random.default_rng(3).normal(size=(30, 2))
    wide, narrow = gen.bands(x, level=0.99), gen.bands(x, level=0.5)
    assert (wide.drift_low <= gen.drift(x)).all()
    assert (gen.drift(x) <= wide.drift_high).all()
    a = gen.diffusion(x)
    np.testing.assert_array_less(wide.diffusion_low[:, 0, 0], a[:, 0, 0])
    np.testing.assert_array_less(a[:, 1, 0], wide.diffusion_high[:, 1, 0])
    ratio = (wide.drift_high - wide.drift_low) / (narrow.drift_high - narrow.drift_low)
    np.testing.assert_allclose(ratio, norm.ppf(0.995) / norm.ppf(0.75))
    for field in (wide.diffusion_low, wide.diffusion_high):
        np.testing.assert_array_equal(field, field.transpose(0, 2, 1))


def test_the_default_bands_are_those_of_95_percent() -> None:
    x = np.array([[0.3]])
    for one, other in zip(
        small_generator().bands(x), small_generator().bands(x, level=0.95), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_a_known_truth_has_no_bands() -> None:
    with pytest.raises(DataError, match=r"no error bars.*recipe='sharp'"):
        zoo.get("rotational_ou").generator.bands([[0.0, 0.0]])


def test_bands_of_points_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(DataError, match="shape"):
        small_generator().bands([[0.0, 1.0]])


@pytest.mark.parametrize("level", [-0.5, 1.5, 95.0, math.nan])
def test_a_level_that_is_no_probability_is_refused(level: float) -> None:
    with pytest.raises(DataError, match="level"):
        small_generator().bands([[0.0]], level=level)


# Tables and formulas


def test_the_coefficient_table_carries_errors_intervals_and_inclusion() -> None:
    rows = small_generator().coefficients
    assert [(row.target, row.term) for row in rows] == [("b1", "x"), ("a11", "1"), ("a11", "x")]
    values, errors, inclusion = [-2.0, 1.5, 0.5], [0.5, 0.2, 0.3], [0.99, 1.0, 0.6]
    width = norm.ppf(0.975)
    for row, value, error, sure in zip(rows, values, errors, inclusion, strict=True):
        assert row.value == pytest.approx(value)
        assert row.std_error == pytest.approx(error)
        assert row.low == pytest.approx(value - width * error)
        assert row.high == pytest.approx(value + width * error)
        assert row.inclusion == pytest.approx(sure)


def test_coefficients_of_a_truth_have_no_error_bars() -> None:
    for row in zoo.get("rotational_ou").generator.coefficients:
        assert all(math.isnan(n) for n in (row.std_error, row.low, row.high, row.inclusion))
        assert math.isfinite(row.value)


def test_formulas_carry_their_standard_errors() -> None:
    assert small_generator().equations(errors=True) == [
        "b1 = -(2.0 ± 0.5)*x",
        "a11 = (1.5 ± 0.2) + (0.5 ± 0.3)*x",
    ]
    assert small_generator().equations() == ["b1 = -2*x", "a11 = 1.5 + 0.5*x"]


def test_formulas_of_several_fields_have_each_its_own_errors() -> None:
    bars = made_up(2, 3)
    basis = library("poly1").bind(("x", "y"))
    field = TensorField("clipped", np.arange(1.0, 10.0).reshape(3, 3), 0.0, np.ones(2))
    gen = Generator(basis, bars.drift, field, uncertainty=bars)
    expected = bars.std_errors()
    for line, errors in zip(gen.equations(digits=4, errors=True), expected, strict=True):
        written = [part.split(")")[0] for part in line.split("± ")[1:]]
        assert written == [f"{error:.2g}" for error in errors]


def test_asking_a_truth_for_errors_writes_the_plain_formula() -> None:
    truth = zoo.get("rotational_ou").generator
    assert truth.equations(errors=True) == truth.equations()


@pytest.mark.parametrize(
    ("terms", "errors", "text"),
    [
        ([], [], "0"),
        ([(1.0, "x")], [0.25], "(1.00 ± 0.25)*x"),
        ([(-1.0, "1")], [0.1], "-(1.0 ± 0.1)"),
        ([(0.5, "x"), (-3.0, "x + y")], [0.01, 2.0], "(0.50 ± 0.01)*x - (3 ± 2)*(x + y)"),
        ([(1.23456, "x")], [0.0123], "(1.235 ± 0.012)*x"),
    ],
)
def test_sums_with_errors_are_written(
    terms: list[tuple[float, str]], errors: list[float], text: str
) -> None:
    assert join_terms(terms, ("x", "y"), 3, errors) == text


# Model files


def with_bars(bars: Uncertainty | None) -> Generator:
    basis = library("poly1").bind(("x", "y"))
    field = TensorField("clipped", np.arange(1.0, 10.0).reshape(3, 3) / 7, 0.0, np.ones(2))
    return Generator(basis, np.ones((2, 3)) / 3, field, {"recipe": "sharp"}, None, bars)


@pytest.mark.parametrize("clustered", [False, True])
def test_a_model_file_keeps_error_bars_bit_for_bit(clustered: bool, tmp_path: Path) -> None:
    bars = made_up(2, 3, clustered=clustered)
    with_bars(bars).save(tmp_path / "model.json")
    loaded = Generator.load(tmp_path / "model.json").uncertainty
    assert loaded is not None
    for item in fields(Uncertainty):
        before, after = getattr(bars, item.name), getattr(loaded, item.name)
        if before is None:
            assert after is None
        else:
            assert after.dtype == np.float64
            assert after.tobytes() == before.tobytes(), item.name
            assert not after.flags.writeable


def test_a_fit_comes_back_from_its_file_with_the_same_bands_and_formulas(tmp_path: Path) -> None:
    gen = fitted()
    gen.save(tmp_path / "model.json")
    loaded = Generator.load(tmp_path / "model.json")
    x = np.random.default_rng(4).normal(size=(5, 2))
    for one, other in zip(gen.bands(x), loaded.bands(x), strict=True):
        np.testing.assert_array_equal(one, other)
    assert loaded.coefficients == gen.coefficients
    assert loaded.equations(errors=True) == gen.equations(errors=True)
    assert loaded.to_dict() == gen.to_dict()


def test_files_from_before_there_were_error_bars_still_load() -> None:
    content = with_bars(made_up(2, 3)).to_dict()
    del content["uncertainty"]
    loaded = Generator.from_dict(content)
    assert loaded.uncertainty is None
    np.testing.assert_array_equal(loaded.drift_coefficients, np.ones((2, 3)) / 3)


def test_a_generator_without_error_bars_says_so_in_its_file() -> None:
    content = with_bars(None).to_dict()
    assert content["uncertainty"] is None
    assert Generator.from_dict(content).uncertainty is None


def setter(*keys: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(bars: dict[str, Any]) -> None:
        place: Any = bars
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


DAMAGE: dict[str, Callable[[dict[str, Any]], None]] = {
    "a row too few": lambda bars: bars["inclusion"].pop(),
    "a column too many": lambda bars: bars["drift"][0].append(0.0),
    "a flat covariance": setter("drift_covariance", value=[1.0, 2.0]),
    "entries of another shape": setter("entry_covariance", value=[[[1.0]]]),
    "a word": setter("drift_spread", 0, 0, 0, value="wide"),
    "no number": setter("drift", 0, 0, value=math.nan),
    "no finite number": setter("inclusion", 0, 0, value=math.inf),
    "nothing where there must be something": setter("inclusion", value=None),
    "ragged clusters": setter("drift_clustered", 0, value=[]),
    "clusters of another shape": setter("entry_clustered", value=[[[1.0]]]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_error_bars_are_refused(damage: str) -> None:
    content = json.loads(json.dumps(with_bars(made_up(2, 3)).to_dict()))
    assert Generator.from_dict(content).uncertainty is not None
    DAMAGE[damage](content["uncertainty"])
    with pytest.raises(ModelFileError):
        Generator.from_dict(content)


@pytest.mark.parametrize("key", [item.name for item in fields(Uncertainty)])
def test_missing_error_bars_are_named(key: str) -> None:
    content = with_bars(made_up(2, 3)).to_dict()
    del content["uncertainty"][key]
    if key == "form_spread":  # earlier files have none
        found = Generator.from_dict(content).uncertainty
        assert found is not None
        assert found.form_spread is None
        return
    with pytest.raises(ModelFileError, match=key):
        Generator.from_dict(content)


def test_bands_have_what_the_form_may_miss_and_error_bars_do_not() -> None:
    generator, points = small_generator(), np.array([[0.0], [2.0]])
    sure = generator.uncertainty
    assert sure is not None
    form = np.array([[[0.5, 0.1], [0.1, 2.0]]])
    unsure = replace(sure, form_spread=form)
    bands = replace(generator, uncertainty=unsure).bands(points)
    # At 0 the variance is that of the constant; at 2, c'Sc with c = (1, 2).
    for half, variance in zip(
        (bands.drift_high - bands.drift_low)[:, 0] / 2, (1.5, 1.5 + 4 * 0.3 + 4 * 2.25), strict=True
    ):
        assert half == pytest.approx(normal_quantile(0.95) * math.sqrt(variance))
    np.testing.assert_array_equal(unsure.std_errors(), sure.std_errors())
    plain = generator.bands(points)
    np.testing.assert_array_equal(bands.diffusion_low, plain.diffusion_low)


@pytest.mark.parametrize("foreign", [[], {}, "wide", 3, True, [[1.0]]])
def test_error_bars_of_another_kind_are_refused(foreign: Any) -> None:
    content = with_bars(made_up(2, 3)).to_dict()
    content["uncertainty"] = foreign
    with pytest.raises(ModelFileError):
        Generator.from_dict(content)


def test_error_bars_that_are_not_finite_are_not_saved(tmp_path: Path) -> None:
    bars = made_up(2, 3)
    broken = bars.inclusion.copy()
    broken[0, 0] = np.nan
    with pytest.raises(ValueError, match="JSON"):
        with_bars(replace(bars, inclusion=broken)).save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())
