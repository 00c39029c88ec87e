"""Sums of past residuals: against a regression by hand, chance, and what is not observed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from wgsindy import Trajectories, WGSINDy
from wgsindy.data.arrays import FloatArray
from wgsindy.data.chunk import Spans
from wgsindy.diagnostics import Measurements, probe_checks
from wgsindy.diagnostics.findings import Limitation
from wgsindy.diagnostics.residuals.echoes import WINDOWS, Echoes, _windows

DT = 0.05


def followed(seed: int, wander: float) -> FloatArray:
    """Samples ``(16, 1500, 1)`` of dx = -2 (x - c) dt + dW, where c wanders by so much, unseen."""
    rng = np.random.default_rng(seed)
    paths = np.zeros((16, 1500, 1))
    x, centre, h = np.zeros(16), np.zeros(16), DT / 5
    for n in range(paths.shape[1]):
        paths[:, n, 0] = x
        for _ in range(5):
            x = x - 2 * (x - centre) * h + np.sqrt(h) * rng.standard_normal(16)
            centre = centre - 0.3 * centre * h + wander * np.sqrt(h) * rng.standard_normal(16)
    return paths


def seen_of(paths: FloatArray) -> Measurements:
    return Measurements(WGSINDy("poly2").fit(Trajectories(list(paths), DT)).fit_.completed)


def test_windows_sum_the_steps_before_of_the_same_trajectory() -> None:
    z = np.arange(1.0, 13.0).reshape(2, 6)
    found = _windows(z, Spans.of(np.array([0, 0, 0, 0, 1, 1]))).reshape(2, len(WINDOWS), 6)
    two = WINDOWS.index(2)
    np.testing.assert_array_equal(found[0, two], [0, 1, 3, 5, 0, 5])
    np.testing.assert_array_equal(found[1, -1], [0, 7, 15, 24, 0, 11])


def test_errors_are_those_of_a_regression() -> None:
    """The slope of a window that the fitted terms had no say in, over its standard error."""
    rng = np.random.default_rng(3)
    d, n, past = 2, 400, 2 * len(WINDOWS)
    told, z = rng.standard_normal((d, 3 + past, n)), rng.standard_normal((d, n))
    told[:, 3:] += told[:, :1]  # so that terms tell of windows
    fitted = np.array([[True, True, False], [False, False, False]])
    gram = np.einsum("pkn,pln->pkl", told, told)
    found = Echoes(gram, np.einsum("pkn,pn->pk", told, z)).errors(fitted)
    terms = told[0, :2].T
    left = z[0] - terms @ np.linalg.lstsq(terms, z[0])[0]
    window = told[0, 3 + len(WINDOWS) + 4]
    own = window - terms @ np.linalg.lstsq(terms, window)[0]
    assert found[0, 1, 4] == pytest.approx(own @ left / np.linalg.norm(own))
    window = told[1, 3]
    assert found[1, 0, 0] == pytest.approx(window @ z[1] / np.linalg.norm(window))
    gram[0, 0, 0] = np.nan  # a formula that explodes is not asked
    other = Echoes(gram, np.einsum("pkn,pn->pk", told, z)).errors(fitted)
    assert not other[0].any()
    np.testing.assert_array_equal(other[1], found[1])


def test_chance_makes_standard_errors_of_them() -> None:
    """Over 60 fits of a relaxation their squares average to one, and none is a finding."""
    squares = []
    for seed in range(60):
        rng, kept = np.random.default_rng([7, seed]), np.exp(-DT)
        shocks = rng.standard_normal((4, 1000)) * np.sqrt((1 - kept**2) / 2)
        seen = seen_of(lfilter([1.0], [1.0, -kept], shocks, axis=1)[:, 200:, None])
        squares.append(seen.residuals.echoes.errors(seen.listener.fitted) ** 2)
        assert not list(probe_checks.delayed(seen))
    mean = np.mean(squares, axis=0)
    assert ((mean > 0.55) & (mean < 1.57)).all()  # chi-squared of 60, 0.1 % on either side


def test_a_centre_that_wanders_unseen_is_named() -> None:
    (found,) = probe_checks.delayed(seen_of(followed(0, 0.3)))
    assert found.limitation is Limitation.DELAYED
    assert found.fields == ("b1",)
    assert "over the last" in found.sentence
    assert not list(probe_checks.delayed(seen_of(followed(0, 0.0))))
