"""Rivals on positions alone: cases and tables."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.pages.peers_positions import build
from wgsindy_evidence.peers import positions
from wgsindy_evidence.peers.workers import with_wgsindy


def line(method: str, noise: float, figures: dict[str, float], failure: str | None = None) -> Line:
    case = Case("peers-positions", "linear", method, 1, options=(("dt", 0.2), ("noise", noise)))
    return Line(case, "code", {"failure": failure, "exact": True, **figures}, None)


def test_ratios_are_geometric_means_over_cells_that_both_fitted() -> None:
    ours = {"force": 0.2, "tensor": 0.1, "seconds_warm": 1.0}
    theirs = {"force": 0.1, "tensor": 0.1, "seconds_warm": 8.0}
    lines = [
        line("sharp", 0.0, ours),
        line("sfi-underdamped", 0.0, theirs),
        line("sharp", 0.05, ours | {"force": 0.05}),
        line("sfi-underdamped", 0.05, theirs),
        line("sharp", 0.1, ours),
        line("sfi-underdamped", 0.1, {}, failure="no"),
        line("sharp", 0.2, ours),  # the rival has not run yet
    ]
    content = build(lines)
    assert len(content.grids["peers-positions"].rows) == 2
    summary = {row[0]: row[1] for row in content.grids["peers-positions-summary"].rows}
    assert summary["error of the force, ours over theirs, geometric mean"] == "1.00"
    assert summary["times faster, warm, geometric mean"] == "8.0"
    assert summary["fits that failed: theirs"] == "1 of 3"


def test_cases_take_turns_and_unknown_motions_are_refused() -> None:
    cases = positions.cases(positions.METHODS, [1])
    assert len(set(cases)) == len(cases) == 4 * 2 * 2 * 2
    assert [case.recipe for case in cases[:2]] == list(positions.METHODS)
    with pytest.raises(CampaignError, match="nothing has no positions"):
        positions.cases(positions.METHODS, [1], ["nothing"])


def test_our_worker_takes_positions_where_terms_have_velocities() -> None:
    rng = np.random.default_rng(0)
    x, v = np.zeros((4, 401)), np.zeros(4)
    for n in range(400):
        x[:, n + 1] = x[:, n] + 0.1 * v
        v = v - 0.1 * (2 * x[:, n + 1] + 0.5 * v) + rng.normal(0, 0.2, 4)
    powers = np.array([[0, 0], [1, 0], [0, 1]])
    points = rng.normal(size=(5, 2))
    task = {"paths": x[:, :, None], "dt": 0.1, "powers": powers, "points": points}
    task |= {"seed": 0, "recipe": "sharp"}
    force, tensor, support = with_wgsindy.read(with_wgsindy.fit(task), task)
    assert (force.shape, tensor.shape, support.shape) == ((5, 1), (5, 1, 1), (1, 3))
    assert support[0].tolist() == [False, True, True]
