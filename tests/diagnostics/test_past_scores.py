"""Sums of past residuals: against a regression by hand, chance, and what is not observed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from asked import alone, ask
from scipy.optimize import minimize
from scipy.signal import lfilter

from wgsindy import Trajectories, WGSINDy
from wgsindy.data import FloatArray, Spans
from wgsindy.diagnostics import Limitation, Measurements
from wgsindy.diagnostics.groups import in_deviations
from wgsindy.diagnostics.past_scores import (
    MEANS,
    RATE_WINDOWS,
    SPELLS,
    WINDOWS,
    PastScores,
    PastSums,
    _past,
)

DT = 0.05
Pull = Callable[[FloatArray, FloatArray], FloatArray]


def unseen(seed: int, wander: float, pull: Pull) -> FloatArray:
    """Samples ``(16, 1500, 1)`` of dx = pull(x, u) dt + dW, where u wanders by so much, unseen."""
    rng = np.random.default_rng(seed)
    paths = np.zeros((16, 1500, 1))
    x, u, h = np.zeros(16), np.zeros(16), DT / 5
    for n in range(paths.shape[1]):
        paths[:, n, 0] = x
        for _ in range(5):
            x = x + pull(x, u) * h + np.sqrt(h) * rng.standard_normal(16)
            u = u - 0.25 * u * h + wander * np.sqrt(h) * rng.standard_normal(16)
    return paths


def to_a_centre(x: FloatArray, centre: FloatArray) -> FloatArray:
    return -2 * (x - centre)


def at_a_rate(x: FloatArray, rate: FloatArray) -> FloatArray:
    return -np.exp(rate) * x


def seen_of(paths: FloatArray, library: str = "poly2") -> Measurements:
    return Measurements(WGSINDy(library).fit(Trajectories(list(paths), DT)).fit_.completed)


def test_windows_sum_the_steps_before_of_the_same_trajectory() -> None:
    z = np.arange(1.0, 13.0).reshape(2, 6)
    found = _past(z, (2, 128), Spans.of(np.array([0, 0, 0, 0, 1, 1]))).reshape(2, 2, 6)
    np.testing.assert_array_equal(found[0, 0], [0, 1, 3, 5, 0, 5])
    np.testing.assert_array_equal(found[1, 1], [0, 7, 15, 24, 0, 11])


def test_errors_are_those_of_a_regression() -> None:
    """The slope of a sign of the past that the fitted terms had no say in, over its error."""
    rng = np.random.default_rng(3)
    n, w = 400, len(WINDOWS)
    past = 2 * w + len(MEANS) + 3 * len(SPELLS)
    terms, z = rng.standard_normal((2, 3, n)), rng.standard_normal((2, n))
    signs = rng.standard_normal((2, past, n)) + terms[:, :1]  # so that terms tell of signs
    fitted = np.array([[True, True, False], [False, False, False]])
    sums = PastSums(
        np.einsum("pkn,pln->pkl", terms, terms),
        np.einsum("pkn,prn->pkr", terms, signs),
        np.einsum("prn,prn->pr", signs, signs),
        np.einsum("pkn,pn->pk", np.concatenate([terms, signs], axis=1), z),
        np.stack([signs[p, p * w : (p + 1) * w] @ signs[p, p * w : (p + 1) * w].T for p in (0, 1)]),
    )
    own = terms[0, :2].T
    left = z[0] - own @ np.linalg.lstsq(own, z[0])[0]

    def expected(sign: FloatArray) -> float:
        sign = sign - own @ np.linalg.lstsq(own, sign)[0]
        return float(sign @ left / np.linalg.norm(sign))

    def beyond(windows: FloatArray, pair: int) -> FloatArray:
        short, long = RATE_WINDOWS[pair]
        return windows[WINDOWS.index(long)] / np.sqrt(long) - windows[
            WINDOWS.index(short)
        ] / np.sqrt(short)

    windows, rates = sums.of_residuals(fitted), sums.of_rates(fitted)
    assert windows[0, 1, 4] == pytest.approx(expected(signs[0, w + 4]))
    assert rates[0, 2] == pytest.approx(expected(beyond(signs[0, :w], 2)))
    assert sums.of_means(fitted)[0, 1] == pytest.approx(expected(signs[0, 2 * w + 1]))
    spell = signs[0, 2 * w + len(MEANS) + len(SPELLS) + 2]
    assert sums.of_terms(fitted)[0, 1, 2] == pytest.approx(expected(spell))
    for found, sign in ((windows[1, 0, 0], signs[1, 0]), (rates[1, 3], beyond(signs[1, w:], 3))):
        assert found == pytest.approx(sign @ z[1] / np.linalg.norm(sign))
    sums.terms[0, 0, 0] = np.nan  # a formula that explodes is not asked
    other = sums.of_residuals(fitted)
    assert not other[0].any()
    np.testing.assert_array_equal(other[1], windows[1])


def test_signs_of_the_past_are_those_of_each_sample_by_hand() -> None:
    """Windows and spells of the fitted terms, one sample after the other, some without noise."""
    seen = seen_of(unseen(1, 0.0, to_a_centre)[:2, :600])
    generator, data = seen.generator, seen.data
    scores = PastScores.of(generator.basis, seen._written_drift, np.array([0.3]))
    (chunk,) = data.chunks(10_000)
    found = seen._predictor(chunk)
    rng = np.random.default_rng(0)
    noisy = rng.random((1, len(chunk.dt))) < 0.9
    z = rng.standard_normal((1, len(chunk.dt))) * noisy
    total = scores.empty()
    scores.add(total, chunk, found, z, noisy)
    root = in_deviations(found, chunk.dt)[0]
    (term,) = (generator.basis.values(chunk.states)[:, scores.terms] * root[:, None]).T * noisy
    score, rows = term * z[0], []
    for n, owner in enumerate(chunk.trajectory):
        before = [m for m in range(n) if chunk.trajectory[m] == owner]
        past = {w: sum(z[0, m] for m in before[-w:]) for w in WINDOWS}
        spells = [term[n] * sum(score[m] for m in before[-s:]) for s in SPELLS]
        means = [
            root[n]
            * sum(chunk.states[m, 0] - 0.3 for m in before[-w:])
            / np.clip(len(before), 16, w)
            for w in MEANS
        ]
        rows.append([*past.values(), *means, *spells])
    signs = np.array(rows).T * noisy
    windows = signs[: len(WINDOWS)]
    np.testing.assert_allclose(total.windows[0], windows @ windows.T, rtol=1e-9)
    np.testing.assert_allclose(total.squares[0], (signs**2).sum(axis=1), rtol=1e-9)
    np.testing.assert_allclose(total.across[0, 0], signs @ term, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(total.explained[0, 1:], signs @ z[0], rtol=1e-9, atol=1e-9)
    assert total.explained[0, 0] == pytest.approx(term @ z[0])
    assert total.terms[0, 0, 0] == pytest.approx(term @ term)


def test_chance_makes_standard_errors_of_them() -> None:
    """Over 60 fits of a relaxation their squares average to one, and few are findings."""
    squares, findings = [], []
    for seed in range(60):
        rng, kept = np.random.default_rng([7, seed]), np.exp(-DT)
        shocks = rng.standard_normal((4, 1000)) * np.sqrt((1 - kept**2) / 2)
        seen = seen_of(lfilter([1.0], [1.0, -kept], shocks, axis=1)[:, 200:, None])
        squares.append(seen.residuals.past.errors(seen.past_scores.fitted) ** 2)
        findings += [*ask("correlations")(seen), *ask("wandering")(seen)]
    assert len(findings) <= 4  # of 60, where 1.6 % are allowed: more, once in 300 times
    mean = np.mean(squares, axis=0)
    assert ((mean > 0.55) & (mean < 1.57)).all()  # chi-squared of 60, 0.1 % on either side


def test_a_centre_that_wanders_unseen_is_named() -> None:
    (found,) = ask("correlations")(seen_of(unseen(0, 0.3, to_a_centre)))
    assert found.limitation is Limitation.DELAYED
    assert found.fields == ("b1",)
    assert "over the last" in found.sentence
    assert not list(ask("correlations")(seen_of(unseen(0, 0.0, to_a_centre))))


def test_a_rate_that_wanders_unseen_is_named() -> None:
    (found,) = ask("wandering")(seen_of(unseen(0, 0.6, at_a_rate)))
    assert found.limitation is Limitation.CHANGING
    assert found.fields == ("b1",)
    assert "ask for more of x " in found.sentence
    assert not list(ask("wandering")(seen_of(unseen(0, 0.0, at_a_rate))))


def test_trajectories_about_two_centres_go_back_to_their_own() -> None:
    """Half of them are drawn to 1.5: one drift makes a well with two minima of both."""
    rng, kept = np.random.default_rng(6), np.exp(-DT)
    shocks = rng.standard_normal((8, 1500)) * np.sqrt((1 - kept**2) / 4)
    paths = lfilter([1.0], [1.0, -kept], shocks, axis=1)[:, 200:, None]
    moved = paths + 1.5 * (np.arange(8) % 2)[:, None, None]
    (found,) = alone("returning")(seen_of(moved, "poly3"))
    assert found.limitation is Limitation.DELAYED
    assert found.fields == ("b1",)
    assert "its mean over the last 512 steps" in found.sentence
    assert not list(alone("returning")(seen_of(paths, "poly3")))


def test_the_error_of_a_sensor_that_lasts_is_named_by_its_two_rates() -> None:
    """An error of 0.3 that lasts five steps, beside one of the same size that does not."""
    rng, kept = np.random.default_rng(5), np.exp(-DT)
    shocks = rng.standard_normal((16, 1500)) * np.sqrt((1 - kept**2) / 2)
    state = lfilter([1.0], [1.0, -kept], shocks, axis=1)
    error = rng.standard_normal((16, 1500))
    lasting = 0.3 * lfilter([0.6], [1.0, -0.8], error, axis=1)
    (found,) = alone("two_rates")(seen_of((state + lasting)[..., None]))
    assert found.limitation is Limitation.DELAYED
    assert "two rates" in found.sentence
    assert not list(alone("two_rates")(seen_of((state + 0.3 * error)[..., None])))


def test_how_much_there_is_to_see_of_an_error_that_lasts() -> None:
    """The divergence of its spectrum from that of the closest relaxation with white noise.

    Twice the number of samples times it is the mean of the best test there can be: the square of
    2.6 standard errors.
    """
    turn = np.exp(-1j * np.linspace(0, np.pi, 20_001)[1:])

    def spectrum(kept: float, variance: float) -> FloatArray:
        return np.asarray(variance / np.abs(1 - kept * turn) ** 2)

    kept = np.exp(-DT)
    true = spectrum(kept, (1 - kept**2) / 2) + spectrum(0.8, 0.18**2)

    def divergence(logs: FloatArray) -> float:
        ratio = true / (spectrum(1 - np.exp(logs[0]), np.exp(logs[1])) + np.exp(logs[2]))
        return float(np.mean(ratio - 1 - np.log(ratio))) / 2

    start = np.log([0.07, 0.07, 0.002])
    least = minimize(divergence, start, method="Nelder-Mead", tol=1e-9).fun
    assert np.sqrt(2 * 6000 * least) == pytest.approx(2.6, abs=0.05)
