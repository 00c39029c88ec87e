"""What a fit says of steps of which not all was measured: innovations of mean 0, of their size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import MissingValuesWarning
from wgsindy.estimate import Fit, Predictions, Predictor, fit_dataset, states_of

DT, SUBSTEPS, RUNS = 0.1, 20, 8


def linear(matrix: FloatArray, noise: FloatArray, seed: int, steps: int) -> FloatArray:
    """Samples ``(RUNS, steps, d)`` of dx = A x dt + noise dW."""
    rng, h = np.random.default_rng(seed), DT / SUBSTEPS
    x, out = np.zeros((RUNS, len(matrix))), []
    for _ in range(steps):
        out.append(x)
        for _ in range(SUBSTEPS):
            x = x + h * x @ matrix.T + np.sqrt(h) * noise * rng.standard_normal(x.shape)
    return np.stack(out, axis=1)


def predictions(fit: Fit) -> tuple[Predictions, FloatArray]:
    """Predictions of all steps, and their residuals in standard deviations."""
    (chunk,) = fit.data.chunks(10**6)
    found = Predictor.of(fit.generator, fit.summary)(chunk)
    with np.errstate(invalid="ignore"):
        return found, found.residual / np.sqrt(found.noise * DT)


def test_a_value_that_is_missing_has_no_residual_and_others_keep_theirs() -> None:
    paths = linear(np.array([[-1.0, 0.8], [-0.8, -1.0]]), np.array([1.0, 0.5]), 0, 600)
    gone = np.random.default_rng(1).uniform(size=paths.shape[:2]) < 0.3
    gone[:, 0] = False
    paths[gone, 1] = np.nan
    with pytest.warns(MissingValuesWarning):
        data = Trajectories(list(paths), DT)
    found, z = predictions(fit_dataset(data, "poly1"))
    assert found.seen is not None
    expected = np.stack([np.ones_like(gone), ~gone], axis=2)[:, 1:]
    expected[:, 0] = False  # where a filter starts
    np.testing.assert_array_equal(found.seen, expected.reshape(-1, 2))
    assert not found.residual[~found.seen].any()
    for p in (0, 1):  # variances within four standard errors
        measured = z[found.seen[:, p], p]
        assert abs(np.mean(measured**2) - 1) < 4 * np.sqrt(2 / len(measured))


def test_residuals_of_positions_in_a_magnetic_field_have_the_size_that_is_said() -> None:
    """And velocities can be followed, though one direction has a fifth of the noise."""
    force = np.array([[-1.0, 0.0, -1.0, 4.0], [0.0, -2.0, -4.0, -1.0]])
    matrix = np.concatenate([np.eye(4)[2:], force])
    paths = linear(matrix, np.array([0.0, 0.0, 1.5, 0.3]), 2, 800)[:, :, :2]
    fit = fit_dataset(Trajectories(list(paths), DT), "poly1", order=2)
    found, z = predictions(fit)
    assert found.seen is not None
    assert not found.seen[:, 2:].any()  # a velocity never is
    measured = z[found.seen[:, 0], 2:]
    np.testing.assert_allclose(np.mean(measured**2, axis=0), 1, atol=4 * np.sqrt(2 / len(measured)))
    assert np.isfinite(states_of(fit.generator, fit.data).mean).all()


def test_residuals_of_positions_are_those_of_the_force() -> None:
    """A constant force more in the formula is that force times the step less in each residual."""
    matrix = np.array([[0.0, 1.0], [-2.0, -0.5]])
    paths = linear(matrix, np.array([0.0, 1.0]), 3, 300)[:, :, :1]
    fit = fit_dataset(Trajectories(list(paths), DT), "poly1", order=2)
    drift = fit.generator.drift_coefficients.copy()
    drift[1, fit.generator.basis.terms.index("1")] += 0.01
    pushed = replace(fit, generator=replace(fit.generator, drift_coefficients=drift))
    (one, _), (other, _) = (predictions(each) for each in (fit, pushed))
    seen = one.noise[:, 1] > 0
    change = (other.residual - one.residual)[seen, 1]
    np.testing.assert_allclose(change, -0.01 * DT, rtol=0.02)
