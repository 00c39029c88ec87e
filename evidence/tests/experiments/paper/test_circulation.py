"""Circulation: rotation and current against those of the truth."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from wgsindy import zoo
from wgsindy.model import Generator
from wgsindy.model.circulation import fit_density
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.paper import circulation


def rotation_case(omega: float, method: str = "sharp-euler") -> Case:
    return Case("circulation", "rotational_ou", method, 0, 8, 800, (("omega", omega),))


def test_the_rotation_of_a_case_is_found() -> None:
    found = circulation.run_case(rotation_case(4.0))  # not the rate that is declared
    assert found["true_curl"] == pytest.approx(4.0)
    # 64 time units: a coefficient has a standard error of sqrt(2 / 64) = 0.18.
    assert found["curl"] == pytest.approx(4.0, abs=0.7)
    assert found["antisymmetric"] > 0.999  # any linear field is this, up to the constant term
    # An error of the slope of 0.18 to 0.36 beside a velocity of 4.
    assert found["current"] > 0.95
    assert found["current_error"] < 0.4
    # For an isotropic linear process the paper's direction is that of the current.
    assert found["paper_direction"] == pytest.approx(1)


def test_a_rotation_the_wrong_way_round_has_the_opposite_current() -> None:
    """The control: the same data, a generator that turns the other way."""
    system = zoo.get("rotational_ou", omega=2.0)
    data = system.simulate(0, trajectories=8, steps=800)
    grid = metrics.central_grid(data.states)
    density = fit_density(data, "poly2")
    current = system.generator.drift(grid) - zoo.get("rotational_ou", omega=0.0).generator.drift(
        grid
    )
    cosines = [
        metrics.cosine(
            zoo.get("rotational_ou", omega=omega).generator.current_velocity(grid, density), current
        )
        for omega in (2.0, -2.0, 0.0)
    ]
    assert cosines[0] > 0.95
    assert cosines[1] < -0.95
    assert abs(cosines[2]) < 0.9  # what is left without a rotation is noise of the density


def test_the_direction_of_the_paper_is_not_the_current_of_a_double_well() -> None:
    case = Case(
        "circulation", "nongradient_circulation", "sharp-euler", 0, 4, 400, (("omega", 1.0),)
    )
    found = circulation.run_case(case)
    # Of the truth alone, by hand: U = (x^2 - 1)^2 / 4 + ..., current = omega (-U_y, U_x).
    truth = zoo.get("nongradient_circulation", omega=1.0)
    data = fits.simulate(case, truth)
    grid = metrics.central_grid(data.states)
    slope = -zoo.get("gradient_potential").generator.drift(grid)
    current = np.column_stack([-slope[:, 1], slope[:, 0]])
    turning = truth.generator.antisymmetric_drift(grid)
    assert found["paper_direction"] == pytest.approx(metrics.cosine(turning, current))
    assert found["paper_direction"] < 0.9


def test_the_degree_of_the_density_follows_the_drift() -> None:
    x, y = sympy.symbols("x y", real=True)
    for drift, degree in (([-x, -y], 1), ([x - x**3, -y], 3), ([0, 1], 1), ([x * y, -y], 2)):
        generator = Generator.from_sympy(("x", "y"), drift, [[1, x**4], [x**4, 1]])
        assert circulation._degree(generator) == degree
