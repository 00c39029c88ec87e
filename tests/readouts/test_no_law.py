"""Passages, committors and forecasts where there is no stationary law: closed forms, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

from wgsindy.data import Frame
from wgsindy.errors import ReadoutError
from wgsindy.model import Generator

X, Y = sympy.symbols("x y", real=True)
EXIT = "x < -1 or x > 1"
FOUND, GIVEN = None, [(-2.0, 2.0)]


def line(drift: object, noise: object = 1) -> Generator:
    return Generator.from_sympy(("x",), [sympy.sympify(drift)], [[sympy.sympify(noise)]])


def plane(drift: list[object], noise: list[list[object]]) -> Generator:
    return Generator.from_sympy(("x", "y"), [sympy.sympify(part) for part in drift], noise)


def exit_time(start: float, low: float, high: float, force: object, noise: float) -> float:
    """Mean exit time of dx = f dt + sqrt(noise) dW from an interval, by two integrals."""
    x = np.linspace(low, high, 200_001)
    potential = -2 / noise * np.asarray(sympy.lambdify(X, sympy.integrate(force, X))(x))
    scale = np.exp(potential * np.ones_like(x))
    step = x[1] - x[0]
    inner = np.cumsum(1 / scale) * step
    to_there, weight = np.cumsum(scale * inner) * step * 2 / noise, np.cumsum(scale) * step
    return float(np.interp(start, x, to_there[-1] * weight / weight[-1] - to_there))


@pytest.mark.parametrize("box", [FOUND, GIVEN])
@pytest.mark.parametrize("start", [0.0, 0.3, -0.9])
def test_brownian_motion_leaves_an_interval(box: object, start: float) -> None:
    found = line(0, 0.25).readouts(box=box).passage_time([start], EXIT)
    exact = (start + 1) * (1 - start) / 0.25
    assert float(found.mean) == pytest.approx(exact, rel=2e-3)
    # Variance of the exit time of Brownian motion: (1 - x^4) 2 / (3 s^4), from L t2 = -2 t.
    square = (1 - start**2) * (5 - start**2) / (3 * 0.25**2)
    assert float(found.variance) == pytest.approx(square - exact**2, rel=4e-3)


@pytest.mark.parametrize("box", [FOUND, GIVEN])
@pytest.mark.parametrize("force", [X, X**3, sympy.Rational(1, 2)])
def test_unstable_and_driven_motion_leaves_an_interval(box: object, force: sympy.Expr) -> None:
    found = line(force).readouts(box=box).passage_time([0.2], EXIT).mean
    assert float(found) == pytest.approx(exit_time(0.2, -1.0, 1.0, force, 1.0), rel=1e-3)


def test_a_drift_that_leads_to_the_set_needs_no_second_end() -> None:
    """From 0 to 1 by drift 1: an inverse Gaussian law, of mean 1 and variance 1."""
    found = line(1).readouts().passage_time([0.0], "x > 1")
    assert float(found.mean) == pytest.approx(1.0, rel=1e-3)
    assert float(found.variance) == pytest.approx(1.0, rel=4e-3)


@pytest.mark.parametrize("box", [FOUND, [(-2.0, 3.0)]])
def test_gamblers_ruin_with_a_drift(box: object) -> None:
    """Beside points between the ends, points beyond them: they are at an end already."""
    points = np.array([[-0.5], [0.0], [1.0], [2.5], [-1.5]])
    found = line(0.5).readouts(box=box).committor("x < -1", "x > 2", points)
    between = (1 - np.exp(-(points[:3, 0] + 1))) / (1 - np.exp(-3))
    assert np.allclose(found, [*between, 1.0, 0.0], atol=1e-4)
    there = line(0.5).readouts(box=box).committor("x < -1", "x > 2", points[3:])
    assert np.array_equal(there, [1.0, 0.0])


def test_brownian_motion_leaves_a_disc() -> None:
    walk = plane([0, 0], [[1, 0], [0, 1]])
    found = walk.readouts(cells=64).passage_time([0.0, 0.3], "x**2 + y**2 > 1").mean
    assert float(found) == pytest.approx((1 - 0.09) / 2, rel=2e-3)


@pytest.mark.parametrize("unit", [1e-9, 1e6])
def test_units_do_not_matter(unit: float) -> None:
    told = line(0, unit**2).readouts()
    found = told.passage_time([0.0], f"x < {-unit!r} or x > {unit!r}").mean
    assert float(found) == pytest.approx(1.0, rel=1e-3)
    chance = told.committor(f"x < {-unit!r}", f"x > {unit!r}", [[unit / 2]])
    assert chance[0] == pytest.approx(0.75, abs=1e-3)


def test_a_set_beyond_the_box_of_the_law() -> None:
    """Ornstein-Uhlenbeck from 0 to 5.5 deviations: a mean of millions, beyond the found box."""
    x = np.linspace(-12, 5.5, 400_001)
    inner = np.cumsum(np.exp(-(x**2) / 2))
    exact = float((np.exp(x**2 / 2) * inner)[x >= 0].sum() * (x[1] - x[0]) ** 2)
    told = line(-X, 2).readouts()
    assert told.grid.high[0] < 5.5
    assert float(told.passage_time([0.0], "x > 5.5").mean) == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize(
    ("drift", "box", "says"),
    [
        pytest.param(0, FOUND, "mean is infinite", id="recurrent, but for ever on its way"),
        pytest.param(0, [(-5, 2)], "lower end of x .* probability 0.17", id="a box that is left"),
        pytest.param(-1, FOUND, "infinite", id="drifts away"),
        pytest.param(X, FOUND, "infinite", id="explodes to either side"),
    ],
)
def test_means_that_are_infinite(drift: object, box: object, says: str) -> None:
    with pytest.raises(ReadoutError, match=says):
        line(drift).readouts(box=box).passage_time([0.0], "x > 1")


def test_a_start_in_the_set_and_one_that_a_cell_swallows() -> None:
    assert float(line(0).readouts().passage_time([2.0], "x > 1").mean) == 0.0
    with pytest.raises(ReadoutError, match="within a cell of the start"):
        line(0).readouts(box=[(-9, 9)], cells=32).passage_time([0.0], "x < -0.1 or x > 0.1")


def test_a_passage_keeps_to_where_the_data_were() -> None:
    """One of two wells was seen: no law, no time to the other; but a time out of the one."""
    well = replace(line(X - X**3, 0.1), region=Frame(np.array([-1.0]), np.array([0.3])))
    told, trusted = well.readouts(), line(X - X**3, 0.1).readouts()
    with pytest.raises(ReadoutError, match="passage from a state to a set where the data were"):
        _ = told.gap
    with pytest.raises(ReadoutError, match="of their ends would be with x further than 4"):
        told.passage_time([-1.0], "x > 0.9")
    found, exact = (one.passage_time([-1.0], "x > -0.2").mean for one in (told, trusted))
    assert float(found) == pytest.approx(float(exact), rel=1e-3)


def test_a_forecast_must_not_feel_its_box() -> None:
    walk = line(0)
    with pytest.raises(ReadoutError, match=r"left before t = 1 with probability 0\.09"):
        walk.readouts(box=[(-2, 2)]).forecast([0.0], 1.0)
    told = walk.readouts(box=[(-8, 8)]).forecast([0.0], 1.0)
    assert told.covariance.values[0, 0] == pytest.approx(1.0, rel=1e-3)


def test_the_law_of_wells_that_hardly_exchange() -> None:
    """The deeper well holds all: a solver that has not settled would say one half each."""
    x = np.linspace(-3, 3, 20_001)
    height = -(x**2) / 2 + x**4 / 4 - 0.05 * x
    for noise in (0.03, 0.02):
        weight = np.exp(-2 * (height - height.min()) / noise)
        told = line(X - X**3 + 0.05, noise).readouts()
        assert told.mean[0] == pytest.approx(float(weight @ x / weight.sum()), abs=1e-4)
    with pytest.raises(ReadoutError, match="rounding hides how much"):
        _ = line(X - X**3 + 0.05, 0.01).readouts().mean
    with pytest.raises(ReadoutError, match="so rarely that rounding hides"):
        line(X - X**3, 0.005).readouts().passage_time([-1.0], "x > 0")


def test_states_far_from_zero_have_a_law() -> None:
    told = line(-(X - 10**6)).readouts()
    assert told.mean[0] == pytest.approx(1e6, abs=1e-3)
    assert told.covariance[0, 0] == pytest.approx(0.5, rel=1e-3)


def test_beyond_the_box_nothing_is_said() -> None:
    told = line(-X).readouts()
    for ask in (told.potential, told.split, told.modes, told.metastable_sets):
        with pytest.raises(ReadoutError, match="one state in the box"):
            ask([[50.0]])
    assert told.density([[50.0]])[0] == 0.0 == told.current([[50.0]])[0, 0]
