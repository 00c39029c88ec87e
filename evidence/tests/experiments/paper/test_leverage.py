"""Leverage: parameters of a Heston model, read off a generator."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy

from wgsindy import WGSINDy, zoo
from wgsindy.data import FloatArray
from wgsindy.model import Generator
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.paper import leverage


def variance_grid() -> FloatArray:
    return np.array([(x, v) for x in (-1.0, 0.5) for v in (0.01, 0.03, 0.05, 0.09)])


@pytest.mark.parametrize("rho", [-0.85, 0.0, 0.5])
def test_parameters_of_a_true_heston_model_come_back(rho: float) -> None:
    given = {"rho": rho, "kappa": 1.7, "theta": 0.06, "xi": 0.45}
    truth = zoo.get("heston_logsv", **given).generator
    found = leverage.heston_parameters(truth, variance_grid())
    assert found["kappa"] == pytest.approx(1.7)
    assert found["theta"] == pytest.approx(0.06)
    assert found["xi"] == pytest.approx(0.45)
    assert found["rho_parametric"] == pytest.approx(rho, abs=1e-12)


def test_parameters_that_a_generator_does_not_have_are_not_invented() -> None:
    x, v = sympy.symbols("x v", real=True)
    still = Generator.from_sympy(("x", "v"), [0, 0], [[v, 0], [0, 0]])
    found = leverage.heston_parameters(still, variance_grid())
    assert found["kappa"] == 0
    assert found["xi"] == 0
    assert math.isnan(found["theta"])
    assert math.isnan(found["rho_parametric"])
    # Entries that are no multiples of v are taken at their least-squares multiple.
    cross = v / 2
    bent = Generator.from_sympy(("x", "v"), [x, 2 - 3 * v], [[4 * v, cross], [cross, v + v**2]])
    variance = variance_grid()[:, 1]
    slope = 1 + np.sum(variance**3) / np.sum(variance**2)
    found = leverage.heston_parameters(bent, variance_grid())
    assert found["xi"] == pytest.approx(math.sqrt(slope))
    # Also where the variance of the price is not v itself.
    assert found["rho_parametric"] == pytest.approx(0.5 / math.sqrt(4 * slope))


def test_the_leverage_of_a_case_is_read_off_its_fit() -> None:
    case = Case("leverage", "heston_logsv", "sharp-euler", 1, 2, 300, (("rho", 0.5),))
    found = leverage.run_case(case)
    system = zoo.get("heston_logsv", rho=0.5)
    data = system.simulate(1, trajectories=2, steps=300)
    estimate = WGSINDy("poly2", "sharp-euler", random_state=1).fit(data).generator_
    a = estimate.diffusion(metrics.central_grid(data.states))
    rho = a[:, 0, 1] / np.sqrt(a[:, 0, 0] * a[:, 1, 1])
    assert found["rho"] == pytest.approx(np.median(rho))
    assert found["rho_spread"] == pytest.approx(np.subtract(*np.percentile(rho, [75, 25])))
    # 600 increments: the standard error of a correlation is (1 - rho^2) / sqrt(600) = 0.03.
    assert abs(found["rho"] - 0.5) < 0.2
    assert np.isfinite([found[key] for key in ("kappa", "theta", "xi", "rho_parametric")]).all()
