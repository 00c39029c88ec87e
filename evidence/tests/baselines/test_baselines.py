"""Baselines against closed forms, brute force and the statistics of linear processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import FrozenInstanceError, fields, replace
from functools import cache

import numpy as np
import pytest

from wgsindy.data import CHUNK_SIZE, FloatArray, Trajectories
from wgsindy.errors import DataError, LibraryError, NotEnoughDataError, RepeatedSamplesWarning
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator, tensor
from wgsindy.passes import reduce
from wgsindy.passes.engine import Threads
from wgsindy.terms import library
from wgsindy_evidence.baselines import (
    BASELINES,
    Fit,
    fit_gedmd,
    fit_kramers_moyal,
    fit_naive,
    fit_temporal_weak,
)
from wgsindy_evidence.baselines.gedmd import TrianglePass
from wgsindy_evidence.baselines.kramers_moyal import FEWEST_IN_CELL, CellPass, Grid
from wgsindy_evidence.baselines.regression import add_rows, fit_targets, pose
from wgsindy_evidence.baselines.temporal_weak import STEPS, bump, weak_rows, windows
from wgsindy_evidence.recipes import NAIVE, PAPER

FITS = [pytest.param(baseline.fit, id=name) for name, baseline in BASELINES.items()]


def wandering(d: int = 2, *, paths: int = 3, steps: int = 700, seed: int = 0) -> Trajectories:
    """Noisy relaxation towards (2, 2, ...), uneven steps, states positive."""
    rng = np.random.default_rng(seed)
    dt = rng.uniform(0.005, 0.015, (paths, steps))
    x = np.full((paths, steps + 1, d), 2.0)
    for n in range(steps):
        noise = rng.standard_normal((paths, d)) * np.sqrt(dt[:, n, None])
        x[:, n + 1] = np.abs(x[:, n] + (2 - x[:, n]) * dt[:, n, None] + 0.5 * noise)
    times = np.pad(np.cumsum(dt, axis=1), ((0, 0), (1, 0)))
    return Trajectories(list(x), times=list(times))


def increments(data: Trajectories) -> tuple[FloatArray, FloatArray, FloatArray]:
    """All states, increments and steps at once, made from the paths themselves."""
    states = np.concatenate([path[:-1] for path in data])
    steps = np.concatenate([data.steps(r) for r in range(len(data))])
    return states, np.concatenate([np.diff(path, axis=0) for path in data]), steps


# A linear process with constant noise, long enough for error bars of a few per cent.

MATRIX = np.array([[-1.0, -2.0], [2.0, -1.0]])
NOISE = np.array([[1.0, 0.5], [0.5, 1.0]])
DT, PATHS, LENGTH = 0.01, 100, 2000
TIME = DT * PATHS * LENGTH


def covariance(matrix: FloatArray, noise: FloatArray) -> FloatArray:
    """Stationary covariance S of the Euler chain: S = M S M' + a dt with M = 1 + A dt."""
    step = np.eye(len(matrix)) + matrix * DT
    flat = np.linalg.solve(np.eye(step.size) - np.kron(step, step), (noise * DT).ravel())
    return np.asarray(flat.reshape(noise.shape))


def linear_paths(matrix: FloatArray, noise: FloatArray, seed: int) -> Trajectories:
    """Stationary paths of dX = A X dt + sigma dW by Euler-Maruyama."""
    rng, d = np.random.default_rng(seed), len(matrix)
    x = np.empty((PATHS, LENGTH + 1, d))
    x[:, 0] = rng.standard_normal((PATHS, d)) @ np.linalg.cholesky(covariance(matrix, noise)).T
    root = np.linalg.cholesky(noise * DT).T
    for n in range(LENGTH):
        x[:, n + 1] = x[:, n] + x[:, n] @ matrix.T * DT + rng.standard_normal((PATHS, d)) @ root
    return Trajectories(list(x), DT)


@cache
def rotating() -> Trajectories:
    return linear_paths(MATRIX, NOISE, seed=1)


def slopes(gen: Generator) -> FloatArray:
    """Jacobian of the drift, ``(d, d)``."""
    return gen.drift_jacobian(np.zeros((1, gen.dimension)))[0]


def slope_errors(matrix: FloatArray, noise: FloatArray) -> FloatArray:
    """Standard errors of the slopes by least squares on increments: a_pp (S^-1)_qq / T."""
    precision = np.linalg.inv(covariance(matrix, noise))
    return np.asarray(np.sqrt(np.outer(np.diag(noise), np.diag(precision)) / TIME))


# Five standard errors: a false alarm in 2 million coefficients. Kernel averages count a row in the
# tails, with few samples, as much as one in the middle, so the naive port wastes some of the data:
# it is allowed three times the error of least squares on all samples.
@pytest.mark.parametrize(
    ("fit", "loss"), [(fit_gedmd, 1.0), (fit_kramers_moyal, 1.0), (fit_naive, 3.0)]
)
def test_a_linear_drift_is_found_within_its_standard_error(fit: Fit, loss: float) -> None:
    error = loss * slope_errors(MATRIX, NOISE)
    assert error.max() < 0.15  # small enough to tell every entry from zero
    assert np.all(np.abs(slopes(fit(rotating(), "poly1")) - MATRIX) < 5 * error)


@pytest.mark.parametrize("fit", FITS)
def test_a_constant_tensor_is_found_within_its_standard_error(fit: Fit) -> None:
    # Without the terms of the drift there is none to subtract: squared increments hold a + b b' dt.
    finite_step = MATRIX @ covariance(MATRIX, NOISE) @ MATRIX.T * DT
    # var(dX_p dX_q / dt) = a_pp a_qq + a_pq^2 a sample. Bumps in time and kernels in space use the
    # samples unevenly, for which we allow a factor of two in the error; five of these errors.
    variance = np.outer(np.diag(NOISE), np.diag(NOISE)) + NOISE**2
    error = 2 * np.sqrt(variance / (PATHS * LENGTH))
    found = fit(rotating(), ["1"]).diffusion(np.zeros((1, 2)))[0]
    assert np.all(np.abs(found - NOISE - finite_step) < 5 * error)


# Rows and triangles.


def test_rows_added_block_by_block_solve_the_same_problem() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 6))
    triangle = np.empty((0, 6))
    for block in np.split(rows, [3, 50, 51, 200]):
        triangle = add_rows(triangle, block)
    assert triangle.shape == (6, 6)
    expected = np.linalg.lstsq(rows[:, :4], rows[:, 4:], rcond=None)[0].T
    np.testing.assert_allclose(fit_targets(triangle, 4, threshold=0.0), expected, rtol=1e-10)


def test_small_contributions_are_dropped_and_the_others_fitted_again() -> None:
    design = np.array([[1.0, 0.0, 0.1], [0.0, 1.0, 0.1], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    target = design @ [2.0, -1.0, 0.01]
    rows = np.column_stack([design, target])
    sparse = fit_targets(rows, 3, threshold=0.1)[0]
    alone = np.linalg.lstsq(design[:, :2], target, rcond=None)[0]
    np.testing.assert_allclose(sparse, [*alone, 0.0], rtol=1e-12)
    np.testing.assert_allclose(fit_targets(rows, 3, threshold=0.0)[0], [2.0, -1.0, 0.01])


# Generator EDMD.


@pytest.mark.parametrize(
    ("d", "terms"), [(1, "poly3"), (2, "poly2"), (2, "sqrt"), (2, "trig"), (3, "poly2")]
)
def test_gedmd_is_least_squares_on_all_samples(d: int, terms: str) -> None:
    data = wandering(d)
    states, moved, dt = increments(data)
    theta = library(terms).bind(data.names).values(states)
    root = np.sqrt(dt)[:, None]
    products = np.einsum("np,nq->npq", moved, moved).reshape(len(moved), -1)
    targets = np.hstack([moved, products]) / root
    solution = np.linalg.lstsq(theta * root, targets, rcond=None)[0]
    expected = theta @ solution
    gen = fit_gedmd(data, terms)
    np.testing.assert_allclose(gen.drift(states), expected[:, :d], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        gen.diffusion(states).reshape(len(states), -1), expected[:, d:], rtol=1e-6, atol=1e-8
    )
    assert np.count_nonzero(gen.drift_coefficients) == gen.drift_coefficients.size


def test_gedmd_does_not_mind_states_far_from_zero() -> None:
    # In raw coordinates the terms at 10^5 +- 1 are parallel to fifteen digits: nothing to fit.
    data = wandering(2)
    times = [np.append(0.0, np.cumsum(data.steps(r))) for r in range(len(data))]
    far = Trajectories([path + 1e5 for path in data], times=times)
    near = fit_gedmd(data, "poly3").drift(data.states)
    np.testing.assert_allclose(
        fit_gedmd(far, "poly3").drift(far.states), near, atol=1e-6 * np.abs(near).max()
    )


def test_a_triangle_depends_on_neither_chunks_nor_threads() -> None:
    data = wandering(2)
    step = TrianglePass(library("poly2").bind(data.names))
    whole = reduce(step, data, chunk_size=10**6)
    pieces = reduce(step, data, chunk_size=37, engine=Threads(3))
    np.testing.assert_allclose(pieces.T @ pieces, whole.T @ whole, rtol=1e-10)


# Local moments.


def test_cells_are_numbered_and_hold_the_whole_range() -> None:
    grid = Grid(np.array([0.0, -1.0]), np.array([4.0, 1.0]), 4)
    x = np.array([[0.0, -1.0], [0.99, -0.51], [1.0, -1.0], [0.0, -0.5], [4.0, 1.0], [2.5, 0.1]])
    assert grid.cell(x).tolist() == [0, 0, 1, 4, 15, 10]
    assert grid.n_cells == 16


@pytest.mark.parametrize(("samples", "d", "bins"), [(5000, 1, 100), (5000, 2, 10), (10**9, 2, 128)])
def test_there_are_as_many_cells_as_samples_can_fill(samples: int, d: int, bins: int) -> None:
    summary = pose(wandering(d), "poly1", standardise=False).summary
    assert Grid.over(summary, samples).bins == bins


def test_sums_by_cell_match_a_loop() -> None:
    data = wandering(2)
    states, moved, dt = increments(data)
    grid = Grid(states.min(axis=0), states.max(axis=0), 3)
    expected = np.zeros((9, 9))
    for x, dx, h in zip(states, moved, dt, strict=True):
        place = np.minimum(((x - grid.low) / (grid.high - grid.low) * 3).astype(int), 2)
        expected[place[0] + 3 * place[1]] += [1, h, *x, *dx, dx[0] ** 2, dx[0] * dx[1], dx[1] ** 2]
    for total in (reduce(CellPass(grid), data), reduce(CellPass(grid), data, engine=Threads(2))):
        np.testing.assert_allclose(total, expected, rtol=1e-10, atol=1e-12)


def test_local_moments_of_a_linear_motion_are_exact() -> None:
    # The mean of a linear drift over a cell is the drift at the cell's mean state.
    starts = np.linspace(0.5, 3.0, 40)
    x = starts[:, None] * (1 - 0.02) ** np.arange(50)
    gen = fit_kramers_moyal(Trajectories(list(x), 0.01), "poly1")
    np.testing.assert_allclose(gen.drift([[1.0], [2.5]]), [[-2.0], [-5.0]], rtol=1e-10)
    assert gen.equations(digits=6)[0] == "b1 = -2*x"


def test_cells_count_by_time_and_sparse_ones_not_at_all() -> None:
    # Three levels, each hopping about in one cell of four: the drift of a constant is distance over
    # time; a visit of less than ten samples at the far end of the range is left out.
    rng = np.random.default_rng(0)
    paths = [
        level + np.cumsum(rng.uniform(-1e-3, 1.5e-3, n)) for level, n in ((0, 150), (1, 51), (3, 9))
    ]
    data = Trajectories(paths, [0.1, 0.3, 0.1])
    assert Grid.over(pose(data, ["1"], standardise=False).summary, data.n_increments).bins == 4
    assert len(paths[2]) - 1 < FEWEST_IN_CELL
    kept = paths[:2]
    moved = sum(float(path[-1] - path[0]) for path in kept)
    squared = sum(float(np.sum(np.diff(path) ** 2)) for path in kept)
    time = 149 * 0.1 + 50 * 0.3
    gen = fit_kramers_moyal(data, ["1"])
    assert gen.drift([[0.0]])[0, 0] == pytest.approx(moved / time, rel=1e-10)
    assert gen.diffusion([[0.0]])[0, 0, 0] == pytest.approx(squared / time, rel=1e-10)


# The weak form along time.


def test_the_bump_vanishes_at_both_ends() -> None:
    phi = bump(np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 0.5, 0.5]]))
    expected = [
        [0, (3 / 4) ** 4, 1, (3 / 4) ** 4, 0],
        [0, (3 / 4) ** 4, (3 / 4) ** 4, 0.4375**4, 0],
    ]
    np.testing.assert_allclose(phi, expected, atol=1e-15)


def test_windows_are_pieces_of_one_trajectory() -> None:
    data = wandering(2, paths=2, steps=STEPS + 2 * (STEPS // 2) + 5)
    blocks = list(windows(data))
    states = np.concatenate([block[0] for block in blocks])
    steps = np.concatenate([block[1] for block in blocks])
    starts = [0, STEPS // 2, STEPS]
    for w, (r, first) in enumerate((r, first) for r in range(2) for first in starts):
        np.testing.assert_array_equal(states[w], data[r][first : first + STEPS + 1])
        np.testing.assert_array_equal(steps[w], data.steps(r)[first : first + STEPS])
    assert len(states) == 6


def test_a_long_path_comes_in_small_blocks() -> None:
    data = Trajectories([np.arange(20000.0)], 1.0)
    sizes = [len(states) for states, _ in windows(data)]
    assert sum(sizes) == (20000 - 1 - STEPS) // (STEPS // 2) + 1
    assert max(sizes) * STEPS <= CHUNK_SIZE


def test_weak_rows_match_their_definition() -> None:
    data = wandering(2)
    problem = pose(data, "poly1", standardise=False)
    drift = np.array([[0.3, -1.0, 0.2], [0.1, 0.4, -2.0]])
    block = next(windows(data))
    first, second = weak_rows(problem, block, None), weak_rows(problem, block, drift)
    for w, (x, dt) in enumerate(zip(*block, strict=True)):
        s = 2 * np.append(0.0, np.cumsum(dt)) / dt.sum() - 1
        phi = (1 - s**2) ** 4
        design, moved, square = np.zeros(3), np.zeros(2), np.zeros((2, 2))
        for n in range(STEPS):
            ends = [np.append(1.0, x[m]) * phi[m] for m in (n, n + 1)]
            design += dt[n] * (ends[0] + ends[1]) / 2
            weight = (phi[n] + phi[n + 1]) / 2
            step, along = x[n + 1] - x[n], drift @ np.append(1.0, x[n]) * dt[n]
            moved += weight * step  # the same as - int X dphi, by parts
            square += weight * (np.outer(step, step) - np.outer(along, along))
        np.testing.assert_allclose(first[w], [*design, *moved], rtol=1e-9, atol=1e-12)
        entries = tensor.entries_of(square[None])[0]
        np.testing.assert_allclose(second[w], [*design, *entries], rtol=1e-9, atol=1e-12)


def test_the_weak_identity_is_exact_for_polynomials_of_time() -> None:
    # (t, t^2) solves dx = dt, dy = 2 x dt; also far from zero, where X phi' is large and cancels.
    t = np.linspace(0.0, 6.0, 601)
    gen = fit_temporal_weak(Trajectories([np.column_stack([t, t**2 + 1000.0])], 0.01), "poly1")
    grid = np.array([[0.5, 1001.0], [4.0, 1010.0]])
    np.testing.assert_allclose(gen.drift(grid), [[1.0, 1.0], [1.0, 8.0]], rtol=1e-8)


def test_the_weak_integral_is_that_of_the_test_function() -> None:
    # int (1 - s^2)^4 over a window of length T is 128 T / 315.
    t = np.linspace(0.0, 1.0, 200)
    data = Trajectories([3 * t], t[1])
    rows = weak_rows(pose(data, ["1"], standardise=False), next(windows(data)), None)
    integral = 128 / 315 * STEPS * t[1]
    np.testing.assert_allclose(rows, np.tile([integral, 3 * integral], (len(rows), 1)), rtol=1e-6)


def test_motion_without_noise_has_no_tensor() -> None:
    # dX dX' = b b' dt^2 exactly: what is left is rounding.
    t = 0.01 * np.arange(500)
    gen = fit_temporal_weak(Trajectories([np.column_stack([3 * t, -2 * t])], 0.01), ["1"])
    np.testing.assert_allclose(gen.drift([[0.0, 0.0]]), [[3.0, -2.0]], rtol=1e-10)
    assert np.abs(gen.diffusion([[0.0, 0.0]])).max() < 1e-12 * 9 * 0.01


def weak_limit(matrix: FloatArray, noise: FloatArray) -> FloatArray:
    """Slopes that temporal weak rows tend to: E[target design'] E[design design']^-1.

    From the autocovariance of the chain, E[X_n X_m'] = M^(n - m) S for n >= m.
    """
    spread, step = covariance(matrix, noise), np.eye(len(matrix)) + matrix * DT
    lagged = [np.linalg.matrix_power(step, k) @ spread for k in range(STEPS + 1)]
    phi = (1 - np.linspace(-1, 1, STEPS + 1) ** 2) ** 4
    change = np.diff(phi) / 2
    target = -np.append(0.0, change) - np.append(change, 0.0)
    cross, square = np.zeros((2, 2)), np.zeros((2, 2))
    for n in range(STEPS + 1):
        for m in range(STEPS + 1):
            both = lagged[n - m] if n >= m else lagged[m - n].T
            cross += target[n] * phi[m] * DT * both
            square += phi[n] * phi[m] * DT**2 * both
    return np.asarray(cross @ np.linalg.inv(square))


def test_of_a_stochastic_drift_only_the_irreversible_part_is_left() -> None:
    # Equal noise turns the damping into a reversible process of its own; the rotation stays.
    expected = weak_limit(MATRIX, np.eye(2))
    np.testing.assert_allclose(expected + expected.T, np.zeros((2, 2)), atol=1e-10)
    assert 1.8 < expected[1, 0] < 2.0
    found = slopes(fit_temporal_weak(linear_paths(MATRIX, np.eye(2), seed=2), "poly1"))
    # Neighbouring windows share samples: twice the error of least squares, five of these.
    error = 2 * slope_errors(MATRIX, np.eye(2))
    assert np.all(np.abs(found - expected) < 5 * error)
    assert np.abs(found - MATRIX).max() > 5 * error.max()


# The naive port.


def test_the_naive_port_has_none_of_the_mechanisms() -> None:
    changed = {
        field.name: getattr(NAIVE, field.name)
        for field in fields(NAIVE)
        if getattr(NAIVE, field.name) != getattr(PAPER, field.name)
    }
    assert changed == {
        "name": "naive",
        "standardise": False,
        "bandwidth": "isotropic",
        "local_order": 0,
        "centres": "grid",
        "solver": "stlsq",
        "rows": "pooled",
        "gls": "none",
        "tensor": "entries",
        "shrinkage": 0.0,
    }


@pytest.mark.parametrize(
    ("fit", "feels_units"), [(fit_naive, True), (fit_gedmd, False), (fit_kramers_moyal, False)]
)
def test_only_the_naive_port_depends_on_units(fit: Fit, *, feels_units: bool) -> None:
    data = wandering(2, steps=2000)
    scale = np.array([1.0, 1000.0])
    times = [np.append(0.0, np.cumsum(data.steps(r))) for r in range(len(data))]
    scaled = Trajectories([path * scale for path in data], times=times)
    drift = fit(data, "poly1").drift(data.states)
    other = fit(scaled, "poly1").drift(scaled.states) / scale
    apart = np.linalg.norm(drift - other) / np.linalg.norm(drift)
    assert (apart > 1e-2) if feels_units else (apart < 1e-6)


def test_the_seed_does_not_matter_to_centres_on_a_grid() -> None:
    data = wandering(2)
    drift = [fit_naive(data, "poly1", seed=seed).drift_coefficients for seed in (0, 1)]
    np.testing.assert_array_equal(drift[0], drift[1])
    placed = replace(NAIVE, centres="kmeans")  # to those of k-means it does
    moved = [
        WGSINDy("poly1", placed, random_state=seed).fit(data).generator_.drift_coefficients
        for seed in (0, 1)
    ]
    assert not np.array_equal(moved[0], moved[1])


# All of them.


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize(
    ("d", "terms"),
    [
        (1, "poly3"),
        (2, "poly3"),
        (2, "sqrt"),
        (2, "trig"),
        (3, "poly2"),
        (2, ["x", "y", "x*y"]),
        (2, library("poly1") + library(["sin(x)"])),
    ],
)
def test_every_dimension_and_library(fit: Fit, d: int, terms: str | Sequence[str]) -> None:
    data = wandering(d, paths=4, steps=2000)
    gen = fit(data, terms)
    field = gen.diffusion(data.states)
    assert gen.basis.names == data.names
    assert gen.basis.terms == library(terms).bind(data.names).terms
    assert gen.info["increments"] == 8000
    assert gen.tensor_field.form == "entries"
    # Noise of 0.25 in every coordinate; whatever the library, the mean is that of the increments.
    np.testing.assert_allclose(np.einsum("npp->np", field).mean(axis=0), 0.25, rtol=0.2)
    assert np.isfinite(gen.drift(data.states)).all()


@pytest.mark.parametrize("fit", FITS)
def test_trajectories_come_in_any_order(fit: Fit) -> None:
    data = wandering(2, paths=3)
    there, back = fit(data, "poly2"), fit(data.subset([2, 0, 1]), "poly2")
    np.testing.assert_allclose(
        back.drift(data.states), there.drift(data.states), rtol=1e-6, atol=1e-8
    )
    np.testing.assert_allclose(
        back.diffusion(data.states), there.diffusion(data.states), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("fit", FITS)
def test_too_little_data_is_refused(fit: Fit) -> None:
    with pytest.raises(NotEnoughDataError, match="49 increments are too few"):
        fit(wandering(1, paths=1, steps=49), "poly1")
    with pytest.raises(NotEnoughDataError, match="60 increments"):
        fit(wandering(2, paths=1, steps=60), "poly10")


def test_too_few_cells_and_windows_are_refused() -> None:
    with pytest.raises(NotEnoughDataError, match="rows for 10 terms; give more data"):
        fit_kramers_moyal(wandering(2, paths=1, steps=300), "poly3")
    with pytest.raises(NotEnoughDataError, match="rows for 10 terms; give more data"):
        fit_temporal_weak(wandering(2, paths=1, steps=300), "poly3")
    with pytest.raises(NotEnoughDataError, match="63 steps and a window has 64"):
        fit_temporal_weak(wandering(2, paths=5, steps=63), "poly1")


@pytest.mark.parametrize("fit", FITS)
def test_bad_data_and_libraries_are_refused(fit: Fit) -> None:
    path = np.column_stack([np.cumsum(np.ones(300)), np.full(300, 2.0)])
    with pytest.raises(DataError, match="'y' is constant"):
        fit(Trajectories([path], 0.1), "poly1")
    with pytest.raises(LibraryError, match="no library 'cubic'"):
        fit(wandering(2), "cubic")
    below = Trajectories([path - 3 for path in wandering(2)], 0.01)
    with pytest.raises(LibraryError, match="not finite"):
        fit(below, "sqrt")


@pytest.mark.parametrize("fit", FITS)
def test_repeated_samples_are_reported(fit: Fit) -> None:
    data = wandering(1)
    stalled = Trajectories([np.append(path, path[-1:], axis=0) for path in data], 0.01)
    with pytest.warns(RepeatedSamplesWarning, match="3 samples repeat"):
        fit(stalled, "poly1")


def test_the_registry_holds_the_paper_s_four_and_their_budgets() -> None:
    budgets = {name: item.paper_trajectories for name, item in BASELINES.items()}
    assert budgets == {"naive": 1, "kramers-moyal": 4, "temporal-weak": 4, "gedmd": 16}
    assert all(item.name == name and item.title for name, item in BASELINES.items())
    assert len({item.fit for item in BASELINES.values()}) == 4
    with pytest.raises(FrozenInstanceError):
        BASELINES["gedmd"].paper_trajectories = 1  # type: ignore[misc]


@pytest.mark.parametrize("name", ["kramers-moyal", "temporal-weak", "gedmd"])
def test_a_baseline_signs_its_result(name: str) -> None:
    assert BASELINES[name].fit(wandering(1), "poly1").info["baseline"] == name
