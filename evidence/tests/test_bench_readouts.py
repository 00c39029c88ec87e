"""The work behind read-outs, coefficients, noise and datasheets, on little data."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy

from wgsindy import Trajectories, WGSINDy, zoo
from wgsindy.data.arrays import FloatArray
from wgsindy.model import model_file as modelfile
from wgsindy.model.density import fit_density
from wgsindy.model.generator import Generator
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case, rounded
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.ours import datasheets, observation_noise
from wgsindy_evidence.experiments.ours.observation_noise import observed
from wgsindy_evidence.experiments.paper import circulation, coefficients, leverage
from wgsindy_evidence.scope import Scope

# Kurtosis of the noise: a sample of n has a standard deviation with a relative standard error of
# sqrt((kurtosis - 1) / 4n).
KURTOSIS = {"gaussian": 3.0, "laplace": 6.0}


def paths(n: int = 20_000) -> Trajectories:
    """Two coordinates of very different size, cut into four pieces."""
    whole = np.random.default_rng(0).standard_normal((n, 2)) * [50.0, 0.02] + [7.0, -1.0]
    return Trajectories(np.split(whole, 4), dt=0.25, names=("s", "v"))


def added(kind: str, level: float, seed: int, data: Trajectories) -> FloatArray:
    return observed(data, kind, level, seed).states - data.states


# --- observation noise ---


@pytest.mark.statistical
@pytest.mark.parametrize("level", [0.05, 0.1])
@pytest.mark.parametrize("kind", observation_noise.KINDS)
def test_noise_has_the_level_relative_to_each_coordinate(kind: str, level: float) -> None:
    data = paths()
    noise = added(kind, level, 3, data)
    n = len(noise)
    relative = noise.std(axis=0) / (level * data.states.std(axis=0))
    # Five standard errors: one false alarm in a million.
    assert np.abs(relative - 1).max() < 5 * math.sqrt((KURTOSIS[kind] - 1) / (4 * n))
    scaled = noise / noise.std(axis=0)
    assert np.abs(scaled.mean(axis=0)).max() < 5 / math.sqrt(n)
    # Independent of each other, of the states and from sample to sample.
    states = (data.states - data.states.mean(axis=0)) / data.states.std(axis=0)
    assert abs(np.mean(scaled[:, 0] * scaled[:, 1])) < 5 / math.sqrt(n)
    assert np.abs(np.mean(scaled * states, axis=0)).max() < 5 / math.sqrt(n)
    assert np.abs(np.mean(scaled[1:] * scaled[:-1], axis=0)).max() < 5 / math.sqrt(n)


@pytest.mark.statistical
def test_the_two_kinds_of_noise_differ_in_their_tails() -> None:
    # Share beyond 4 standard deviations: 6.3e-5 of a Gaussian, exp(-4 sqrt 2) = 3.5e-3 of a
    # Laplace law; of 40,000 numbers 2.5 and 140 are expected.
    for kind, low, high in (("gaussian", 0, 15), ("laplace", 80, 210)):
        noise = added(kind, 0.1, 1, paths())
        beyond = np.count_nonzero(np.abs(noise) > 4 * noise.std(axis=0))
        assert low <= beyond <= high


@pytest.mark.parametrize("kind", observation_noise.KINDS)
def test_the_seed_decides_the_noise(kind: str) -> None:
    data = paths(400)
    first = added(kind, 0.1, 1, data)
    np.testing.assert_array_equal(added(kind, 0.1, 1, data), first)
    assert not np.isclose(added(kind, 0.1, 2, data), first, rtol=1e-3).any()


def test_noise_is_not_the_randomness_of_the_paths() -> None:
    # Paths by the same generator with the same seed: increments and noise would be one.
    steps = np.random.default_rng(5).standard_normal((400, 1))
    noise = added("gaussian", 0.1, 5, Trajectories([np.cumsum(steps, axis=0)], dt=1.0))
    assert abs(np.corrcoef(noise[:, 0], steps[:, 0])[0, 1]) < 5 / math.sqrt(400)


@pytest.mark.parametrize("kind", observation_noise.KINDS)
def test_noise_keeps_steps_names_and_lengths_and_none_changes_nothing(kind: str) -> None:
    data = paths(400)
    for level in (0.0, 0.1):
        noisy = observed(data, kind, level, 1)
        assert noisy.names == ("s", "v")
        assert noisy.mean_dt == pytest.approx(0.25)
        assert [len(path) for path in noisy] == [100] * 4
        assert np.array_equal(noisy.states, data.states) == (level == 0)


def test_levels_without_noise_are_run_once() -> None:
    cases = observation_noise.noise_cases(Scope())
    quiet = [case for case in cases if case.settings["level"] == 0]
    assert {case.settings["kind"] for case in quiet} == {"gaussian"}
    assert {case.settings["kind"] for case in cases} == set(observation_noise.KINDS)


def test_errors_of_a_noisy_fit_are_on_the_clean_grid() -> None:
    case = Case("noise", "rotational_ou", "paper", 2, 2, 300, (("kind", "laplace"), ("level", 0.1)))
    found = observation_noise.run_case(case)
    system = zoo.get("rotational_ou")
    clean = system.simulate(2, trajectories=2, steps=300)
    noisy = observed(clean, "laplace", 0.1, 2)
    estimate = WGSINDy("poly2", "paper", random_state=2).fit(noisy).generator_
    expected = metrics.compare(estimate, system.generator, clean.states)
    assert found["drift"] == expected.drift
    assert found["tensor"] == expected.tensor
    assert found["psd"] == expected.psd
    assert found["fields"]["a22"] == expected.fields["a22"]
    # Noise of a tenth is far larger than a step: it inflates the tensor.
    quiet = replace(case, options=(("kind", "gaussian"), ("level", 0.0)))
    assert found["tensor"] > 3 * observation_noise.run_case(quiet)["tensor"]


# --- leverage ---


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
    case = Case("leverage", "heston_logsv", "sharp", 1, 2, 300, (("rho", 0.5),))
    found = leverage.run_case(case)
    system = zoo.get("heston_logsv", rho=0.5)
    data = system.simulate(1, trajectories=2, steps=300)
    estimate = WGSINDy("poly2", "sharp", random_state=1).fit(data).generator_
    a = estimate.diffusion(metrics.central_grid(data.states))
    rho = a[:, 0, 1] / np.sqrt(a[:, 0, 0] * a[:, 1, 1])
    assert found["rho"] == pytest.approx(np.median(rho))
    assert found["rho_spread"] == pytest.approx(np.subtract(*np.percentile(rho, [75, 25])))
    # 600 increments: the standard error of a correlation is (1 - rho^2) / sqrt(600) = 0.03.
    assert abs(found["rho"] - 0.5) < 0.2
    assert np.isfinite([found[key] for key in ("kappa", "theta", "xi", "rho_parametric")]).all()


# --- circulation ---


def rotation_case(omega: float, method: str = "sharp") -> Case:
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
    case = Case("circulation", "nongradient_circulation", "sharp", 0, 4, 400, (("omega", 1.0),))
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


# --- coefficients ---


def test_errors_of_true_terms_are_those_of_weighted_least_squares() -> None:
    # Unit noise: cov = (sum theta theta' dt)^-1 for the true terms; an entry of the tensor that
    # is constant has a relative standard error of sqrt(2 / N).
    system = zoo.get("rotational_ou")
    data = system.simulate(3, trajectories=8, steps=1000)
    errors = coefficients.true_term_errors(system, data)
    assert {target: set(terms) for target, terms in errors.items()} == {
        "b1": {"x", "y"},
        "b2": {"x", "y"},
        "a11": {"1"},
        "a12": set(),
        "a22": {"1"},
    }
    states = np.concatenate([path[:-1] for path in data])
    expected = np.sqrt(np.diag(np.linalg.inv(states.T @ states * system.dt)))
    for target in ("b1", "b2"):
        found = [errors[target][name] for name in ("x", "y")]
        np.testing.assert_allclose(found, expected, rtol=0.05)  # the noise is estimated to 1 %
    for target in ("a11", "a22"):
        assert errors[target]["1"] == pytest.approx(math.sqrt(2 / len(states)), rel=0.1)


@pytest.mark.parametrize("method", coefficients.METHODS)
def test_coefficients_above_the_threshold_count_as_selected(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = sympy.symbols("x y", real=True)
    given = Generator.from_sympy(
        ("x", "y"), [-x + 9e-4 * y, 0], [[1, -2e-3 * x**2], [-2e-3 * x**2, 9e-4]]
    )
    monkeypatch.setattr(fits, "fit", lambda system, data, case: (given, float("nan")))
    found = coefficients.run_case(Case("coefficients", "rotational_ou", method, 1, 2, 100))
    assert found["selected"] == {"b1": {"x": -1}, "a11": {"1": 1}, "a12": {"x**2": -2e-3}}
    # What a term is worth is the same for all methods; one of them says it.
    assert ("errors" in found) == (method == "sharp")


def test_the_coefficients_of_a_case_are_those_of_its_fit() -> None:
    case = Case("coefficients", "rotational_ou", "sharp", 1, 8, 800)
    found = coefficients.run_case(case)["selected"]
    data = zoo.get("rotational_ou").simulate(1, trajectories=8, steps=800)
    estimate = WGSINDy("poly2", "sharp", random_state=1).fit(data).generator_
    kept: dict[str, dict[str, float]] = {}
    for row in estimate.coefficients:
        kept.setdefault(row.target, {})[row.term] = row.value
    assert found == kept
    assert found["b1"]["y"] == pytest.approx(-2, abs=0.9)  # five times sqrt(2 / 64)


# --- datasheets ---


def datasheet_case(seed: int, method: str = "sharp") -> Case:
    return Case("datasheet", "rotational_ou", method, seed, 2, 300)


def test_a_datasheet_keeps_the_model_of_one_seed_only() -> None:
    drawn = datasheets.run_case(datasheet_case(datasheets.DRAWN))
    other = datasheets.run_case(datasheet_case(datasheets.DRAWN + 1))
    assert set(drawn) - set(other) == {"model", "range", "reasons", "increments"}
    assert drawn["increments"] == 600


@pytest.mark.parametrize("method", datasheets.METHODS)
def test_the_model_of_a_datasheet_is_the_fit(method: str) -> None:
    case = datasheet_case(datasheets.DRAWN, method)
    kept: Any = json.loads(json.dumps(rounded(datasheets.run_case(case))))
    data = zoo.get("rotational_ou").simulate(case.seed, trajectories=2, steps=300)
    fitted = WGSINDy("poly2", method, random_state=case.seed).fit(data)
    model = Generator(*modelfile.decode(kept["model"]))
    low, high = np.array(kept["range"])
    np.testing.assert_allclose([low, high], np.percentile(data.states, [2, 98], axis=0), rtol=1e-5)
    at = metrics.central_grid(data.states, points=3)
    # Six digits of every coefficient are kept.
    np.testing.assert_allclose(model.drift(at), fitted.generator_.drift(at), atol=1e-4)
    np.testing.assert_allclose(model.diffusion(at), fitted.generator_.diffusion(at), atol=1e-4)
    assert kept["verdict"] == fitted.diagnostics_.verdict
    assert ("coefficients" in kept) == (method == "sharp")  # the one with error bars
    if method == "sharp":
        rows = [(row.target, row.term) for row in fitted.generator_.coefficients]
        assert [tuple(row[:2]) for row in kept["coefficients"]] == rows
        errors = [row.std_error for row in fitted.generator_.coefficients]
        np.testing.assert_allclose([row[3] for row in kept["coefficients"]], errors, rtol=1e-5)
