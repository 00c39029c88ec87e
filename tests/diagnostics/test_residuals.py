"""The sums behind the diagnostics, against loops over single samples."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.stats import chi2, norm

from wgsindy import Generator, Trajectories
from wgsindy.data import FloatArray
from wgsindy.diagnostics import Measurements
from wgsindy.diagnostics.groups import PACES, Groups, Stretches
from wgsindy.diagnostics.past_scores import PastScores
from wgsindy.diagnostics.residuals import (
    BLOCKS,
    FEWEST_BLOCKS,
    LONG_STEP,
    NEARLY_SINGULAR,
    VANISHING_NOISE,
    ResidualPass,
    ResidualSums,
)
from wgsindy.estimate import Fit, Predictor
from wgsindy.model import Observation
from wgsindy.model import tensor as tensor_cone
from wgsindy.passes import data_summary, reduce
from wgsindy.passes.engine import Threads
from wgsindy.recipes import PAPER
from wgsindy.terms import library

FARTHEST = 0.5

X, Y, Z = sympy.symbols("x y z", real=True)

# State-dependent noise that vanishes at x = 1, correlated, and not aligned with any axis.
DRIFTS: dict[int, list[sympy.Expr]] = {
    1: [-X + X**2 / 3],
    2: [-X + Y / 2, X * Y - 2 * Y],
    3: [-X + Y / 2, X * Y - 2 * Y, Z - 3 * X],
}
TENSORS: dict[int, list[list[sympy.Expr]]] = {
    1: [[(X - 1) ** 2]],
    2: [[(X - 1) ** 2, 23 * (X - 1) / 25], [23 * (X - 1) / 25, 1 + Y**2]],
    3: [
        [(X - 1) ** 2, 23 * (X - 1) / 25, sympy.Integer(0)],
        [23 * (X - 1) / 25, 1 + Y**2, Z / 8],
        [sympy.Integer(0), Z / 8, sympy.Rational(1, 2)],
    ],
}


def generator_of(d: int) -> Generator:
    return Generator.from_sympy(("x", "y", "z")[:d], DRIFTS[d], TENSORS[d])


def uneven_data(d: int, seed: int = 0) -> Trajectories:
    """Paths of many lengths with uneven steps and repeats; some states sit on the edges."""
    rng = np.random.default_rng(seed)
    paths, times = [], []
    for n in (150, 40, 9, 2, 80):
        path = np.clip(rng.normal(0.5, 0.5, size=(n, d)), -0.2, 1.4)
        path[n // 2] = path[n // 2 - 1]
        if n > 30:
            path[20:24] = path[19]
            path[30, 0] = path[29, 0]
        paths.append(path)
        times.append(np.cumsum(rng.uniform(0.02, 0.3, n)))
    return Trajectories(paths, times=times)


def pass_over(
    data: Trajectories, generator: Generator, observation_noise: FloatArray | None = None
) -> ResidualPass:
    """A pass by Euler steps; ``observation_noise (d,)`` are variances that the fit has found."""
    d = data.dimension
    level, summary = np.array([0.9, 1.7, 0.5])[:d], data_summary(data, standardise=True)
    if observation_noise is not None:
        entries = tensor_cone.entries_of(np.diag(observation_noise)[None])[0]
        generator = replace(generator, observation=Observation(noise=entries))
    return ResidualPass(
        Predictor.of(generator, summary),
        summary,
        len(data),
        level,
        Groups.of(data, summary),
        PastScores.of(generator.basis, generator.drift_coefficients, summary.region.centre),
        Stretches.of(data),
    )


def sums(
    step: ResidualPass, data: Trajectories, size: int = 10**6, threads: int = 1
) -> ResidualSums:
    return reduce(step, data, engine=Threads(threads), chunk_size=size)


def assert_same(one: Any, other: Any, without: set[str], *, rtol: float, prefix: str = "") -> None:
    """Compare two sets of sums field by field."""
    for item in fields(one):
        name = prefix + item.name
        left, right = getattr(one, item.name), getattr(other, item.name)
        if is_dataclass(left):
            assert_same(left, right, without, rtol=rtol, prefix=f"{name}.")
        elif name not in without:
            np.testing.assert_allclose(left, right, rtol=rtol, atol=1e-9, err_msg=name)


class ByHand:
    """Every sample on its own; lists of them for each trajectory."""

    def __init__(self, data: Trajectories, step: ResidualPass) -> None:
        self.data, self.step, d = data, step, data.dimension
        symbols = (X, Y, Z)[:d]
        drift = sympy.lambdify(symbols, DRIFTS[d])
        tensor = sympy.lambdify(symbols, TENSORS[d])
        jacobian = sympy.lambdify(symbols, sympy.Matrix(DRIFTS[d]).jacobian(symbols).tolist())
        starts = np.concatenate([path[:-1] for path in data])
        low, high = starts.min(axis=0), starts.max(axis=0)
        spread = starts.std(axis=0, ddof=1)
        own = [tensor_cone.entry_number(p, p) for p in range(d)]
        sensor = step.predictor.observation_noise[own]
        self.paths: list[list[dict[str, FloatArray]]] = []
        for r, path in enumerate(data):
            rows = []
            for x, dx, dt in zip(path[:-1], np.diff(path, axis=0), data.steps(r), strict=True):
                b, a = np.array(drift(*x), dtype=float), np.array(tensor(*x), dtype=float)
                variance = np.diag(a) * dt + 2 * sensor
                noisy = variance / dt > VANISHING_NOISE * step.level
                e = dx - b * dt
                root = np.sqrt(np.diag(a))
                slopes = np.array(jacobian(*x), dtype=float) * spread / spread[:, None]
                rows.append(
                    {
                        "z": np.array([e[p] / math.sqrt(variance[p]) if noisy[p] else np.nan
                                       for p in range(d)]),
                        "e": e, "dx": dx, "dt": np.float64(dt), "b": b, "variance": variance,
                        "v": np.maximum(variance / dt, VANISHING_NOISE * step.level),
                        "edge": np.array([x == low, x == high]),
                        "singular": np.linalg.eigvalsh(a / np.outer(root, root))[0]
                        < NEARLY_SINGULAR if (root > 0).all() else np.bool_(False),
                        "long": np.sqrt((slopes**2).sum() / d) * dt > LONG_STEP,
                    }
                )  # fmt: skip
            self.paths.append(rows)

    @property
    def rows(self) -> list[dict[str, FloatArray]]:
        return [row for path in self.paths for row in path]

    def every(self, name: str) -> FloatArray:
        return np.array([row[name] for row in self.rows])

    def neighbours(self) -> list[tuple[dict[str, FloatArray], dict[str, FloatArray]]]:
        return [pair for path in self.paths for pair in pairwise(path)]

    def blocks(self, length: int) -> list[FloatArray]:
        """Residuals ``(length, d)`` of each whole block."""
        found = []
        for path in self.paths:
            for first in range(0, len(path) - length + 1, length):
                found.append(np.array([row["z"] for row in path[first : first + length]]))
        return found


@pytest.fixture(params=[1, 2, 3], ids=lambda d: f"{d}d")
def both(request: pytest.FixtureRequest) -> tuple[ResidualSums, ByHand]:
    data = uneven_data(request.param)
    step = pass_over(data, generator_of(request.param))
    return sums(step, data), ByHand(data, step)


def test_moments_are_those_of_the_samples_with_noise(both: tuple[ResidualSums, ByHand]) -> None:
    found, hand = both
    z = hand.every("z")
    assert found.samples == len(z) == hand.data.n_increments  # samples that repeat are data
    assert hand.step.summary.repeated > 10
    assert np.isnan(z[:, 0]).any(), "some samples must have no noise"
    for p in range(z.shape[1]):
        own = z[~np.isnan(z[:, p]), p]
        square, fourth = np.mean(own**2), np.mean(own**4)
        assert found.count[p] == len(own)
        assert found.low_noise[p] == len(z) - len(own)
        assert found.variance[p] == pytest.approx(square, rel=1e-10)
        assert found.kurtosis[p] == pytest.approx(fourth / square**2 - 3, rel=1e-10)


def test_balance_is_over_all_samples_with_noise_or_without(
    both: tuple[ResidualSums, ByHand],
) -> None:
    found, hand = both
    expected = (hand.every("e") ** 2).sum(axis=0) / hand.every("variance").sum(axis=0)
    np.testing.assert_allclose(found.balance, expected, rtol=1e-10)


def test_lag_one_is_over_neighbours_of_one_trajectory_that_both_have_noise(
    both: tuple[ResidualSums, ByHand],
) -> None:
    found, hand = both
    for p in range(hand.data.dimension):
        products = np.array([a["z"][p] * b["z"][p] for a, b in hand.neighbours()])
        products = products[~np.isnan(products)]
        assert found.pairs[p] == len(products)
        assert found.lag_one[p] == pytest.approx(products.mean() / found.variance[p], rel=1e-9)
        error = products.sum() / math.sqrt(sum(product**2 for product in products))
        assert found.lag_one_errors[p] == pytest.approx(error, rel=1e-9)


def test_blocks_never_join_trajectories(both: tuple[ResidualSums, ByHand]) -> None:
    found, hand = both
    for b, length in enumerate(BLOCKS):
        blocks = hand.blocks(length)
        assert blocks or length > 64
        squares = sum(np.nansum(block, axis=0) ** 2 / length for block in blocks)
        counts = sum((~np.isnan(block)).sum(axis=0) / length for block in blocks)
        np.testing.assert_allclose(found.block_counts[b], counts, rtol=1e-12)
        np.testing.assert_allclose(found.block_squares[b], squares, rtol=1e-9)


def test_neighbours_are_weighed_by_where_they_are(
    both: tuple[ResidualSums, ByHand], monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = both[1]
    # Some states are beyond.
    monkeypatch.setattr("wgsindy.diagnostics.groups.FARTHEST", FARTHEST)
    found = sums(hand.step, hand.data)
    frame = hand.step.summary.region
    expected = np.zeros((2, hand.data.dimension, hand.data.dimension))
    for path, states in zip(hand.paths, hand.data, strict=True):
        z = np.nan_to_num(np.array([row["z"] for row in path]))
        where = np.clip((states[1:-1] - frame.centre) / frame.scale, -FARTHEST, FARTHEST)
        products = z[1:] * z[:-1]
        expected += [where.T @ products, (where**2).T @ products**2]
    np.testing.assert_allclose(found.groups.leaning, expected, rtol=1e-9)


@pytest.mark.parametrize(("rate", "visits"), [(0.1, 3), (50.0, 1)])
def test_ends_are_near_by_the_distance_over_which_a_drift_makes_them_fade(
    rate: float, visits: int
) -> None:
    x = np.zeros(41)
    x[[5, 15, 25]] = 0.985, 1.0, 0.98  # a tenth of the spread is 0.026, a / 4 b 0.005
    data = Trajectories([x[:, None]], 0.04)
    step = pass_over(data, Generator.from_sympy(("x",), [-rate * X], [[1]]))
    step = replace(step, level=np.ones(1))
    found = sums(step, data)
    assert found.visits[1].tolist() == [visits]


def test_memory_is_the_clearest_excess_of_blocks_that_are_many(
    both: tuple[ResidualSums, ByHand],
) -> None:
    found, hand = both
    excess, errors = found.memory()
    for p in range(hand.data.dimension):
        tried = []
        for length in BLOCKS:
            blocks = hand.blocks(length)
            count = sum((~np.isnan(block[:, p])).sum() for block in blocks) / length
            if count >= FEWEST_BLOCKS:
                variance = sum(np.nansum(block[:, p]) ** 2 / length for block in blocks) / count
                ratio = variance / found.variance[p] - 1
                spread = 2 / (9 * count)  # Wilson and Hilferty
                tried.append((((1 + ratio) ** (1 / 3) - 1 + spread) / math.sqrt(spread), ratio))
        assert len(tried) >= 1
        assert (errors[p], excess[p]) == pytest.approx(max(tried), rel=1e-9)


def test_places_are_counted(both: tuple[ResidualSums, ByHand]) -> None:
    found, hand = both
    np.testing.assert_array_equal(found.at_edge, hand.every("edge").sum(axis=0))
    assert found.at_edge.min() > 1
    assert found.singular == hand.every("singular").sum()
    assert found.long_steps == hand.every("long").sum()
    assert 0 < found.long_steps < found.samples
    if hand.data.dimension == 1:
        assert found.singular == 0
    else:
        assert 0 < found.singular < found.samples


def test_signal_holdout_and_odd_drift(both: tuple[ResidualSums, ByHand]) -> None:
    found, hand = both
    d, r = hand.data.dimension, len(hand.data)
    explained, expected = np.zeros((r, d)), np.zeros((r, d))
    for i, path in enumerate(hand.paths):
        for row in path:
            explained[i] += row["b"] * row["dx"] / row["v"]
            expected[i] += row["b"] ** 2 * row["dt"] / row["v"]
    np.testing.assert_allclose(found.signal, np.sqrt(expected.sum(axis=0)), rtol=1e-10)
    whole = explained.sum(axis=0) / expected.sum(axis=0)
    for i in range(r):
        others = [j for j in range(r) if j != i]
        slope = explained[others].sum(axis=0) / expected[others].sum(axis=0)
        np.testing.assert_allclose(found.holdout[i], slope / whole - 1, rtol=1e-8)
    odd = (explained - expected) / np.sqrt(expected)
    np.testing.assert_allclose(found.odd_drift, odd, rtol=1e-9)


def test_thinning_compares_one_step_with_two(both: tuple[ResidualSums, ByHand]) -> None:
    found, hand = both
    for p in range(hand.data.dimension):
        one, two = np.zeros(2), np.zeros(2)
        for a, b in hand.neighbours():
            pull = a["b"][p] / a["v"][p]
            one += [pull * a["dx"][p], pull * a["b"][p] * a["dt"]]
            two += [pull * (a["dx"][p] + b["dx"][p]), pull * a["b"][p] * (a["dt"] + b["dt"])]
        expected = (two[0] / two[1]) / (one[0] / one[1]) - 1
        assert found.thinning[p] == pytest.approx(expected, rel=1e-8)


def test_odd_noise_is_the_variance_of_each_trajectory(both: tuple[ResidualSums, ByHand]) -> None:
    found, hand = both
    variance, _ = found.odd_noise
    for r, path in enumerate(hand.paths):
        for p in range(hand.data.dimension):
            own = [row["z"][p] ** 2 for row in path if not np.isnan(row["z"][p])]
            assert found.trajectory_count[r, p] == len(own)
            if own:
                assert variance[r, p] == pytest.approx(np.mean(own), rel=1e-10)
            else:
                assert np.isnan(variance[r, p])


@pytest.mark.parametrize("n", [5, 10, 100, 10_000])
@pytest.mark.parametrize("chance", [1e-5, 1e-2, 0.5, 1 - 1e-3])
def test_odd_noise_is_in_standard_errors_of_a_normal_distribution(n: int, chance: float) -> None:
    # A chi-squared quantile must come out as the normal one of the same probability. The plain
    # standard error would make a chance of 1e-5 of 10 squares 6.7 standard errors instead of 4.3.
    total = pass_over(uneven_data(1), generator_of(1)).empty()
    total.trajectory_count[:] = n
    total.trajectory_squares[:] = chi2.isf(chance, n)
    assert total.odd_noise[1][0, 0] == pytest.approx(norm.isf(chance), abs=0.25)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_threads_and_chunks_change_nothing_but_what_two_chunks_share(d: int) -> None:
    data = uneven_data(d)
    step = pass_over(data, generator_of(d))
    whole, size = sums(step, data), 25
    chunked = sums(step, data, size)
    lost = {"pairs", "lagged", "lagged_squares", "block_counts", "block_squares", "paired"}
    lost |= {"visits", "groups.lagged", "groups.bursts", "groups.lag_count"}
    lost |= {"groups.leaning", "past.across", "past.squares", "past.explained"}
    lost |= {"past.windows", "stretches_kept"}
    assert_same(whole, chunked, lost, rtol=1e-9)
    borders = -(-(len(data.states) - 1) // size) - 1
    assert 0 < whole.pairs.max() - chunked.pairs.max() <= borders
    # Those as long as a chunk; longer ones than a trajectory there are none.
    assert (whole.block_counts - chunked.block_counts > 0)[2 : BLOCKS.index(128)].all()
    for threads in (2, 3):
        assert_same(chunked, sums(step, data, size, threads), set(), rtol=1e-9)


def test_observation_noise_is_part_of_the_variance_of_a_step() -> None:
    data, observation_noise = uneven_data(2), np.array([0.03, 0.2])
    step = pass_over(data, generator_of(2), observation_noise)
    found, hand = sums(step, data), ByHand(data, step)
    z = hand.every("z")
    np.testing.assert_allclose(found.variance, np.nanmean(z**2, axis=0), rtol=1e-10)
    explained = np.array(
        [np.sum([row["b"] * row["dx"] / row["v"] for row in path], axis=0) for path in hand.paths]
    )
    np.testing.assert_allclose(found.explained, explained, rtol=1e-9)
    plain = sums(pass_over(data, generator_of(2)), data)
    assert (found.balance < plain.balance).all()
    # Noise of the sensor is there where that of the process vanishes.
    assert (found.count >= plain.count).all()
    assert found.count[0] > plain.count[0]


def test_a_coordinate_without_noise_gives_nan_and_no_warning() -> None:
    quiet = Generator.from_sympy(("x", "y"), [-X, X - Y], [[1, 0], [0, 0]])
    data = uneven_data(2)
    found = sums(pass_over(data, quiet), data)
    for value in (found.variance, found.kurtosis, found.lag_one, found.lag_one_errors):
        assert np.isfinite(value[0])
        assert np.isnan(value[1])
    excess, errors = found.memory()
    assert np.isnan(excess[1])
    assert np.isnan(errors[1])
    assert np.isnan(found.odd_noise[0][:, 1]).all()
    assert found.low_noise[1] == found.samples
    assert found.singular == 0
    assert np.isinf(found.balance[1])
    assert np.isfinite(found.signal).all()
    assert np.isfinite(found.thinning).all()


def test_no_pair_and_no_block_give_no_warning() -> None:
    rng = np.random.default_rng(0)
    data = Trajectories(list(rng.normal(0, 1, (60, 2, 2))), 0.1)
    found = sums(pass_over(data, generator_of(2)), data)
    assert not found.pairs.any()
    assert np.isnan(found.lag_one).all()
    assert np.isnan(found.thinning).all()
    assert np.array_equal(found.memory(), np.zeros((2, 2)))


def test_one_trajectory_has_nothing_to_hold_out() -> None:
    data = uneven_data(2).subset([0])
    assert np.isnan(sums(pass_over(data, generator_of(2)), data).holdout).all()


def ou(
    seed: int, coordinates: Callable[[FloatArray], FloatArray] = lambda x: x, n: int = 2000
) -> Trajectories:
    rng = np.random.default_rng(seed)
    x = np.zeros((4, n + 1, 2))
    for k in range(n):
        x[:, k + 1] = x[:, k] * 0.99 + 0.1 * rng.standard_normal((4, 2))
    return Trajectories(list(coordinates(x)), 0.01)


def examined(data: Trajectories, drift: list[object], tensor: list[list[object]]) -> Measurements:
    generator = Generator.from_sympy(data.names, drift, tensor)
    summary = data_summary(data, standardise=True)
    terms = library(list(generator.basis.terms))
    return Measurements(Fit(data, summary, terms, PAPER, generator, rows=1, condition=1.0))


def test_units_of_a_coordinate_change_nothing() -> None:
    units = np.array([1e6, 1e-9])
    one = examined(ou(0), [-X - Y / 2, X - Y], [[1, 0], [0, 1]])
    ratio = sympy.Float(units[0] / units[1])
    other = examined(
        ou(0, lambda x: x * units),
        [-X - ratio * Y / 2, X / ratio - Y],
        [[sympy.Float(units[0] ** 2), 0], [0, sympy.Float(units[1] ** 2)]],
    )
    assert other.shift == pytest.approx(one.shift, rel=1e-6)
    have_units = {"leftover", "allotted"}
    have_units |= {f"groups.{name}" for name in ("parts", "trajectories", "missed", "spread")}
    have_units |= {"stretches_kept"}
    have_units |= {f"past.{name}" for name in ("terms", "across", "squares", "explained")}
    assert_same(one.residuals, other.residuals, have_units, rtol=1e-6)
    for question in ("times", "kinds"):
        left, right = (getattr(some.residuals.groups, question)() for some in (one, other))
        np.testing.assert_allclose(left.errors, right.errors, rtol=1e-6)
    left, right = (some.residuals.past.errors(some.past_scores.fitted) for some in (one, other))
    np.testing.assert_allclose(left, right, rtol=1e-6)
    np.testing.assert_allclose(
        one.residuals.groups.predicted, other.residuals.groups.predicted, rtol=1e-6
    )


@pytest.mark.statistical
def test_the_truth_leaves_white_normal_residuals_of_variance_one() -> None:
    # 8,000 residuals: standard errors 0.016 of the variance, 0.055 of the kurtosis, 0.011 of the
    # correlation. Five of them are exceeded once in 10^6; ten numbers are looked at.
    left = examined(ou(1), [-X, -Y], [[1, 0], [0, 1]]).residuals
    assert np.abs(left.variance - 1).max() < 5 * 0.016
    assert np.abs(left.kurtosis).max() < 5 * 0.055
    assert np.abs(left.lag_one).max() < 5 * 0.011
    assert np.abs(left.lag_one_errors).max() < 5
    assert left.memory()[1].max() < 5


def test_mean_noise_is_that_of_the_fit_where_steps_are_mostly_drift() -> None:
    rng = np.random.default_rng(0)
    t = np.arange(4000) * 0.01
    circle = np.stack([np.cos(3 * t), np.sin(3 * t)], axis=1)
    wobble = np.cumsum(rng.normal(0, 0.001, circle.shape), axis=0)
    seen = examined(Trajectories([circle + wobble], 0.01), [-3 * Y, 3 * X], [[1e-4, 0], [0, 1e-4]])
    # The drift makes a mean square of 4.5 * 0.01, 450 times the noise.
    assert (seen.residuals.count == seen.residuals.samples).all()
    np.testing.assert_allclose(seen.noise_level, 1e-4, rtol=1e-12)


def test_mean_noise_is_that_of_increments_where_the_formula_explodes_or_vanishes() -> None:
    data = ou(0)
    increments = np.mean(np.diff(np.stack(list(data)), axis=1) ** 2, axis=(0, 1)) / 0.01
    seen = examined(data, [-X, -Y], [[1 + sympy.exp(30 * X), 0], [0, 0]])
    np.testing.assert_allclose(seen.noise_level, increments, rtol=1e-9)


def test_the_slope_of_a_root_at_zero_gives_no_warning() -> None:
    data = ou(0, lambda x: np.maximum(x + 0.1, 0.0))
    seen = examined(data, [1 - sympy.sqrt(X), -Y], [[1, 0], [0, 1]])
    assert seen.residuals.long_steps > 0
    assert np.isfinite(seen.shift)


def test_the_last_state_of_a_trajectory_is_not_asked_for() -> None:
    data = ou(0, lambda x: np.abs(x) + 0.1, n=300)
    paths = [path.copy() for path in data]
    for path in paths:
        path[-1] = -1.0  # where the root does not exist
    seen = examined(Trajectories(paths, 0.01), [1 - sympy.sqrt(X), -Y], [[1, 0], [0, 1]])
    assert len(seen.points) == 4 * 300
    assert seen.points.min() > 0


def test_only_terms_that_are_there_make_a_coordinate_count() -> None:
    data = ou(0, lambda x: x + np.stack([np.linspace(0, 50, 2001), np.zeros(2001)], axis=1))
    still = examined(data, [sympy.Integer(2), -Y], [[1, 0], [0, 1]])
    moving = examined(data, [2 - X / 100, -Y], [[1, 0], [0, 1]])
    assert still.shift < 1
    assert moving.shift > 3
    nothing = examined(data, [sympy.Integer(0), sympy.Integer(1)], [[1, 0], [0, 1]])
    assert nothing.shift == 0.0


@pytest.mark.parametrize("d", [1, 2])
def test_shift_is_a_mahalanobis_distance_of_halves(d: int) -> None:
    data = ou(2).select(("x", "y")[:d])
    tensor: list[list[object]] = [[1]] if d == 1 else [[1, 0], [0, 1]]
    seen = examined(data, [-X, -Y][:d], tensor)
    first = np.concatenate([path[: len(path) // 2] for path in data])
    second = np.concatenate([path[len(path) // 2 :] for path in data])
    spread = (np.cov(first.T).reshape(d, d) + np.cov(second.T).reshape(d, d)) / 2
    apart = first.mean(axis=0) - second.mean(axis=0)
    assert seen.shift == pytest.approx(math.sqrt(apart @ np.linalg.inv(spread) @ apart), rel=1e-9)


def test_observation_noise_is_that_of_the_fit() -> None:
    seen = examined(ou(3), [-X, -Y], [[1, 0], [0, 1]])
    assert seen.observation_noise.tolist() == [0.0, 0.0]
    sensor = Observation(noise=np.array([0.01, -0.002, 0.0004]))
    filtered = replace(seen.fit, generator=replace(seen.generator, observation=sensor))
    assert Measurements(filtered).observation_noise.tolist() == [0.01, 0.0004]


@pytest.mark.parametrize("d", [1, 3])
def test_sums_have_the_shapes_that_are_written_beside_them(d: int) -> None:
    # A row too many is neither filled nor read, so no figure would tell.
    data = uneven_data(d)
    step = pass_over(data, generator_of(d))
    b, r, s = len(BLOCKS), len(data), step.stretches.total
    sizes = {"d": d, "B": b, "R": r, "S": s, "P": PACES, "2": 2}
    text = inspect.getsource(ResidualSums)
    written = re.findall(r"^    (\w+): FloatArray  # \(([^)]+)\)", text, re.MULTILINE)
    assert len(written) > 20
    empty = step.empty()
    for name, shape in written:
        expected = tuple(sizes[one] for one in shape.replace(",", " ").split())
        assert getattr(empty, name).shape == expected, name
