"""What every term of a library would leave unknown of the drift, in closed form."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from processes import linear

from wgsindy import Generator
from wgsindy.data import FloatArray
from wgsindy.diagnostics.measurements import known_drift
from wgsindy.estimate import fit_dataset

TIME = 50.0


def square(n: int = 4000) -> FloatArray:
    return np.random.default_rng(1).uniform(-1.0, 1.0, (n, 2))


@pytest.fixture(scope="module")
def fitted() -> Generator:
    generator = fit_dataset(linear(0), "poly1").generator
    assert np.ptp(generator.fluctuation(square()), axis=0).max() < 1e-12  # the same everywhere
    return generator


def test_errors_at_the_data_are_as_many_as_there_are_terms(fitted: Generator) -> None:
    # The mean of theta' (mean of theta theta')^-1 theta is the number of terms, whatever points.
    points = square()
    found = known_drift(fitted, points, TIME)
    assert found is not None
    size = np.sqrt(np.mean(fitted.drift(points) ** 2, axis=0))
    noise = fitted.fluctuation(points)[0]
    np.testing.assert_allclose(found.data, np.sqrt(3 * noise / TIME) / size, rtol=1e-9)
    longer = known_drift(fitted, points, 4 * TIME)
    assert longer is not None
    np.testing.assert_allclose(longer.data, found.data / 2, rtol=1e-9)
    np.testing.assert_allclose(longer.box, found.box / 2, rtol=1e-9)


def test_errors_in_the_box_are_those_between_the_central_quantiles(fitted: Generator) -> None:
    # Of a line along each axis, 1 + 2 var(box) / var(points), of which 0.96^2 is the ratio.
    points = square()
    found = known_drift(fitted, points, TIME)
    assert found is not None
    box = np.random.default_rng(2).uniform(-0.96, 0.96, (100_000, 2))
    size = np.sqrt(np.mean(fitted.drift(box) ** 2, axis=0))
    expected = np.sqrt((1 + 2 * 0.96**2) * fitted.fluctuation(points)[0] / TIME) / size
    np.testing.assert_allclose(found.box, expected, rtol=0.05)
    band = fitted.bands(box)
    width = np.sqrt(np.mean((band.drift_high - band.drift_low) ** 2, axis=0)) / (2 * 1.96)
    np.testing.assert_allclose(found.bands, width / size, rtol=0.05)


def test_there_is_nothing_between_data_of_one_dimension_or_without_error_bars() -> None:
    one = fit_dataset(linear(0, 1), "poly1").generator
    assert known_drift(one, square()[:, :1], TIME) is None
    x, y = sympy.symbols("x y", real=True)
    truth = Generator.from_sympy(("x", "y"), [-x, -y], [[1, 0], [0, 1]])
    assert known_drift(truth, square(), TIME) is None
