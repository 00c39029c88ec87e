"""Observation noise from neighbouring residuals: sums, estimates, and what may be there unseen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm
from working_models import linear_model

from wgsindy import recipes
from wgsindy.data import BLOCK, BoolArray, FloatArray, Trajectories
from wgsindy.estimate import fit_dataset
from wgsindy.estimate.likelihood import noise_detection as noise_detection
from wgsindy.estimate.likelihood.noise_detection import (
    NOISE_ALARM,
    PRIOR_WIDTH,
    Noise,
    ResidualLagPass,
    detect_noise,
    noise_bound,
    noise_estimate,
    stands_out,
)
from wgsindy.estimate.likelihood.normal_equations import Runner
from wgsindy.estimate.likelihood.process import Process
from wgsindy.passes import SERIAL, reduce
from wgsindy.passes.engine import Threads

RATE, DT, TENSOR = 1.5, 0.3, 0.8
SQUARE = 0.01  # variance of the noise where there is some
SUMS = ("products", "squares", "variance", "flow", "leaning", "gram")


def relaxing(seed: int, variance: float, *, trajectories: int = 8, steps: int = 500) -> FloatArray:
    """Samples ``(R, n)`` of a linear process at a coarse step, exact, with noise on top."""
    rng = np.random.default_rng(seed)
    decay, stationary = np.exp(-RATE * DT), TENSOR / (2 * RATE)
    x = np.empty((trajectories, steps + 1))
    x[:, 0] = np.sqrt(stationary) * rng.standard_normal(trajectories)
    for n in range(steps):
        shock = np.sqrt(stationary * (1 - decay**2)) * rng.standard_normal(trajectories)
        x[:, n + 1] = decay * x[:, n] + shock
    return x + np.sqrt(variance) * rng.standard_normal(x.shape)


def dataset(paths: FloatArray) -> Trajectories:
    return Trajectories([path[:, None] for path in paths], DT)


def fitted_model(paths: FloatArray) -> Process:
    """The process whose mean over a step is the regression of each sample on the one before."""
    decay = float((paths[:, 1:] * paths[:, :-1]).sum() / (paths[:, :-1] ** 2).sum())
    rate = -np.log(decay) / DT
    return linear_model(
        np.array([[-rate]]), np.zeros(1), np.array([[TENSOR]]), terms="poly1", longest_step=DT
    )


def test_sums_are_those_of_residuals() -> None:
    paths = relaxing(0, SQUARE, trajectories=3, steps=40)
    model = fitted_model(paths)
    decay = np.exp(model.dynamics.drift[0, 1] / model.basis.frame.scale[0] * model.units[0] * DT)
    left = (paths[:, 1:] - decay * paths[:, :-1]) / model.units[0]
    found = reduce(ResidualLagPass(model), dataset(paths))
    assert found.pairs == 3 * 39
    # RK4 over one step of |J| dt = 0.45 is good to 2e-4, and its errors add up.
    np.testing.assert_allclose(found.products, np.sum(left[:, 1:] * left[:, :-1]), rtol=1e-2)
    np.testing.assert_allclose(found.flow / found.pairs, decay, rtol=1e-3)


def test_sums_do_not_depend_on_how_data_are_cut() -> None:
    paths, rng = relaxing(0, SQUARE, trajectories=5, steps=700), np.random.default_rng(1)
    times = [np.cumsum(rng.uniform(0.5, 1.5, 701)) * DT for _ in paths]
    data = Trajectories([path[:, None] for path in paths], times=times)
    step = ResidualLagPass(fitted_model(paths))
    found = reduce(step, data)
    # A pair across two blocks of samples is left out.
    assert found.pairs == 5 * 699 - (data.n_samples - 1) // BLOCK
    for engine, size in ((SERIAL, BLOCK), (SERIAL, 3 * BLOCK), (Threads(2), 2 * BLOCK)):
        again = reduce(step, data, engine=engine, chunk_size=size)
        assert again.pairs == found.pairs
        for name in SUMS:
            np.testing.assert_allclose(getattr(again, name), getattr(found, name), rtol=1e-10)
    # Negative control: chunks that cut blocks lose pairs.
    assert reduce(step, data, chunk_size=100).pairs < found.pairs


def estimates(variance: float, seeds: range) -> tuple[FloatArray, FloatArray]:
    """Estimated variances in physical units, and their deviations from zero in errors."""
    values, deviations = [], []
    for seed in seeds:
        paths = relaxing(seed, variance)
        model = fitted_model(paths)
        seen, error = noise_estimate(reduce(ResidualLagPass(model), dataset(paths)))
        values.append(seen[0, 0] * model.units[0] ** 2)
        deviations.append(seen[0, 0] / error[0])
    return np.array(values), np.array(deviations)


@pytest.mark.statistical
def test_the_estimate_is_right_though_the_drift_takes_part_of_the_noise_over() -> None:
    values, _ = estimates(SQUARE, range(100))
    error = values.std(ddof=1) / np.sqrt(len(values))
    # The second order in noise over the variance of the states, 0.27, adds 4 %.
    assert abs(values.mean() - SQUARE) < 4 * error + 0.04 * SQUARE
    # Negative control: without what the drift takes over, a share exp(-2 rate dt) would be found.
    assert abs(values.mean() * np.exp(-2 * RATE * DT) - SQUARE) > 4 * error + 0.04 * SQUARE


@pytest.mark.statistical
def test_chance_stands_out_as_often_as_it_should() -> None:
    _, deviations = estimates(0.0, range(300))
    count = int(np.count_nonzero(deviations > 1.0))
    # Two-sided, one alarm in ten thousand.
    rate = float(norm.sf(1.0))
    assert binom.ppf(5e-5, 300, rate) <= count <= binom.isf(5e-5, 300, rate)
    _, noisy = estimates(SQUARE, range(30))
    assert np.count_nonzero(noisy > 1.0) > 20


@pytest.mark.parametrize("d", [1, 3])
def test_exact_samples_are_taken_for_noisy_at_the_stated_rate(d: int) -> None:
    rng = np.random.default_rng(d)
    error, asked = rng.uniform(0.1, 10.0, size=d + 1), np.arange(d + 1) > 0
    seen = rng.normal(size=(20_000, d + 1)) * error

    def alarms(whom: BoolArray) -> int:
        return sum(stands_out(variance, error, whom) for variance in seen)

    # Two-sided, one alarm in ten thousand. Coordinates are independent: theirs nearly add up.
    rate = 1 - (1 - NOISE_ALARM / d) ** d
    bounds = binom.ppf(5e-5, len(seen), rate), binom.isf(5e-5, len(seen), rate)
    assert bounds[0] <= alarms(asked) <= bounds[1]
    # Negative control: two standard errors are reached far more often.
    assert np.count_nonzero((seen > 2 * error)[:, asked].any(axis=1)) > bounds[1]
    assert not stands_out(100 * error, error, np.zeros(d + 1, dtype=bool))


@pytest.mark.parametrize("z", [-2.0, -0.3, 0.0, 1.0, 1.9, 6.0])
def test_what_may_be_there_is_the_mean_square_over_what_is_likely(z: float) -> None:
    error = 0.37
    slab = [
        quad(lambda s, k=k: s**k * norm.pdf(z - s / error) / (PRIOR_WIDTH * error), 0, 30)[0]
        for k in (0, 2)
    ]
    expected = slab[1] / (slab[0] + norm.pdf(z))
    found = noise_bound(np.array([z * error]), np.array([error]))[0]
    assert found**2 == pytest.approx(expected, rel=1e-6)


def test_noise_that_may_be_there_widens_error_bars_of_drift_and_tensor() -> None:
    data = dataset(relaxing(1, 0.0, steps=400))
    wary, sure = (
        {
            c.target: c.std_error
            for c in fit_dataset(
                data, "poly1", recipes.LikelihoodRecipe(noise_correction=choice)
            ).generator.coefficients
        }
        for choice in ("auto", False)
    )
    assert wary["b1"] > 1.02 * sure["b1"]
    assert wary["a11"] > 1.05 * sure["a11"]


def test_what_unseen_noise_does_to_the_drift_it_also_does_to_the_tensor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Regression of noisy samples on those before: of stationary variance g = a / 2 rate, the rate
    # comes out too large by s / (g dt), and a = 2 rate (g + s) by 2 g s / (g dt) + 2 rate s.
    size = 1e3  # so that nothing else makes up the error bars
    monkeypatch.setattr(noise_detection, "noise_bound", lambda _, error: np.full_like(error, size))
    found = fit_dataset(dataset(relaxing(1, 0.0, steps=2000)), "poly1").generator.coefficients
    drift, field = (next(c for c in found if c.target == name) for name in ("b1", "a11"))
    stationary = field.value / (-2 * drift.value)
    ratio = 2 * stationary * (1 - drift.value * DT)
    assert field.std_error / drift.std_error == pytest.approx(ratio, rel=0.1)
    assert field.std_error / drift.std_error > 1.2 * 2 * stationary  # what a step alone is wider by


def exact_errors(variance: float, samples: int) -> FloatArray:
    """Errors of rate, tensor and noise by the information of the spectrum (Whittle)."""
    frequency = np.linspace(-np.pi, np.pi, 4001)[:-1]

    def logarithm(given: FloatArray) -> FloatArray:
        rate, field, noise = given
        decay = np.exp(-rate * DT)
        shock = field * (1 - decay**2) / (2 * rate)
        return np.log(shock / (1 - 2 * decay * np.cos(frequency) + decay**2) + noise)

    truth, slopes = np.array([RATE, TENSOR, variance]), []
    for k, size in enumerate(1e-4 * truth):
        step = np.where(np.arange(3) == k, size, 0.0)
        slopes.append((logarithm(truth + step) - logarithm(truth - step)) / (2 * size))
    information = samples / 2 * np.array(slopes) @ np.array(slopes).T / len(frequency)
    return np.sqrt(np.diag(np.linalg.inv(information)))


def test_error_bars_along_noisy_samples_are_those_of_the_exact_likelihood() -> None:
    # At this step the errors of all three depend on each other: with the rate known, that of the
    # noise would be a third smaller.
    variance, trajectories, steps = 0.03, 16, 640
    data = dataset(relaxing(3, variance, trajectories=trajectories, steps=steps))
    fit = fit_dataset(data, "poly1", recipes.LikelihoodRecipe(noise_correction=True))
    errors = {c.target: c.std_error for c in fit.generator.coefficients}
    assert fit.likelihood is not None
    found = [errors["b1"], errors["a11"], fit.likelihood.noise_error[0]]
    np.testing.assert_allclose(found, exact_errors(variance, trajectories * steps), rtol=0.1)


def detected(quantum: float, variance: float = 0.0, **more: bool) -> Noise:
    paths = relaxing(1, variance)
    run = Runner(dataset(paths), SERIAL, 4096)
    return detect_noise(fitted_model(paths), run, np.array([quantum]), **more)


def test_rounding_is_kept_where_it_is_worth_a_share_of_the_error_of_the_tensor() -> None:
    # Twice its variance over dt against 0.3 sqrt(2 / n), in units of 0.5.
    least = 0.3 * np.sqrt(2 / 4000) * DT / 2
    for share, kept in ((0.99, 0.0), (1.01, 1.01 * least)):
        found = detected(0.5 * np.sqrt(12 * share * least))
        np.testing.assert_allclose(found.rounding, kept)


def test_noise_that_stands_out_is_beside_that_of_rounding() -> None:
    plain, written = detected(0.0, SQUARE), detected(0.1, SQUARE)
    rounding = (0.1 / 0.5) ** 2 / 12
    np.testing.assert_allclose(written.covariance, plain.covariance - rounding)
    np.testing.assert_allclose(written.variances, plain.variances)


def test_with_too_many_coefficients_all_noise_is_a_matter_of_doubt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = detected(0.0, SQUARE)
    assert seen.doubt is None
    monkeypatch.setattr(noise_detection, "MOST_FILTERED", 3)  # of drift and tensor, two each
    doubts = []
    for quantum in (0.0, 0.1):
        found = detected(quantum, SQUARE)
        assert not found.covariance.any()
        assert not found.rounding.any()
        assert found.doubt is not None
        doubts.append(found.doubt.deviation)
        np.testing.assert_allclose(doubts[-1], seen.covariance[0], rtol=0.1)
    np.testing.assert_allclose(doubts[1], doubts[0])  # rounding is part of it
    assert detected(0.0, SQUARE, forced=True).doubt is None
    monkeypatch.setattr(noise_detection, "MOST_FILTERED", 4)
    assert detected(0.0, SQUARE).doubt is None


def test_noise_that_is_forced_has_at_least_a_share_of_the_increments() -> None:
    found = detected(0.0, 0.0, forced=True)
    assert found.doubt is None
    assert found.covariance[0, 0] >= noise_detection.LEAST_NOISE * DT
    assert not detected(0.0, 0.0).covariance.any()


def test_one_pair_of_neighbours_shows_no_noise() -> None:
    for steps, shown in ((2, False), (3, True)):
        paths = relaxing(1, SQUARE, trajectories=1, steps=steps)
        model = linear_model(np.array([[-1.0]]), np.zeros(1), np.array([[1.0]]), terms="poly1")
        found = detect_noise(model, Runner(dataset(paths), SERIAL, 64), np.zeros(1), forced=True)
        assert bool(found.covariance.any()) == shown
