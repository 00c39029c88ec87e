"""Hard tasks: data are those of the equations, errors are against the right drift."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy_evidence.experiments.arrive import tasks
from wgsindy_evidence.experiments.arrive.paths import euler_path, heun_path
from wgsindy_evidence.scope import Scope


def test_heun_steps_solve_the_stratonovich_equation() -> None:
    """Of dX = 0.3 X dt + 0.2 X o dW the mean of log X grows by 0.3, in Ito's sense as well."""
    starts = np.ones((4000, 1))
    path = heun_path(lambda x: 0.3 * x, 0.2, starts, 0.01, 100, [1])
    logs = np.log(path[:, -1, 0])
    assert logs.mean() == pytest.approx(0.3, abs=4 * 0.2 / np.sqrt(len(starts)))
    assert logs.std() == pytest.approx(0.2, rel=0.05)


def test_the_truth_of_lotka_volterra_is_the_ito_drift() -> None:
    states = np.array([[2.0, 3.0], [7.0, 1.0]])
    growth = tasks._growth(states.T).T
    np.testing.assert_allclose(tasks.ITO.drift(states), growth + 0.02 * states)
    assert tasks.ITO.diffusion(states)[:, 0, 0] == pytest.approx(0.04 * states[:, 0] ** 2)


def test_euler_steps_have_the_drift_and_the_noise_of_the_process() -> None:
    process = tasks.VAN_DER_POL
    starts = np.tile([0.5, 1.0], (20_000, 1))
    steps = np.diff(euler_path(process, starts, 0.01, 0, 1, [2]), axis=1)[:, 0]
    truth = process.truth
    noise = np.sqrt(0.1225 * 0.01)
    error = 4 * noise / np.sqrt(len(starts))
    assert steps.mean(axis=0) == pytest.approx(0.01 * truth.drift(starts[:1])[0], abs=error)
    assert steps.std(axis=0) == pytest.approx([noise, noise], rel=0.03)


def test_every_seed_has_every_step_library_and_cell() -> None:
    one = Scope(seeds=[7])
    cases = tasks.lotka_volterra_cases(one)
    assert {(c.settings["dt"], c.settings["library"]) for c in cases} == {
        (dt, library) for dt in tasks.DTS for library in tasks.LIBRARIES
    }
    for case in cases:
        assert tasks.TIME - case.settings["dt"] < case.steps * case.settings["dt"] <= tasks.TIME
    assert len(tasks.noisy_cases(one)) == len(tasks.CELLS)


def test_a_coarse_fit_is_compared_with_the_truth() -> None:
    case = next(
        case
        for case in tasks.lotka_volterra_cases(Scope(seeds=[7]))
        if case.options == (("dt", 0.1), ("library", "poly2"))
    )
    found = tasks.run_lotka_volterra(case)
    assert found["drift"] < 0.1  # of a drift whose mean square is about four
    assert found["seconds"] > 0
