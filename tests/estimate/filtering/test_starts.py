"""Where passes along noisy samples begin, and that it does not matter where."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from wgsindy.data import Trajectories
from wgsindy.estimate.likelihood import fit_likelihood as stages
from wgsindy.estimate.likelihood.exact_steps import ExactSteps, first_drift, fit_exact
from wgsindy.estimate.likelihood.filtered_samples import (
    LEAST_TENSOR,
    FilteredSamples,
    leaves_a_tensor,
    noisy_start,
    with_noise,
)
from wgsindy.estimate.likelihood.noise_detection import Noise, detect_noise
from wgsindy.estimate.likelihood.normal_equations import Runner
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.selection import Extrapolation, TermSelection
from wgsindy.model import tensor
from wgsindy.passes import SERIAL, data_summary
from wgsindy.recipes import SHARP
from wgsindy.terms import library

DT = 0.1


def oscillator(noise: float) -> Trajectories:
    """Van der Pol's, whose samples have ``noise`` as a share of their spread."""
    rng, h = np.random.default_rng(1), DT / 20
    x, out = rng.normal(size=(8, 2)) + np.array([1, 0]), []
    for n in range(20 * 200 + 1):
        if n % 20 == 0:
            out.append(x)
        force = 1.2 * (1 - x[:, 0] ** 2) * x[:, 1] - x[:, 0]
        x = x + h * np.stack([x[:, 1], force], 1) + 0.35 * np.sqrt(h) * rng.normal(size=x.shape)
    paths = np.stack(out, axis=1)
    seen = paths + noise * paths.reshape(-1, 2).std(axis=0) * rng.normal(size=paths.shape)
    return Trajectories(list(seen), DT)


class Begun(NamedTuple):
    """What there is before a filter runs."""

    start: Process
    guess: Process
    exact: Any
    noise: Noise
    selection: TermSelection
    run: Runner


@cache
def begun() -> Begun:
    data = oscillator(0.15)
    basis, summary = library("poly3").bind(data.names), data_summary(data, standardise=True)
    selection = TermSelection(basis, Extrapolation(basis, summary), SHARP, None)
    run = Runner(data, SERIAL, 4096)
    start = Process.start(basis.in_frame(summary.region), summary, is_chain=False)
    _, guess = first_drift(start, ExactSteps(selection, run))
    exact = fit_exact(start, guess, selection, run, roughly=True)
    noise = detect_noise(exact.process, run, summary.quantum)
    return Begun(start, guess, exact, noise, selection, run)


def starts() -> dict[str, Process]:
    _, guess, exact, noise, selection, run = begun()
    rest = noisy_start(guess, selection, run, noise, at_rest=True)
    shown = noisy_start(guess, selection, run, noise, at_rest=False)
    return {
        "rest": rest,
        "two steps at once": shown,
        "exact samples": with_noise(exact.process, noise),
        "half of the noise": replace(rest, observation_noise=rest.observation_noise / 2),
        "twice the tensor": replace(shown, entries=2 * shown.entries),
        "another drift": replace(shown, drift=0.5 * shown.drift),
    }


def test_what_a_filter_finds_does_not_depend_on_where_it_began() -> None:
    selection, run = begun().selection, begun().run
    begins = starts()
    kernel = FilteredSamples.along(begins["rest"], selection, run)
    ends = {name: kernel.follow(one) for name, one in begins.items()}
    settled = {name: end for name, end in ends.items() if end is not None and end.settled}
    assert set(settled) >= {"rest", "two steps at once"}
    best = max(end.log_likelihood for end in settled.values())
    for name, end in settled.items():
        assert end.log_likelihood > best - 0.1, name
        assert leaves_a_tensor(end)
    # Negative control: where they begin they are hundreds apart.
    first = [kernel.look(one, (), 0.0) for one in begins.values()]
    assert np.ptp([one.log_likelihood for one in first if one is not None]) > 100


def test_the_answer_is_the_best_of_all_starts() -> None:
    start, guess, exact, noise, selection, run = begun()
    found = stages._with_noise(start, guess, exact, noise, selection, run, run)
    assert found is not None
    kernel = FilteredSamples.along(starts()["rest"], selection, run)
    ends = [kernel.follow(one) for one in starts().values()]
    best = max(end.log_likelihood for end in ends if end is not None and end.settled)
    assert found.settled
    assert found.log_likelihood == pytest.approx(best, abs=0.1)


@pytest.mark.parametrize("at_rest", [True, False])
def test_a_noisy_start_has_a_tensor_that_is_the_same_everywhere(at_rest: bool) -> None:
    _, guess, _, noise, selection, run = begun()
    for share in (1.0, 100.0):  # of which the second is more than there can be
        more = Noise(share * noise.covariance, noise.rounding)
        found = noisy_start(guess, selection, run, more, at_rest=at_rest)
        assert found.drift.any() != at_rest
        values = found.entries @ found.basis.values(found.data_range.probe).T
        np.testing.assert_allclose(values, np.tile(values[:, :1], values.shape[1]), atol=1e-9)
        own = np.array([0, 2])
        # What noise leaves of the increments, and at least a tenth of them.
        sensor = found.observation_noise[own]
        expected = np.maximum(1 - 2 * sensor / DT, LEAST_TENSOR)
        np.testing.assert_allclose(values[own, 0], expected, atol=1e-9)
        assert (sensor <= (1 - LEAST_TENSOR) * DT / 2 * (1 + 1e-9)).all()
        assert tensor.has_root(values).all()
