"""A fit by any method, and its scores."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from thread_pool import InThreads

from wgsindy import WGSINDy, zoo
from wgsindy.data import FloatArray
from wgsindy.errors import RecipeError
from wgsindy.zoo import scores as metrics
from wgsindy_evidence import campaign
from wgsindy_evidence.baselines import fit_gedmd, fit_oracle
from wgsindy_evidence.campaign import Store, run_campaign
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.recipes import NAIVE


def test_a_case_is_a_fit_and_its_scores() -> None:
    # Only the second component of this system counts; the other one is kept beside it.
    case = fits.fit_case("heston_logsv", "paper", 4, trajectories=2, steps=200)
    result = fits.run_case(case)
    system = zoo.get("heston_logsv")
    data = system.simulate(4, trajectories=2, steps=200)
    fitted = WGSINDy(system.library, "paper", random_state=4).fit(data)
    expected = metrics.scores_of(fitted.generator_, system.generator, data.states, scored=(1,))
    whole = metrics.scores_of(fitted.generator_, system.generator, data.states)
    assert result["drift"] == expected.drift
    assert result["whole_drift"] == whole.drift != expected.drift
    assert result["tensor"] == expected.tensor
    assert result["cosine"] == expected.cosine
    assert result["psd"] == expected.psd
    assert result["score"] == expected.score
    assert result["fields"] == expected.fields
    assert result["condition"] == fitted.diagnostics_.condition_number
    assert result["time"] == pytest.approx(2 * 200 / 252)
    assert result["seconds"] > 0


def test_what_is_observed_is_compared_with_its_own_truth() -> None:
    # Of a rotation only x is seen; its projection is b = -x, a = 1.
    case = fits.fit_case("partial_observation", "sharp-euler", 2, trajectories=2, steps=300)
    result = fits.run_case(case)
    data = zoo.get("partial_observation").simulate(2, trajectories=2, steps=300)
    found = WGSINDy("poly2", "sharp-euler", random_state=2).fit(data).generator_
    grid = metrics.central_grid(data.states)
    error = np.linalg.norm(found.drift(grid) + grid) / np.linalg.norm(grid)
    assert result["drift"] == result["whole_drift"] == pytest.approx(error)
    assert math.isnan(result["cosine"])
    spread = np.linalg.norm(found.diffusion(grid) - 1) / np.sqrt(len(grid))
    assert result["tensor"] == pytest.approx(spread)


def test_each_kind_of_method_takes_its_own_way() -> None:
    system = zoo.get("rotational_ou")
    data = system.simulate(1, trajectories=2, steps=200)
    at = metrics.central_grid(data.states, points=3)

    def drift(method: str) -> tuple[FloatArray, float]:
        found, condition = fits.fit(system, data, fits.fit_case("rotational_ou", method, 1))
        return found.drift(at), condition

    truth = fit_oracle(data, system.generator).drift(at)
    np.testing.assert_array_equal(drift("oracle")[0], truth)
    np.testing.assert_array_equal(
        drift("gedmd")[0], fit_gedmd(data, system.library, seed=1).drift(at)
    )
    # The naive port is both: as a recipe it has a condition number.
    naive = WGSINDy(system.library, NAIVE, random_state=1).fit(data)
    np.testing.assert_array_equal(drift("naive")[0], naive.generator_.drift(at))
    assert drift("naive")[1] > 1
    assert math.isnan(drift("oracle")[1])
    assert math.isnan(drift("gedmd")[1])
    with pytest.raises(RecipeError, match="there is no recipe 'guesswork'"):
        drift("guesswork")


def test_an_unknown_method_is_a_stored_sentence_and_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "ProcessPoolExecutor", InThreads)
    cases = [
        fits.fit_case("rotational_ou", method, 0, trajectories=1, steps=60)
        for method in ("guesswork", "oracle")
    ]
    store = Store(tmp_path / "fits.jsonl")
    lines = run_campaign(cases, fits.run_case, store, jobs=1)
    assert lines[0].result is None
    assert str(lines[0].error).startswith("RecipeError: there is no recipe 'guesswork'")
    assert lines[1].error is None
    assert math.isfinite((lines[1].result or {})["drift"])
    stored = {line.case: (line.result is None, line.error) for line in store.lines()}
    assert stored == {line.case: (line.result is None, line.error) for line in lines}
