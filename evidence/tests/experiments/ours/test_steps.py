"""The campaign on coarse steps: how it samples, and what it calls a bias."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy import zoo
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.experiments.ours import steps
from wgsindy_evidence.pages.ours.steps import summarise
from wgsindy_evidence.scope import Scope


def test_cases_cover_every_spacing_and_both_recipes() -> None:
    cases = steps.step_cases(Scope([1, 2], ["rotational_ou"]))
    assert len(cases) == len(set(cases)) == 2 * len(steps.SPACINGS) * 2 * 2
    assert (("kind", "chain"), ("dt", 0.2)) in {case.options for case in cases}


def test_a_linear_process_is_sampled_exactly_or_as_a_chain() -> None:
    # At dt = 0.2 the exact one-step contraction of rotational_ou is exp(-0.2) = 0.819 times a
    # rotation; the chain's is |1 - 0.2 + 0.4 i| = 0.894.
    contraction = {}
    for kind in ("continuous", "chain"):
        x = np.concatenate([p[:-1] for p in steps.sampled("rotational_ou", kind, 0.2, seed=0)])
        y = np.concatenate([p[1:] for p in steps.sampled("rotational_ou", kind, 0.2, seed=0)])
        step = np.linalg.lstsq(x, y, rcond=None)[0]
        contraction[kind] = float(np.sqrt(np.linalg.det(step)))
    # 25,600 samples: standard error about 0.004.
    assert contraction["continuous"] == pytest.approx(np.exp(-0.2), abs=0.016)
    assert contraction["chain"] == pytest.approx(np.hypot(0.8, 0.4), abs=0.016)


def test_bias_is_the_error_of_the_mean_and_error_that_of_one_fit() -> None:
    truth = zoo.get("rotational_ou").generator
    grid = steps.grid_of("rotational_ou")
    drift = truth.drift(grid).ravel()
    tensor = truth.diffusion(grid).ravel()
    results = [
        {"drift": (sign * 0.1 * drift).tolist(), "tensor": (0.2 * tensor).tolist()}
        for sign in (-1, 1)
    ]
    case = Case(
        "steps", "rotational_ou", "sharp-euler", 0, options=(("kind", "chain"), ("dt", 0.05))
    )
    (row,) = summarise([Line(case, "code", result, None) for result in results])
    assert (row.system, row.kind, row.dt, row.seeds) == ("rotational_ou", "chain", 0.05, 2)
    assert row.drift_bias == pytest.approx(0.0, abs=1e-12)
    assert row.drift_error == pytest.approx(0.1)
    assert row.tensor_bias == pytest.approx(0.2)
    assert row.tensor_error == pytest.approx(0.2)


def test_a_case_keeps_fields_on_a_grid_that_all_seeds_share() -> None:
    options = (("kind", "continuous"), ("dt", 0.1))
    results = [
        steps.run_case(Case("steps", "rotational_ou", "sharp-euler", seed, options=options))
        for seed in (0, 1)
    ]
    for result in results:
        assert (len(result["drift"]), len(result["tensor"])) == (25 * 2, 25 * 4)
    # Euler's working model sees the tensor of rotational_ou 10 % too small at this step: J + J' is
    # -2, so a shrinks by about dt. The statistical error of one fit is below 1 %.
    mean = np.mean([np.reshape(r["tensor"], (25, 2, 2))[:, 0, 0].mean() for r in results])
    assert mean == pytest.approx(-0.09, abs=0.03)
