"""Experiments of what was not measured: data, cases and tables."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.experiments.hidden import missing, orders, positions
from wgsindy_evidence.experiments.hidden.motions import MOTIONS, noisy, states
from wgsindy_evidence.pages.hidden import build_missing, build_orders, build_positions
from wgsindy_evidence.scope import Scope


def test_motions_are_of_second_order() -> None:
    for motion in MOTIONS.values():
        d = motion.positions
        where = np.random.default_rng(0).normal(size=(20, 2 * d))
        np.testing.assert_allclose(motion.truth.drift(where)[:, :d], where[:, d:])
        field = motion.truth.diffusion(where)
        assert not field[:, :d].any()
        assert (np.linalg.eigvalsh(field[:, d:, d:]) > 0).all()
        known = {(one.target, one.term) for one in motion.truth.coefficients}
        assert motion.friction in known


def test_a_velocity_is_the_slope_of_its_position() -> None:
    path = states("linear", 0.05, 3)
    assert path.shape == (16, 1601, 2)
    slope = (path[:, 2:, 0] - path[:, :-2, 0]) / 0.1
    # A velocity wanders by sqrt(0.5 * 0.05) within a step, and its mean over two by a part of it.
    assert np.abs(slope - path[:, 1:-1, 1]).max() < 6 * np.sqrt(0.5 * 0.05)
    other = noisy(path, 0.05, 3)
    share = (other - path).std(axis=(0, 1)) / path.std(axis=(0, 1))
    np.testing.assert_allclose(share, 0.05, rtol=0.03)  # 25,600 numbers: 0.4 %, six of these


def test_a_perfect_fit_has_no_error() -> None:
    motion = MOTIONS["bistable"]
    grid = np.random.default_rng(0).normal(size=(50, 2))
    found = positions.compare(motion.truth, motion, grid)
    assert (found["force"], found["tensor"], found["false"], found["missed"]) == (0, 0, 0, 0)
    assert positions.compare(MOTIONS["linear"].truth, motion, grid)["force"] > 0.1


def test_values_are_left_out_as_said() -> None:
    x = np.zeros((4, 3000, 3))
    lost = np.isnan(missing.spoilt(x, "missing", 1))
    assert not lost[:, :, :2].any()
    assert lost[:, :, 2].mean() == pytest.approx(missing.SHARE, abs=0.02)  # 12,000: 0.4 %
    assert (np.isnan(missing.spoilt(x, "in turns", 1)).sum(axis=2) == 2).all()
    assert not np.isnan(missing.spoilt(x, "complete", 1)).any()


def test_every_cell_comes_both_ways() -> None:
    cases = positions.position_cases(Scope(seeds=[1]))
    assert len(set(cases)) == len(cases) == 5 * 2 * 3 * 2
    assert len(set(orders.order_cases(Scope(seeds=[1])))) == 12 + 10 + 10
    assert len(set(missing.missing_cases(Scope(seeds=[1])))) == 4 * 2 * 3


def line(case: Case, **result: float | str | bool) -> Line:
    return Line(case, "code", result, None)


def test_tables_count_what_the_lines_have() -> None:
    same: dict[str, float | str | bool] = {
        "false": 0,
        "missed": 0,
        "noise": True,
        "verdict": "identified",
        "seconds": 1.0,
    }
    ways = (positions.POSITIONS, positions.VELOCITIES)
    lines = [
        line(
            positions.position_case("linear", seed, 0.05, 0.0, way),
            force=force * (2 if way == ways[0] else 1),
            friction=seed > 1,
            **same,
        )
        for seed, force in ((1, 0.3), (2, 0.4))
        for way in ways
    ]
    content = build_positions(lines[:-1] + lines[-1:])
    row = content.grids["positions"].rows[0]
    assert row[3:7] == ["2", "0.7071", "0.3536", "2.00"]
    assert row[7:11] == ["2 of 2", "2 of 2", "1 of 2", "2 of 2"]
    summary = {row[0]: row[1] for row in content.grids["positions-summary"].rows}
    assert summary["cells in which it is at most 1.5"] == "0 of 1"
    counted = build_orders(
        [line(Case("orders", "ou", "sharp", s), right=s > 1, wrong=s == 0) for s in range(4)]
    )
    assert counted.grids["orders"].rows[0][1:] == ["4", "2", "1", "1"]
    gaps = build_missing(
        [
            line(missing.missing_case("rotation", 1, 0.0, way), drift=0.1 * (k + 1), tensor=0.2)
            for k, way in enumerate(missing.WAYS)
        ]
    )
    assert gaps.grids["missing"].rows[0][3:8] == ["0.1000", "0.2000", "2.00", "0.3000", "3.00"]
