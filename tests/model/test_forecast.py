"""The fan of a forecast: bands of known processes, and the doubt about fitted ones."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
import sympy

import wgsindy as wg
from wgsindy.errors import DataError, SimulationError
from wgsindy.model.simulation import FAN_STEP, MOST_FAN_STEPS, _substeps

mpl.use("Agg")
X = sympy.Symbol("x")


def test_the_bands_of_a_known_process_are_its_quantiles() -> None:
    rate, variance, n = 1.5, 0.4, 8000
    truth = wg.Generator.from_sympy(("x",), [-rate * X], [[variance]])
    fan = truth.forecast([2.0], 2.0, paths=n, levels=(0.9, 0.5), random_state=0)
    mean = 2.0 * np.exp(-rate * fan.times)
    size = np.sqrt(variance * (1 - np.exp(-2 * rate * fan.times)) / (2 * rate))
    assert fan.levels == (0.5, 0.9)
    assert not fan.doubts
    # A quantile of n normal numbers has this error; a fiftieth of the size for Euler's steps.
    for level, low, high, z, density in zip(
        fan.levels,
        fan.low[..., 0],
        fan.high[..., 0],
        (0.6745, 1.6449),
        (0.3178, 0.1031),
        strict=True,
    ):
        error = np.sqrt((1 - level**2) / 4 / n) / density
        allowed = (5 * error + 0.02) * size + 1e-12
        assert np.all(np.abs(high - (mean + z * size)) <= allowed)
        assert np.all(np.abs(low - (mean - z * size)) <= allowed)
    assert np.array_equal(fan.low[:, 0, 0], [2.0, 2.0])


def ornstein_uhlenbeck(seed: int, steps: int, dt: float = 0.1) -> np.ndarray:
    """Exact steps of dX = -X dt + sqrt(2) dW."""
    rng, x = np.random.default_rng(seed), np.zeros(steps + 1)
    x[0] = rng.normal()
    for n in range(steps):
        x[n + 1] = x[n] * np.exp(-dt) + rng.normal() * np.sqrt(1 - np.exp(-2 * dt))
    return x


@pytest.mark.slow
@pytest.mark.statistical
def test_futures_lie_in_the_bands_of_fits_as_often_as_they_say() -> None:
    inside = {"with doubts": 0, "halved": 0}
    cases = 60
    for seed in range(1000, 1000 + cases):
        path = ornstein_uhlenbeck(seed, 600)
        generator = wg.WGSINDy("poly1").fit([path[:581, None]], dt=0.1).generator_
        fan = generator.forecast(path[580:581], 2.0, steps=20, levels=(0.8,), random_state=seed)
        low, high, middle = fan.low[0, -1, 0], fan.high[0, -1, 0], fan.median[-1, 0]
        inside["with doubts"] += bool(low <= path[600] <= high)
        inside["halved"] += bool(middle + (low - middle) / 2 <= path[600] <= (high + middle) / 2)
    # 80 % of 60 are 48, with a standard deviation of 3.1; four of them on either side.
    assert 36 <= inside["with doubts"] <= 60
    assert inside["halved"] < 36  # bands half as wide would be seen


def test_doubt_about_the_equations_widens_the_fan() -> None:
    path = ornstein_uhlenbeck(0, 150)
    generator = wg.WGSINDy("poly1").fit([path[:, None]], dt=0.1).generator_
    start = [3.0 * float(path.std())]
    spreads = {
        doubts: np.ptp([fan.low[0, 5, 0], fan.high[0, 5, 0]])
        for doubts in (True, False)
        for fan in [
            generator.forecast(
                start, 1.0, steps=10, paths=4000, levels=(0.9,), doubts=doubts, random_state=1
            )
        ]
    }
    assert spreads[True] > 1.05 * spreads[False]


def test_paths_that_diverge_open_the_bands_and_are_told() -> None:
    wild = wg.Generator.from_sympy(("x",), [X**3 - X], [[0.5]])
    fan = wild.forecast([0.9], 20.0, steps=40, paths=400, random_state=0)
    assert 0.3 < fan.diverged < 1.0
    assert np.isinf(fan.low[-1, -1, 0])
    assert np.isinf(fan.high[-1, -1, 0])
    assert "diverge" in fan.plot().get_title()


def test_of_paths_that_are_lost_nobody_knows_on_which_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 paths two are lost: they may be below 95 % of the others, or above."""
    ends = np.repeat(np.append(np.arange(38.0), [np.inf, np.nan])[:, None, None], 2, axis=1)
    monkeypatch.setattr(
        "wgsindy.model.simulation.EulerMaruyama", lambda substeps: lambda *given: ends.copy()
    )
    gen = wg.Generator.from_sympy(("x",), [-X], [[1]])
    fan = gen.forecast([0.0], 1.0, steps=1, paths=40, levels=[0.9, 0.95])
    np.testing.assert_array_equal(fan.low[:, 1, 0], [-np.inf, -np.inf])
    np.testing.assert_array_equal(fan.high[:, 1, 0], [37.0, np.inf])
    assert fan.median[1, 0] == 17.0  # the twentieth of 40, two of which may be below


def test_a_process_of_three_that_diverges_is_no_crash() -> None:
    names = ("x", "y", "z")
    x, y, z = sympy.symbols(names)
    drift = [x**3, y**3, z**3]
    tensor = [[1 + x**4, x * y, 0], [x * y, 1, 0], [0, 0, 1]]
    truth = wg.Generator.from_sympy(names, drift, tensor)
    from wgsindy.model import TensorField

    field = TensorField("clipped", truth.tensor_field.coefficients, 0.0, np.ones(3))
    wild = wg.Generator(truth.basis, truth.drift_coefficients, field)
    assert wild.forecast([3.0, 3.0, 3.0], 5.0, steps=20, paths=10, random_state=0).diverged == 1
    with pytest.raises(SimulationError, match="try a smaller dt or a start inside the data"):
        wild.simulate([3.0, 3.0, 3.0], dt=0.1, steps=60, trajectories=4, random_state=0)


def test_arguments_that_make_no_sense_get_a_sentence() -> None:
    truth = wg.Generator.from_sympy(("x",), [-X], [[1]])
    for arguments, message in (
        ({"x0": [1.0, 2.0], "horizon": 1.0}, "x0 must be 1 finite numbers"),
        ({"x0": [1.0], "horizon": -1.0}, "horizon > 0"),
        ({"x0": [1.0], "horizon": 1.0, "levels": (90,)}, "probabilities"),
    ):
        with pytest.raises(SimulationError, match=message):
            truth.forecast(**arguments)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no coordinate 'y'"):
        truth.forecast([0.0], 1.0, random_state=0).plot("y")


@pytest.mark.parametrize("rate", [0.001, 3.0, 40.0])
def test_steps_are_short_against_the_rate_of_the_drift(rate: float) -> None:
    x = sympy.Symbol("x", real=True)
    process = wg.Generator.from_sympy(("x",), [-rate * x], [[1]])
    found = _substeps(process, np.array([0.5]), 0.2)
    assert found == min(max(1, int(np.ceil(0.2 * rate / FAN_STEP))), MOST_FAN_STEPS)
