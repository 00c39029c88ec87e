"""Stretches: pieces of the data, and a fit that starts from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pilots import set_pilots

from wgsindy import WGSINDy, zoo
from wgsindy.data import FloatArray, Trajectories
from wgsindy.estimate.likelihood import normal_equations
from wgsindy.estimate.likelihood.normal_equations import Runner
from wgsindy.estimate.likelihood.selection import TermSelection
from wgsindy.passes import SegmentPass, joined_segments, reduce, segments_of
from wgsindy.passes.engine import Threads


def counted(lengths: list[int]) -> Trajectories:
    """Every state says which trajectory and sample it is; steps differ."""
    paths = [np.stack([np.full(n, float(k)), np.arange(n) * 1.0], 1) for k, n in enumerate(lengths)]
    times = [np.cumsum(1.0 + np.arange(n) % 3) for n in lengths]
    return Trajectories(paths, times=times)


@pytest.mark.parametrize(("size", "threads"), [(4096, 1), (7, 1), (1000, 3)])
def test_stretches_are_of_the_data_and_evenly_spread(size: int, threads: int) -> None:
    data = counted([30_000, 7, 12_345, 2, 80_000])
    step = SegmentPass.evenly(data, 50, 100)
    found = joined_segments(
        reduce(step, data, engine=Threads(threads), chunk_size=size), data.names
    )
    assert found.n_increments == 50 * 100
    starts = []
    for number, piece in enumerate(found):
        owner, first = int(piece[0, 0]), int(piece[0, 1])
        np.testing.assert_array_equal(piece, data[owner][first : first + len(piece)])
        steps = data.steps(owner)[first : first + len(piece) - 1]
        np.testing.assert_allclose(found.steps(number), steps, rtol=1e-12)
        starts.append(first + sum(len(path) - 1 for path in list(data)[:owner]))
    assert set(step.starts.tolist()) <= set(starts)
    assert starts[0] == 0
    assert starts[-1] == data.n_increments - 100
    assert np.ptp(np.diff(step.starts)) <= 1


def test_little_data_are_one_stretch() -> None:
    data = counted([501, 301])
    found = segments_of(data, 100, 100)
    assert found.n_increments == data.n_increments == 800
    assert len(found) == 2


def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the increments that each pass sees."""
    seen: list[int] = []
    run = Runner.__call__

    def noted(self: Runner, step: Any, **options: Any) -> Any:
        seen.append(self.data.n_increments)
        return run(self, step, **options)

    monkeypatch.setattr(Runner, "__call__", noted)
    return seen


@pytest.mark.parametrize("name", ["rotational_ou", "diag_multiplicative", "underdamped_langevin"])
def test_starting_from_a_pilot_saves_passes_and_changes_nothing_else(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = zoo.get(name).simulate(seed=3, trajectories=64)
    assert data.n_increments > 2e4
    fits, whole = [], []
    for many in (10**6, 4):
        set_pilots(monkeypatch, pieces=12, many=many)
        with monkeypatch.context() as patch:
            seen = passes(patch)
            fits.append(WGSINDy("poly3", "sharp").fit(data).generator_)
        whole.append(seen.count(data.n_increments))
    usual, started = fits
    assert min(seen) == 3000
    assert whole[1] < whole[0]
    spread = usual.uncertainty
    assert spread is not None
    assert started.uncertainty is not None
    np.testing.assert_array_equal(usual.drift_coefficients != 0, started.drift_coefficients != 0)
    error = np.sqrt(np.einsum("pkk->pk", spread.drift_spread))
    apart = np.abs(started.uncertainty.drift - spread.drift)
    # Weights that are off by a percent cost 1e-4 of the variance: a tenth of an error at most.
    assert (apart <= 0.1 * error + 1e-9).all()


def test_a_pilot_that_misses_a_region_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """a = (0.1 + x^2) I, and every other trajectory stays where noise is a hundred times larger."""
    rng = np.random.default_rng(5)
    homes = np.array([0.0, 3.0] * 4)
    x = np.zeros((4001, 8, 2))
    x[0, :, 0] = homes
    for n in range(4000):
        pull = np.stack([homes - x[n, :, 0], -x[n, :, 1]], 1)
        size = np.sqrt(0.1 + x[n, :, :1] ** 2) * 0.1
        x[n + 1] = x[n] + 10 * pull * 0.01 + size * rng.normal(size=(8, 2))
    data = Trajectories(list(x.swapaxes(0, 1)), dt=0.01)
    calm = data.subset(range(0, 8, 2))
    monkeypatch.setattr(normal_equations, "segments_of", lambda data, count, length, engine: calm)
    fits = []
    for many in (10**6, 0):
        set_pilots(monkeypatch, many=many)
        fits.append(WGSINDy("poly2", "sharp-euler").fit(data).generator_)
    at = np.array([[0.0, 0.0], [3.0, 0.0]])
    found = [generator.diffusion(at)[:, 1, 1] for generator in fits]
    np.testing.assert_allclose(found[0], [0.1, 9.1], rtol=0.1)
    np.testing.assert_allclose(found[1], found[0], rtol=0.02)


def test_what_a_pilot_says_of_small_noise_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few samples near zero decide the drift; a pilot has hardly seen any."""
    system = zoo.get("cir_pair")
    data = system.simulate(seed=5, trajectories=64)
    set_pilots(monkeypatch, pieces=12)

    def drift() -> tuple[FloatArray, FloatArray]:
        found = WGSINDy(system.library, "sharp-euler").fit(data).generator_.uncertainty
        assert found is not None
        return found.drift, np.sqrt(np.einsum("pkk->pk", found.drift_spread))

    usual, error = drift()
    set_pilots(monkeypatch, pieces=12, many=4)
    assert (np.abs(drift()[0] - usual) <= 0.01 * error).all()
    # Nor where terms that it puts wrong are not put right by fitting all components at once.
    monkeypatch.setattr(TermSelection, "_reconsidered", lambda *given, exhaustive: given[2])
    assert (np.abs(drift()[0] - usual) <= 0.01 * error).all()
