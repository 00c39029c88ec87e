"""Walls, leaning and uneven noise, other steps, empty corners, equal and long formulas."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from asked import ask
from measured import measured

from wgsindy import Generator, Trajectories, WGSINDy, recipes, zoo
from wgsindy.data import FloatArray
from wgsindy.diagnostics import (
    Finding,
    Limitation,
    Measurements,
    thresholds,
)
from wgsindy.diagnostics.measurements import step_change
from wgsindy.errors import WgsindyWarning
from wgsindy.model import Alternative

DT = 0.05


def fitted(paths: FloatArray, library: str = "poly2", dt: float = DT) -> WGSINDy:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        return WGSINDy(library).fit(Trajectories(list(paths), dt))


def relaxation(seed: int, trajectories: int = 16, steps: int = 1000) -> FloatArray:
    """Exact samples of dx = -x dt + dW, ``(R, n, 1)``."""
    rng, kept = np.random.default_rng(seed), np.exp(-DT)
    x = np.empty((trajectories, steps + 1, 1))
    x[:, 0] = rng.standard_normal((trajectories, 1)) * np.sqrt(0.5)
    for n in range(steps):
        shock = rng.standard_normal((trajectories, 1)) * np.sqrt((1 - kept**2) / 2)
        x[:, n + 1] = kept * x[:, n] + shock
    return x


# Walls.


def test_a_distance_ends_at_a_wall_and_the_state_itself_does_not() -> None:
    x = relaxation(0)
    folded = list(ask("visits")(measured(fitted(np.abs(x)))))
    assert [one.limitation for one in folded] == [Limitation.BOUNDARY]
    assert folded[0].fields == ("b1",)
    assert not folded[0].handled
    assert "as at a wall" in folded[0].sentence
    seen = measured(fitted(x))
    assert list(ask("visits")(seen)) == []
    assert seen.residuals.visits.max() < thresholds.MANY_VISITS / 2


def test_noise_that_vanishes_at_an_edge_is_no_wall() -> None:
    rng, h = np.random.default_rng(1), DT / 20
    x, paths = np.full(16, 1.0), np.empty((16, 1001, 1))
    for n in range(1001):
        paths[:, n, 0] = x
        for shock in rng.standard_normal((20, 16)) * np.sqrt(h):
            x = np.abs(x + 2 * (1 - x) * h + 0.8 * np.sqrt(x) * shock)
    assert list(ask("visits")(measured(fitted(paths)))) == []


# Samples that were left out.


@pytest.mark.parametrize(("share", "handled"), [(0.02, True), (0.3, False)])
def test_a_few_samples_on_lines_are_left_out_and_many_limit_the_verdict(
    share: float, handled: bool
) -> None:
    x: FloatArray = relaxation(2)
    filled = np.asarray(np.random.default_rng(3).uniform(size=x.shape[1]) < share / 3)
    for n in (np.flatnonzero(filled[2:-6]) + 2).tolist():
        x[:, n + 1 : n + 4] = x[:, n, None] + np.arange(1, 4)[:, None] / 4 * (
            x[:, n + 4, None] - x[:, n, None]
        )
    found = list(ask("straight")(measured(fitted(x))))
    assert [one.handled for one in found] == [handled]


# Noise that leans, and correlations that are clear only together.


def test_shocks_that_lean_to_one_side_are_no_diffusion() -> None:
    rng, x = np.random.default_rng(4), np.empty((8, 1001, 1))
    x[:, 0] = 0.0
    for n in range(1000):
        shock = (rng.gamma(6.0, size=(8, 1)) - 6.0) / np.sqrt(6.0)
        x[:, n + 1] = x[:, n] * (1 - DT) + np.sqrt(DT) * shock
    found = list(ask("heavy_tails", "light_tails", "leaning")(measured(fitted(x))))
    assert Limitation.JUMPS in [one.limitation for one in found]
    assert list(ask("heavy_tails", "light_tails", "leaning")(measured(fitted(relaxation(4))))) == []


def test_small_correlations_at_many_lags_are_clear_together() -> None:
    seen = measured(fitted(relaxation(5)))
    probes = seen.residuals.groups
    count = probes.lag_count[:, None, None]
    for errors, expected in ((0.5, 0), (3.0, 1)):
        lagged = np.full_like(probes.lagged, errors) * np.sqrt(count)
        left = replace(seen.residuals, groups=replace(probes, lagged=lagged))
        other = Measurements(seen.fit)
        other.__dict__["residuals"] = left
        assert len(list(ask("correlations")(other))) == expected


# Noise of the sensor that depends on the state.


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_noise_of_a_share_of_the_reading_is_named_and_even_noise_is_not(share: float) -> None:
    x, shocks = 2 + relaxation(8, 4), np.random.default_rng(9).standard_normal((4, 1001, 1))
    even = 0.2 * shocks
    seen = measured(fitted(x * (1 + share * shocks) if share else x + even))
    assert seen.observation_noise.any()
    found = list(ask("noise_by_place")(seen))
    assert [one.limitation for one in found] == [Limitation.NOISE] * bool(share)
    if share:
        assert found[0].fields == ("a11",)
        assert not found[0].handled
        assert "where x is large" in found[0].sentence


# Other steps.


def test_sensor_noise_with_a_memory_changes_the_equations_at_other_steps() -> None:
    x, rng = relaxation(6), np.random.default_rng(7)
    white, lasting = np.zeros_like(x), np.zeros_like(x)
    shocks = rng.standard_normal(x.shape)
    white = 0.15 * shocks
    for n in range(1, x.shape[1]):
        lasting[:, n] = 0.6 * lasting[:, n - 1] + 0.15 * shocks[:, n]
    found = step_change(fitted(x + lasting).fit_)
    assert found is not None
    assert "a11" in found.fields
    assert found.size > 0.1
    good = step_change(fitted(x + white).fit_)
    assert good is not None
    assert good.fields == ()
    assert step_change(fitted(x).fit_) is None


# Extrapolation.


def test_empty_corners_are_a_guess_if_the_library_is_large() -> None:
    rng = np.random.default_rng(8)
    along, across = rng.standard_normal((2, 8, 1001, 1))
    x = np.empty((8, 1001, 2))
    x[:, 0] = 0.0
    kicks = np.concatenate([along + 0.4 * across, along - 0.4 * across], axis=2) * np.sqrt(DT)
    for n in range(1000):
        x[:, n + 1] = x[:, n] * (1 - DT) + kicks[:, n]
    found = list(ask("guesses")(measured(fitted(x, "poly4"))))
    assert [one.limitation for one in found] == [Limitation.EXTRAPOLATED]
    apart = np.concatenate([relaxation(9, 8), relaxation(10, 8)], axis=2)
    assert list(ask("guesses")(measured(fitted(apart, "poly4")))) == []


def test_a_drift_that_shows_only_where_noise_vanishes_is_not_known() -> None:
    system = zoo.get("heston_logsv")
    chain = recipes.get("sharp-euler")
    seen = measured(WGSINDy("poly2", chain).fit(system.simulate(100)))
    # A few samples of almost no variance tell its value there to a percent.
    assert seen.fit.likelihood is not None
    assert seen.fit.likelihood.signals[0] > 50
    assert seen.residuals.signal[0] < thresholds.LEAST_SIGNAL < seen.residuals.signal[1]
    (found,) = ask("lacking")(seen)
    assert (found.limitation, found.fields) == (Limitation.LOW_SIGNAL, ("b1",))
    assert not found.handled
    assert "hardly identified" in found.sentence


# Formulas.


def test_equal_formulas_are_noted_and_the_summary_says_so() -> None:
    seen = measured(fitted(relaxation(11)))
    close = Alternative("b1", ("x", "x**3"), -0.3)
    far = Alternative("b1", ("x**3",), -2.0)

    def equals(*alternatives: Alternative) -> list[Finding]:
        generator = replace(seen.generator, alternatives=alternatives)
        fit = replace(seen.fit, generator=generator, rivals=())
        return list(ask("equals")(Measurements(fit)))

    assert equals(far) == []
    found = equals(close, far)
    assert len(found) == 1
    assert found[0].handled
    assert "b1 ~ x, x**3" in found[0].sentence
    diagnostics = replace(
        fitted(relaxation(11)).diagnostics_, verdict="identified", findings=tuple(found)
    )
    assert "one of several" in diagnostics.summary


def test_a_formula_of_many_terms_is_no_equation() -> None:
    seen = measured(fitted(relaxation(12), "poly20"))
    spread = seen.generator.uncertainty
    assert spread is not None
    for terms, expected in (
        (thresholds.LONGEST_FORMULA + 1, 1),
        (thresholds.LONGEST_FORMULA, 0),
    ):
        drift = np.zeros_like(spread.drift)
        drift[0, :terms] = 1.0
        generator = replace(seen.generator, uncertainty=replace(spread, drift=drift))
        found = list(ask("formula_lengths")(Measurements(replace(seen.fit, generator=generator))))
        assert len(found) == expected


def test_terms_that_take_each_other_back_are_no_equation() -> None:
    """Of x - x^3 / 6 - sin(x) a fifth power is left, of 1.5 x - sin(x) more than half."""
    terms = ["1", "x", "x**3", "cos(x)", "sin(x)"]
    est = WGSINDy(terms).fit(Trajectories(list(relaxation(12)), DT))
    seen, spread = measured(est), est.generator_.uncertainty
    assert spread is not None

    def found(*drift: float) -> list[Finding]:
        uncertainty = replace(spread, drift=np.array([drift]))
        generator = replace(seen.generator, uncertainty=uncertainty)
        return list(ask("cancelling")(Measurements(replace(seen.fit, generator=generator))))

    assert found(0.0, 1.5, 0.0, 0.0, -1.0) == []
    (one,) = found(0.0, 1.0, -1 / 6, 0.0, -1.0)
    x = seen.points[:, 0]
    ratio = np.sin(x).std() / (x - x**3 / 6 - np.sin(x)).std()
    assert (one.limitation, one.fields, one.handled) == (Limitation.LONG_FORMULA, ("b1",), False)
    assert f"sin(x) is {ratio:.0f} times as large" in one.sentence


def test_powers_of_a_distance_from_elsewhere_may_cancel() -> None:
    """-(x - 5) has a constant that is five times as large as itself; so have its squares."""
    seen = measured(fitted(relaxation(12) + 5, "poly3"))
    assert list(ask("cancelling")(seen)) == []


def test_digits_that_are_coarser_than_a_step_are_named() -> None:
    """Steps have a deviation of 0.22: grids of 0.25 and 0.2, which the filter allows for."""

    def found(width: float) -> list[Finding]:
        seen = measured(fitted(np.rint(relaxation(3) / width) * width))
        assert seen.summary.every == 1  # not so coarse that samples are left out
        return list(ask("coarse_digits")(seen))

    assert found(0.2) == []
    (one,) = found(0.25)
    assert (one.limitation, one.fields, one.handled) == (Limitation.ROUNDED, ("a11",), False)
    assert "a grid of 0.25, where a step has a deviation of 0.2" in one.sentence


def test_tails_are_judged_at_the_rate_of_a_false_alarm() -> None:
    """A tenth of the rows is gone: a kurtosis of 0.22. Steps of a linear process have none."""
    whole, rng = relaxation(21, steps=1200), np.random.default_rng(2)
    kept = [path[rng.uniform(size=len(path)) > 0.1] for path in whole]
    seen = measured(fitted(np.stack([path[:1000] for path in kept])))
    assert (seen.expected_shape == 0).all()
    (found,) = ask("heavy_tails", "light_tails", "leaning")(seen)
    assert (found.limitation, found.fields) == (Limitation.JUMPS, ("a11",))
    assert (
        list(ask("heavy_tails", "light_tails", "leaning")(measured(fitted(whole[:, :1000])))) == []
    )


def test_alternatives_are_kept_in_model_files() -> None:
    generator = replace(
        fitted(relaxation(13)).generator_,
        alternatives=(Alternative("b1", ("1", "x"), -0.25, "square roots"),),
    )
    assert Generator.from_dict(generator.to_dict()).alternatives == generator.alternatives
    assert "alternatives" not in replace(generator, alternatives=()).to_dict()


def test_a_rough_drift_is_said_to_be_rough_and_not_to_be_missing() -> None:
    seen = measured(fitted(relaxation(14)))
    for error, expected in (
        (0.39, []),
        (0.41, [Limitation.UNCERTAIN]),
        (0.6, [Limitation.LOW_SIGNAL]),
    ):
        other = Measurements(seen.fit)
        other.__dict__["field_errors"] = np.array([[error], [0.0]])
        assert [one.limitation for one in ask("lacking")(other)] == expected


# The form of a drift whose library was grown.


def steep(seed: int, trajectories: int = 4, steps: int = 1000) -> FloatArray:
    """dx = -2 tanh(8 x) dt + dW, by fine steps."""
    rng, h = np.random.default_rng(seed), DT / 20
    x, paths = np.zeros(trajectories), np.empty((trajectories, steps + 1, 1))
    for n in range(steps + 1):
        paths[:, n, 0] = x
        for _ in range(20):
            x = x - 2 * np.tanh(8 * x) * h + np.sqrt(h) * rng.standard_normal(trajectories)
    return paths


def form_findings(fit: WGSINDy) -> list[Finding]:
    return list(ask("further_degrees")(measured(fit)))


def test_further_degrees_tell_that_a_steep_drift_is_no_short_polynomial() -> None:
    found = [form_findings(fitted(steep(seed), "auto")) for seed in range(8)]
    named = [one[0] for one in found if one]
    assert len(named) >= 4
    assert {one.limitation for one in named} == {Limitation.MISSING_TERMS}
    assert {one.fields for one in named} == {("b1",)}
    # Somebody who names the library says that it is the right one.
    assert form_findings(fitted(steep(0), "poly3")) == []


@pytest.mark.statistical
def test_a_right_form_is_seldom_doubted() -> None:
    # 1 % of fits: two or more of 20 with a probability of 0.017.
    found = [form_findings(fitted(relaxation(seed, 4), "auto")) for seed in range(20)]
    assert sum(map(bool, found)) < 2
