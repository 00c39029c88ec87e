"""Whole fits: what must not matter, what must, and recovery where everything is coupled."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import sympy

from wgsindy import zoo
from wgsindy.data import FloatArray, Trajectories
from wgsindy.estimate.weak_form import smoother
from wgsindy.estimate.weak_form import weak_rows as weakform
from wgsindy.estimate.weak_form.fit_weak import fit_columns, tensor_targets
from wgsindy.estimate.weak_form.weak_rows import WeakForm, weak_form
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator, simulate, tensor
from wgsindy.passes import engine
from wgsindy.passes import summary as data_summary
from wgsindy.recipes import PAPER, WeakFormRecipe
from wgsindy.terms import library
from wgsindy.zoo import central_grid, relative_error

# Two fits of the same numbers in other units, order or pieces differ by rounding only: 1e-14
# times the condition number of the systems. Selection is discrete, so anything that leaks units
# into a choice shows up as a difference of order one.
ROUNDING = 1e-6

X, Y = sympy.symbols("x y", real=True)


@cache
def coupled(sign: int = 1) -> Generator:
    """A rotation with strongly correlated noise, |rho| near 0.9, that turns with the state."""
    factor = sympy.Matrix([[0.8 + 0.3 * X, 0], [sign * (-0.7 + 0.2 * Y), 0.3]])
    a = factor * factor.T
    return Generator.from_sympy(("x", "y"), [-X - 3 * Y, 3 * X - Y], a.tolist())


@cache
def coupled_data() -> Trajectories:
    return simulate(coupled(), (0.0, 0.0), dt=0.01, steps=800, trajectories=8, random_state=0)


@cache
def system_data(name: str) -> Trajectories:
    if name == "coupled":
        return coupled_data()
    return zoo.get(name).simulate(seed=0, trajectories=8, steps=800)


def library_of(name: str) -> str | tuple[str, ...]:
    return "poly2" if name == "coupled" else zoo.get(name).library


def fit(
    data: Trajectories,
    terms: str | tuple[str, ...] = "poly2",
    recipe: WeakFormRecipe = PAPER,
    threads: int = 1,
) -> Generator:
    return WGSINDy(terms, recipe, threads=threads).fit(data).generator_


@cache
def reference(name: str, recipe: WeakFormRecipe = PAPER) -> Generator:
    return fit(system_data(name), library_of(name), recipe)


def mapped(data: Trajectories, scale: FloatArray, shift: float = 0.0) -> Trajectories:
    steps = [float(data.steps(r)[0]) for r in range(len(data))]
    return Trajectories([path * scale + shift for path in data], steps, names=data.names)


def difference(found: FloatArray, expected: FloatArray) -> float:
    """Largest difference over the largest value, entry by entry of the field."""
    size = np.abs(expected).max(axis=0)
    return float((np.abs(found - expected).max(axis=0)[size > 0] / size[size > 0]).max())


SYSTEMS = ("coupled", "nondiag_cholesky", "maier_stein", "diag_multiplicative")


# What must not matter.


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("scale", [(1000.0, 1000.0), (1000.0, 1.0), (1.0, 1000.0), (1e-4, 1e3)])
def test_units_of_the_states_do_not_matter(name: str, scale: tuple[float, float]) -> None:
    data, base, factor = system_data(name), reference(name), np.array(scale)
    found, points = fit(mapped(data, factor), library_of(name)), data.states[::50]
    assert difference(found.drift(points * factor) / factor, base.drift(points)) < ROUNDING
    square = np.outer(factor, factor)
    field = found.diffusion(points * factor) / square
    assert difference(field, base.diffusion(points)) < ROUNDING


@pytest.mark.parametrize("choices", [{"gls": "full"}, {"cross_fit": True}, {"rows": "pooled"}])
def test_units_do_not_matter_to_variants_of_the_recipe_either(choices: dict[str, Any]) -> None:
    recipe, factor = replace(PAPER, **choices), np.array([1.0, 1000.0])
    data, base = system_data("nondiag_cholesky"), reference("nondiag_cholesky", recipe)
    found, points = fit(mapped(data, factor), "poly4", recipe), data.states[::50]
    assert difference(found.drift(points * factor) / factor, base.drift(points)) < ROUNDING
    field = found.diffusion(points * factor) / np.outer(factor, factor)
    assert difference(field, base.diffusion(points)) < ROUNDING


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_origin_of_the_states_does_not_matter(name: str) -> None:
    data, base = system_data(name), reference(name)
    found = fit(mapped(data, np.ones(2), shift=100.0), library_of(name))
    points = data.states[::50]
    assert difference(found.drift(points + 100), base.drift(points)) < ROUNDING
    assert difference(found.diffusion(points + 100), base.diffusion(points)) < ROUNDING


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_unit_of_time_does_not_matter(name: str) -> None:
    data, base = system_data(name), reference(name)
    slow = Trajectories(list(data), data.mean_dt * 1000, names=data.names)
    found, points = fit(slow, library_of(name)), data.states[::50]
    assert difference(found.drift(points) * 1000, base.drift(points)) < ROUNDING
    assert difference(found.diffusion(points) * 1000, base.diffusion(points)) < ROUNDING


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_order_of_trajectories_does_not_matter(name: str) -> None:
    data, base = system_data(name), reference(name)
    found = fit(data.subset([3, 7, 0, 5, 1, 6, 2, 4]), library_of(name))
    points = data.states[::50]
    assert difference(found.drift(points), base.drift(points)) < ROUNDING
    assert difference(found.diffusion(points), base.diffusion(points)) < ROUNDING


def swapped(data: Trajectories) -> Trajectories:
    return data.select([data.names[1], data.names[0]])


@pytest.mark.parametrize(
    "recipe", [PAPER, replace(PAPER, tensor="entries")], ids=["factor", "entries"]
)
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_order_of_coordinates_does_not_matter(name: str, recipe: WeakFormRecipe) -> None:
    # A Cholesky factor singles out its first coordinate; the data choose which one that is.
    data, base = system_data(name), reference(name, recipe)
    found, points = fit(swapped(data), library_of(name), recipe), data.states[::50]
    turned = points[:, ::-1]
    assert difference(found.drift(turned)[:, ::-1], base.drift(points)) < ROUNDING
    field = found.diffusion(turned)[:, ::-1, ::-1]
    assert difference(field, base.diffusion(points)) < ROUNDING


@pytest.mark.parametrize(("chunk_size", "threads"), [(100, 1), (10**9, 1), (300, 2)])
@pytest.mark.parametrize("name", ["coupled", "maier_stein"])
def test_chunks_and_threads_do_not_matter(
    name: str, chunk_size: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, base, points = system_data(name), reference(name), system_data(name).states[::50]
    for module in (data_summary, smoother, weakform):
        monkeypatch.setattr(module, "reduce", partial(engine.reduce, chunk_size=chunk_size))
    found = fit(data, library_of(name), threads=threads)
    assert difference(found.drift(points), base.drift(points)) < ROUNDING
    assert difference(found.diffusion(points), base.diffusion(points)) < ROUNDING


def test_the_same_seed_gives_the_same_generator_bit_for_bit() -> None:
    first, second = fit(coupled_data()), fit(coupled_data())
    np.testing.assert_array_equal(first.drift_coefficients, second.drift_coefficients)
    np.testing.assert_array_equal(first.tensor_field.coefficients, second.tensor_field.coefficients)


# What must matter: each choice of a recipe.

# Each switch: a base, the change, and whether the drift may move. Choices that concern the
# tensor alone must leave the drift as it is, bit for bit.
NO_GLS, LOOSE = replace(PAPER, gls="none"), replace(PAPER, threshold=0.0)
SWITCHES: list[tuple[WeakFormRecipe, dict[str, Any], bool]] = [
    (PAPER, {"bandwidth": "isotropic"}, True),
    (PAPER, {"bandwidth_factor": 1.0}, True),
    (PAPER, {"n_centres": 32}, True),
    (PAPER, {"local_order": 0}, True),
    (PAPER, {"local_order": 1}, True),
    (LOOSE, {"solver": "lasso"}, True),
    (LOOSE, {"solver": "stlsq"}, True),
    (LOOSE, {"debias": False}, True),
    (PAPER, {"threshold": 0.5}, True),
    (PAPER, {"gls": "none"}, True),
    (PAPER, {"gls": "full"}, True),
    (PAPER, {"rows": "pooled"}, True),
    (PAPER, {"cross_fit": True}, True),
    (PAPER, {"cross_fit": True, "rows": "pooled"}, True),
    (PAPER, {"standardise": False}, True),
    (PAPER, {"tensor": "entries"}, False),
    (PAPER, {"shrinkage": 0.0}, False),
    (NO_GLS, {"drift_square": False}, False),
]


@pytest.mark.parametrize(
    ("base", "choices", "moves_drift"),
    [pytest.param(*switch, id="-".join(map(str, switch[1].values()))) for switch in SWITCHES],
)
def test_every_switch_of_a_recipe_changes_its_part(
    base: WeakFormRecipe, choices: dict[str, Any], moves_drift: bool
) -> None:
    before, after = (reference("coupled", recipe) for recipe in (base, replace(base, **choices)))
    points = coupled_data().states[::50]
    moved = difference(after.drift(points), before.drift(points))
    if moves_drift:
        assert moved > ROUNDING
    else:
        assert moved == 0
        assert difference(after.diffusion(points), before.diffusion(points)) > ROUNDING
    assert np.isfinite(after.diffusion(points)).all()


def form(recipe: WeakFormRecipe) -> WeakForm:
    data = coupled_data()
    return weak_form(data, library("poly2").bind(data.names), recipe, seed=0)


def test_isotropic_kernels_are_round_and_shaped_ones_are_not() -> None:
    shaped = form(PAPER).smoothers[0].whitening
    round_ = form(replace(PAPER, bandwidth="isotropic")).smoothers[0].whitening
    np.testing.assert_allclose(round_, round_[0, 0] * np.eye(2), rtol=1e-12)
    assert np.linalg.cond(shaped) > 1.05


def test_local_order_is_the_degree_of_the_local_polynomial() -> None:
    widths = []
    for order in (0, 1, 2):
        widths.append(form(replace(PAPER, local_order=order)).smoothers[0].intercept.shape)
    assert widths == [(64, 1), (64, 3), (64, 6)]


def test_solvers_differ_in_how_many_terms_they_keep() -> None:
    loose = replace(LOOSE, gls="none")
    sizes = {
        solver: np.count_nonzero(
            reference("coupled", replace(loose, solver=solver)).drift_coefficients
        )
        for solver in ("adaptive_lasso", "lasso", "stlsq")
    }
    assert sizes["stlsq"] == 12  # least squares keeps all
    assert sizes["adaptive_lasso"] <= sizes["lasso"] < 12


def test_gls_modes_weight_by_nothing_by_component_and_jointly() -> None:
    weak = form(PAPER)
    first_pass = fit_columns(weak, weak.drift_targets) * weak.frame.scale[:, None]
    drifts = {
        mode: reference("coupled", replace(PAPER, gls=mode)).drift_coefficients
        for mode in ("none", "diagonal", "full")
    }
    np.testing.assert_allclose(drifts["none"], first_pass, rtol=1e-9)
    assert not np.allclose(drifts["diagonal"], drifts["full"], rtol=1e-6)


def test_the_tensor_is_refitted_with_the_reweighted_drift() -> None:
    recipe = replace(PAPER, tensor="entries", shrinkage=0.0)
    found = reference("coupled", recipe)
    weak, scale = form(recipe), found.basis.frame.scale
    drift = found.drift_coefficients / scale[:, None]
    entries = fit_columns(weak, tensor_targets(weak, drift))
    factor = np.array([scale[0] ** 2, scale[0] * scale[1], scale[1] ** 2])
    np.testing.assert_allclose(
        found.tensor_field.coefficients, entries * factor[:, None], rtol=1e-9
    )


def test_rows_are_counted_per_trajectory_or_pooled() -> None:
    assert len(form(PAPER).design) == 8 * 64
    assert len(form(replace(PAPER, rows="pooled")).design) == 64


def test_without_standardising_terms_stay_in_physical_coordinates() -> None:
    frame = reference("coupled", replace(PAPER, standardise=False)).basis.frame
    np.testing.assert_array_equal([frame.centre, frame.scale], [[0, 0], [1, 1]])


def test_leaving_in_the_drift_square_inflates_the_tensor_by_it() -> None:
    # b b' dt is positive on the diagonal; on average over the states it is what the two fits
    # differ by, up to what selection and the ridge make of it.
    plain = replace(NO_GLS, tensor="entries", shrinkage=0.0, solver="stlsq", threshold=0.0)
    points = coupled_data().states
    with_square = reference("coupled", replace(plain, drift_square=False))
    without = reference("coupled", plain)
    excess = (with_square.diffusion(points) - without.diffusion(points)).mean(axis=0)
    b = without.drift(points)
    expected = np.einsum("np,nq->pq", b, b) / len(b) * 0.01
    np.testing.assert_allclose(np.diag(excess), np.diag(expected), rtol=0.1)


def test_noise_correction_takes_twice_the_lag_one_noise_off_the_tensor() -> None:
    # Least squares on all terms is linear in its targets, and a constant is one of the terms: the
    # correction is a shift by 2 Sigma / dt, up to the ridge of the smoother.
    rng = np.random.default_rng(0)
    paths = [path + 0.05 * rng.standard_normal(path.shape) for path in coupled_data()]
    data = Trajectories(paths, 0.01)
    plain = replace(NO_GLS, tensor="entries", shrinkage=0.0, solver="stlsq", threshold=0.0)
    before, after = (fit(data, recipe=replace(plain, noise_correction=c)) for c in (False, True))
    points = data.states[::50]
    np.testing.assert_array_equal(after.drift(points), before.drift(points))
    weak = weak_form(data, library("poly2").bind(data.names), plain, seed=0)
    sigma = weak.observation_noise * np.outer(weak.frame.scale, weak.frame.scale)
    assert np.diag(sigma).min() > 0.5 * 0.05**2
    shift = before.diffusion(points) - after.diffusion(points)
    np.testing.assert_allclose(shift, np.broadcast_to(2 * sigma / 0.01, shift.shape), rtol=1e-4)


def test_the_read_out_is_through_factors_or_entries() -> None:
    assert reference("coupled").tensor_field.form == "factor"
    assert reference("coupled", replace(PAPER, tensor="entries")).tensor_field.form == "entries"


def test_shrinkage_mixes_in_the_isotropic_part_in_units_of_the_noise() -> None:
    points = coupled_data().states[::50]
    bare = reference("coupled", replace(PAPER, shrinkage=0.0)).diffusion(points)
    (increments,) = (chunk.increments for chunk in coupled_data().chunks(10**9))
    variance = np.mean(increments**2, axis=0) / 0.01
    mean = (bare[:, 0, 0] / variance[0] + bare[:, 1, 1] / variance[1]) / 2
    expected = 0.95 * bare + 0.05 * mean[:, None, None] * np.diag(variance)
    np.testing.assert_allclose(reference("coupled").diffusion(points), expected, rtol=1e-9)


# Recovery, with tolerances from the sampling error of the weak rows.

FALSE_ALARM = 1e-3


def tolerance(weak: WeakForm, variance: FloatArray, grid: FloatArray, *, weighted: bool) -> float:
    """Bound on the norm over ``grid`` of a field fitted by least squares on all terms.

    Given smoother and row weights S, the fit is linear in the samples: c = (S A)^+ S Pi y. Its
    covariance follows from the variance of each sample. A selection that keeps the true terms
    has no larger error.
    The norm of a Gaussian vector with covariance C exceeds
    sqrt(tr C + 2 sqrt(tr C^2 t) + 2 |C| t) with probability below exp(-t) (Laurent and Massart
    2000); t is chosen for the false-alarm rate.
    """
    (chunk,) = weak.data.chunks(10**9)
    rows = weak.smoothers[0].rows(chunk, weak.mean_dt)
    group = weak.group[chunk.trajectory]
    stacked = np.concatenate([rows * (group == g) for g in range(weak.n_groups)])
    weights = np.ones(len(stacked))
    if weighted:
        weights = 1 / np.sqrt(stacked**2 @ variance)
        weights = np.clip(weights / np.median(weights), 0.05, 20)
    linear = np.linalg.pinv(weak.design * weights[:, None]) @ (stacked * weights[:, None])
    theta = weak.basis.values(grid)
    c = np.linalg.eigvalsh(theta @ (linear * variance) @ linear.T @ theta.T)
    t = -np.log(FALSE_ALARM)
    return float(np.sqrt(c.sum() + 2 * np.sqrt((c**2).sum() * t) + 2 * c.max() * t))


def tolerances(
    data: Trajectories, truth: Generator, terms: str, recipe: WeakFormRecipe = PAPER
) -> tuple[float, float]:
    """Relative errors of drift and tensor that chance exceeds with small probability.

    An increment over its step has variance a_pp / dt; a product of two has a_pp a_qq + a_pq^2.
    The shrinkage of the read-out is known and adds its bias.
    """
    weak = weak_form(data, library(terms).bind(data.names), recipe, seed=0)
    grid, d = central_grid(data.states, points=7), data.dimension
    (chunk,) = data.chunks(10**9)
    a, dt = truth.diffusion(chunk.states), chunk.dt
    drift = [tolerance(weak, a[:, p, p] / dt, grid, weighted=True) for p in range(d)]
    entries = [
        tolerance(weak, a[:, p, p] * a[:, q, q] + a[:, p, q] ** 2, grid, weighted=False)
        for p in range(d)
        for q in range(d)
    ]
    field = truth.diffusion(grid)
    units = np.sqrt(np.einsum("npp->p", a) / len(a))
    bias = relative_error(tensor.shrink(field, PAPER.shrinkage, units), field)
    return (
        float(np.linalg.norm(drift) / np.linalg.norm(truth.drift(grid))),
        float(np.linalg.norm(entries) / np.linalg.norm(field)) + bias,
    )


def errors(found: Generator, truth: Generator, data: Trajectories) -> tuple[float, float]:
    grid = central_grid(data.states, points=7)
    return (
        relative_error(found.drift(grid), truth.drift(grid)),
        relative_error(found.diffusion(grid), truth.diffusion(grid)),
    )


def test_a_turning_strongly_correlated_tensor_is_recovered() -> None:
    data, truth = coupled_data(), coupled()
    grid = central_grid(data.states, points=7)
    # What the system is meant to be: |rho| near 0.9, tensors that do not commute.
    assert 0.8 < np.abs(truth.leverage(grid)).mean() < 0.97
    a, b = truth.diffusion(grid)[[0, -1]]
    assert np.linalg.norm(a @ b - b @ a) > 0.1 * np.linalg.norm(a @ b)
    drift_limit, tensor_limit = tolerances(data, truth, "poly2")
    drift, field = errors(reference("coupled"), truth, data)
    assert drift < drift_limit
    assert field < tensor_limit
    # Negative control: the same fit against the tensor with its off-diagonal sign flipped.
    _, flipped = errors(reference("coupled"), coupled(-1), data)
    assert flipped > 3 * tensor_limit


def test_a_process_in_three_dimensions_with_correlated_noise_is_recovered() -> None:
    x, y, z = sympy.symbols("x y z", real=True)
    noise = [[1.0, 0.5, -0.3], [0.5, 0.8, 0.2], [-0.3, 0.2, 0.5]]
    drift = [-2 * x + 2 * y, -2 * x - 2 * y + z, -1.5 * z - y]
    truth = Generator.from_sympy(("x", "y", "z"), drift, noise)
    data = truth.simulate(np.zeros(3), dt=0.02, steps=1600, trajectories=8, random_state=1)
    drift_limit, tensor_limit = tolerances(data, truth, "poly1")
    found = fit(data, "poly1")
    drift_error, tensor_error = errors(found, truth, data)
    assert drift_error < drift_limit < 1
    assert tensor_error < tensor_limit < 0.3
    # Negative control: another order of the coordinates is another process.
    order = np.array([1, 2, 0])
    wrong = found.diffusion(data.states[:5])[:, order][:, :, order]
    assert relative_error(wrong, truth.diffusion(data.states[:5])) > tensor_limit


def test_a_process_in_one_dimension_is_recovered() -> None:
    # The factor sqrt(0.5 + 0.25 x^2) is not in the library, the tensor is: entry by entry.
    truth = Generator.from_sympy(("x",), [0.5 - 2 * X], [[0.5 + 0.25 * X**2]])
    data = truth.simulate([0.0], dt=0.02, steps=1600, trajectories=8, random_state=2)
    recipe = replace(PAPER, tensor="entries", n_centres=16)
    drift_limit, tensor_limit = tolerances(data, truth, "poly2", recipe)
    found = fit(data, "poly2", recipe)
    drift_error, tensor_error = errors(found, truth, data)
    assert drift_error < drift_limit < 1
    assert tensor_error < tensor_limit < 0.5
    assert found.diffusion(data.states[:7]).shape == (7, 1, 1)


# Positive semidefinite everywhere.


def far_points(data: Trajectories) -> FloatArray:
    """Points up to ten times the range of the data from their mean."""
    rng = np.random.default_rng(0)
    centre, reach = data.states.mean(axis=0), np.ptp(data.states, axis=0)
    return centre + 10 * reach * rng.uniform(-1, 1, (4000, data.dimension))


@pytest.mark.parametrize("name", [*SYSTEMS, "near_singular", "sabr", "duffing_degenerate"])
def test_the_tensor_is_semidefinite_everywhere(name: str) -> None:
    points = far_points(system_data(name))
    if library_of(name) == "sqrt":
        points = np.abs(points)  # roots are defined there only
    found = reference(name).diffusion(points)
    assert tensor.is_semidefinite(found).all()


def test_plain_entries_leave_the_cone_somewhere() -> None:
    # Negative control of the test above, on the same points.
    recipe = replace(PAPER, tensor="entries", shrinkage=0.0)
    found = reference("coupled", recipe).diffusion(far_points(coupled_data()))
    assert not tensor.is_semidefinite(found).all()
