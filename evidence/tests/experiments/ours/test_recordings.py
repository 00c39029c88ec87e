"""Recordings: what is written down, and when the truth counts as inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wgsindy import WGSINDy
from wgsindy_evidence.experiments.ours import recordings
from wgsindy_evidence.experiments.ours.recordings import RECORDINGS
from wgsindy_evidence.pages.ours.recordings import has_right_terms, holds_the_truth
from wgsindy_evidence.scope import Scope


def test_a_trap_has_its_thermal_motion_and_the_noise_of_its_sensor() -> None:
    data, clean = recordings.recorded("trap", 0)
    # 20 s, relaxation time 0.02 s, ten trajectories: standard error 1.6 %.
    assert clean.std() == pytest.approx(80.0, rel=0.08)
    assert (data.states - clean).std() == pytest.approx(20.0, rel=0.03)


def test_a_relaxation_is_written_with_few_digits() -> None:
    data, clean = recordings.recorded("relaxation_0.1", 0)
    np.testing.assert_allclose(data.states, np.rint(data.states * 10) / 10, atol=1e-12)
    assert np.abs(data.states - clean).max() <= 0.05 + 1e-12
    assert clean.std() == pytest.approx(1.0, rel=0.1)


def test_every_recording_has_at_least_five_substeps() -> None:
    assert all(made.substeps >= 5 for made in RECORDINGS.values())
    assert len(recordings.recording_cases(Scope(seeds=[1, 2]))) == 2 * len(RECORDINGS)


def test_deviations_are_in_standard_errors_and_of_true_terms_only() -> None:
    truth = recordings.RELAXATION.truth
    data = truth.simulate([0.0], dt=0.005, steps=2000, trajectories=8, random_state=0)
    fitted = WGSINDy("poly1", "sharp-euler").fit(data).generator_
    found = {(c.target, c.term): c for c in fitted.coefficients}
    slope, level = found["b1", "x"], found["a11", "1"]
    assert recordings.deviations(fitted, truth) == pytest.approx(
        [(slope.value + 1) / slope.std_error, (level.value - 2) / level.std_error]
    )


def result(**figures: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("drift_false", "drift_missed", "tensor_false", "tensor_missed"), 0)
    return {**counts, "deviations": [0.5, -1.0], **figures}


def test_truth_is_inside_if_all_of_it_is() -> None:
    assert holds_the_truth(result())
    assert holds_the_truth(result(deviations=[2.1, -1.0]))  # two intervals: 2.24 standard errors
    assert not holds_the_truth(result(deviations=[2.3, -1.0]))
    assert not holds_the_truth(result(drift_missed=1))
    assert has_right_terms(result())
    for key in ("drift_false", "drift_missed", "tensor_false", "tensor_missed"):
        assert not has_right_terms(result(**{key: 1}))
