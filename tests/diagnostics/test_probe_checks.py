"""Checks of residuals by groups, on sums that are made up: what counts, from where on, and how."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from asked import alone, ask
from processes import linear

from wgsindy.data import FloatArray
from wgsindy.diagnostics import Finding, Limitation, Measurements, statistics, thresholds
from wgsindy.diagnostics import findings as question
from wgsindy.diagnostics.findings import chance
from wgsindy.diagnostics.groups import DELAYS, PARTS, PLACE_BINS, GroupSums
from wgsindy.diagnostics.thresholds import FALSE_ALARM
from wgsindy.estimate import fit_dataset

D, EACH, SAMPLES = 2, 10_000.0, 100_000  # coordinates, samples a group, of all


@cache
def plain() -> Measurements:
    seen = Measurements(fit_dataset(linear(0), "poly1"))
    assert not seen.noiseless.any()
    return seen


def quiet() -> GroupSums:
    """Sums of residuals that nothing tells of: each is what it is on average."""
    bins = np.zeros((3, D, PLACE_BINS, D))
    bins[0] = bins[2] = EACH
    parts = np.zeros((2, PARTS, D, D + 2))
    parts[1] = EACH
    kinds = np.zeros((2, 4, D, D + 2))
    kinds[1] = EACH
    return replace(
        plain().residuals.groups,
        bins=bins,
        parts=parts,
        part_squares=np.full((2, PARTS, D), EACH),
        trajectories=kinds,
        lagged=np.zeros((len(DELAYS), D, D)),
        bursts=np.zeros((len(DELAYS), D)),
        lag_count=np.full(len(DELAYS), float(SAMPLES)),
        leaning=np.stack([np.zeros((D, D)), np.full((D, D), EACH)]),
    )


def seen_with(probes: GroupSums, signal: float = 100.0, **more: Any) -> Measurements:
    """The plain fit with other sums; the drift as a whole stands ``signal`` errors out."""
    seen = replace(plain())
    expected = np.full((4, D), signal**2 / 4)
    seen.__dict__["residuals"] = replace(
        plain().residuals, groups=probes, samples=SAMPLES, expected=expected, **more
    )
    return seen


def only(found: Any) -> Finding:
    (one,) = found
    assert isinstance(one, Finding)
    return one


@pytest.mark.parametrize("tests", [1, 8, 500])
def test_chance_is_that_of_the_largest_of_so_many(tests: int) -> None:
    assert NormalDist().cdf(-chance(tests)) * tests == pytest.approx(FALSE_ALARM)
    assert NormalDist().cdf(-chance(tests, 0.01)) * tests == pytest.approx(0.01)


def test_nothing_is_said_of_quiet_sums() -> None:
    seen = seen_with(quiet())
    for check in (ask("drift_by_place", "tensor_by_place"), ask("in_time"), ask("bursts")):
        assert list(check(seen)) == []


def by_place(squares: float, signal: float) -> list[Finding]:
    """Findings if mean residuals of v, along u, have such a sum of squares in one bin."""
    probes = quiet()
    probes.bins[1, 0, 3, 1] = np.sqrt(squares * EACH)
    return list(ask("drift_by_place", "tensor_by_place")(seen_with(probes, signal)))


def test_a_drift_is_off_by_the_root_of_what_is_beyond_chance_over_its_size() -> None:
    # A chi-squared number of 12 is 12 on average; a tenth of a signal of 100 is 10.
    assert by_place(12 + 99.0, 100.0) == []
    found = only(by_place(12 + 400.0, 100.0))
    assert found.fields == ("b2",)
    assert "the drift of y does not fit everywhere" in found.sentence
    assert "differs from zero by 20% of its size" in found.sentence
    assert only(by_place(12 + 101.0, 100.0)).limitation == Limitation.MISSING_TERMS
    assert "more than all of its size" in only(by_place(12 + 101.0, 10.0)).sentence
    # Next to no drift is taken for one of a standard error.
    assert "more than all" in only(by_place(60.0, 0.0)).sentence


@pytest.mark.parametrize(("errors", "expected"), [(0.99, False), (1.01, True)])
def test_a_misfit_must_be_more_than_chance_makes_of_all_bins(errors: float, expected: bool) -> None:
    # By the cube root of a chi-squared number of 12; two fields, two coordinates, two questions.
    spread = 2 / (9 * 12)
    squares = 12 * (1 - spread + errors * chance(8) * np.sqrt(spread)) ** 3
    assert bool(by_place(squares, 10.0)) == expected


def uneven(ratio: float, samples: int = SAMPLES) -> list[Finding]:
    """Findings if the residuals of u vary so much more in half of the bins along v."""
    probes = quiet()
    probes.bins[2, 1, : PLACE_BINS // 2, 0] *= ratio
    seen = seen_with(probes)
    seen.residuals.samples = samples
    return list(ask("drift_by_place", "tensor_by_place")(seen))


def test_noise_is_off_by_as_much_as_its_variances_are() -> None:
    # Six bins of 1.1 and six of 0.9 of their mean, of n samples each: each is 0.1 / sqrt(2 / n)
    # errors off, so that the root of twice their squares over all samples is about 0.1.
    found = only(uneven(1.1 / 0.9, 12 * int(EACH)))
    assert found.fields == ("a11",)
    assert "the tensor of x does not fit everywhere" in found.sentence
    assert "is off by 10% (" in found.sentence
    # As much among eight times as many samples is a third of it: below what matters.
    assert uneven(1.1 / 0.9, 100 * int(EACH)) == []


def test_noise_may_be_off_by_a_little_or_by_chance() -> None:
    assert uneven(1.02, 12 * int(EACH)) == []


@pytest.mark.parametrize("direction", [0, 2])
def test_a_drift_that_changes_in_time_is_named_with_its_size(direction: int) -> None:
    probes = quiet()
    slopes = np.where(np.arange(PARTS) < PARTS // 2, 1.0, -1.0) * np.sqrt(EACH)
    for size, expected in ((6.0, True), (3.0, False)):  # 8 * 36 - 7 is 16.8^2, 8 * 9 - 7 is 8.1^2
        probes.parts[0, :, 1, direction] = size * slopes
        found = list(ask("in_time")(seen_with(probes)))
        assert bool(found) == expected
        if expected:
            assert found[0].fields == ("b2",)
            assert "y changes in the course" in found[0].sentence
            assert "its drift by 17% of its size:" in found[0].sentence


def test_noise_that_changes_in_time_is_named_with_its_size() -> None:
    probes = quiet()
    probes.part_squares[1, : PARTS // 2, 1] *= 1.1 / 0.9
    probes.part_squares[1, : PARTS // 2, 0] *= 1.2 / 0.8
    seen = seen_with(probes)
    seen.residuals.samples = PARTS * int(EACH)
    found = only(ask("in_time")(seen))
    assert found.fields == ("a11", "a22")
    assert "x, y changes in the course of the trajectories, its noise by 20%:" in found.sentence


def test_trajectories_of_several_kinds_are_compared_with_their_mean() -> None:
    probes = quiet()
    slopes = np.array([1.0, -1.0, 1.0, -1.0]) * np.sqrt(EACH)
    for size, expected in ((6.0, True), (4.0, False)):  # 4 * 36 - 3 is 11.9^2, 4 * 16 - 3 is 7.8^2
        probes.trajectories[0, :, 0, 1] = size * slopes
        found = list(alone("kinds")(seen_with(probes)))
        assert bool(found) == expected
        if expected:
            assert found[0].fields == ("b1",)
            assert "differ from each other by 12% of its size beyond chance" in found[0].sentence


def lagging(correlations: FloatArray, count: float = SAMPLES) -> Measurements:
    probes = quiet()
    probes.lag_count[:] = count
    return seen_with(replace(probes, lagged=correlations * count))


def test_the_clearest_correlation_with_the_past_is_named() -> None:
    correlations = np.zeros((len(DELAYS), D, D))
    correlations[9, 0, 1], correlations[2, 1, 1] = -0.06, 0.05
    found = only(ask("correlations")(lagging(correlations)))
    assert found.fields == ("b1",)
    said = (
        f"correlates with what it left of y {DELAYS[9]} steps before (-0.06; 19.0 standard errors"
    )
    assert said in found.sentence
    for size, count, expected in ((0.031, SAMPLES, True), (0.029, 4 * SAMPLES, False)):
        one = np.zeros((len(DELAYS), D, D))
        one[0, 1, 0] = size
        assert bool(list(ask("correlations")(lagging(one, count)))) == expected


def test_squares_that_correlate_come_in_bursts() -> None:
    probes = quiet()
    left: dict[str, Any] = {
        "count": np.full(D, 1e5),
        "squares": np.full(D, 1e5),
        "fourths": np.full(D, 3e5),
    }
    for correlation, expected in ((0.041, True), (0.039, False)):
        bursts = np.zeros((len(DELAYS), D))
        bursts[4, 1] = 2 * correlation * SAMPLES  # squares of normal numbers have variance 2
        found = list(ask("bursts")(seen_with(replace(probes, bursts=bursts), **left)))
        assert bool(found) == expected
        if expected:
            assert found[0].fields == ("a22",)
            assert "large steps of y come together" in found[0].sentence
            assert f"{DELAYS[4]} steps before (0.04, 13 standard errors)" in found[0].sentence
    # Of tails that are heavier, squares vary more, and the same sum is less.
    heavy: dict[str, Any] = left | {"fourths": np.full(D, 5e5)}
    assert not list(ask("bursts")(seen_with(replace(probes, bursts=bursts), **heavy)))


def test_noise_of_a_sensor_that_grows_with_a_state_is_clear_by_errors_and_by_size() -> None:
    probes = quiet()
    for errors, count, expected in ((-9.0, 1e4, True), (-4.4, 1e4, False), (-9.0, 1e5, False)):
        probes.lag_count[:] = count
        probes.leaning[0, 1, 0] = errors * np.sqrt(EACH)
        assert bool(list(ask("noise_by_place")(seen_with(probes)))) == expected


def test_products_of_neighbours_count_in_errors_however_small_they_are() -> None:
    leaning = np.zeros((2, D, D))
    leaning[:, 0, 1] = -0.3, 0.25
    np.testing.assert_allclose(
        replace(quiet(), leaning=leaning).neighbours_by_place(), [[0.0, -0.6], [0.0, 0.0]]
    )


def test_what_a_sample_predicts_is_a_share_of_the_next() -> None:
    for share, expected in ((0.049, True), (0.051, False)):
        probes = replace(quiet(), spread=np.full(D, 10.0), missed=np.full(D, 10 * (1 - share)))
        found = list(ask("predicted")(seen_with(probes)))
        assert bool(found) == expected
    one = replace(quiet(), spread=np.full(D, 10.0), missed=np.array([11.0, 9.7]))
    assert "at most 3.0% of the variance" in only(ask("predicted")(seen_with(one))).sentence
    none = replace(one, missed=np.full(D, 11.0))
    assert "at most 0.0%" in only(ask("predicted")(seen_with(none))).sentence


def test_lengths_of_steps_are_compared_by_their_variances() -> None:
    paces = np.zeros((2, 17, D))
    paces[:, 7:9] = EACH
    paces[1, 7, 1] *= 1.1 / 0.9
    for samples, expected in ((20_000, True), (200_000, False)):
        seen = seen_with(quiet(), paces=paces)
        seen.residuals.samples = samples
        found = list(ask("by_pace")(seen))
        assert bool(found) == expected
        if expected:
            assert found[0].fields == ("a22",)
            assert "it differs by 10% (" in found[0].sentence


@pytest.mark.parametrize(("share", "copies", "expected"), [(0.49, 0.0, None), (0.51, 0.4, True), (0.6, 0.6, False)])  # fmt: skip  # noqa: E501
def test_noise_along_fewer_directions_must_be_that_of_most_samples(
    share: float, copies: float, expected: bool | None
) -> None:
    left = {"singular": int(share * SAMPLES), "doubled": int(copies * SAMPLES)}
    found = list(ask("singular")(seen_with(quiet(), **left)))
    assert [one.handled for one in found] == ([] if expected is None else [expected])
    assert all(f"at {share:.0%} of the samples" in one.sentence for one in found)


@pytest.mark.parametrize(("low", "edge", "expected"), [
    (0.14, 0.0, False), (0.16, 0.0, True), (0.0, 0.019, False), (0.0, 0.021, True),
])  # fmt: skip
def test_samples_crowd_at_a_boundary_by_their_share(
    low: float, edge: float, expected: bool
) -> None:
    at_edge = np.zeros((2, D))
    at_edge[1, 0] = edge * SAMPLES + 4  # each trajectory may start there
    left: dict[str, Any] = {"low_noise": np.array([low, 0.0]) * SAMPLES, "at_edge": at_edge}
    found = list(ask("at_boundary")(seen_with(quiet(), **left)))
    assert bool(found) == expected
    if expected:
        assert found[0].fields == ("b1",)
        said = f"at {low:.0%} of them x has less than a twentieth of its mean noise, and {edge:.1%}"
        assert said in found[0].sentence


@pytest.mark.parametrize(("visits", "end"), [((13, 12), "low"), ((13, 14), "high"), ((12, 12), "")])
def test_a_wall_is_where_a_state_came_many_times(visits: tuple[int, int], end: str) -> None:
    times = np.zeros((2, D))
    times[:, 1] = visits
    found = list(ask("visits")(seen_with(quiet(), visits=times)))
    assert len(found) == bool(end)
    for one in found:
        place = getattr(plain().summary, end)[1]
        assert one.fields == ("b2",)
        assert f"y ends at {place:.4g} as at a wall" in one.sentence
        assert f"half a step of it {max(visits)} times" in one.sentence


def test_chance_is_asked_for_the_largest_of_all_numbers_that_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def counted(tests: int, alarm: float = FALSE_ALARM) -> float:
        asked.append(tests)
        return chance(tests, alarm)

    monkeypatch.setattr(question, "chance", counted)
    seen = seen_with(quiet())
    # means and variances of two fields along two coordinates
    list(ask("drift_by_place", "tensor_by_place")(seen))
    list(ask("in_time")(seen))  # of two fields four slopes, and the noise
    list(alone("kinds")(seen))
    # drift and noise of two, at 400 frequencies of 800 steps
    list(ask("drift_spectrum", "noise_spectrum")(seen))
    list(ask("correlations")(seen))  # either sign, 16 lags of four pairs; all lags; 7 windows
    # and two fields at four pairs of windows, and over two lengths of time
    list(ask("bursts")(seen))
    assert asked == [8, 8, 10, 10, 8, 1600, 1600, 128, 4, 56, 8, 4, 32]


@pytest.mark.parametrize(("beyond", "expected"), [(-0.05, False), (0.05, True)])
def test_correlations_must_be_more_than_chance_and_a_fit_make_of_them(
    beyond: float, expected: bool
) -> None:
    few = 10_000.0
    one, many = np.zeros((2, len(DELAYS), D, D))
    one[5, 1, 0] = (chance(128) + 0.5 + beyond) / np.sqrt(few)
    assert bool(list(ask("correlations")(lagging(one, few)))) == expected
    # Sixteen that are small, by the cube root of their sum of squares.
    spread = 2 / (9 * 16)
    needed = chance(4) + 0.5 + beyond
    squares = 16 * (1 - spread + needed * np.sqrt(spread)) ** 3
    many[:, 0, 1] = np.sqrt(squares / 16 / few)
    assert np.abs(many).max() < thresholds.LAGGED
    assert bool(list(ask("correlations")(lagging(many, few)))) == expected
    probes = replace(
        quiet(), bursts=np.zeros((len(DELAYS), D)), lag_count=np.full(len(DELAYS), 5000.0)
    )
    probes.bursts[1, 0] = 2 * (chance(32) + 0.5 + beyond) * np.sqrt(5000.0)
    left: dict[str, Any] = {
        "count": np.full(D, 1e5),
        "squares": np.full(D, 1e5),
        "fourths": np.full(D, 3e5),
    }
    assert bool(list(ask("bursts")(seen_with(probes, **left)))) == expected


@pytest.mark.parametrize(
    ("errors", "signal", "size"),
    [(-6.0, 40.0, "15% of its size"), (-6.0, 100.0, ""), (3.8, 1.0, ""), (4.1, 1.0, "more than")],
)
def test_sums_of_the_past_must_tell_of_a_share_of_the_drift(
    errors: float, signal: float, size: str
) -> None:
    class Told:
        def of_residuals(self, _: FloatArray) -> FloatArray:
            found = np.zeros((D, D, 7))
            found[1, 0, 3] = errors
            return found

        def of_rates(self, _: FloatArray) -> FloatArray:
            return np.zeros((D, 4))

        def of_means(self, _: FloatArray) -> FloatArray:
            return np.zeros((D, 2))

    found = list(ask("correlations")(seen_with(quiet(), signal, past=Told())))
    assert len(found) == bool(size)
    for one in found:
        assert one.fields == ("b2",)
        assert "leaves of y has a memory: what it left of x over the last 16 steps" in one.sentence
        assert f"({abs(errors):.1f} standard errors; about {size}" in one.sentence


def test_what_chance_adds_to_a_square_is_taken_off_before_it_is_a_share() -> None:
    # The square of a standard error is one on average.
    errors = np.array([[0.5, 1.0, np.sqrt(17.0)], [-np.sqrt(26.0), 0.0, np.sqrt(2.0)]])
    share = statistics.share_of_drift(seen_with(quiet(), 20.0), errors**2 - 1)
    np.testing.assert_allclose(share, np.array([[0, 0, 4], [5, 0, 1]]) / 20, atol=1e-9)
