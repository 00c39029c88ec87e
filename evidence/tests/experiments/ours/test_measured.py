"""Measured data: how samples are spoilt, and what is counted as found, covered and wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

from wgsindy import Generator, Trajectories, WGSINDy, cli
from wgsindy.zoo import central_grid
from wgsindy_evidence.experiments.ours import measured
from wgsindy_evidence.experiments.ours.measured import CELLS, Cell
from wgsindy_evidence.experiments.ours.unseen import SYSTEMS
from wgsindy_evidence.scope import Scope

OU = SYSTEMS["ou"].truth
X = sympy.Symbol("x", real=True)


def test_cells_cover_what_measured_data_are() -> None:
    coarse = {cell.dt for cell in CELLS if cell.group == "coarse"}
    both = {(cell.dt, cell.noise) for cell in CELLS if cell.group == "both"}
    assert coarse == {0.05, 0.2, 0.4}
    assert both == {(0.05, 0.02), (0.05, 0.1), (0.2, 0.02), (0.2, 0.1)}
    assert {cell.rounding for cell in CELLS} == {0.0, 0.15, 0.7}
    assert {cell.offset for cell in CELLS} == {0.0, 1e6}
    assert len(set(CELLS)) == len(CELLS)
    for case in measured.measured_cases(Scope(seeds=[1])):
        cell = Cell.of(case)
        assert cell in CELLS
        assert case.steps == cell.steps


def test_samples_are_shifted_made_noisy_and_rounded() -> None:
    rng = np.random.default_rng(0)
    clean = Trajectories([rng.standard_normal((4000, 1)) * 3 for _ in range(4)], 0.04)
    spread = float(clean.states.std())
    noisy, _ = measured.spoilt(clean, OU, Cell("both", 0.04, noise=0.1), seed=1)
    # 16,000 samples: standard error 0.6 %.
    assert (noisy.states - clean.states).std() == pytest.approx(0.1 * spread, rel=0.03)
    rounded, _ = measured.spoilt(clean, OU, Cell("rounded", 0.04, rounding=0.7), seed=1)
    width = 0.7 * np.sqrt(1.0 * 0.04)
    np.testing.assert_allclose(np.rint(rounded.states / width) * width, rounded.states)
    assert np.abs(rounded.states - clean.states).max() <= width / 2 + 1e-12
    shifted, offset = measured.spoilt(clean, OU, Cell("offset", 0.04, offset=1e6), seed=1)
    assert offset == pytest.approx(1e6 * spread)
    np.testing.assert_allclose(shifted.states - offset, clean.states, atol=1e-7)


def test_an_estimate_of_shifted_data_is_compared_where_the_data_are() -> None:
    shifted = Generator.from_sympy(("x",), [-(X - 100)], [[1.1]])
    grid = np.linspace(-1, 1, 15)[:, None]
    errors = measured.errors_of(shifted, OU, grid, offset=100.0)
    assert errors["drift"] == pytest.approx(0.0, abs=1e-12)
    assert errors["tensor"] == pytest.approx(0.1)


def test_terms_that_are_false_and_missed_are_counted_field_by_field() -> None:
    found = Generator.from_sympy(("x",), [X**2 - 1], [[0.5 + 0.1 * X**2]])
    assert measured.found_terms(found, OU) == {
        "drift_false": 2,
        "drift_missed": 1,
        "tensor_false": 1,
        "tensor_missed": 0,
    }
    assert set(measured.found_terms(OU, OU).values()) == {0}


def test_bands_of_a_good_fit_hold_the_truth_and_of_a_false_one_do_not() -> None:
    data = SYSTEMS["rotation"].truth.simulate(
        [0.0, 0.0], dt=0.005, steps=1000, trajectories=8, random_state=3
    )
    fitted = WGSINDy("poly2", "sharp-euler").fit(data).generator_
    points = data.states[::40]
    shares = measured.coverage(fitted, SYSTEMS["rotation"].truth, points)
    assert shares["covered"] > measured.LEAST_COVERED
    # a12 is zero and said to be: two drift components and two entries count.
    assert shares["covered"] == pytest.approx(
        (2 * shares["drift_covered"] + 2 * shares["tensor_covered"]) / 4
    )
    x, y = sympy.symbols("x y", real=True)
    other = Generator.from_sympy(("x", "y"), [-3 * x, -3 * y], [[2, 0.5], [0.5, 2]])
    assert measured.coverage(fitted, other, points)["tensor_covered"] == 0.0
    assert measured.coverage(fitted, other, points)["covered"] < measured.LEAST_COVERED


def test_a_case_has_errors_near_its_floor_where_steps_are_fine() -> None:
    case = measured.cases_of(Scope(seeds=[0], systems=["rotation"]), ["fine"], "sharp-euler")[0]
    result = measured.run_case(replace(case, steps=800))
    # One fit; by the F distribution of eight coefficients a ratio of 4 has probability 0.1 %.
    assert 0.25 < result["drift"] / result["drift_floor"] < 4
    assert result["tensor_floor"] < 0.05
    assert result["drift_missed"] == result["tensor_missed"] == 0
    assert len(result["noise"]) == 2


def test_the_floor_of_the_tensor_is_that_of_as_many_samples_as_are_fitted() -> None:
    # a constant: relative error sqrt(2 / n) of n samples, whatever the substeps.
    floors = [measured._clean("ou", 0.2, 100, seed)[1]["tensor_floor"] for seed in range(20)]
    expected = np.sqrt(2 / (measured.TRAJECTORIES * 100))
    # Root mean square of 20 normal deviations: standard error 16 %.
    assert np.sqrt(np.mean(np.square(floors))) == pytest.approx(expected, rel=0.5)


def test_errors_are_on_the_grid_of_the_clean_samples() -> None:
    clean = measured._clean("ou", 0.2, 100, 0)[0]
    assert len(central_grid(clean.states)) == 15
    assert clean.n_increments == 1600
    assert clean.mean_dt == pytest.approx(0.2)


def test_an_unknown_group_gets_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["wgsindy", "bench", "measured", "--group", "smooth"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert "there is no group 'smooth'; choose among" in capsys.readouterr().err.replace("\n", " ")
