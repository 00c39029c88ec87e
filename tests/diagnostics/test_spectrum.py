"""Seasons and clocks: what comes back in time, and time that does not count."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy import WGSINDy
from wgsindy.data import Chunk, FloatArray, Trajectories
from wgsindy.diagnostics import Limitation, groups
from wgsindy.diagnostics.groups import MOST_STRETCHES, Line, Stretches, beyond_chance

DT, SHAPE_SUBSTEPS = 0.05, 5


def relaxing(
    steps: int, seed: int, *, drift: float = 0.0, noise: float = 0.0, period: float = 10.0
) -> FloatArray:
    """dx = -(x - drift sin wt) dt + (1 + noise sin wt) dW, seen every 0.05."""
    rng, h = np.random.default_rng(seed), DT / SHAPE_SUBSTEPS
    wave = np.sin(2 * np.pi * np.arange(steps * SHAPE_SUBSTEPS) * h / period)
    kicks = (1 + noise * wave) * np.sqrt(h) * rng.normal(size=len(wave))
    path = np.empty(len(wave))
    x = 0.0
    for k in range(len(wave)):
        path[k] = x
        x += -(x - drift * wave[k]) * h + kicks[k]
    return path[::SHAPE_SUBSTEPS, None]


def findings(data: Trajectories) -> dict[Limitation, str]:
    found = WGSINDy("poly3").fit(data).diagnostics_
    return {finding.limitation: finding.sentence for finding in found.findings}


@pytest.mark.parametrize("field", ["drift", "noise"])
@pytest.mark.parametrize("seed", range(3))
def test_a_season_is_named_with_its_period(field: str, seed: int) -> None:
    # A wave of z of amplitude 0.8 sqrt(0.05) in 6,000 samples is worth 48 nats, and a tensor
    # that varies by 0.6 of its mean is worth 135; the largest of 3,000 frequencies has 8 by chance.
    wave = {"drift": 0.8} if field == "drift" else {"noise": 0.3}
    data = Trajectories(relaxing(6000, seed, **wave), DT)
    told = findings(data)[Limitation.CHANGING]
    assert told.startswith(f"the {field} of x comes back in time")
    period = float(told.split("period of ")[1].split()[0])
    assert period == pytest.approx(10.0, rel=0.05)  # 30 cycles


def test_a_season_is_found_in_many_trajectories_that_begin_at_any_time() -> None:
    data = [relaxing(1600, 10, drift=0.8)[k * 37 :][:1000] for k in range(8)]
    whole = Trajectories([*data], DT)
    assert "comes back in time" in findings(whole)[Limitation.CHANGING]


def test_no_season_is_seen_where_there_is_none() -> None:
    # One in 0.3 % of fits each way: none in 20 has probability 0.9, and the seeds are fixed.
    for seed in range(20):
        assert Limitation.CHANGING not in findings(Trajectories(relaxing(2000, seed), DT))


def test_weekends_are_time_that_does_not_count() -> None:
    path = relaxing(3000, 0)
    weekends = np.cumsum(np.where(np.arange(3000) % 5 == 4, 3 * DT, DT))
    assert Limitation.UNEVEN_CLOCK in findings(Trajectories(path, times=weekends))


def test_steps_of_any_length_are_no_fault() -> None:
    path = relaxing(6000, 1)
    kept = np.sort(np.random.default_rng(0).choice(6000, 3000, replace=False))
    assert Limitation.UNEVEN_CLOCK not in findings(Trajectories(path[kept], times=kept * DT))


def test_sums_do_not_depend_on_chunks() -> None:
    rng = np.random.default_rng(3)
    data = Trajectories([rng.normal(size=(n, 2)) for n in (50, 7, 33)], 0.1)
    cut, z = Stretches.of(data), rng.normal(size=(2, data.n_increments))
    totals = []
    for size in (1000, 11):
        total, place = np.zeros((2, 2, cut.total)), 0
        for window in data.windows():
            for chunk in window.chunks(size):
                rows = slice(place, place + len(chunk.dt))
                cut.add(total, chunk, z[:, rows])
                place = rows.stop
        totals.append(total)
    np.testing.assert_allclose(totals[0], totals[1], rtol=1e-12, atol=1e-14)
    assert cut.width == 1
    np.testing.assert_array_equal(totals[0][0], z)


def test_long_data_are_summed_over_longer_stretches() -> None:
    data = Trajectories(np.zeros((3 * MOST_STRETCHES + 10, 1)), 0.1)
    cut = Stretches.of(data)
    assert cut.width == 4
    assert cut.total <= MOST_STRETCHES
    total = np.zeros((2, 1, cut.total))
    chunk = Chunk(np.zeros((8, 1)), np.zeros((8, 1)), np.full(8, 0.1), np.zeros(8, dtype=int))
    cut.add(total, chunk, np.arange(8.0)[None])
    np.testing.assert_array_equal(total[0, 0, :3], [6.0, 22.0, 0.0])


def test_a_line_is_found_where_it_is() -> None:
    rng, steps = np.random.default_rng(0), np.arange(2000)
    data = Trajectories(np.zeros((2001, 1)), 1.0)
    wave = 0.3 * np.cos(2 * np.pi * steps / 40)
    quiet, driven = (Stretches.of(data).line(z[None]) for z in _pair(rng, wave))
    assert driven.period[0] == pytest.approx(40, rel=0.02)
    # 2,000 x 0.09 / 4 = 45 nats, 7.7 standard errors by Wilson and Hilferty; by chance about 4.
    assert driven.errors[0] > 6 > 5 > quiet.errors[0]


def _pair(rng: np.random.Generator, wave: FloatArray) -> tuple[FloatArray, FloatArray]:
    white = rng.normal(size=len(wave))
    return white, white + wave


def stretches(*counts: int, width: int = 3) -> Stretches:
    count = np.array(counts)
    first = np.cumsum(count) - count
    return Stretches(width, first, count, width * first, 0.1)


def line_by_hand(cut: Stretches, sums: FloatArray, used: list[int]) -> Line:
    """Of the trajectories ``used``: every frequency on its own, of sums that are written out."""
    longest = max(int(cut.count[r]) for r in used)
    size = 1
    while size < 2 * longest:
        size *= 2
    counts = [float(cut.count[r]) for r in used]
    freedom = 2 * sum(counts) ** 2 / sum(count**2 for count in counts)
    errors, excess, periods = [], [], []
    for row in sums:
        best = (0.0, 1)
        parts = [row[cut.first[r] : cut.first[r] + cut.count[r]] for r in used]
        parts = [part - part.mean() for part in parts]
        for k in range(-(-3 * size // (2 * longest)), size // 2 + 1):
            power = sum(
                abs(part @ np.exp(-2j * np.pi * k * np.arange(len(part)) / size)) ** 2
                for part in parts
            )
            best = max(best, (float(power / sum(part @ part for part in parts)), k))
        found = beyond_chance(np.array([best[0] * freedom]), np.array([freedom]))
        errors.append(found.errors[0])
        excess.append(found.excess[0])
        periods.append(cut.width * size / best[1])
    return Line(np.array(errors), np.array(excess), np.array(periods), longest // 2)


@pytest.mark.parametrize(
    ("counts", "used"),
    [((100,), [0]), ((32, 40), [0, 1]), ((31, 40), [1]), ((400, 50, 49), [0, 1])],
)
def test_a_line_is_that_of_all_trajectories_that_are_long_enough(
    counts: tuple[int, ...], used: list[int]
) -> None:
    cut, rng = stretches(*counts), np.random.default_rng(3)
    wave = np.cos(2 * np.pi * np.arange(cut.total) / 9.3)
    sums = rng.normal(size=(2, cut.total)) + np.array([[0.0], [1.0]]) * wave
    found, expected = cut.line(sums), line_by_hand(cut, sums, used)
    for one, other in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    assert found.frequencies == expected.frequencies
    assert found.period[1] == pytest.approx(9.3 * cut.width, rel=0.05)


def test_of_short_trajectories_there_is_no_line() -> None:
    found = stretches(31, 31).line(np.random.default_rng(0).normal(size=(2, 62)))
    for one in found[:3]:
        np.testing.assert_array_equal(one, [0.0, 0.0])


def test_steps_are_cut_into_stretches_of_equal_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MOST_STRETCHES", 10)
    data = Trajectories([np.arange(26.0)[:, None], np.arange(8.0)[:, None]], 0.5)
    found = Stretches.of(data)  # 32 steps in at most ten: four each
    assert (found.width, found.total, found.mean_dt) == (4, 9, 0.5)
    np.testing.assert_array_equal(found.count, [7, 2])
    np.testing.assert_array_equal(found.first, [0, 7])
    np.testing.assert_array_equal(found.starts, [0, 25])


def test_paces_are_half_octaves_about_the_mean_step() -> None:
    dt = 0.1 * 2.0 ** np.array([0.0, 0.5, -0.5, 0.2, 0.3, 9.0, -9.0])
    z = np.array([[1.0, 2.0, 0.0, 3.0, 4.0, 5.0, 6.0]])
    blank = np.zeros((7, 1))
    total = np.zeros((2, 17, 1))
    stretches(7).add_paces(total, Chunk(blank, blank, dt, np.zeros(7, dtype=np.int64)), z)
    expected = np.zeros((2, 17))
    # Steps of 0.2 octaves more are the mean ones, of 0.3 a half more; the ends have all beyond.
    expected[:, 8], expected[:, 9] = [2, 1 + 9], [2, 4 + 16]
    expected[:, 16], expected[:, 0] = [1, 25], [1, 36]
    np.testing.assert_array_equal(total[:, :, 0], expected)
