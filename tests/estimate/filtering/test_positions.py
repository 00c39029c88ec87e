"""Force and noise from positions alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from working_models import linear_model

from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import DataError, RecipeError
from wgsindy.estimate import Fit, fit_dataset
from wgsindy.estimate.likelihood import filtered_samples as positions_room
from wgsindy.estimate.likelihood.filtered_samples import (
    FilteredSamples,
    first_force,
    follow_positions,
    with_first_noise,
)
from wgsindy.estimate.likelihood.normal_equations import Runner
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.selection import Extrapolation, TermSelection
from wgsindy.passes import SERIAL, DataSummary, data_summary
from wgsindy.passes.engine import Threads
from wgsindy.recipes import SHARP
from wgsindy.terms import library

DT, TENSOR = 0.1, 0.4


def oscillator(
    seed: int, noise: float = 0.0, trajectories: int = 8, steps: int = 600
) -> FloatArray:
    """Positions and velocities of dv = (-2 x - v / 2) dt + noise, ``(R, n + 1, 2)``."""
    rng = np.random.default_rng(seed)
    h, out = DT / 20, []
    x, v = rng.normal(0, 0.4, trajectories), rng.normal(0, 0.6, trajectories)
    for _ in range(steps + 1):
        out.append(np.stack([x, v], axis=1))
        for _ in range(20):
            v = v + h * (-2 * x - 0.5 * v) + np.sqrt(TENSOR * h) * rng.standard_normal(len(x))
            x = x + h * v
    states = np.stack(out, axis=1)
    return states + noise * rng.standard_normal(states.shape)


def positions(seed: int, noise: float = 0.0, **more: int) -> Trajectories:
    return Trajectories(list(oscillator(seed, noise, **more)[:, :, :1]), DT, names=["x"])


def far_off(fit: Fit) -> float:
    """Largest distance of a coefficient from the true one, in standard errors."""
    truth = {("b2", "x"): -2.0, ("b2", "v_x"): -0.5, ("a22", "1"): TENSOR}
    found = {(one.target, one.term): one for one in fit.generator.coefficients}
    assert {key for key in found if key[0] != "b1"} == set(truth)
    return max(abs(found[key].value - true) / found[key].std_error for key, true in truth.items())


@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_positions_give_friction_force_and_noise(noise: float) -> None:
    # Three coefficients within four standard errors: false once in 5000 runs.
    fit = fit_dataset(positions(1, noise), "poly2", order=2)
    assert far_off(fit) < 4
    assert fit.generator.names == ("x", "v_x")
    np.testing.assert_allclose(fit.generator.drift([[0.3, 0.7]])[0, 0], 0.7, rtol=1e-12)
    assert fit.likelihood is not None
    sensor, error = fit.likelihood.observation_noise[0], fit.likelihood.noise_error[0]
    if noise:
        assert abs(sensor - noise**2) < 4 * error
    else:
        assert sensor < 1e-5
    # Negative control: as states, they have no equation of these terms.
    plain = fit_dataset(positions(1, noise), "poly2")
    assert plain.generator.names == ("x",)


def test_values_may_be_missing_and_steps_uneven() -> None:
    states = oscillator(2)[:, :, 0]
    rng = np.random.default_rng(0)
    kept = [np.sort(rng.choice(np.arange(1, 600), 450, replace=False)) for _ in states]
    paths = [path[rows] for path, rows in zip(states, kept, strict=True)]
    times = [rows * DT for rows in kept]
    data = Trajectories(paths, times=times, names=["x"])
    assert far_off(fit_dataset(data, "poly2", order=2)) < 4


def test_in_a_plane_there_are_two_forces() -> None:
    one, other = oscillator(3)[:, :, 0], oscillator(4)[:, :, 0]
    data = Trajectories(list(np.stack([one, other], axis=2)), DT)
    fit = fit_dataset(data, "poly1", order=2)
    assert fit.generator.names == ("x", "y", "v_x", "v_y")
    found = {(c.target, c.term): c for c in fit.generator.coefficients}
    for field, own in (("b3", "x"), ("b4", "y")):
        for term, true in ((own, -2.0), (f"v_{own}", -0.5)):
            one_found = found[field, term]
            assert abs(one_found.value - true) < 4 * one_found.std_error
    jacobian = fit.generator.drift([[0, 0, 1.0, 2.0]])[0]
    np.testing.assert_allclose(jacobian[:2], [1, 2], rtol=1e-12)


def test_a_library_without_velocities_gets_them() -> None:
    fit = fit_dataset(positions(5), ["1", "x", "x**3"], order=2)
    assert fit.generator.equations()[0] == "b1 = v_x"


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(RecipeError, match="order must be 1, 2 or 'auto', got 3"):
        fit_dataset(positions(1), "poly1", order=3)  # type: ignore[arg-type]
    with pytest.raises(RecipeError, match=r"order=2 needs a filter.*'paper' has not"):
        fit_dataset(positions(1), "poly1", "paper", order=2)
    many = Trajectories(np.random.default_rng(0).normal(size=(200, 4)).cumsum(axis=0), DT)
    with pytest.raises(DataError, match="of which there may be 3; these data have 4"):
        fit_dataset(many, "poly1", order=2)


def motion() -> Process:
    matrix, field = np.array([[0.0, 1.0], [-2.0, -0.5]]), np.diag([0.0, TENSOR])
    model = linear_model(matrix, np.zeros(2), field, terms="poly1", longest_step=DT)
    return replace(model, positions=np.array([True, False]))


def selection_of(data: Trajectories) -> tuple[TermSelection, DataSummary, Process]:
    summary = data_summary(data, standardise=True)
    basis = library("poly1").bind(data.names)
    selection = TermSelection(basis, Extrapolation(basis, summary), SHARP, None)
    work = basis.in_frame(summary.region)
    return selection, summary, Process.start(work, summary, is_chain=False)


class Followed(NamedTuple):
    """A run of the filter from a start."""

    run: Runner
    block: int
    roughly: float
    worth: int  # samples that the steps are as accurate for
    is_known: bool  # whether something was chosen before


def followed(monkeypatch: pytest.MonkeyPatch, *, lost: int = 0) -> list[Followed]:
    """Record from where filters start; the first ``lost`` have nothing to say."""
    seen: list[Followed] = []
    follow = FilteredSamples.follow

    def recorded(self: FilteredSamples, start: Process, *more: Any) -> Any:
        count, earlier = start.data_range.count, bool(more and more[0])
        seen.append(Followed(self.run, self.block, self.roughly, count, earlier))
        return None if len(seen) <= lost else follow(self, start, *more)

    monkeypatch.setattr(FilteredSamples, "follow", recorded)
    return seen


def begun(data: Trajectories) -> tuple[Process, TermSelection, Runner]:
    selection, summary, start = selection_of(data)
    run = Runner(data, Threads(2), 4096)
    _, model, selection = first_force(start, selection, run)
    return with_first_noise(model, data, summary.quantum, noisy=True), selection, run


def test_short_stretches_in_coarse_steps_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    data = positions(0, trajectories=8, steps=2000).with_velocities()
    model, selection, run = begun(data)
    seen = followed(monkeypatch)
    found = follow_positions(model, selection, run, forced=False)
    scout, *later = seen
    assert (scout.run.data.n_increments, scout.run.engine) == (100 * 128, SERIAL)
    assert (scout.block, scout.roughly, scout.worth) == (16, 0.3, 1)
    assert all(one.run is run and one.is_known for one in later)
    assert later[-1].worth == data.n_increments
    assert found.settled
    assert found.process.data_range.count == data.n_increments
    # Negative control: without the scout there is more to do on the whole.
    monkeypatch.undo()
    again = followed(monkeypatch, lost=1)
    other = follow_positions(model, selection, run, forced=False)
    assert not again[1].is_known
    assert other.evidence == pytest.approx(found.evidence, abs=1.0)


def test_a_filter_that_has_nothing_to_say_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    model, selection, run = begun(positions(0, steps=50).with_velocities())
    seen = followed(monkeypatch, lost=99)
    with pytest.raises(DataError, match=r"do not move as anything with a velocity.*order=1"):
        follow_positions(model, selection, run, forced=True)
    # A scout, where it begins, and a motion without force: all that there is to try.
    assert len(seen) == 3
    assert not any(one.is_known for one in seen)


def test_positions_of_something_else_are_fitted_or_refused_in_a_sentence() -> None:
    """Noise that nothing moves: positions without any velocity."""
    rng = np.random.default_rng(0)
    data = Trajectories([rng.normal(size=(300, 1)) for _ in range(4)], DT, names=["x"])
    found = fit_dataset(data, "poly1", order=2)
    x = rng.normal(size=(20, 2))
    assert np.isfinite(found.generator.drift(x)).all()
    assert np.isfinite(found.generator.diffusion(x)).all()


@pytest.mark.parametrize("noisy", [True, False])
def test_positions_begin_with_noise_and_tensor_by_third_differences(noisy: bool) -> None:
    """One and two steps apart: noise s makes 20 s of both, velocities 8 times as much of two."""
    model, data = motion(), positions(0, noise=0.1, steps=200).with_velocities()
    quantum = np.array([0.01, 0.3])
    found = with_first_noise(model, data, quantum, noisy=noisy)
    one, two = (data.third_differences(lag)[0] for lag in (1, 2))
    rounding = (0.01 / model.units[0]) ** 2 / 12
    noise = np.clip((8 * one - two) / 7, 0.1 * one, one) / 20 / model.units[0] ** 2
    np.testing.assert_allclose(found.rounding, [rounding, 0.0])
    np.testing.assert_allclose(found.observation_noise, [noise if noisy else rounding, 0.0, 0.0])
    np.testing.assert_array_equal(found.noisy, [noisy, False, False])
    # The same everywhere, in units of the noise, of the velocity alone.
    shaken = (two - one) / (7 * data.mean_dt**3) / model.units[1] ** 2
    share = np.clip(shaken, positions_room.LEAST_SHAKING, 1.0)
    values = model.basis.values(model.data_range.probe) @ found.entries.T
    np.testing.assert_allclose(values, np.tile([0.0, 0.0, share], (len(values), 1)), atol=1e-12)
