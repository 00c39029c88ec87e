"""Rivals on measured data: identical files, ratios of what both finished."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from wgsindy import WGSINDy
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.experiments.ours.unseen import SYSTEMS
from wgsindy_evidence.pages.peers_measured import build, paired
from wgsindy_evidence.peers import comparison, measured
from wgsindy_evidence.peers.workers import with_sfi_parametric as worker


def case_of(method: str, seed: int = 0, noise: float = 0.1, system: str = "rotation") -> Case:
    return Case("peers-measured", system, method, seed, 4, 100, (("dt", 0.05), ("noise", noise)))


def test_cells_are_those_that_were_asked_for() -> None:
    cases = measured.cases(measured.METHODS, [1])
    cells = {(c.system, c.settings["dt"], c.settings["noise"]) for c in cases}
    assert len(cells) == len(measured.SYSTEMS) * 3 * 2
    assert len(measured.SYSTEMS) >= 3
    assert {c.recipe for c in cases} == {"sharp", "sfi-parametric"}
    with pytest.raises(CampaignError, match="duffing has no measured data; choose among"):
        measured.cases(["sharp"], [1], ["duffing"])


def test_methods_get_the_same_samples_and_noise_of_a_tenth_of_the_spread() -> None:
    ours, theirs = (measured.samples(case_of(method)) for method in measured.METHODS)
    np.testing.assert_array_equal(ours[0].states, theirs[0].states)
    noise = ours[0].states - ours[1].states
    # 404 samples: standard error 3.5 %.
    assert noise.std(axis=0) == pytest.approx(0.1 * ours[1].states.std(axis=0), rel=0.15)
    clean = measured.samples(case_of("sharp", noise=0.0))
    np.testing.assert_array_equal(clean[0].states, clean[1].states)


@pytest.mark.parametrize("system", ["multiplicative", "rotation"])
def test_a_fresh_process_gives_what_a_direct_fit_gives(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "OWN_REPEATS", 1)
    case = case_of("sharp-euler", noise=0.0, system=system)
    result = measured.run_case(case, pythons={})
    process = SYSTEMS[system]
    data = measured.samples(case)[0]
    estimate = WGSINDy(process.library, "sharp-euler").fit(data).generator_
    grid = metrics.central_grid(data.states)
    assert result["drift"] == pytest.approx(
        metrics.relative_error(estimate.drift(grid), process.truth.drift(grid)), rel=1e-9
    )
    assert result["seconds_warm"] > 0


def test_a_constant_matrix_starts_its_state_dependent_fit() -> None:
    matrix = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]])
    start = worker.constant_start(matrix, terms=4)
    assert start[:6].tolist() == [1, 2, 3, 4, 5, 6]
    assert start.shape == (24,)
    assert not start[6:].any()


@pytest.mark.parametrize(("value", "valid"), [(-300.0, True), (1e15, False), (np.nan, False)])
def test_a_diffusion_without_a_likelihood_is_not_valid(value: float, valid: bool) -> None:
    engine = SimpleNamespace(metadata={"diffusion_parametric_info": {"nll": value}})
    assert worker.is_valid(engine) == valid


def line(method: str, seed: int, noise: float, **figures: Any) -> Line:
    result = {"failure": None, "drift": 0.1, "tensor": 0.02, "exact": True, "seconds_warm": 0.5}
    return Line(case_of(method, seed, noise), "x", result | figures, None)


LINES = [
    line("sharp", 0, 0.0),
    line("sfi-parametric", 0, 0.0, drift=0.2, tensor=0.01, seconds_warm=30.0),
    line("sharp", 0, 0.1),
    line("sharp", 1, 0.1, drift=0.4),
    line("sfi-parametric", 0, 0.1, drift=0.1, seconds_warm=10.0),
    line("sfi-parametric", 1, 0.1, drift=0.1, seconds_warm=10.0),
    line("sharp", 2, 0.1),
    Line(case_of("sfi-parametric", 2, 0.1), "x", {"failure": "Error: no."}, None),
]


def test_only_what_both_finished_is_compared() -> None:
    pairs = paired(LINES)
    assert {key[2]: len(own) for key, own in pairs.items()} == {0.0: 1, 0.1: 2}
    content = build(LINES)
    assert "seed" not in content.grids["peers-measured"].title
    assert "Error: no." in content.sentences["peers-measured-failures"]


def test_ratios_are_ours_over_theirs_and_times_theirs_over_ours() -> None:
    totals = {row[0]: row for row in build(LINES).grids["peers-measured"].rows}
    assert totals["clean"][2] == "0.50"
    assert totals["clean"][5] == "2.00"
    assert totals["clean"][8:] == ["60", "50"]
    assert totals["noisy"][2] == "2.00"  # geometric mean of 1 and 4
    assert totals["noisy"][8:] == ["20", "20"]
    assert totals["all"][2] == "1.00"  # of the two cells
    # Of 1 and 4: a deviation of log 4 / sqrt(2), over the root of two.
    assert totals["all"][4] == "2.00 ± 1.39 (at most 1.3)"
    assert totals["clean"][4] == "0.50 (at most 1.3)"  # one seed has no error
    assert totals["all"][9] == "-"
    cells = build(LINES).grids["peers-measured-cells"].rows
    assert [row[9] for row in cells] == ["1 of 1", "2 of 2"]


def test_further_seeds_count_for_errors_and_not_for_times() -> None:
    lines = [
        line("sharp", 2000, 0.0),
        line("sfi-parametric", 2000, 0.0, drift=0.1, seconds_warm=30.0),
        line("sharp", 2004, 0.0),
        line("sfi-parametric", 2004, 0.0, drift=0.4, seconds_warm=300.0),
    ]
    (total, _) = build(lines).grids["peers-measured"].rows
    assert total[2] == "0.50"
    assert total[8] == "60"


def test_cells_that_few_seeds_leave_open_have_more_of_them() -> None:
    usual = measured.cases(measured.METHODS, measured.SEEDS)
    assert len(usual) == len(set(usual)) == 2 * (24 * 4 + 3 * 8 + 32)
    assert len(measured.cases(measured.METHODS, range(7, 9))) == 2 * 24 * 2
