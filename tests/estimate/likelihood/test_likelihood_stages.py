"""Whole fits of the sharp recipe: what must not matter, what must, and what it promises."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
import sympy
from pilots import set_pilots
from processes import observed
from scipy.stats import binom, chi2, norm

from wgsindy import zoo
from wgsindy.data import BoolArray, FloatArray, Trajectories
from wgsindy.errors import MissingValuesWarning, RepeatedSamplesWarning
from wgsindy.estimate.likelihood import exact_steps, transition
from wgsindy.estimate.likelihood import fit_likelihood as sharp
from wgsindy.estimate.likelihood.error_bars import OPEN_SHARE, STATED_SHARE
from wgsindy.estimate.likelihood.exact_steps import ExactSteps
from wgsindy.estimate.likelihood.filtered_samples import follow_all
from wgsindy.estimate.likelihood.fit_likelihood import LikelihoodEstimate, recover_by_likelihood
from wgsindy.estimate.likelihood.normal_equations import Runner
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.selection import REACH, Extrapolation, TermSelection
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator, simulate, tensor
from wgsindy.passes import data_summary
from wgsindy.passes.engine import Threads
from wgsindy.recipes import SHARP, SHARP_EULER, LikelihoodRecipe
from wgsindy.terms import library
from wgsindy.zoo import central_grid

# Two fits of the same numbers in other units differ by rounding times condition numbers; anything
# that leaks units into a choice of terms shows up as a difference of order one.
ROUNDING = 1e-6

# Systems of the zoo are Euler chains. Without averaging over supports, the field is the formula.
CHAIN = SHARP_EULER
FORMULA = replace(CHAIN, name="chain-formula", averaging=False)
PROCESS = replace(SHARP, name="process-formula", averaging=False)

X, Y, Z = sympy.symbols("x y z", real=True)

Terms = str | tuple[str, ...] | list[str]


@cache
def system_data(name: str, seed: int = 0) -> Trajectories:
    return zoo.get(name).simulate(seed, trajectories=8, steps=800)


def fitted(
    data: Trajectories, terms: Terms, recipe: LikelihoodRecipe = CHAIN, threads: int = 1
) -> WGSINDy:
    return WGSINDy(terms, recipe, threads=threads).fit(data)


def fit(
    data: Trajectories, terms: Terms, recipe: LikelihoodRecipe = CHAIN, threads: int = 1
) -> Generator:
    found: Generator = fitted(data, terms, recipe, threads).generator_
    return found


@cache
def reference(name: str, recipe: LikelihoodRecipe = CHAIN, seed: int = 0) -> Generator:
    return fit(system_data(name, seed), zoo.get(name).library, recipe)


def mapped(data: Trajectories, scale: FloatArray, shift: FloatArray) -> Trajectories:
    dt = float(data.steps(0)[0])
    return Trajectories([path * scale + shift for path in data], dt, names=data.names)


def difference(found: FloatArray, expected: FloatArray) -> float:
    """Largest difference over the largest value, entry by entry of the field."""
    size = np.abs(expected).max(axis=0)
    assert not found[:, size == 0].any(), "a field that was empty is not"
    return float((np.abs(found - expected).max(axis=0)[size > 0] / size[size > 0]).max(initial=0))


def in_half_widths(drift: FloatArray, field: FloatArray, expected: Generator) -> float:
    """Largest difference of two fits on a grid, in half-widths of the 95 % bands."""
    x = grid_of(expected)
    bands = expected.bands(x)
    worst = 0.0
    for low, high, off in (
        (bands.drift_low, bands.drift_high, drift - expected.drift(x)),
        (bands.diffusion_low, bands.diffusion_high, field - expected.diffusion(x)),
    ):
        half = (high - low) / 2
        assert not off[half == 0].any()
        worst = max(worst, float((np.abs(off[half > 0]) / half[half > 0]).max(initial=0.0)))
    return worst


def grid_of(generator: Generator) -> FloatArray:
    region = generator.region
    assert region is not None
    d = generator.dimension
    axes = np.meshgrid(*[np.linspace(-1.5, 1.5, 7)] * d)
    return np.stack([axis.ravel() for axis in axes], axis=1) * region.scale + region.centre


def support_of(generator: Generator) -> BoolArray:
    assert generator.uncertainty is not None
    return np.concatenate(
        [generator.uncertainty.drift != 0, generator.tensor_field.coefficients != 0]
    )


# Recovery of what is known


OU_DRIFT = (-2 * X + 3 * Y, -3 * X - 2 * Y + Z, -Y - 3 * Z)
OU_TENSOR = ((1.0, 0.4, 0.0), (0.4, 0.8, -0.3), (0.0, -0.3, 0.6))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_linear_process_is_recovered_within_its_error_bars(d: int) -> None:
    symbols = (X, Y, Z)[:d]
    drift = [sum(row.coeff(s) * s for s in symbols) for row in OU_DRIFT[:d]]
    truth = Generator.from_sympy(
        [str(s) for s in symbols], drift, [row[:d] for row in OU_TENSOR[:d]]
    )
    data = observed(truth, np.zeros(d), dt=0.01, steps=1500, seed=d)
    found = fitted(data, "poly2", SHARP)
    expected = {(c.target, c.term): c.value for c in truth.coefficients}
    rows = {(c.target, c.term): c for c in found.generator_.coefficients}
    # A weak term of this truth stands 10 standard errors out; chance adds a term to one of the
    # nine fields at most once in a hundred such data sets.
    assert set(rows) == set(expected)
    for key, value in expected.items():
        # 15 coefficients at 4.5 standard errors: a false alarm in ten thousand.
        assert abs(rows[key].value - value) < 4.5 * rows[key].std_error, key
        assert rows[key].inclusion > 0.9
    assert found.diagnostics_.verdict == "identified"
    assert found.diagnostics_.reasons == ()
    assert found.diagnostics_.clipped_fraction == 0.0


@pytest.mark.parametrize("shared", [-0.45, -0.48, 0.9])
@pytest.mark.parametrize("recipe", [CHAIN, FORMULA, SHARP], ids=lambda recipe: recipe.name)
def test_components_that_share_their_noise_agree_on_a_fit(
    shared: float, recipe: LikelihoodRecipe
) -> None:
    # Given the other two, each of three components with correlations near -1/2 has hardly any
    # noise left, and takes over whatever the others got wrong: replacing all three at once by
    # what each would be, given the others as they were, would run away.
    root = np.linalg.cholesky(np.full((3, 3), shared) + (1 - shared) * np.eye(3))
    noise = 0.1 * np.random.default_rng(0).normal(size=(1500, 16, 3)) @ root.T
    paths = np.zeros((16, 1501, 3))
    for n in range(1500):
        paths[:, n + 1] = 0.98 * paths[:, n] + noise[n]
    found = fit(Trajectories(list(paths), 0.01), "poly2", recipe)
    rows = [row for row in found.coefficients if row.target.startswith("b")]
    assert [(row.target, row.term) for row in rows] == [("b1", "x"), ("b2", "y"), ("b3", "z")]
    for row in rows:
        assert abs(row.value + 2.0) < 4.5 * row.std_error


def test_many_candidate_terms_do_not_hide_the_few() -> None:
    # 28 terms: too many to try every support.
    data = zoo.get("rotational_ou").simulate(seed=3)
    found = support_of(fit(data, "poly6"))
    terms = library("poly6").bind(("x", "y")).terms
    named = [{terms[k] for k in np.flatnonzero(row)} for row in found]
    assert named == [{"x", "y"}, {"x", "y"}, {"1"}, set(), {"1"}]


def test_errors_from_trajectories_agree_with_those_of_the_model() -> None:
    count = 64
    truth = zoo.get("rotational_ou").generator
    data = simulate(truth, (0.0, 0.0), dt=0.01, steps=300, trajectories=count, random_state=0)
    bars = fit(data, "poly1").uncertainty
    assert bars is not None
    plain, clustered = bars.std_errors(), bars.std_errors(clustered=True)
    assert ((plain > 0) == (clustered > 0)).all()
    ratio = (clustered[plain > 0] / plain[plain > 0]) ** 2
    # A variance from 64 trajectories scatters like chi2; six of them, one alarm in ten thousand.
    assert (ratio > chi2.ppf(1e-5, count - 1) / (count - 1)).all()
    assert (ratio < chi2.isf(1e-5, count - 1) / (count - 1)).all()


# What must not matter


SCALES = [(1000.0, 1.0), (1.0, 1e-3), (1e-3, 1000.0)]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "name",
    ["heston_logsv", "double_well_transverse", "nondiag_cholesky", "van_der_pol_degenerate"],
)
@pytest.mark.parametrize("recipe", [CHAIN, PROCESS], ids=lambda recipe: recipe.name)
def test_units_of_one_coordinate_change_nothing_but_units(
    name: str, scale: tuple[float, float], recipe: LikelihoodRecipe
) -> None:
    system, data, factor = zoo.get(name), system_data(name), np.array(scale)
    expected = reference(name, recipe)
    found = fit(mapped(data, factor, np.zeros(2)), system.library, recipe)
    x = central_grid(data.states)
    assert difference(found.drift(x * factor) / factor, expected.drift(x)) < ROUNDING
    field = found.diffusion(x * factor) / np.outer(factor, factor)
    assert difference(field, expected.diffusion(x)) < ROUNDING


@pytest.mark.parametrize("name", ["heston_logsv", "double_well_transverse"])
def test_units_of_time_change_nothing_but_units(name: str) -> None:
    system, data = zoo.get(name), system_data(name)
    found = fit(Trajectories(list(data), 60 * system.dt, names=data.names), system.library)
    x, expected = central_grid(data.states), reference(name)
    assert difference(60 * found.drift(x), expected.drift(x)) < ROUNDING
    assert difference(60 * found.diffusion(x), expected.diffusion(x)) < ROUNDING


@cache
def off_centre() -> Trajectories:
    """A rotation about a point away from both axes, with correlated noise."""
    drift = [-2 * (X - 3) - 3 * (Y + 4), 3 * (X - 3) - 2 * (Y + 4)]
    truth = Generator.from_sympy(("x", "y"), drift, [[1.0, 0.3], [0.3, 0.5]])
    return simulate(truth, (3.0, -4.0), dt=0.01, steps=2000, trajectories=8, random_state=0)


@pytest.mark.parametrize("shift", [(0.5, -0.25), (2.0, -5.0), (-6.0, 13.0)])
def test_an_origin_elsewhere_changes_nothing_if_the_terms_allow_it(
    shift: tuple[float, float],
) -> None:
    data, offset = off_centre(), np.array(shift)
    expected, found = (
        fit(mapped(data, np.ones(2), move), "poly1", FORMULA) for move in (np.zeros(2), offset)
    )
    # Constant, x and y span the same fields wherever the origin is, as does the constant alone.
    for generator in (expected, found):
        assert support_of(generator).tolist() == [[True] * 3] * 2 + [[True, False, False]] * 3
    x = central_grid(data.states)
    assert difference(found.drift(x + offset), expected.drift(x)) < ROUNDING
    assert difference(found.diffusion(x + offset), expected.diffusion(x)) < ROUNDING


def swapped(data: Trajectories) -> Trajectories:
    dt = float(data.steps(0)[0])
    return Trajectories([path[:, ::-1] for path in data], dt, names=data.names[::-1])


@pytest.mark.parametrize(
    "name", ["double_well_transverse", "correlated_ou", "heston_logsv", "heston_sv"]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_coordinates_does_not_matter(name: str, seed: int) -> None:
    # Components are fitted in turn, and passes end when weights change by less than SAME_WEIGHTS,
    # so the order may show, but only far below the error bars.
    expected = reference(name, CHAIN, seed)
    found = fit(swapped(system_data(name, seed)), zoo.get(name).library)
    x = grid_of(expected)[:, ::-1]
    off = in_half_widths(found.drift(x)[:, ::-1], found.diffusion(x)[:, ::-1, ::-1], expected)
    assert off < exact_steps.SAME_WEIGHTS


@pytest.mark.parametrize("name", ["double_well_transverse", "van_der_pol_degenerate"])
def test_the_order_of_coordinates_does_not_matter_at_all_if_noise_is_not_shared(
    name: str,
) -> None:
    expected, x = reference(name), central_grid(system_data(name).states)
    found = fit(swapped(system_data(name)), zoo.get(name).library)
    assert difference(found.drift(x[:, ::-1])[:, ::-1], expected.drift(x)) < ROUNDING
    field = found.diffusion(x[:, ::-1])[:, ::-1, ::-1]
    assert difference(field, expected.diffusion(x)) < ROUNDING


@pytest.mark.parametrize("name", ["heston_logsv", "double_well_transverse"])
def test_the_order_of_trajectories_does_not_matter(name: str) -> None:
    data, expected = system_data(name), reference(name)
    found = fit(data.subset([5, 2, 7, 0, 1, 3, 6, 4]), zoo.get(name).library)
    x = central_grid(data.states)
    assert difference(found.drift(x), expected.drift(x)) < 1e-9
    assert difference(found.diffusion(x), expected.diffusion(x)) < 1e-9


@pytest.mark.parametrize("size", [257, 1000, 1_000_000])
@pytest.mark.parametrize("name", ["heston_logsv", "double_well_transverse"])
def test_the_chunk_size_does_not_matter(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, expected = system_data(name), reference(name)
    used: list[int] = []

    def chunk_size(dimension: int, terms: int, *, is_chain: bool) -> int:
        used.append(size)
        return size

    monkeypatch.setattr(sharp, "chunk_size", chunk_size)
    found = fit(data, zoo.get(name).library)
    assert used
    x = central_grid(data.states)
    assert difference(found.drift(x), expected.drift(x)) < 1e-9
    assert difference(found.diffusion(x), expected.diffusion(x)) < 1e-9


@pytest.mark.parametrize("name", ["heston_logsv", "double_well_transverse"])
def test_the_number_of_threads_does_not_matter(name: str) -> None:
    data, expected = system_data(name), reference(name)
    found = fit(data, zoo.get(name).library, threads=2)
    x = central_grid(data.states)
    assert difference(found.drift(x), expected.drift(x)) < 1e-9
    assert difference(found.diffusion(x), expected.diffusion(x)) < 1e-9


@pytest.mark.parametrize("recipe", [CHAIN, PROCESS], ids=lambda recipe: recipe.name)
def test_the_same_data_give_the_same_bits(recipe: LikelihoodRecipe) -> None:
    first, second = (fit(system_data("heston_logsv"), "poly2", recipe).to_dict() for _ in range(2))
    assert first == second


def padded(data: Trajectories) -> Trajectories:
    """Each path with a start, a middle and an end at which the sensor stalls."""
    paths = [
        np.vstack(
            [
                np.repeat(path[:1], 3, axis=0),
                path[1:300],
                np.repeat(path[300:301], 50, axis=0),
                path[301:],
                np.repeat(path[-1:], 400, axis=0),
            ]
        )
        for path in data
    ]
    return Trajectories(paths, float(data.steps(0)[0]), names=data.names)


def cut(data: Trajectories) -> Trajectories:
    """The same without the stalls: over the first of them a step is longer, the second is a cut."""
    dt, paths, times = float(data.steps(0)[0]), [], []
    for path in data:
        paths += [path[:301], path[301:]]
        times += [np.append(0.0, np.arange(3, 303) * dt), np.arange(len(path) - 301) * dt]
    return Trajectories(paths, times=times, names=data.names)


PADDING = 2 + 49 + 400


@pytest.mark.parametrize("name", ["heston_logsv", "double_well_transverse", "correlated_ou"])
@pytest.mark.parametrize("recipe", [CHAIN, SHARP], ids=lambda recipe: recipe.name)
def test_a_sensor_that_stalls_is_left_out_and_counted(name: str, recipe: LikelihoodRecipe) -> None:
    data = system_data(name)
    with pytest.warns(RepeatedSamplesWarning, match=r"3608 samples repeat"):
        found = fitted(padded(data), zoo.get(name).library, recipe)
    expected = fitted(cut(data), zoo.get(name).library, recipe)
    assert found.fit_.summary.stalled == PADDING * len(data) == 3608
    assert found.diagnostics_.n_rows == data.n_increments - len(data)
    x = grid_of(expected.generator_)
    assert difference(found.generator_.drift(x), expected.generator_.drift(x)) < 1e-9
    assert difference(found.generator_.diffusion(x), expected.generator_.diffusion(x)) < 1e-9


# Noise: where there is none, where there is little, and where it must not turn negative


@pytest.mark.parametrize(
    ("name", "recipe"),
    [
        ("duffing_degenerate", CHAIN),
        ("van_der_pol_degenerate", CHAIN),
        # Neither chain nor process: a splitting of second order.
        ("underdamped_langevin", CHAIN),
        ("underdamped_langevin", SHARP),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_coordinate_without_noise_is_named(
    name: str, seed: int, recipe: LikelihoodRecipe
) -> None:
    system, data = zoo.get(name), system_data(name, seed)
    found, noiseless = fitted(data, system.library, recipe), system.names[0]
    assert found.diagnostics_.noiseless == (noiseless,)
    assert any(
        reason.startswith(f"{noiseless} has no noise") for reason in found.diagnostics_.reasons
    )
    x = central_grid(data.states)
    field = found.generator_.diffusion(x)
    assert not field[:, 0].any()
    # 6,400 increments know a variance to sqrt(2 / 6400) = 1.8 %; five of these.
    expected = system.generator.diffusion(x)[:, 1, 1]
    np.testing.assert_allclose(field[:, 1, 1], expected, rtol=0.09)
    # The first equation says that the second coordinate is the velocity, and nothing else.
    rows = [row for row in found.generator_.coefficients if row.target == "b1"]
    assert [row.term for row in rows] == [system.names[1]]
    # BAOAB paths have residuals of noise x dt / 2 = 5e-3 a step of 0.01, seen 6,400 times.
    assert rows[0].value == pytest.approx(1.0, abs=5e-3)


@pytest.mark.parametrize("name", ["brusselator", "duffing", "van_der_pol", "rotational_ou"])
def test_a_coordinate_with_noise_is_not_called_noiseless(name: str) -> None:
    found = fitted(system_data(name), zoo.get(name).library)
    assert found.diagnostics_.noiseless == ()
    assert (found.generator_.diffusion(central_grid(system_data(name).states))[:, 0, 0] > 0).all()


@pytest.mark.parametrize("noise", [0.05, 0.01])
def test_a_little_noise_in_a_strong_flow_is_noise(noise: float) -> None:
    # A rotation at speed 3 moves by 0.03 a step, noise by 0.005 or 0.001; what leaks through the
    # drift within a step is smaller again by a factor of 3 dt / sqrt(3).
    truth = Generator.from_sympy(("x", "y"), [3 * Y, -3 * X], [[noise**2, 0], [0, noise**2]])
    data = simulate(truth, (1.0, 0.0), dt=0.01, steps=800, trajectories=8, random_state=0)
    increments = np.concatenate([np.diff(path, axis=0) for path in data])
    assert noise**2 * 0.01 < exact_steps.MOSTLY_DRIFT * np.mean(increments**2)
    found = fitted(data, "poly2")
    assert found.diagnostics_.noiseless == ()
    a = found.generator_.diffusion(np.array([[1.0, 0.0]]))[0]
    # Known to sqrt(2 / 6400) = 1.8 % each; five of these.
    np.testing.assert_allclose(np.diag(a), noise**2, rtol=0.09)


@pytest.mark.parametrize(
    "name", ["heston_logsv", "nondiag_cholesky", "diag_multiplicative", "gbm_2d", "cir_pair"]
)
def test_the_tensor_is_semidefinite_everywhere(name: str) -> None:
    system, data = zoo.get(name), system_data(name)
    generator = reference(name)
    centre, reach = data.states.mean(axis=0), np.ptp(data.states, axis=0)
    rng = np.random.default_rng(0)
    for factor in (1.0, 10.0):
        x = centre + factor * reach * rng.uniform(-1, 1, size=(2000, 2))
        if system.library == "sqrt":  # defined for positive states only
            x = np.abs(x)
        assert tensor.is_semidefinite(generator.diffusion(x)).all()


def test_a_tensor_that_turns_negative_is_clipped_and_counted() -> None:
    # Noise that vanishes like |x| cannot be written with x alone: half of it is negative.
    rng = np.random.default_rng(1)
    paths = np.zeros((8, 601, 1))
    for n in range(600):
        x = paths[:, n]
        noise = np.sqrt(0.05 + 0.5 * np.maximum(x, 0.0)) * rng.normal(size=x.shape)
        paths[:, n + 1] = x - x * 0.01 + 0.1 * noise
    found = fitted(Trajectories(list(paths), 0.01), ["x"])
    x = np.concatenate([path[:-1] for path in paths])
    field = found.generator_.diffusion(x)[:, 0, 0]
    assert found.generator_.tensor_field.coefficients[0, 0] > 0
    assert (field >= 0).all()
    assert found.diagnostics_.clipped_fraction == np.mean(x < 0)
    assert 0.05 < found.diagnostics_.clipped_fraction < 0.95


def test_a_library_without_a_constant_can_carry_the_tensor() -> None:
    data = zoo.get("heston_logsv").simulate(seed=0)
    generator = fit(data, ["x", "v", "x*v"])
    rows = {(c.target, c.term): c for c in generator.coefficients}
    truth = {("a11", "v"): 1.0, ("a12", "v"): -0.65 * 0.3, ("a22", "v"): 0.09}
    assert {key for key in rows if key[0].startswith("a")} == set(truth)
    for key, value in truth.items():
        # Three coefficients at 4.5 standard errors: an alarm in fifty thousand.
        assert abs(rows[key].value - value) < 4.5 * rows[key].std_error


def test_terms_that_end_beyond_the_data_can_be_used() -> None:
    # sqrt(1 - x) is not defined as far out as a variance is asked to stay positive.
    rng = np.random.default_rng(2)
    paths = np.full((8, 501, 1), 0.5)
    for n in range(500):
        x = paths[:, n]
        step = 2 * (0.5 - x) * 0.01 + 0.1 * 0.3 * np.sqrt(1 - x) * rng.normal(size=x.shape)
        paths[:, n + 1] = np.clip(x + step, 0.05, 0.95)
    generator = fit(Trajectories(list(paths), 0.01), ["1", "sqrt(x)", "sqrt(1 - x)"])
    inside = np.array([[0.3], [0.5], [0.7]])
    expected = 0.09 * (1 - inside)
    np.testing.assert_allclose(generator.diffusion(inside)[:, :, 0], expected, rtol=0.2)


def beyond_of(data: Trajectories, terms: Terms) -> Extrapolation:
    return Extrapolation(library(terms).bind(data.names), data_summary(data, standardise=True))


def test_a_variance_is_asked_as_far_as_its_terms_are_defined() -> None:
    data = Trajectories(np.array([0.2, 0.5, 0.3, 0.6, 0.4]), 0.1)
    wide = beyond_of(data, ["1", "x"]).library[:, 1]
    assert (wide.min(), wide.max()) == pytest.approx((0.2, REACH * 0.6))
    narrow = beyond_of(data, ["1", "x", "sqrt(1 - x)"]).library[:, 1]
    assert (narrow.min(), narrow.max()) == pytest.approx((0.2, 0.6))
    signed = beyond_of(Trajectories(np.array([-0.5, 0.2, 0.1]), 0.1), ["1", "x"]).library[:, 1]
    assert (signed.min(), signed.max()) == pytest.approx((-0.5 * REACH, 0.5 * REACH))


def test_terms_that_end_within_the_box_of_the_data_can_be_used() -> None:
    # All states have x + y > 0, but the corner of their box has not.
    rng = np.random.default_rng(4)
    paths = np.tile([1.0, 1.0], (8, 501, 1))
    for n in range(500):
        step = (1.0 - paths[:, n]) * 0.02 + 0.2 * rng.normal(size=(8, 2))
        step -= step.mean(axis=1, keepdims=True) * 0.9  # mostly along x = -y
        paths[:, n + 1] = paths[:, n] + step
    data = Trajectories(list(paths), 0.01)
    low, total = data.states.min(axis=0), data.states.sum(axis=1)
    assert low.sum() < 0 < total.min()
    generator = fit(data, ["1", "x", "y", "sqrt(x + y)"])
    assert np.isfinite(generator.diffusion(data.states)).all()


# What the recipe promises


def brownian(seed: int, shared: float = 0.0, pull: float = 0.0) -> Trajectories:
    """Eight paths of 250 steps; no drift and independent unit noise unless asked for."""
    rng = np.random.default_rng([77, seed])
    root = np.array([[1.0, 0.0], [shared, np.sqrt(1 - shared**2)]])
    paths = np.zeros((8, 251, 2))
    paths[:, 0] = rng.normal(size=(8, 2))
    for n, noise in enumerate(rng.normal(size=(250, 8, 2)) @ root.T):
        paths[:, n + 1] = paths[:, n] * (1 - pull * 0.01) + 0.1 * noise
    return Trajectories(list(paths), 0.01)


SEEDS = 60
# A recipe that is just at its promise would fail a test of it once in ten thousand.
UNLUCKY = 1e-4


def chance_terms(recipe: LikelihoodRecipe) -> tuple[int, int, int]:
    """How many drift components, how many a12, and how many of these with a constant, by chance."""
    supports = [support_of(fit(brownian(seed), "poly2", recipe)) for seed in range(SEEDS)]
    drift = sum(int(support[:2].any(axis=1).sum()) for support in supports)
    shared = sum(int(support[3].any()) for support in supports)
    return drift, shared, sum(int(support[3, 0]) for support in supports)


@pytest.mark.statistical
@pytest.mark.parametrize("rate", [SHARP.false_alarm, 0.2])
def test_chance_adds_no_more_terms_than_promised(rate: float) -> None:
    drift, shared, constant = chance_terms(replace(SHARP, false_alarm=rate))
    assert drift <= binom.isf(UNLUCKY, 2 * SEEDS, rate)
    assert shared <= binom.isf(UNLUCKY, SEEDS, rate)
    # Each of the 6 terms has its part of the rate; that the variances have a constant must not
    # make one of the covariance.
    assert constant <= binom.isf(UNLUCKY, SEEDS, rate / 6)


@pytest.mark.statistical
def test_a_recipe_that_promises_nothing_takes_terms_by_chance() -> None:
    # The control of the test above: these data do tempt.
    drift, shared, _ = chance_terms(replace(SHARP, false_alarm=1.0, degree_cost=0.0))
    assert drift > binom.isf(UNLUCKY, 2 * SEEDS, 0.2)
    assert shared > binom.isf(UNLUCKY, SEEDS, 0.2)


@pytest.mark.parametrize("rate", [0.01, 0.3])
@pytest.mark.parametrize("terms", ["poly1", "poly3"])
def test_a_term_costs_what_keeps_chance_out(terms: str, rate: float) -> None:
    data = system_data("rotational_ou")
    basis, summary = library(terms).bind(data.names), data_summary(data, standardise=True)
    found = recover_by_likelihood(data, basis, summary, replace(SHARP, false_alarm=rate))
    # Twice the gain of a term that is not there is chi-squared; any of all terms may be taken.
    assert len(basis) * chi2.sf(2 * found.term_cost, 1) <= rate * (1 + 1e-9)


def test_degrees_beyond_the_first_cost_extra() -> None:
    data = zoo.get("double_well_transverse").simulate(seed=0)
    degrees = library("poly3").bind(data.names).degrees
    free, dear = (support_of(fit(data, "poly3", replace(SHARP, degree_cost=c))) for c in (0, 100))
    assert free[:, degrees > 1].any()
    assert not dear[:, degrees > 1].any()
    assert dear[:2, degrees == 1].any()


@pytest.mark.statistical
def test_a_drift_and_a_covariance_that_are_there_are_found() -> None:
    # A pull of 6 over 20 units of time is worth 6 x 20 / 4 = 30 nats, 7.7 standard errors, where
    # 3 or 4 are needed; a correlation of 0.3 in 2,000 increments is worth 2000 x 0.09 / 2.
    for seed in range(5):
        support = support_of(fit(brownian(seed, shared=0.3, pull=6.0), "poly2"))
        assert support[0, 1]
        assert support[1, 2]
        assert support[3, 0]


def test_growth_that_noise_hides_is_not_identified() -> None:
    found = fitted(system_data("gbm_2d"), "poly2").diagnostics_
    assert found.verdict == "not identified"
    assert len(found.reasons) == 2
    for name, reason in zip(("x", "y"), found.reasons, strict=True):
        assert reason.startswith(f"the drift of {name} is not identified")
    # Nothing stands out further than the largest of 12 numbers of pure noise may.
    assert max(found.drift_signal) < norm.isf(SHARP.false_alarm / 24)


def test_one_component_out_of_two_is_partly_identified() -> None:
    rng = np.random.default_rng(3)
    paths = np.zeros((8, 501, 2))
    for n, noise in enumerate(rng.normal(size=(500, 8, 2))):
        paths[:, n + 1] = paths[:, n] * [0.95, 1.0] + 0.1 * noise
    found = fitted(Trajectories(list(paths), 0.01), "poly1").diagnostics_
    assert found.verdict == "partly identified"
    assert [reason.split(" is ")[0] for reason in found.reasons] == ["the drift of y"]
    assert found.drift_signal[0] > 5 > found.drift_signal[1]


def test_the_signal_of_a_single_term_is_its_size_in_standard_errors() -> None:
    data = system_data("rotational_ou").select(["x"])
    found = fitted(data, ["x"], FORMULA)
    row = next(c for c in found.generator_.coefficients if c.target == "b1")
    assert found.diagnostics_.drift_signal[0] == pytest.approx(-row.value / row.std_error)


def test_reasons_say_how_long_to_look() -> None:
    data = system_data("gbm_2d")
    found = fitted(data, "poly2").diagnostics_
    signal, reason = found.drift_signal[0], found.reasons[0]
    basis, summary = library("poly2").bind(data.names), data_summary(data, standardise=True)
    # A term gains half its squared standard errors.
    needed = np.sqrt(2 * recover_by_likelihood(data, basis, summary, CHAIN).term_cost)
    assert f"stands {signal:.1f} standard errors" in reason
    assert f"{needed:.1f} are needed" in reason
    assert f"within {data.total_time:.3g} units of time" in reason
    # The signal grows with the root of the time.
    times = max((needed / signal) ** 2, 1.5)
    assert f"about {times:.0f} times the observed time" in found.findings[0].advice


def test_the_spread_of_the_drift_leaves_open_whether_its_term_is_there() -> None:
    unsure = 0
    for seed in range(40):
        # A constant drift of 0.6 over 20 units of time: about as much as is needed to see it.
        steps = 0.006 + 0.1 * np.random.default_rng(seed).normal(size=(8, 250, 1))
        found = fit(Trajectories(list(np.cumsum(steps, axis=1)), 0.01), ["1"])
        bars = found.uncertainty
        assert bars is not None
        stated, value = bars.inclusion[0, 0], bars.drift[0, 0]
        if value == 0 or stated > 0.95:
            continue
        cost = 0.5 * NormalDist().inv_cdf(SHARP.false_alarm / 2) ** 2
        odds = stated / (1 - stated) * np.exp((STATED_SHARE - 1) * cost)
        w = odds / (1 + odds)  # what is stated is with a lower cost than what is averaged
        unsure += 1
        # A coefficient that is (value, variance) with probability w and exactly zero otherwise; in
        # error bars, which leave more open, its term costs less.
        mean = w * value
        assert found.drift_coefficients[0, 0] == pytest.approx(mean)
        odds = w / (1 - w) * np.exp((1 - OPEN_SHARE) * cost)
        there = odds / (1 + odds)
        expected = there * (bars.drift_covariance[0, 0, 0, 0] + (value - mean) ** 2)
        expected += (1 - there) * mean**2
        assert bars.drift_spread[0, 0, 0] == pytest.approx(expected)
    assert unsure > 3


# Known terms


def known(
    data: Trajectories, terms: Terms, given: BoolArray, recipe: LikelihoodRecipe = CHAIN
) -> LikelihoodEstimate:
    basis = library(terms).bind(data.names)
    summary = data_summary(data, standardise=True)
    return recover_by_likelihood(data, basis, summary, recipe, given=given)


@pytest.mark.parametrize("terms", ["poly2", "poly4", "poly5"])
def test_known_terms_are_taken_and_no_others(terms: str) -> None:
    # 6, 15 and 21 terms: every support, certain terms first, climbing.
    data = system_data("rotational_ou")
    names = library(terms).bind(data.names).terms
    # y**2 is not in the first equation, and x is missing from it.
    wanted = [{"y", "y**2"}, {"x", "y"}, {"1"}, set(), {"1", "x"}]
    given = np.array([[name in row for name in names] for row in wanted])
    found = known(data, terms, given)
    np.testing.assert_array_equal(found.uncertainty.drift != 0, given[:2])
    np.testing.assert_array_equal(found.entries != 0, given[2:])
    np.testing.assert_allclose(found.uncertainty.inclusion, given, atol=1e-9)


def test_known_terms_with_constant_noise_are_fitted_by_least_squares() -> None:
    data = system_data("rotational_ou")
    given = np.array([[1, 1, 1], [0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 0, 0]], dtype=bool)
    found = known(data, "poly1", given)
    x = np.concatenate([path[:-1] for path in data])
    dx, dt = np.concatenate([np.diff(path, axis=0) for path in data]), 0.01
    theta = np.column_stack([np.ones(len(x)), x])
    for p in range(2):
        expected = np.linalg.lstsq(theta[:, given[p]] * dt, dx[:, p])[0]
        np.testing.assert_allclose(found.drift[p, given[p]], expected, rtol=1e-8)
    residual = dx - theta @ found.drift.T * dt
    # The weights are those of the pass before, which changes nothing where they are constant.
    expected = np.mean(residual**2, axis=0) / dt
    np.testing.assert_allclose(found.entries[[0, 2], 0], expected, rtol=1e-5)


# Ingredients


def test_the_survey_knows_the_range_of_the_states() -> None:
    data = system_data("double_well_transverse")
    summary = data_summary(data, standardise=True)
    states = np.concatenate([path[:-1] for path in data])
    np.testing.assert_array_equal(summary.low, states.min(axis=0))
    np.testing.assert_array_equal(summary.high, states.max(axis=0))
    threaded = data_summary(data, standardise=True, engine=Threads(2))
    np.testing.assert_array_equal(threaded.low, summary.low)
    np.testing.assert_array_equal(threaded.high, summary.high)


@pytest.mark.parametrize(
    ("terms", "degrees"),
    [
        (["1", "x", "x*y", "y**3"], [0, 1, 2, 3]),
        (["sqrt(x)", "sqrt(x*y)", "sqrt(x*x*y)"], [0.5, 1, 1.5]),
        (["sin(x)", "exp(x*y)", "x*cos(y)"], [1, 2, 2]),
        (["1/x", "(x + y**2)**2"], [1, 4]),
    ],
)
def test_degrees_say_how_complicated_a_term_is(terms: list[str], degrees: list[float]) -> None:
    assert library(terms).bind(("x", "y")).degrees.tolist() == degrees


def test_a_library_that_cannot_carry_the_noise_does_not_make_the_drift_look_sure() -> None:
    # Constant noise, but no constant in the library: weights must not follow what is left.
    rng = np.random.default_rng(0)
    paths = np.zeros((16, 1001, 1))
    for n in range(1000):
        paths[:, n + 1] = 0.98 * paths[:, n] + 0.1 * rng.normal(size=(16, 1))
    data = Trajectories(list(paths), 0.01)
    poor, full = (fit(data, terms).coefficients[0] for terms in (["x"], ["1", "x"]))
    assert (poor.target, poor.term) == (full.target, full.term) == ("b1", "x")
    assert poor.std_error == pytest.approx(full.std_error, rel=0.1)


@pytest.mark.parametrize("recipe", [CHAIN, SHARP], ids=lambda recipe: recipe.name)
def test_weights_do_not_follow_a_formula_below_zero(recipe: LikelihoodRecipe) -> None:
    """Samples at which the formula of a variance is negative must not get all the weight."""
    data = system_data("diag_multiplicative")
    basis, summary = library("poly2").bind(data.names), data_summary(data, standardise=True)
    run = Runner(data, engine=Threads(1), chunk_size=1000)
    kernel = ExactSteps(TermSelection(basis, Extrapolation(basis, summary), recipe, None), run)
    model = recover_by_likelihood(data, basis, summary, recipe).model
    place = model.basis.terms.index("1")
    lowered = model.entries.copy()
    lowered[0, place] -= 1.2  # of a mean of about 1, so that few samples stay positive
    fallen = kernel.look(replace(model, entries=lowered), (), 0.0)
    assert fallen is not None
    assert fallen.sums.impossible[0] > 0
    believed = fallen.process
    assert believed.floor_forced.tolist() == [True, False]
    assert believed.variance_floor.tolist() == [exact_steps.FIRST_FLOOR, 0.0]
    # The pass is that of the process which is handed on, and stays so.
    again = kernel.look(believed, fallen.chosen, 0.0)
    assert again is not None
    assert again.process is believed
    assert np.array_equal(again.sums.drift_gram, fallen.sums.drift_gram)
    # Negative control: a formula that is positive everywhere is followed.
    usual = kernel.look(model, fallen.chosen, 0.0)
    assert usual is not None
    assert usual.process is model
    # What is judged by does not depend on the floor: a formula that fell is less likely.
    assert usual.log_likelihood > fallen.log_likelihood + 100


def exploding() -> Trajectories:
    """dX = X dt + dW at a coarse step, exactly, until states are a million times the noise."""
    rng, dt = np.random.default_rng(0), 0.05
    x, growth = np.zeros((301, 8)), np.exp(dt)
    for n in range(300):
        x[n + 1] = growth * x[n] + np.sqrt((growth**2 - 1) / 2) * rng.standard_normal(8)
    return Trajectories([path[:, None] for path in x.T], dt)


def test_an_explosion_is_no_noiseless_equation(monkeypatch: pytest.MonkeyPatch) -> None:
    data = exploding()
    drift, noise = fit(data, "poly1", SHARP).coefficients
    assert (drift.target, drift.term, noise.target, noise.term) == ("b1", "x", "a11", "1")
    assert abs(noise.value - 1) < 4 * noise.std_error < 0.3
    # The rule of fourth order leaves the error that it may, beside a standard error of 1e-7.
    assert abs(drift.value - 1) < (4 + transition.WORST) * drift.std_error
    # Negative control: steps that do not ask how large the drift is beside its noise leave errors
    # beside which that is nothing.
    monkeypatch.setattr(transition, "WORST", np.inf)
    assert {one.target for one in fit(data, "poly1", SHARP).coefficients} == {"b1"}


@pytest.mark.parametrize(("many", "missing"), [(True, 0.05), (False, 0.05), (True, 0.4)])
def test_only_many_samples_with_missing_values_are_followed_twice(
    many: bool, missing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a pilot and of the whole, noise is asked for alike: if there are few whole samples."""
    rng = np.random.default_rng(0)
    x = np.zeros((601, 2))
    for n in range(600):
        x[n + 1] = 0.9 * x[n] + 0.3 * rng.standard_normal(2)
    x[rng.random(x.shape) < missing] = np.nan
    with pytest.warns(MissingValuesWarning):
        data = Trajectories(x, 0.1)
    followed, forced = [], set()

    def counted(model: Process, selection: TermSelection, run: Runner, **more: Any) -> Any:
        followed.append(run.data.n_increments)
        forced.add(more["forced"])
        return follow_all(model, selection, run, **more)

    monkeypatch.setattr(sharp, "follow_all", counted)
    set_pilots(monkeypatch, 4, 50, 2 if many else 16)
    fit(data, "poly1", SHARP)
    assert followed[-1] == data.n_increments
    assert len(followed) == (2 if many else 1)
    assert (followed[0] < data.n_increments) is many
    assert forced == {missing < 0.3}
