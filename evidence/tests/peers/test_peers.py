"""Rivals: what a worker hands back, how it is scored, and what it all adds up to."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from wgsindy import WGSINDy, cli, zoo
from wgsindy.errors import RecipeError, UnknownSystemError
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.pages.peers import match_grid, peers_grids, peers_markdown, plot_match
from wgsindy_evidence.peers import comparison, match, standings
from wgsindy_evidence.peers.workers import run as worker

HERE = dict.fromkeys(comparison.RIVALS, sys.executable)
SYSTEM = zoo.get("maier_stein")
DATA = SYSTEM.simulate(0, trajectories=2, steps=200)
POINTS = metrics.central_grid(DATA.states)


def perfect(system: zoo.System = SYSTEM, points: Any = POINTS) -> dict[str, Any]:
    """What a worker would write that knows the truth."""
    return {
        "drift": system.generator.drift(points),
        "tensor": system.generator.diffusion(points),
        "support": comparison.true_support(system),
        "seconds_first": 2.0,
        "seconds_warm": 1.0,
        "seconds_repeats": 1.0,
        "version": "1.2.3",
    }


def through_a_file(path: Path, outcome: dict[str, Any]) -> dict[str, Any]:
    np.savez(path / "result.npz", **outcome)
    return comparison.read_result(path / "result.npz")


def test_true_monomials_are_in_the_order_of_the_library() -> None:
    # b1 = x - x**3 - 0.35*x*y**2, b2 = -y - x**2*y in 1, x, y, x2, xy, y2, x3, x2y, xy2, y3.
    places = [np.flatnonzero(row).tolist() for row in comparison.true_support(SYSTEM)]
    assert places == [[1, 6, 8], [2, 7]]


def test_a_file_with_the_truth_scores_perfectly_and_one_beside_it_does_not(tmp_path: Path) -> None:
    scores = comparison.score(SYSTEM, DATA, through_a_file(tmp_path, perfect()))
    assert (scores["drift"], scores["tensor"], scores["psd"]) == (0.0, 0.0, 1.0)
    assert (scores["exact"], scores["recall"], scores["false_positives"]) == (True, 1.0, 0)
    assert (scores["failure"], scores["version"], scores["seconds_warm"]) == (None, "1.2.3", 1.0)
    worse = perfect()
    worse["drift"] = 1.25 * worse["drift"]
    worse["tensor"] = -worse["tensor"]
    worse["support"][0, 0] = True
    scores = comparison.score(SYSTEM, DATA, through_a_file(tmp_path, worse))
    assert scores["drift"] == pytest.approx(0.25)
    assert scores["tensor"] == pytest.approx(2.0)
    assert scores["psd"] == 0.0
    assert (scores["exact"], scores["recall"], scores["false_positives"]) == (False, 1.0, 1)


def test_components_that_do_not_count_do_not_count() -> None:
    system = zoo.get("heston_logsv")
    data = system.simulate(0, trajectories=2, steps=200)
    outcome = perfect(system, metrics.central_grid(data.states))
    outcome["drift"][:, 0] += 1.0
    outcome["support"][0] = ~outcome["support"][0]
    scores = comparison.score(system, data, outcome)
    assert (scores["drift"], scores["exact"]) == (0.0, True)
    outcome["support"][1, 0] = ~outcome["support"][1, 0]
    assert not comparison.score(system, data, outcome)["exact"]


@pytest.mark.parametrize(
    ("found", "recall", "extra", "exact"),
    [
        ([[1, 0, 1], [0, 1, 0]], 1.0, 0, True),
        ([[1, 1, 1], [0, 1, 0]], 1.0, 1, False),
        ([[1, 0, 0], [0, 1, 0]], 2 / 3, 0, False),
        ([[0, 1, 0], [1, 0, 1]], 0.0, 3, False),
    ],
)
def test_supports_are_compared_term_by_term(
    found: list[list[int]], recall: float, extra: int, exact: bool
) -> None:
    true = np.array([[1, 0, 1], [0, 1, 0]], dtype=bool)
    scores = comparison.compare_support(np.array(found, dtype=bool), true)
    assert scores["recall"] == pytest.approx(recall)
    assert (scores["false_positives"], scores["exact"]) == (extra, exact)


def adapter(**contents: Any) -> ModuleType:
    module = ModuleType("with_fake")
    module.__dict__.update({"PACKAGES": (), "DISTRIBUTION": "wgsindy"} | contents)
    return module


def serve(path: Path, module: ModuleType, method: str = "sfi") -> dict[str, Any]:
    task = comparison.zoo_task(Case("peers", SYSTEM.key, method, 7), DATA)
    comparison.write_task(path / "task.npz", task)
    worker.serve(module, str(path / "task.npz"), str(path / "result.npz"))
    return comparison.read_result(path / "result.npz")


def test_the_worker_hands_over_the_task_and_times_each_fit(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    def fit(task: dict[str, Any]) -> int:
        seen.append(task)
        return len(seen)

    def read(model: int, task: dict[str, Any]) -> tuple[Any, Any, Any]:
        truth = perfect()
        return model * truth["drift"], truth["tensor"], truth["support"]

    outcome = serve(tmp_path, adapter(fit=fit, read=read))
    assert len(seen) == 2  # cold and warm
    np.testing.assert_array_equal(seen[0]["paths"].reshape(-1, 2), DATA.states)
    np.testing.assert_array_equal(seen[0]["points"], POINTS)
    assert seen[0]["powers"].tolist()[:4] == [[0, 0], [1, 0], [0, 1], [2, 0]]
    assert (float(seen[0]["dt"]), int(seen[0]["seed"])) == (SYSTEM.dt, 7)
    assert comparison.score(SYSTEM, DATA, outcome)["drift"] == pytest.approx(1.0)  # the last fit's
    assert outcome["seconds_repeats"] == outcome["seconds_warm"]
    seen.clear()
    serve(tmp_path, adapter(fit=fit, read=read), method="paper")
    assert len(seen) == 1 + comparison.OWN_REPEATS


def test_a_fit_that_raises_is_a_result(tmp_path: Path) -> None:
    def fit(task: dict[str, Any]) -> None:
        raise RuntimeError("matrix is\n not positive definite")

    outcome = serve(tmp_path, adapter(fit=fit))
    scores = comparison.score(SYSTEM, DATA, outcome)
    assert scores == {"failure": "RuntimeError: matrix is not positive definite"}


def test_a_package_that_is_missing_in_the_worker_is_a_result(tmp_path: Path) -> None:
    outcome = serve(tmp_path, adapter(PACKAGES=("no_such_package",)))
    assert "No module named 'no_such_package'" in outcome["failure"]


def test_fields_that_are_not_finite_are_a_failure() -> None:
    outcome = perfect()
    outcome["tensor"][3, 0, 0] = math.nan
    assert comparison.score(SYSTEM, DATA, outcome) == {"failure": "the fields are not finite"}


def test_a_missing_package_gets_a_sentence_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(comparison.RIVALS, "sfi", "no_such_package")
    with pytest.raises(CampaignError, match=r"no_such_package.*install wgsindy-evidence\[rivals"):
        comparison.check_interpreters(["paper", "sfi"], HERE)
    with pytest.raises(CampaignError, match="/no/python cannot be run: No such file"):
        comparison.check_interpreters(["sfi"], {"sfi": "/no/python"})
    monkeypatch.setitem(comparison.RIVALS, "sfi", "numpy")
    comparison.check_interpreters(["paper", "sfi"], HERE)


def test_interpreters_are_given_for_all_or_for_one() -> None:
    assert set(comparison.interpreters([]).values()) == {sys.executable}
    assert comparison.interpreters(["sfi=/a", "/b"]) == {
        "sfi": "/a",
        "sfi-parametric": "/a",  # the same package
        "sfi-underdamped": "/a",
        "pydaddy": "/b",
        "pysindy": "/b",
    }
    with pytest.raises(CampaignError, match="PATH or METHOD=PATH"):
        comparison.interpreters(["paper=/a"])


def test_what_cannot_run_is_refused_before_anything_runs() -> None:
    assert len(comparison.peer_cases(["paper", "sfi"], range(3))) == 2 * 3 * len(comparison.SYSTEMS)
    with pytest.raises(UnknownSystemError, match="nosuch"):
        comparison.peer_cases(["sfi"], range(2), ["nosuch"])
    with pytest.raises(RecipeError, match="nosuch"):
        comparison.peer_cases(["nosuch"], range(2))
    for name in ("partial_observation", "cir_pair"):  # half of it unseen; a library with roots
        with pytest.raises(CampaignError, match=f"{name} cannot be given to the rivals"):
            comparison.peer_cases(["sfi"], range(2), [name])


def test_a_fresh_process_gives_what_a_direct_fit_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "OWN_REPEATS", 1)
    case = Case("peers", "correlated_ou", "paper", 3, trajectories=2)
    result = comparison.run_case(case, pythons={})
    system = zoo.get("correlated_ou")
    data = system.simulate(3, trajectories=2)
    estimate = WGSINDy(system.library, "paper", random_state=3).fit(data).generator_
    scores = metrics.scores_of(estimate, system.generator, data.states)
    assert result["drift"] == pytest.approx(scores.drift, rel=1e-9)
    assert result["tensor"] == pytest.approx(scores.tensor, rel=1e-9)
    selected = sum(c.target in ("b1", "b2") for c in estimate.coefficients)
    assert result["false_positives"] == selected - round(2 * result["recall"])
    assert result["seconds_cold"] > result["seconds_first"] > 0


def test_a_process_that_takes_too_long_or_crashes_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = Case("peers", "correlated_ou", "paper", 0, trajectories=1)
    monkeypatch.setattr(comparison, "TIMEOUT", 0.01)
    assert comparison.run_case(case, pythons={})["failure"] == "no result after 0 s"
    monkeypatch.setattr(comparison, "TIMEOUT", 60.0)
    monkeypatch.setattr(comparison, "WORKER", Path("/no/worker.py"))
    assert "ended with 2" in comparison.run_case(case, pythons={})["failure"]


def line(method: str, seed: int, *, system: str = "rotational_ou", **figures: Any) -> Line:
    result = {
        "failure": None,
        "drift": 0.1,
        "tensor": 0.01,
        "psd": 1.0,
        "recall": 1.0,
        "false_positives": 0,
        "exact": True,
        "seconds_cold": 3.0,
        "seconds_warm": 0.5,
        "version": "1.0",
    }
    return Line(Case("peers", system, method, seed), "x", result | figures, None)


LINES = [
    line("sharp-euler", 0),
    line("sharp-euler", 1),
    line("sharp-euler", 2),
    line("sfi", 0, drift=0.4, tensor=0.01, seconds_cold=30.0, seconds_warm=2.0, psd=0.5),
    line("sfi", 1, drift=0.1, tensor=0.09, seconds_cold=30.0, seconds_warm=2.0, exact=False),
    Line(Case("peers", "rotational_ou", "sfi", 2), "x", {"failure": "Error: no."}, None),
]


def test_totals_are_over_the_cases_that_both_finished() -> None:
    sharp, sfi = standings.summarise(LINES).totals
    assert (sharp.drift, sharp.tensor, sharp.cold, sharp.shared) == (1.0, 1.0, 1.0, 3)
    assert sfi.shared == 2
    assert sfi.drift == pytest.approx(2.0)  # sqrt(4 * 1)
    assert sfi.tensor == pytest.approx(3.0)  # sqrt(1 * 9)
    assert (sfi.cold, sfi.warm) == (10.0, 4.0)
    standing = sfi.standing
    assert (standing.n, standing.failed, standing.psd, standing.exact) == (2, 1, 0.5, 0.5)
    assert standing.drift == pytest.approx(0.25)


def test_a_case_that_the_reference_did_not_finish_has_no_ratio() -> None:
    broken = Line(LINES[0].case, "x", {"failure": "Error: no."}, None)
    total = standings.summarise([broken, *LINES[1:]]).totals[1]
    assert (total.shared, total.drift) == (1, 1.0)


def test_rows_are_by_system_and_failures_are_named() -> None:
    more = [*LINES, line("sharp-euler", 0, system="van_der_pol", drift=0.7)]
    summary = standings.summarise(more)
    assert [row.system for row in summary.rows] == ["rotational_ou", "van_der_pol"]
    assert [s.method for s in summary.rows[0].standings] == ["sharp-euler", "sfi"]
    assert summary.rows[1].standings[0].drift == 0.7
    assert summary.rows[1].standings[1].n == 0
    assert summary.failures == ("sfi on rotational_ou, seed 2: Error: no.",)
    stopped = Line(Case("peers", "sabr", "sfi", 0), "x", None, "CampaignError: stopped.")
    assert standings.summarise([stopped]).failures[0].endswith("CampaignError: stopped.")


def test_tables_hold_the_ratios_and_the_failures() -> None:
    summary = standings.summarise(LINES)
    text = peers_markdown(summary)
    total = next(row for row in text.splitlines() if row.startswith("| sfi | 1.0 |"))
    assert "| 2.00 | 3.00 | 2 |" in total
    assert total.endswith("| 10.0 | 4.0 | 1 of 3 |")
    assert "- sfi on rotational_ou, seed 2: Error: no." in text
    assert [len(grid.rows) for grid in peers_grids(summary, "title")] == [2, 2]


def matched(method: str, steps: int, seed: int, exact: bool | None) -> Line:
    result = {"failure": "Error: no."} if exact is None else {"failure": None, "exact": exact}
    return Line(Case(f"match-{steps}", "rotational_ou", method, seed), "x", result, None)


MATCHES = [
    *(matched("sharp-euler", 400, seed, True) for seed in range(4)),
    *(matched("sharp-euler", 200, seed, seed > 0) for seed in range(4)),
    *(matched("sfi", 200, seed, [True, False, None, False][seed]) for seed in range(4)),
]


def test_a_failed_fit_is_no_match_and_lengths_are_in_order() -> None:
    sharp, sfi = match.summarise(MATCHES)
    assert sharp.times == pytest.approx((200 * 0.01 * 16, 400 * 0.01 * 16))
    assert (sharp.shares, sharp.n) == ((0.75, 1.0), (4, 4))
    assert (sfi.method, sfi.shares, sfi.n) == ("sfi", (0.25,), (4,))
    text = match_grid([sharp, sfi], "title").markdown().splitlines()
    assert "| 0.75 (T=32) | 1.00 (T=64) |" in text[2]
    assert text[3].endswith("| 0.25 (T=32) | - |")


def test_the_figure_has_a_panel_a_system_and_a_line_a_method() -> None:
    other = [
        Line(replace(line.case, system="maier_stein"), "x", {"exact": True}, None)
        for line in MATCHES
    ]
    curves = match.summarise([*MATCHES, *other])
    panels = plot_match(curves).axes
    assert [axes.get_title() for axes in panels] == [curves[0].title, curves[2].title]
    drawn = [np.asarray(curve.get_ydata()).tolist() for curve in panels[0].lines]
    assert [0.75, 1.0] in drawn
    assert [0.25] in drawn


def test_a_worker_stays_alive_from_seed_to_seed() -> None:
    cases = [Case("match-200", "rotational_ou", "paper", seed, 4) for seed in (0, 1)]
    match.close_helper()
    try:
        helper = match.helper_for(cases[0], {})
        for case in cases:
            result = match.run_case(case, pythons={})
            assert match.helper_for(case, {}) is helper
            data = zoo.get("rotational_ou").simulate(case.seed, trajectories=4, steps=200)
            estimate = WGSINDy("poly2", "paper", random_state=case.seed).fit(data).generator_
            scores = metrics.scores_of(estimate, zoo.get("rotational_ou").generator, data.states)
            assert result["drift"] == pytest.approx(scores.drift, rel=1e-9)
            assert result["time"] == pytest.approx(data.total_time)
        other = match.helper_for(Case("match-400", "rotational_ou", "paper", 0, 4), {})
        assert (helper.is_alive, other.is_alive) == (False, True)  # one at a time
    finally:
        match.close_helper()
    assert not other.is_alive


def test_a_worker_that_dies_gets_a_sentence(tmp_path: Path) -> None:
    helper = match.Helper([sys.executable, "-c", "pass"])
    with pytest.raises(CampaignError, match="ended without a result"):
        helper.fit(tmp_path / "task.npz", tmp_path / "result.npz")
    assert not helper.is_alive


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["peers", "--method", "nosuch"], "there is no recipe 'nosuch'"),
        (["peers", "--python", "nosuch=/a"], "PATH or METHOD=PATH"),
        (["match", "--method", "sfi", "--python", "/no/python"], "/no/python cannot be run"),
    ],
)
def test_the_command_line_gives_sentences(
    arguments: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["wgsindy", "bench", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    captured = capsys.readouterr()
    assert ended.value.code == 1
    assert sentence in captured.err.replace("\n", " ")
    assert "Traceback" not in captured.err + captured.out
