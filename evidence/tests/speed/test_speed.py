"""What a fit costs: memory is tested, time only printed, for machines differ."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from wgsindy import Trajectories, WGSINDy, library, zoo
from wgsindy.cli import app
from wgsindy.estimate.likelihood.normal_equations import NormalPass
from wgsindy.estimate.likelihood.process import Process
from wgsindy.passes import PassPair, data_summary, engine
from wgsindy.passes.summary import MomentPass
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.grid import Grid
from wgsindy_evidence.pages.speed import build
from wgsindy_evidence.speed import (
    cluster,
    growth,
    profile,
    scale,
    speed_cases,
    start,
    threads,
    yardstick,
)
from wgsindy_evidence.speed.long_trajectory import BYTES, DRIFT, DT, TENSOR, write_trajectory
from wgsindy_evidence.speed.stopwatch import Stopwatch, in_fresh_process

INCREMENTS = 48_000
KERNEL_MATRIX = 64 * INCREMENTS * 8 / 2**20  # 23 MiB: what a centres x samples matrix would take


@pytest.fixture(scope="module")
def data() -> Trajectories:
    found = zoo.get("rotational_ou").simulate(0, steps=INCREMENTS // 16)
    WGSINDy("poly2", "paper").fit(found)  # what imports leave behind is not counted
    return found


def test_a_fit_never_holds_a_centres_by_samples_matrix(data: Trajectories) -> None:
    assert growth.added_memory(WGSINDy("poly2", "paper"), data) < KERNEL_MATRIX / 3


def test_one_huge_chunk_would_be_noticed(
    data: Trajectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = dict(engine.reduce.__kwdefaults__ or {}, chunk_size=10**9)
    monkeypatch.setattr(engine.reduce, "__kwdefaults__", defaults)
    assert growth.added_memory(WGSINDy("poly2", "paper"), data) > KERNEL_MATRIX


def test_the_long_path_is_the_process_it_says(tmp_path: Path) -> None:
    path = tmp_path / "path.npy"
    write_trajectory(path, 3_000_000, seed=4)
    x = np.load(path)
    assert path.stat().st_size == pytest.approx(len(x) * BYTES, rel=1e-3)
    before, steps = x[:-1], np.diff(x, axis=0)
    slope = np.linalg.lstsq(before, steps / DT)[0].T
    # Of 30,000 units of time: errors of 0.006; exp(A dt) is A dt up to 1 %.
    np.testing.assert_allclose(slope, DRIFT, atol=0.035)
    rest = steps - before @ slope.T * DT
    # Errors of sqrt(2 / 3e6) = 0.1 %; the finite step adds 1 %.
    np.testing.assert_allclose(rest.T @ rest / (len(rest) * DT), TENSOR, rtol=0.03)


def test_noise_on_the_long_path_is_a_share_of_its_spread(tmp_path: Path) -> None:
    clean, noisy = tmp_path / "clean.npy", tmp_path / "noisy.npy"
    write_trajectory(clean, 100_000, seed=4)
    write_trajectory(noisy, 100_000, seed=4, noise=0.1)
    states = np.load(clean)
    noise = np.load(noisy) - states
    # 1,000 units of time: the spread itself is known to 3 %, the noise to 0.3 %.
    np.testing.assert_allclose(noise.std(axis=0), 0.1 * states.std(axis=0), rtol=0.15)
    assert np.abs(np.corrcoef(noise.T)[0, 1]) < 5 / np.sqrt(len(noise))


def test_a_disk_that_is_too_small_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("Usage", (), {"free": 10**9}))
    with pytest.raises(CampaignError, match=r"1.6 GB does not fit .* 1.0 GB left"):
        write_trajectory(tmp_path / "path.npy", 10**8)


def test_the_yardsticks_compute_the_library(tmp_path: Path) -> None:
    path = tmp_path / "path.npy"
    write_trajectory(path, 500)
    assert scale.seconds_to_read(path, scale.plainly) > 0
    states = np.load(path)
    terms = library("poly3").bind(("x", "y")).values(states)
    space = np.ones((10, 500))
    np.testing.assert_allclose(scale.plainly(states, space), terms)
    np.testing.assert_allclose(scale.tightly(states, space), terms.T)


def test_a_stopwatch_runs_every_pass_and_changes_nothing(data: Trajectories) -> None:
    watch = Stopwatch()
    timed = WGSINDy("poly2", "sharp-euler", engine=watch).fit(data).generator_
    usual = WGSINDy("poly2", "sharp-euler").fit(data).generator_
    np.testing.assert_array_equal(timed.drift_coefficients, usual.drift_coefficients)
    assert {profile.name_of(lap.step) for lap in watch.laps} >= {
        "MomentPass + SegmentPass", "NormalPass", "ScorePass"
    }  # fmt: skip
    assert all(lap.increments == data.n_increments for lap in watch.laps)
    assert all(lap.wall > 0 for lap in watch.laps)


def test_operations_are_those_of_the_matrix_products(data: Trajectories) -> None:
    """Six weighted Gram matrices of six terms; two and three fields, there and back."""
    summary, basis = data_summary(data, standardise=True), library("poly2").bind(data.names)
    model = Process.start(basis, summary, is_chain=True)
    products = 6 * 6 * 6 + 5 * 6 + 5 * 6
    assert profile.labour_of(NormalPass(model)) == (2 * products, 0)
    # Moments are four numbers; two passes in one do the work of both.
    both = PassPair(MomentPass(data), NormalPass(model))
    assert profile.labour_of(both) == (2 * products + 2 * 4, 0)
    machine = profile.Machine(byte=1e-9, flop=1e-10, exponential=1e-8)
    assert machine.limit(profile.Labour(10, 2)) == pytest.approx(16e-9 + 1e-9 + 2e-8)


def shown(measure: str, result: dict[str, Any], **options: float | str) -> dict[str, Grid]:
    """The tables of a page that has this measurement only."""
    recipe = str(options.get("recipe", "sharp-euler"))
    case = Case("speed", measure, recipe, 0, options=tuple(options.items()))
    content = build([Line(case, "code", result, None)])
    for grid in content.grids.values():
        assert grid.rows
        assert {len(row) for row in grid.rows} == {len(grid.headings)}
    return content.grids


def test_a_start_is_timed_from_nothing() -> None:
    found = start.measure(1)
    assert found["heavy"] == []
    assert min(found[name] for name in ("interpreter", "import", "first_fit")) > 0
    assert set(shown("start", found, repeats=1)) == {"speed-start"}


def test_a_fit_is_timed_beside_its_yardstick() -> None:
    found = yardstick.measure("sharp-euler", 3200, "poly2", 1)
    assert min(found.values()) > 0
    options: dict[str, float | str] = {"recipe": "sharp-euler", "samples": 3200, "library": "poly2"}
    assert set(shown("yardstick", found, **options)) == {"speed-yardstick"}


def test_a_noisy_fit_is_timed_beside_the_same_yardsticks() -> None:
    found = yardstick.measure("sharp", 3200, "poly2", 1, noise=0.1)
    options: dict[str, float | str] = {"samples": 3200, "library": "poly2", "noise": 0.1}
    (grid,) = shown("yardstick", found, recipe="sharp", **options).values()
    (row,) = grid.rows
    assert row[:3] == ["sharp", "poly2", "10 %"]
    assert row[-1] == f"{found['seconds'] / found['chain']:.1f}"
    del found["chain"]  # lines of before
    (grid,) = shown("yardstick", found, recipe="sharp", **options).values()
    assert grid.rows[0][-1] == "-"


def test_two_threads_are_timed_beside_what_two_can_do() -> None:
    found = threads.measure("sharp-euler", 20_000, 1)
    assert min(found.values()) > 0
    assert set(shown("threads", found, recipe="sharp-euler", samples=20_000)) == {"speed-threads"}


def test_passes_are_timed_beside_what_they_calculate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "in_fresh_process", here)
    found = profile.measure("paper", 20_000)
    assert sum(row["exponentials"] > 0 for row in found["passes"]) >= 3
    options: dict[str, float | str] = {"recipe": "paper", "samples": 20_000}
    assert set(shown("profile", found, **options)) == {"profile-paper"}
    case = Case("speed", "profile", "paper", 0, options=tuple(options.items()))
    assert "exponential" in build([Line(case, "code", found, None)]).sentences["profile"]


def test_growth_counts_terms_and_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "in_fresh_process", here)
    monkeypatch.setattr(growth, "STEPS", 100)
    found = growth.measure(3, 2)
    assert (found["terms"], found["fields"], found["increments"]) == (10, 9, 10_000)
    assert found["added_mib"] > 0
    assert set(shown("growth", found, dimension=3, degree=2)) == {"speed-growth"}


def test_a_file_is_fitted_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "REPEATS", 1)
    monkeypatch.setattr(scale, "in_fresh_process", afresh_only(scale.fit_file))
    found = scale.measure("sharp-euler", 20_000, 2)
    assert found["tensor_error"] < 0.1
    assert 50 < found["peak_mib"] < 1000
    options: dict[str, float | str] = {"recipe": "sharp-euler", "samples": 20_000, "threads": 2}
    assert set(shown("scale", found, **options)) == {"speed-scale"}


@pytest.mark.slow
def test_a_cluster_is_timed_beside_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "in_fresh_process", afresh_only(cluster._on_cluster))
    found = cluster.measure("sharp-euler", 20_000)
    assert set(found) == {"threads", "usual", "kept", "pass"}
    assert min(found.values()) > 0
    assert set(shown("cluster", found, recipe="sharp-euler", samples=20_000)) == {"speed-cluster"}


def test_methods_stand_beside_each_other() -> None:
    case = Case("speed", "rotational_ou", "sharp-euler", 0)
    lines = [Line(case, "code", {"seconds_cold": 1.0, "seconds_warm": 0.1}, None)]
    assert set(build(lines).grids) == {"speed-methods"}


def here(work: Callable[..., Any], *arguments: Any) -> Any:
    """Call it in this process: a fresh one takes seconds to start."""
    return work(*arguments)


def afresh_only(measured: Callable[..., Any]) -> Callable[..., Any]:
    """Call in a fresh process what needs one, and all else here."""
    return lambda work, *arguments: (in_fresh_process if work is measured else here)(
        work, *arguments
    )


def test_without_dask_a_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CampaignError, match="Dask is not installed"):
        cluster._on_cluster(tmp_path / "none.npy", "sharp-euler", {})


def test_cases_are_what_was_asked_for() -> None:
    cases = speed_cases(["sfi"])
    assert len(set(cases)) == len(cases)
    sizes = [case.settings["samples"] for case in cases if case.system == "scale"]
    assert max(sizes) == 10**8
    assert (
        max(case.settings["samples"] for case in speed_cases(quick=True) if case.system == "scale")
        <= 10**5
    )
    assert [case for case in cases if case.recipe == "sfi"]
    assert {case.system for case in cases if "noise" in case.settings} == {"scale", "yardstick"}


def test_the_command_shows_what_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = (("recipe", "sharp-euler"), ("samples", 3200), ("library", "poly2"), ("repeats", 1))
    one = Case("speed", "yardstick", "sharp-euler", 0, options=options)
    monkeypatch.setattr("wgsindy_evidence.speed.speed_cases", lambda rivals, quick: [one])
    monkeypatch.setattr(
        "wgsindy_evidence.peers.comparison.installed", lambda rivals, pythons: ["sfi"]
    )
    result = CliRunner().invoke(app, ["bench", "speed", "--quick", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "poly2" in result.output
    assert "pysindy is not installed" in result.output
    assert (tmp_path / "speed.jsonl").exists()
    assert "poly2" in (tmp_path / "speed-yardstick.md").read_text()
