"""Where passes along noisy samples begin: from exact samples, or from two steps at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from working_models import linear_model

from wgsindy.errors import DataError
from wgsindy.estimate.likelihood import fit_likelihood as stages
from wgsindy.estimate.likelihood.iteration import with_noise
from wgsindy.estimate.likelihood.noise_detection import Noise

MODEL = linear_model(np.array([[-1.0]]), np.zeros(1), np.array([[0.5]]))
NOISE = Noise(np.array([[0.02]]), np.array([0.01]))


def ended(log_likelihood: float, *, settled: bool = True) -> Any:
    sums = SimpleNamespace(log_likelihood=log_likelihood)
    return SimpleNamespace(sums=sums, settled=settled, block=64)


def followed(
    monkeypatch: pytest.MonkeyPatch,
    outcomes: dict[str, Any],
    *,
    clean: bool,
    share: float = 0.39,
) -> tuple[Any, list[tuple[str, int]]]:
    """What is kept, and from where and with which blocks passes were made."""
    asked: list[tuple[str, int]] = []

    def follow(start: str, *_: object, block: int = 0) -> Any:
        asked.append((start, block))
        return outcomes[start]

    def exact(*_: object) -> Any:
        if outcomes["exact"] == "runs away":
            raise DataError("the fit runs away.")
        return SimpleNamespace(model="exact")

    monkeypatch.setattr(stages, "follow_noise", follow)
    monkeypatch.setattr(stages, "noisy_start", lambda *_: "two steps")
    monkeypatch.setattr(stages, "with_noise", lambda model, _: model)
    monkeypatch.setattr(stages, "iterate", exact)
    given: Any = exact() if clean else None
    nothing: Any = None
    run: Any = SimpleNamespace(data=SimpleNamespace(mean_dt=NOISE.variances[0] / share))
    return stages._with_noise(nothing, given, NOISE, nothing, run), asked


@pytest.mark.parametrize("clean", [True, False])
def test_a_fit_that_settles_is_not_tried_from_elsewhere(
    clean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = {"exact": ended(1.0), "two steps": ended(2.0)}
    first = "exact" if clean else "two steps"
    kept, asked = followed(monkeypatch, outcomes, clean=clean)
    assert (kept, asked) == (outcomes[first], [(first, 0)])


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize(("better", "worse"), [("exact", "two steps"), ("two steps", "exact")])
def test_of_two_that_do_not_settle_the_likelier_is_kept(
    better: str, worse: str, clean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = {better: ended(2.0, settled=False), worse: ended(1.0, settled=False)}
    kept, asked = followed(monkeypatch, outcomes, clean=clean)
    assert kept is outcomes[better]
    assert [block for _, block in asked] == [0, 64]  # likelihoods of other blocks do not compare
    outcomes[better] = None
    assert followed(monkeypatch, outcomes, clean=clean)[0] is outcomes[worse]
    outcomes[worse] = None
    assert followed(monkeypatch, outcomes, clean=clean)[0] is None


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("found", [None, ended(1.0, settled=False)])
def test_what_is_next_to_nothing_but_noise_is_not_taken_for_exact(
    found: Any, clean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = {"exact": ended(2.0), "two steps": found}
    kept, asked = followed(monkeypatch, outcomes, clean=clean, share=0.41)
    assert (kept, asked) == (found, [("two steps", 0)])


@pytest.mark.parametrize("found", [None, ended(1.0, settled=False)])
def test_where_exact_samples_cannot_be_fitted_what_there_is_is_kept(
    found: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = {"exact": "runs away", "two steps": found}
    kept, asked = followed(monkeypatch, outcomes, clean=False)
    assert (kept, asked) == (found, [("two steps", 0)])


def test_exact_samples_keep_their_fields_and_get_all_of_the_noise() -> None:
    start = with_noise(MODEL, NOISE)
    np.testing.assert_array_equal(start.drift, MODEL.drift)
    np.testing.assert_array_equal(start.entries, MODEL.entries)
    np.testing.assert_allclose(start.observation_noise, [0.03])
    np.testing.assert_allclose(start.rounding, [0.01])
    assert start.noisy.all()
    known = with_noise(MODEL, Noise(np.zeros((1, 1)), np.array([0.01])))
    np.testing.assert_allclose(known.observation_noise, [0.01])
    assert not known.noisy.any()  # rounding is known: nothing is to be fitted
