"""Fits in changed states: Ito's formula, its error bars, and what has no way back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy

from wgsindy import Change, Generator, Trajectories, WGSINDy
from wgsindy.data import FloatArray
from wgsindy.errors import DataError
from wgsindy.model import Uncertainty

S, U, V, X, Y = (sympy.Symbol(name, real=True) for name in "suvxy")


def geometric(seed: int, growth: float, noise: float, *, paths: int = 16) -> Trajectories:
    """Sample dx = growth x dt + noise x dW exactly, with a y of its own beside it."""
    rng = np.random.default_rng(seed)
    dt, steps = 0.01, 2000
    kicks = rng.normal(size=(paths, steps, 2)) * np.sqrt(dt)
    logs = np.cumsum((growth - noise**2 / 2) * dt + noise * kicks[..., 0], axis=1)
    y = np.zeros((paths, steps))
    for n in range(steps - 1):
        y[:, n + 1] = y[:, n] - y[:, n] * dt + kicks[:, n, 1]
    return Trajectories(list(np.stack([np.exp(logs), y], axis=2)), dt)


@pytest.fixture(scope="module")
def logarithmic() -> tuple[Change, Trajectories, Generator]:
    data = geometric(0, growth=0.6, noise=0.3)
    change = Change.parse("u = log(x)", data.names)
    return change, data, WGSINDy("poly2", "sharp").fit(change.apply(data)).generator_


def test_a_fit_of_the_logarithm_maps_back_to_geometric_brownian_motion(
    logarithmic: tuple[Change, Trajectories, Generator],
) -> None:
    change, data, fitted = logarithmic
    found = {(c.target, c.term): c for c in change.undo(fitted, data).coefficients}
    assert set(found) == {("b1", "x"), ("b2", "y"), ("a11", "x**2"), ("a22", "1")}
    # m + s^2 / 2 with m = growth - s^2 / 2: the growth itself. 4 errors: 1 in 16,000.
    drift, variance = found["b1", "x"], found["a11", "x**2"]
    assert abs(drift.value - 0.6) < 4 * drift.std_error
    assert abs(variance.value - 0.09) < 4 * variance.std_error
    # Without Ito's term the drift would be m, and the test could tell.
    uncorrected = next(c for c in fitted.coefficients if c.target == "b1")
    assert uncorrected.value == pytest.approx(drift.value - variance.value / 2, rel=1e-12)


def test_error_bars_of_drift_and_tensor_join() -> None:
    fitted = Generator.from_sympy(("u",), [sympy.Float(0.1)], [[sympy.Float(0.04)]])
    variance_m, variance_a = 0.3**2, 0.2**2
    sure = Uncertainty(
        drift=np.array([[0.1]]),
        drift_covariance=np.full((1, 1, 1, 1), variance_m),
        entry_covariance=np.full((1, 1, 1), variance_a),
        drift_spread=np.full((1, 1, 1), 2 * variance_m),
        inclusion=np.array([[0.9], [0.5]]),
        drift_clustered=np.full((1, 1, 1, 1), 4 * variance_m),
        entry_clustered=np.full((1, 1, 1), 4 * variance_a),
        form_spread=np.full((1, 1, 1), 5 * variance_m),
    )
    result = Change.parse("u = log(x)", ("x",)).undo(replace(fitted, uncertainty=sure))
    drift, variance = result.coefficients
    assert (drift.term, variance.term) == ("x", "x**2")
    assert drift.value == pytest.approx(0.1 + 0.04 / 2)
    assert drift.std_error == pytest.approx(np.sqrt(variance_m + variance_a / 4))
    assert variance.std_error == pytest.approx(0.2)
    assert drift.inclusion == pytest.approx(1 - 0.1 * 0.5)
    assert variance.inclusion == pytest.approx(0.5)
    assert result.uncertainty is not None
    # At x = 2 the slope of exp(u) is 2; what the form may miss has nothing of the tensor in it.
    half = np.ptp(np.concatenate(result.bands([[2.0]])[:2])) / 2 / 1.959964
    assert half == pytest.approx(2 * np.sqrt(7 * variance_m + variance_a / 4))
    both, alone = result.uncertainty.std_errors(), result.uncertainty.std_errors(clustered=True)
    np.testing.assert_allclose(alone, 2 * both)


def test_bands_follow_from_those_of_the_fit_at_every_point(
    logarithmic: tuple[Change, Trajectories, Generator],
) -> None:
    change, data, fitted = logarithmic
    x = data.states[::4000]
    u = np.column_stack([np.log(x[:, 0]), x[:, 1]])
    result = change.undo(fitted)

    def halves(generator: Generator, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        bands = generator.bands(points)
        return (
            (bands.drift_high - bands.drift_low) / 2,
            (bands.diffusion_high - bands.diffusion_low) / 2,
        )

    (drift, tensor), (drift_u, tensor_u) = halves(result, x), halves(fitted, u)
    slope = bend = x[:, 0]  # of exp(u)
    expected = np.hypot(slope * drift_u[:, 0], bend / 2 * tensor_u[:, 0, 0])
    np.testing.assert_allclose(drift[:, 0], expected, rtol=1e-8)
    np.testing.assert_allclose(drift[:, 1], drift_u[:, 1], rtol=1e-8)
    np.testing.assert_allclose(tensor[:, 0, 0], slope**2 * tensor_u[:, 0, 0], rtol=1e-8)
    np.testing.assert_allclose(tensor[:, 1, 1], tensor_u[:, 1, 1], rtol=1e-8)


def heston() -> Generator:
    speed, mean, ripple, leverage = 2.0, 0.04, 0.3, -0.7
    cross = leverage * ripple * S * V
    return Generator.from_sympy(
        ("s", "v"), [0.05 * S, speed * (mean - V)], [[V * S**2, cross], [cross, ripple**2 * V]]
    )


def test_heston_in_volatility_is_the_known_equation_and_goes_back() -> None:
    volatility = Change.parse("v = u**2", ("s", "u")).undo(heston())
    drift, tensor = volatility.to_sympy()[1:]
    wanted = (2 * 0.04 - 0.3**2 / 4) / (2 * U) - U
    assert sympy.simplify(drift[1] - wanted).evalf() == pytest.approx(0, abs=1e-12)
    assert tensor[1, 1] == pytest.approx(0.3**2 / 4)
    assert sympy.simplify(tensor[0, 1] + 0.7 * 0.3 / 2 * S * U) == pytest.approx(0, abs=1e-12)
    again = Change.parse("u = sqrt(v)", ("s", "v")).undo(volatility)
    for found, true in zip(again.to_sympy()[1:], heston().to_sympy()[1:], strict=True):
        difference = sympy.simplify(found - true)
        assert max(abs(float(entry)) for entry in difference) < 1e-12
    assert again.info["changes"] == ["u = sqrt(v)", "v = u**2"]


CHANGES = {  # u = h(x), and x = g(u)
    "u = log(x)": "x = exp(u)",
    "u = sqrt(x)": "x = u**2",
    "u = log(x/(1 - x))": "x = 1/(1 + exp(-u))",
    "u = asinh(x)": "x = sinh(u)",
    "u = 3 - 2*x": "x = (3 - u)/2",
    "u = 1/x": "x = 1/u",
}


def random_generator(seed: int) -> Generator:
    """Return a generator of (u, y) with a full tensor that depends on both."""
    rng = np.random.default_rng(seed)
    b, c = rng.normal(size=(2, 3)), rng.normal(size=(2, 2))
    sigma = sympy.Matrix([[1 + c[0, 0] * U / 5, c[0, 1] / 3], [c[1, 0] * Y / 5, 1 + c[1, 1] / 3]])
    drift = [row[0] + row[1] * U + row[2] * U * Y for row in b]
    return Generator.from_sympy(("u", "y"), drift, (sigma * sigma.T).tolist())


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("text", CHANGES)
def test_there_and_back_is_where_it_was(text: str, seed: int) -> None:
    fitted = random_generator(seed)
    middle = Change.parse(text, ("x", "y")).undo(fitted)
    again = Change.parse(CHANGES[text], ("u", "y")).undo(middle)
    points = np.random.default_rng(seed).uniform(0.3, 0.9, (20, 2))
    np.testing.assert_allclose(again.drift(points), fitted.drift(points), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(again.diffusion(points), fitted.diffusion(points), rtol=1e-8)


@pytest.mark.statistical
@pytest.mark.parametrize("text", CHANGES)
def test_small_steps_of_the_fitted_state_are_steps_of_the_old_one(text: str) -> None:
    fitted = random_generator(5)
    result = Change.parse(text, ("x", "y")).undo(fitted)
    back = Change.parse(CHANGES[text], ("u", "y")).formula
    start, dt, count = np.array([[0.6, 0.4]]), 1e-4, 100_000
    noise = np.random.default_rng(0).normal(size=(count, 2))
    noise = np.concatenate([noise, -noise]) * np.sqrt(dt)  # pairs: the mean of the noise is none
    factor = np.linalg.cholesky(fitted.diffusion(start)[0])
    ends = start + fitted.drift(start) * dt + noise @ factor.T
    ends[:, 0] = back.value(ends[:, :1])
    here = np.array([[back.value(start[:, :1])[0], start[0, 1]]])
    moved = (ends - here) / dt
    pairs = (moved[:count] + moved[count:]) / 2
    error = pairs.std(axis=0) / np.sqrt(count)
    # Five errors: 1 in a million; what is of order dt is far below one error.
    assert (np.abs(pairs.mean(axis=0) - result.drift(here)[0]) < 5 * error + 1e-3).all()
    squares = np.einsum("np,nq->npq", ends - here, ends - here)[:count] / dt
    spread = squares.std(axis=0) / np.sqrt(count)
    assert (np.abs(squares.mean(axis=0) - result.diffusion(here)[0]) < 5 * spread + 1e-2).all()
    if text != "u = 3 - 2*x":  # the negative control: without the second derivative it fails
        slope = float(np.sqrt(result.diffusion(here)[0, 0, 0] / fitted.diffusion(start)[0, 0, 0]))
        sign = -1.0 if text == "u = 1/x" else 1.0
        plain = sign * slope * fitted.drift(start)[0, 0]
        assert abs(pairs.mean(axis=0)[0] - plain) > 20 * error[0]


def test_fields_in_a_frame_and_of_a_factor_are_mapped_too() -> None:
    data = geometric(1, growth=0.6, noise=0.3, paths=6)
    change = Change.parse("u = log(x)", data.names)
    fitted = WGSINDy("poly2", "paper").fit(change.apply(data)).generator_
    result = change.undo(fitted, data)
    x = data.states[::500]
    u = np.column_stack([np.log(x[:, 0]), x[:, 1]])
    slope = np.column_stack([x[:, 0], np.ones(len(x))])
    tensor = fitted.diffusion(u)
    np.testing.assert_allclose(
        result.diffusion(x), slope[:, :, None] * tensor * slope[:, None, :], rtol=1e-7, atol=1e-10
    )
    expected = slope * fitted.drift(u)
    expected[:, 0] += x[:, 0] / 2 * tensor[:, 0, 0]
    np.testing.assert_allclose(result.drift(x), expected, rtol=1e-7, atol=1e-10)
    assert result.region is not None
    np.testing.assert_allclose(result.region.centre, data.states.mean(axis=0))


def test_the_result_is_a_generator_like_any_other(
    logarithmic: tuple[Change, Trajectories, Generator], tmp_path: Path
) -> None:
    change, data, fitted = logarithmic
    result = change.undo(fitted, data)
    result.save(tmp_path / "model.json")
    loaded = Generator.load(tmp_path / "model.json")
    assert loaded.to_dict() == result.to_dict()
    assert loaded.equations(errors=True) == result.equations(errors=True)
    assert loaded.info["changes"] == ["u = log(x)"]
    paths = loaded.simulate([1.0, 0.0], dt=0.01, steps=50, random_state=0)
    assert paths.names == ("x", "y")
    assert (paths.states[:, 0] > 0).all()


def test_data_are_changed_sample_by_sample() -> None:
    data = Trajectories(
        [[[1.0, 5.0], [4.0, 6.0]], [[9.0, 7.0], [16.0, 8.0], [25.0, 9.0]]],
        times=[[0.0, 0.5], [0.0, 0.1, 1.0]],
    )
    changed = Change.parse("r = sqrt(x)", data.names).apply(data)
    assert changed.names == ("r", "y")
    np.testing.assert_allclose(changed[1], [[3.0, 7.0], [4.0, 8.0], [5.0, 9.0]])
    np.testing.assert_allclose(changed.steps(1), [0.1, 0.9])
    assert len(changed) == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("log(x)", "reads like 'u = log\\(x\\)'"),
        ("2u = log(x)", "reads like"),
        ("class = log(x)", "reads like"),
        ("y = log(x)", "calls the new state 'y', as an old one"),
        ("x = log(x)", "calls the new state 'x', as an old one"),
        ("u = log(x*y)", "uses 2 states"),
        ("u = 3", "uses 0 states"),
        ("u = log(z)", "uses 'z', which is not a state"),
        ("u = __import__('os')", "cannot be used"),
        ("u = x == y", "cannot be used"),
    ],
)
def test_what_is_no_change_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        Change.parse(text, ("x", "y"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("u = log(x)", r"no finite value and slope at x = -1 \(2 such samples\)"),
        ("u = x**2", "not strictly monotone for x from -1 to 7"),
        ("u = sin(x)", "not strictly monotone"),
        ("u = x**3", "not strictly monotone"),  # flat at 0: the way back has no slope there
        ("u = 0*x", "not strictly monotone"),
    ],
)
def test_a_formula_without_a_way_back_is_refused(text: str, sentence: str) -> None:
    data = Trajectories([[-1.0, 0.0, 0.1, 7.0, 6.5]], dt=1.0)
    with pytest.raises(DataError, match=sentence):
        Change.parse(text, ("x",)).apply(data)


def test_a_turn_between_samples_is_seen() -> None:
    # The slope of the sine is positive at both ends; only their order tells.
    data = Trajectories([[0.0, 5.5, 0.3]], dt=1.0)
    with pytest.raises(DataError, match="not strictly monotone"):
        Change.parse("u = sin(x)", ("x",)).apply(data)


def test_samples_that_all_but_agree_do_not_hide_the_way_back() -> None:
    near = np.nextafter(0.7, 1.0, dtype=np.float64)
    data = Trajectories([[0.7, float(near), 0.2, 0.9]], dt=1.0)
    assert np.log(0.7) == pytest.approx(np.log(near), abs=1e-15)
    Change.parse("u = log(x/(1 - x))", ("x",)).apply(data)


def test_a_change_of_other_states_is_refused() -> None:
    change = Change.parse("u = log(x)", ("x",))
    with pytest.raises(DataError, match=r"does not fit the states \['y'\]"):
        change.apply(Trajectories([[1.0, 2.0]], dt=1.0, names=["y"]))
    with pytest.raises(DataError, match=r"does not fit the states \['x'\]"):
        change.undo(Generator.from_sympy(("x",), [-X], [[1]]))
