"""Every check speaks up where it should and is silent on the same data without the fault."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from asked import ask
from measured import measured

from wgsindy import Generator, Trajectories, WGSINDy
from wgsindy.data import FloatArray
from wgsindy.diagnostics import (
    Diagnostics,
    Finding,
    Limitation,
    Measurements,
    diagnose,
    statistics,
    thresholds,
    verdict,
)
from wgsindy.diagnostics.findings import Question
from wgsindy.diagnostics.measurements import KnownDrift
from wgsindy.diagnostics.residuals import BLOCKS
from wgsindy.diagnostics.verdict import _verdict
from wgsindy.errors import WgsindyWarning
from wgsindy.estimate import Fit
from wgsindy.estimate.likelihood import fit_likelihood as stages
from wgsindy.estimate.likelihood.filtered_samples import FilteredSamples
from wgsindy.model import TensorField

DT, NAMES = 0.01, ("u", "v")
Check = Callable[[Measurements], list[Finding]]
Field = Callable[[FloatArray], FloatArray]


def fitted(data: Trajectories, library: Any = "poly2", recipe: str = "sharp") -> WGSINDy:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)  # repeats and outliers, on purpose
        return WGSINDy(library, recipe).fit(data)


def paths_of(
    drift: Field,
    root: Field,
    *,
    seed: int = 0,
    trajectories: int = 8,
    steps: int = 1500,
    start: tuple[float, ...] = (0.0, 0.0),
    dt: float = DT,
    substeps: int = 1,
) -> FloatArray:
    """Samples ``(R, n, d)`` of dX = b dt + L dW, ``root`` gives L ``(R, d, d)``.

    With one Euler step from each to the next, a chain; with more, nearly the process itself.
    """
    rng = np.random.default_rng(seed)
    h, now = dt / substeps, np.tile(np.array(start), (trajectories, 1))
    x = np.empty((trajectories, steps * substeps + 1, len(start)))
    x[:, 0] = now
    for n, noise in enumerate(rng.normal(0, np.sqrt(h), (steps * substeps, *now.shape))):
        now = now + drift(now) * h + np.einsum("rpq,rq->rp", root(now), noise)
        x[:, n + 1] = now
    return x[:, ::substeps]


def constant(*rows: tuple[float, ...]) -> Field:
    return lambda x: np.broadcast_to(np.array(rows), (len(x), *np.shape(rows)))


def pull(x: FloatArray) -> FloatArray:
    """Rotation and relaxation."""
    return np.stack([-x[:, 0] - 2 * x[:, 1], 2 * x[:, 0] - x[:, 1]], axis=1)


ROUND = constant((1.0, 0.0), (0.0, 0.7))


def trajectories(paths: FloatArray | list[FloatArray], dt: float = DT) -> Trajectories:
    return Trajectories(list(paths), dt, names=NAMES)


@cache
def plain_paths() -> FloatArray:
    return paths_of(pull, ROUND)


@cache
def plain() -> WGSINDy:
    """A fit that nothing is wrong with."""
    return fitted(trajectories(plain_paths()))


def changed(seen: Measurements, **changes: Any) -> Measurements:
    """The measurements of a fit that differs in some way."""
    return Measurements(replace(seen.fit, **changes))


def only(check: Check, seen: Measurements) -> Finding:
    found = list(check(seen))
    assert len(found) == 1
    return found[0]


def number(pattern: str, sentence: str) -> float:
    """The number that stands where the pattern has a group."""
    match = re.search(pattern, sentence)
    assert match, sentence
    return float(match.group(1))


ALL: tuple[Check, ...] = (
    ask("repeats"),
    ask("straight"),
    ask("coarse_digits"),
    ask("filtered_noise", "unfollowed", "neighbours"),
    ask("without_noise"),
    ask("singular"),
    ask("at_boundary"),
    ask("visits"),
    ask("other_steps"),
    ask("guesses"),
    ask("equals"),
    ask("formula_lengths"),
    ask("cancelling"),
    ask("facts.shift"),
    ask("long_steps"),
    ask("facts.chain_evidence"),
    ask("rival", "wrong_tensor"),
    ask("residual_memory"),
    ask("heavy_tails", "light_tails", "leaning"),
    ask("wandering"),
    ask("odd_trajectory"),
    ask("lacking"),
)


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.__name__)
def test_nothing_is_found_where_nothing_is_wrong(check: Check) -> None:
    assert list(check(measured(plain()))) == []


def test_a_fit_without_findings_is_identified() -> None:
    found = plain().diagnostics_
    assert (found.verdict, found.limitation, found.findings) == ("identified", Limitation.NONE, ())
    assert found.summary == "The generator is identified: nothing was found that limits it."


# Stalled sensor.


def test_repeats_are_a_stalled_sensor() -> None:
    held = np.arange(1501)
    held -= np.clip(held % 100 - 50, 0, 3) * (held % 100 <= 53)  # what a sensor that hangs shows
    paths = plain_paths()[:, held]
    est = fitted(trajectories(paths))
    found = only(ask("repeats"), measured(est))
    repeats = 8 * 15 * 3
    assert found.limitation == Limitation.STALLED
    assert found.handled
    assert found.sentence.startswith(f"{repeats} samples ({repeats / (8 * 1500):.1%}) repeat")
    assert "left out of the fit" in found.sentence
    assert est.diagnostics_.limitation == Limitation.STALLED
    assert est.diagnostics_.verdict == "identified"
    paper = only(ask("repeats"), measured(fitted(trajectories(paths), recipe="paper")))
    assert not paper.handled
    assert "left out" not in paper.sentence


def test_a_repeat_in_a_thousand_is_none_for_a_fit_that_keeps_them() -> None:
    seen = measured(fitted(trajectories(plain_paths()), recipe="paper"))
    for repeated, expected in ((12, []), (13, [Limitation.STALLED])):
        summary = replace(seen.summary, repeated=repeated)
        found = [one.limitation for one in ask("repeats")(changed(seen, summary=summary))]
        assert found == expected, repeated


# Observation noise.


@cache
def noisy() -> Trajectories:
    """The first coordinate is seen through noise, the second is not."""
    noise = np.random.default_rng(1).standard_normal(plain_paths().shape) * [0.1, 0.0]
    return trajectories(plain_paths() + noise)


@cache
def fitted_to_noisy(recipe: str) -> WGSINDy:
    """A filter takes a second: no two tests wait for the same one."""
    return fitted(noisy(), recipe=recipe)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["sharp", "sharp-noise"])
def test_noise_of_the_observation_is_found_and_followed(recipe: str) -> None:
    est = fitted_to_noisy(recipe)
    found = only(ask("filtered_noise", "unfollowed", "neighbours"), measured(est))
    assert (found.limitation, found.fields, found.handled) == (Limitation.NOISE, (), True)
    assert "the fit follows with a filter" in found.sentence
    # 12,000 samples know a deviation to better than a percent.
    assert number(r"deviation ([0-9.]+) \+- 0.001 in u", found.sentence) == pytest.approx(
        0.1, abs=0.004
    )
    assert " in v" not in found.sentence
    # Innovations are white: noise that is followed must not be held against the tensor.
    assert [one.limitation for one in est.diagnostics_.findings] == [Limitation.NOISE]
    assert est.diagnostics_.verdict == "identified"
    assert np.abs(np.array(est.diagnostics_.residual_variance) - 1).max() < 0.05
    assert est.diagnostics_.summary == (
        "The generator is identified, with allowance for observation noise."
    )


def test_noise_that_a_fit_does_not_follow_is_found_in_what_it_leaves() -> None:
    est = fitted(noisy(), recipe="sharp-euler")
    found = only(ask("filtered_noise", "unfollowed", "neighbours"), measured(est))
    assert (found.limitation, found.fields, found.handled) == (Limitation.NOISE, ("a11",), False)
    assert found.sentence.startswith("neighbouring steps of u are anticorrelated")
    # Variance 0.01 a sample: -0.01 / (1 * 0.01 + 2 * 0.01) between neighbours, less what the
    # drift, which noise makes steeper, takes of it.
    assert number(r"correlation (-[0-9.]+)", found.sentence) == pytest.approx(-1 / 3, abs=0.05)
    assert "recipe='sharp'" in found.advice
    assert est.diagnostics_.limitation == Limitation.NOISE
    assert est.diagnostics_.verdict == "partly identified"


@pytest.mark.parametrize("lost", ["no end", "no filter", ""])
def test_noise_that_was_found_and_could_not_be_followed_limits_the_verdict(
    lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no pass is the last, that is said; without any, samples are taken for exact."""
    if lost == "no end":
        look = FilteredSamples.look

        def unsettled(self: FilteredSamples, *given: Any) -> Any:
            found = look(self, *given)
            return found and found._replace(settled=False)

        monkeypatch.setattr(FilteredSamples, "look", unsettled)
    if lost == "no filter":
        monkeypatch.setattr(stages, "_with_noise", lambda *_: None)
    grid = 0.05  # half of a step, whose products with their neighbours show nothing to a check
    paths = [grid * np.round(path / grid) for path in plain_paths()[:3, :500]]
    est = fitted(trajectories(paths))
    found = [one for one in est.diagnostics_.findings if one.limitation == Limitation.NOISE]
    assert [(one.fields, one.handled) for one in found if not one.handled] == (
        [(("a11", "a22"), False)] if lost else []
    )
    assert any("could not follow" in one.sentence for one in found) == bool(lost)


def test_weak_noise_needs_both_size_and_significance() -> None:
    seen = measured(plain())
    left = seen.residuals
    for correlation, errors, expected in (
        (-0.03, -5.0, True),
        (-0.01, -9.0, False),
        (-0.03, -4.0, False),
        (0.3, 20.0, False),
    ):
        lagged = correlation * left.pairs * left.variance
        made = replace(left, lagged=lagged, lagged_squares=(lagged / errors) ** 2)
        assert (
            bool(
                list(ask("filtered_noise", "unfollowed", "neighbours")(with_residuals(seen, made)))
            )
            == expected
        )


def with_residuals(seen: Measurements, left: Any) -> Measurements:
    """The same fit with other residuals."""
    other = replace(seen)
    other.__dict__["residuals"] = left
    return other


# Degenerate diffusion.


def test_a_coordinate_without_noise_is_degenerate() -> None:
    paths = paths_of(
        lambda x: np.stack([x[:, 1], -2 * x[:, 0] - x[:, 1]], axis=1),
        constant((0.0, 0.0), (0.0, 1.0)),
        substeps=10,
    )
    est = fitted(trajectories(paths), "poly1")
    found = only(ask("without_noise"), measured(est))
    assert (found.limitation, found.handled) == (Limitation.DEGENERATE, True)
    assert found.sentence.startswith("u has no noise of its own")
    assert est.diagnostics_.noiseless == ("u",)
    assert est.diagnostics_.verdict == "identified"
    assert [one.limitation for one in est.diagnostics_.findings] == [Limitation.DEGENERATE]


# Near-singular tensor.


@pytest.mark.parametrize(("share", "expected"), [(0.95, True), (0.8, False)])
def test_strong_correlation_is_near_singular(share: float, expected: bool) -> None:
    root = constant((1.0, 0.0), (share, np.sqrt(1 - share**2)))
    est = fitted(trajectories(paths_of(pull, root)))
    found = list(ask("singular")(measured(est)))
    assert bool(found) == expected
    if expected:
        assert found[0].fields == ("a11", "a12", "a22")
        assert found[0].sentence.startswith("at 100% of the samples")
        assert found[0].handled
        assert est.diagnostics_.singular == 1.0
        assert est.diagnostics_.limitation == Limitation.NEAR_SINGULAR


# Boundary.


def vanishing(mean: float) -> FloatArray:
    """Square-root noise of v that vanishes at zero, of which the mean keeps away or not."""

    def drift(x: FloatArray) -> FloatArray:
        return np.stack([-x[:, 0], 2 * (mean - x[:, 1])], axis=1)

    def root(x: FloatArray) -> FloatArray:
        out = np.zeros((len(x), 2, 2))
        out[:, 0, 0], out[:, 1, 1] = 1.0, np.sqrt(np.maximum(x[:, 1], 0.0))
        return out

    return np.maximum(paths_of(drift, root, start=(0.0, mean)), [-np.inf, 0.0])


def test_samples_where_noise_vanishes_are_a_boundary() -> None:
    est = fitted(trajectories(vanishing(0.1)))
    found = only(ask("at_boundary"), measured(est))
    assert (found.limitation, found.fields, found.handled) == (Limitation.BOUNDARY, ("b2",), False)
    assert "v has less than a twentieth of its mean noise" in found.sentence
    share = est.diagnostics_.low_noise[1]
    assert share > 0.15
    assert f"at {share:.0%} of them" in found.sentence
    assert est.diagnostics_.limitation == Limitation.BOUNDARY


def test_a_mean_far_from_where_noise_vanishes_is_no_boundary() -> None:
    assert list(ask("at_boundary")(measured(fitted(trajectories(vanishing(2.0)))))) == []


def test_samples_on_an_edge_are_a_boundary() -> None:
    paths = np.minimum(plain_paths(), [1.0, np.inf])
    found = only(ask("at_boundary"), measured(fitted(trajectories(paths))))
    assert found.fields == ("b1",)
    share = np.mean(paths[:, :-1, 0] == 1.0)
    assert number(r"([0-9.]+)% sit on its edge", found.sentence) == pytest.approx(
        100 * share, rel=0.1
    )


def test_one_start_for_all_trajectories_is_no_edge() -> None:
    # 25 steps each: 4 % of the samples are at the start, which is the largest state.
    paths = paths_of(pull, ROUND, trajectories=80, steps=25, start=(9.0, 0.0))
    assert np.mean(paths[:, :-1, 0] == 9.0) == 0.04
    assert list(ask("at_boundary")(measured(fitted(trajectories(paths))))) == []


# Coverage.


def test_one_passage_is_no_coverage() -> None:
    paths = paths_of(pull, constant((0.3, 0.0), (0.0, 0.3)), steps=200, start=(4.0, 4.0))
    est = fitted(trajectories(paths))
    found = only(ask("facts.shift"), measured(est))
    assert (found.limitation, found.fields) == (Limitation.COVERAGE, ("b1", "b2"))
    assert number(r"lie ([0-9.]+) standard", found.sentence) == pytest.approx(
        est.diagnostics_.shift, abs=0.05
    )
    assert est.diagnostics_.limitation == Limitation.COVERAGE


def test_a_coordinate_that_no_field_depends_on_may_wander() -> None:
    paths = paths_of(
        lambda x: np.stack([3.0 - x[:, 1], -x[:, 1]], axis=1), constant((0.2, 0.0), (0.0, 1.0))
    )
    est = fitted(trajectories(paths))
    # The averaged drift has a trace of every term; the formulas have none of u.
    assert est.generator_.drift_coefficients[:, 1].any()
    assert not any("u" in row.term for row in est.generator_.coefficients)
    first, second = paths[:, :750, 0], paths[:, 750:, 0]
    assert (second.mean() - first.mean()) / first.std() > 2
    assert list(ask("facts.shift")(measured(est))) == []
    assert est.diagnostics_.shift < 0.5


# Large steps.


@pytest.mark.parametrize(
    ("every", "recipe", "expected"),
    [(1, "sharp-euler", False), (20, "sharp-euler", True), (20, "sharp", False)],
)
def test_steps_that_cover_much_of_the_way_are_large_for_a_chain(
    every: int, recipe: str, expected: bool
) -> None:
    data = trajectories(plain_paths()).thinned(every)
    est = fitted(data, recipe=recipe)
    found = list(ask("long_steps")(measured(est)))
    assert bool(found) == expected
    if expected:
        assert "one step of 0.2 " in found[0].sentence
        assert "at 100% of the samples" in found[0].sentence
        change = max(abs(value) for value in est.diagnostics_.thinning)
        assert f"changes it by {change:.0%}." in found[0].sentence
        # Over one step of 0.2 the rotation turns by 0.4: the mean slope (exp(Mt) - 1) / t changes.
        assert change > 0.1
        assert est.diagnostics_.limitation == Limitation.LARGE_STEP


def test_large_steps_without_a_second_one_have_a_sentence() -> None:
    path = trajectories(plain_paths()).thinned(20)
    pairs = [one[n : n + 2] for one in path for n in range(0, 74, 2)]
    found = only(
        ask("long_steps"), measured(fitted(Trajectories(pairs, 0.2), recipe="sharp-euler"))
    )
    assert found.sentence.endswith("% of the samples.")


# Euler steps of a simulation.


def well(x: FloatArray) -> FloatArray:
    return np.stack([x[:, 0] - x[:, 0] ** 3, -x[:, 1]], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("substeps", "expected"), [(1, True), (10, False)])
def test_euler_steps_of_a_simulation_are_named(substeps: int, expected: bool) -> None:
    # As a chain the cubic has two terms, as a process at this step it has many.
    paths = paths_of(well, ROUND, dt=0.1, steps=2000, substeps=substeps)
    est = fitted(Trajectories(list(paths), 0.1, names=NAMES), "poly3")
    found = list(ask("facts.chain_evidence")(measured(est)))
    assert bool(found) == expected
    if expected:
        assert found[0].limitation == Limitation.SIMULATED
        assert "recipe='sharp-euler'" in found[0].advice


def test_a_linear_chain_is_also_a_process() -> None:
    # At one spacing it is one with other coefficients: nothing can tell.
    assert (
        list(ask("facts.chain_evidence")(measured(fitted(trajectories(plain_paths()).thinned(10)))))
        == []
    )


# Missing terms.


@cache
def waves() -> WGSINDy:
    def drift(x: FloatArray) -> FloatArray:
        return np.stack([-x[:, 0] + 2 * np.sin(2 * x[:, 1]), -x[:, 1]], axis=1)

    paths = paths_of(drift, ROUND, substeps=5)
    return fitted(trajectories(paths), "poly2")


def test_sines_are_missed_by_a_polynomial() -> None:
    est = waves()
    found = only(ask("rival", "wrong_tensor"), measured(est))
    assert found.limitation == Limitation.MISSING_TERMS
    assert found.fields == ("b1",)
    assert est.diagnostics_.rival_log_evidence > 4
    assert (
        f"preferred by {est.diagnostics_.rival_log_evidence:.0f} in log-evidence" in found.sentence
    )
    assert est.diagnostics_.rival in found.sentence
    assert "b1: " in found.sentence
    assert est.diagnostics_.verdict == "partly identified"


def test_a_rival_must_be_preferred_to_count() -> None:
    seen = replace(measured(waves()))
    rival = measured(waves()).rival
    assert rival is not None
    for log_evidence, expected in ((4.1, 1), (3.9, 0)):
        seen.__dict__["rivals"] = [rival._replace(log_evidence=log_evidence)]
        assert len(list(ask("rival", "wrong_tensor")(seen))) == expected


@cache
def quadratic_noise() -> Trajectories:
    def root(x: FloatArray) -> FloatArray:
        out = np.zeros((len(x), 2, 2))
        out[:, 0, 0] = out[:, 1, 1] = 0.5 + x[:, 0] ** 2
        return out

    return trajectories(paths_of(lambda x: -3 * x, root))


def test_a_tensor_of_the_wrong_size_does_not_fit() -> None:
    seen = measured(plain())
    field = seen.generator.tensor_field
    doubled = TensorField(field.form, field.coefficients * 2, field.shrinkage, field.units)
    wrong = changed(seen, generator=replace(seen.generator, tensor_field=doubled))
    found = only(ask("rival", "wrong_tensor"), wrong)
    assert (found.limitation, found.fields) == (Limitation.MISSING_TERMS, ("a11", "a22"))
    assert "residuals vary 0.5 times" in found.sentence
    assert diagnose(wrong.fit).verdict == "partly identified"
    slightly = TensorField(field.form, field.coefficients * 1.1, field.shrinkage, field.units)
    right = changed(seen, generator=replace(seen.generator, tensor_field=slightly))
    assert list(ask("rival", "wrong_tensor")(right)) == []


def test_a_library_that_cannot_follow_the_noise_is_found() -> None:
    est = fitted(quadratic_noise(), ["1", "u", "v"])
    found = list(ask("rival", "wrong_tensor")(measured(est)))
    assert found
    assert any("u**2" in one.sentence for one in found)
    assert est.diagnostics_.limitation == Limitation.MISSING_TERMS


def clipped_at(share: float) -> Measurements:
    seen = measured(plain())
    assert seen.fit.likelihood is not None
    return changed(seen, likelihood=replace(seen.fit.likelihood, clipped=share))


@pytest.mark.parametrize(("share", "verdict"), [(0.5, "partly identified"), (0.01, "identified")])
def test_a_tensor_that_is_clipped_at_many_samples_is_not_identified(
    share: float, verdict: str
) -> None:
    seen = clipped_at(share)
    assert diagnose(seen.fit).verdict == verdict
    if share > 0.05:
        assert "at 50% of the samples its formula is not positive" in diagnose(seen.fit).reasons[0]


def with_tensor(seen: Measurements, entries: list[list[Any]]) -> Measurements:
    """The same fit with another tensor and the same drift."""
    drift = list(seen.generator.to_sympy().drift)
    made = Generator.from_sympy(NAMES, drift, entries)
    clipped = TensorField("clipped", made.tensor_field.coefficients, 0.0, np.ones(2))
    other = replace(made, tensor_field=clipped, uncertainty=None)
    return changed(seen, generator=other, likelihood=None)


def test_a_tensor_that_explodes_at_few_samples_does_not_fit() -> None:
    # Right at all samples but those beyond u = 2, about one in a thousand, where it is 1e11.
    u = sympy.Symbol("u", real=True)
    paths = plain_paths()
    share = np.mean(paths[:, :-1, 0] > 1.9)
    assert 0 < share < 0.02
    wild = 1 + 1e11 / (1 + sympy.exp(-300 * (u - 2)))
    seen = with_tensor(measured(plain()), [[wild, 0], [0, 0.49]])
    left = seen.residuals
    assert abs(left.variance[0] - 1) < thresholds.WRONG_VARIANCE
    assert left.balance[0] < 1e-6
    found = only(ask("rival", "wrong_tensor"), seen)
    assert found.fields == ("a11",)
    assert number(r"vary ([0-9.e-]+) times", found.sentence) < 1e-6
    tame = with_tensor(measured(plain()), [[1, 0], [0, 0.49]])
    assert list(ask("rival", "wrong_tensor")(tame)) == []


def test_a_tensor_without_noise_where_there_is_some_does_not_fit() -> None:
    seen = measured(plain())
    field = seen.generator.tensor_field
    coefficients = field.coefficients.copy()
    coefficients[0] = 0.0
    none = TensorField(field.form, coefficients, field.shrinkage, field.units)
    wrong = changed(seen, generator=replace(seen.generator, tensor_field=none))
    assert np.isnan(wrong.residuals.variance[0])
    assert only(ask("rival", "wrong_tensor"), wrong).fields == ("a11",)
    assert diagnose(wrong.fit).verdict == "partly identified"


def test_no_noise_at_all_and_a_clipped_tensor_have_a_sentence() -> None:
    seen = clipped_at(0.5)
    field = seen.generator.tensor_field
    nothing = TensorField(field.form, field.coefficients * 0, field.shrinkage, field.units)
    wrong = changed(seen, generator=replace(seen.generator, tensor_field=nothing))
    assert only(ask("rival", "wrong_tensor"), wrong).fields == ("a11", "a22")


# Hidden coordinate.


@pytest.mark.slow
def test_a_hidden_coordinate_leaves_a_memory() -> None:
    def drift(x: FloatArray) -> FloatArray:
        return np.stack([-x[:, 0] - 6 * x[:, 1], 6 * x[:, 0] - x[:, 1]], axis=1)

    whole = Trajectories(list(paths_of(drift, ROUND, steps=1000)), DT, names=NAMES)
    est = fitted(whole.select(["u"]))
    found = only(ask("residual_memory"), measured(est))
    assert (found.limitation, found.fields) == (Limitation.HIDDEN, ("b1",))
    assert "what the drift leaves of u has a memory" in found.sentence
    ratio = number(r"varies ([0-9.]+) times", found.sentence)
    assert ratio == pytest.approx(1 + est.diagnostics_.memory[0], abs=0.06)
    assert est.diagnostics_.limitation == Limitation.HIDDEN
    assert list(ask("residual_memory")(measured(fitted(whole)))) == []


def test_memory_needs_both_size_and_significance() -> None:
    seen = measured(plain())
    left = seen.residuals
    for excess, errors, expected in ((0.2, 6.0, True), (0.05, 9.0, False), (0.2, 3.0, False)):
        counts = np.full_like(left.block_counts, 2 * (errors / excess) ** 2)
        squares = counts * left.variance * (1 + excess)
        made = replace(left, block_counts=counts, block_squares=squares)
        assert bool(list(ask("residual_memory")(with_residuals(seen, made)))) == expected


# Jumps.


def jumping(rate: float, size: float) -> Trajectories:
    """Jumps of a compound Poisson process are added to u."""
    rng = np.random.default_rng(2)
    paths = plain_paths().copy()
    times = rng.random(paths.shape[:2]) < rate * DT
    jumps = np.where(times, rng.normal(0, size, times.shape), 0.0)
    # They decay as the process does, so that only the moment of the jump is odd.
    decayed = np.zeros_like(jumps)
    for n in range(1, jumps.shape[1]):
        decayed[:, n] = decayed[:, n - 1] * (1 - DT) + jumps[:, n]
    paths[:, :, 0] += decayed
    return trajectories(paths)


@pytest.mark.slow
def test_jumps_have_heavy_tails() -> None:
    est = fitted(jumping(0.5, 1.0))
    found = only(ask("heavy_tails", "light_tails", "leaning"), measured(est))
    assert (found.limitation, found.fields) == (Limitation.JUMPS, ("a11",))
    assert found.sentence.startswith("residuals of u have heavier tails")
    assert number(r"excess kurtosis ([0-9.e+]+)", found.sentence) == pytest.approx(
        est.diagnostics_.excess_kurtosis[0], rel=0.05
    )
    assert Limitation.JUMPS in [one.limitation for one in est.diagnostics_.findings]


def test_tails_need_both_size_and_significance() -> None:
    seen = measured(plain())
    left = seen.residuals
    for kurtosis, count, expected in ((1.5, 1e4, True), (0.1, 1e6, False), (1.5, 100.0, False)):
        counts = np.full(2, count)
        fourths = counts * (3 + kurtosis)
        made = replace(left, count=counts, squares=counts, cubes=0 * counts, fourths=fourths)
        assert (
            bool(list(ask("heavy_tails", "light_tails", "leaning")(with_residuals(seen, made))))
            == expected
        )


def test_a_sentence_gives_the_number_of_the_coordinate_that_it_names() -> None:
    # The tails of v are heavier, but of too few samples to tell; so are the correlations of v.
    seen = measured(plain())
    count = np.array([1e4, 50.0])
    fourths = count * (3 + np.array([2.0, 3.0]))
    lagged = count * np.array([-0.1, -0.4])
    made = replace(
        seen.residuals,
        count=count,
        squares=count,
        cubes=0 * count,
        fourths=fourths,
        pairs=count,
        lagged=lagged,
        lagged_squares=np.array([1e4, 50.0]),
    )
    other = with_residuals(seen, made)
    assert (
        "excess kurtosis 2)" in only(ask("heavy_tails", "light_tails", "leaning"), other).sentence
    )
    assert (
        "(correlation -0.10)"
        in only(ask("filtered_noise", "unfollowed", "neighbours"), other).sentence
    )


# Disagreement.


def test_a_trajectory_in_other_units_of_time_does_not_fit() -> None:
    paths = list(plain_paths())
    fast = paths_of(pull, ROUND, seed=5, steps=6000)[0][::4]
    est = fitted(trajectories([*paths[:5], fast, *paths[5:7]]))
    found = only(ask("odd_trajectory"), measured(est))
    assert (found.limitation, found.fields) == (Limitation.DISAGREEMENT, ())
    assert found.sentence.startswith("trajectory 5 (of 8, counted from 0)")
    drift = number(r"increments are ([0-9.]+) standard errors", found.sentence)
    assert drift == pytest.approx(np.abs(measured(est).residuals.odd_drift[5]).max(), abs=0.05)
    assert est.diagnostics_.verdict == "partly identified"


def test_a_trajectory_with_twice_the_noise_does_not_fit() -> None:
    paths = list(plain_paths())
    loud = paths_of(pull, constant((1.42, 0.0), (0.0, 0.7)), seed=5)[0]
    found = only(ask("odd_trajectory"), measured(fitted(trajectories([loud, *paths[1:]]))))
    assert found.sentence.startswith("trajectory 0 ")
    # Twice the noise in one of eight trajectories, of a tensor that is 9/8 of the right one.
    ratio = number(r"residuals vary ([0-9.]+) times", found.sentence)
    assert ratio == pytest.approx(2 / (9 / 8), rel=0.1)


def test_two_trajectories_do_not_say_which_one_is_odd() -> None:
    loud = paths_of(pull, constant((2.0, 0.0), (0.0, 0.7)), seed=5)[0]
    three = [loud, *plain_paths()[1:3]]
    assert list(ask("odd_trajectory")(measured(fitted(trajectories(three[:2]))))) == []
    assert len(list(ask("odd_trajectory")(measured(fitted(trajectories(three)))))) == 1


def test_many_short_trajectories_agree() -> None:
    # 2,400 trajectories of 5 steps: by standard errors of a mean of squares, dozens stand out.
    paths = [path[n : n + 6] for path in plain_paths() for n in range(0, 1500, 5)]
    assert list(ask("odd_trajectory")(measured(fitted(trajectories(paths))))) == []


# Low signal.


def test_a_drift_that_noise_hides_is_not_identified() -> None:
    walk = paths_of(lambda x: 0 * x, ROUND, steps=500)
    est = fitted(trajectories(walk))
    found = list(ask("lacking")(measured(est)))
    assert [one.limitation for one in found] == [Limitation.LOW_SIGNAL] * 2
    assert [one.fields for one in found] == [("b1",), ("b2",)]
    for name, one in zip(NAMES, found, strict=True):
        assert one.sentence.startswith(f"the drift of {name} is not identified: within 40 units")
    assert est.diagnostics_.verdict == "not identified"


def test_how_much_longer_to_look_follows_from_the_signal() -> None:
    # Standard errors grow with the root of the observed time.
    seen = measured(fitted(trajectories(paths_of(lambda x: 0 * x, ROUND, steps=500))))
    estimate = seen.fit.likelihood
    assert estimate is not None
    needed = np.sqrt(2 * estimate.term_cost)
    for signal, times in ((needed / 3, 9), (needed * 0.99, 2), (0.0, round((needed / 0.1) ** 2))):
        other = replace(estimate, signals=np.array([signal, 9.0]))
        first, second = ask("lacking")(changed(seen, likelihood=other))
        assert f"in about {times} times" in first.advice
        assert f"stands {signal:.1f} standard errors out of the noise" in first.sentence
        # A term that stands out on its own, but not in any formula.
        assert "the drift of v is hardly identified" in second.sentence


def test_a_strong_term_with_a_large_error_is_hardly_identified() -> None:
    seen = measured(plain())
    other = replace(seen)
    other.__dict__["field_errors"] = np.array([[0.6, 0.1], [0.0, 0.0]])
    found = only(ask("lacking"), other)
    assert found.fields == ("b1",)
    assert "the drift of u is hardly identified" in found.sentence
    weak = replace(seen.residuals, expected=np.full((8, 2), [5.1**2 / 8, 4.9**2 / 8]))
    shown = only(ask("lacking"), with_residuals(seen, weak))
    assert shown.fields == ("b2",)
    assert "the whole of it stands 4.9 standard errors" in shown.sentence


def test_noise_that_is_known_to_half_of_its_size_is_no_number_to_publish() -> None:
    seen = measured(plain())
    entries = [0, 2]  # a11 and a22, constants that are known to their standard errors
    sure, field = seen.generator.uncertainty, seen.generator.diffusion(seen.points)
    assert sure is not None
    constant = np.sqrt(sure.entry_covariance[entries, 0, 0])
    expected = constant / field[0, [0, 1], [0, 1]]
    np.testing.assert_allclose(seen.field_errors[1], expected, rtol=1e-6)
    assert not list(ask("facts.noise_error")(seen))
    other = replace(seen)
    other.__dict__["field_errors"] = np.array([[0.9, 0.9], [0.39, 0.41]])
    found = only(ask("facts.noise_error"), other)
    assert (found.limitation, found.fields) == (Limitation.UNCERTAIN, ("a22",))
    assert found.sentence == "the noise of v is known to 41% of its size only."


# Verdict, order, sentences.


def finding(limitation: Limitation, *fields: str, handled: bool = False) -> Finding:
    return Finding(limitation, fields, "s", "a", handled)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ((), "identified"),
        ((finding(Limitation.STALLED, handled=True),), "identified"),
        ((finding(Limitation.BOUNDARY, "b1"),), "partly identified"),
        ((finding(Limitation.BOUNDARY, "b1", "b2"),), "partly identified"),
        ((finding(Limitation.LOW_SIGNAL, "b1"),), "partly identified"),
        (
            (finding(Limitation.LOW_SIGNAL, "b1"), finding(Limitation.LOW_SIGNAL, "b2")),
            "not identified",
        ),
        (
            (
                finding(Limitation.LOW_SIGNAL, "b1"),
                finding(Limitation.LOW_SIGNAL, "b2", handled=True),
            ),
            "partly identified",
        ),
        (
            (finding(Limitation.LOW_SIGNAL, "b2"), finding(Limitation.STALLED, handled=True)),
            "partly identified",
        ),
    ],
)
def test_the_verdict_follows_from_what_is_not_handled(
    found: tuple[Finding, ...], verdict: str
) -> None:
    assert _verdict(found, 2) == verdict


def test_in_one_dimension_one_weak_component_is_all_of_them() -> None:
    assert _verdict((finding(Limitation.LOW_SIGNAL, "b1"),), 1) == "not identified"


def test_what_is_handled_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    def row(name: str, *, handled: bool = False) -> tuple[Question]:
        always: Any = {"asks": name, "words": name, "advice": "", "statistic": "facts.n_states"}
        return (Question.of({**always, "limitation": "", "handled": handled}, {}),)

    made = (row("one", handled=True), row("two"), row("three"), row("four", handled=True))
    monkeypatch.setattr(verdict, "questions", lambda: made)
    order = [one.sentence for one in verdict.findings(measured(plain()))]
    assert order == ["two", "three", "one", "four"]


def test_noise_is_asked_for_before_what_it_causes() -> None:
    order = [one.name for together in verdict.questions() for one in together]
    assert order.index("repeats") == 0
    assert max(map(order.index, ("filtered_noise", "neighbours"))) < order.index("other_steps")
    assert order.index("visits") < order.index("rival") < order.index("residual_memory")
    assert (
        order.index("residual_memory") < order.index("heavy_tails") < order.index("odd_trajectory")
    )


def test_every_statistic_is_asked_and_every_threshold_has_a_use() -> None:
    asked = {one.name for together in verdict.questions() for one in together}
    made = {name for name, one in vars(statistics).items() if inspect.isfunction(one)}
    made = {name for name in made if getattr(statistics, name).__module__ == statistics.__name__}
    unasked = {name for name in made - asked if not name.startswith("_")}
    assert unasked == {"share_of_drift"}
    text = "".join(
        path.read_text(encoding="utf-8")
        for path in Path(verdict.__file__).parent.iterdir()
        if path.suffix in (".py", ".toml") and path.stem != "thresholds"
    )
    for name in vars(thresholds):
        assert not name.isupper() or re.search(rf"\b{name}\b", text), name


def test_the_summary_names_verdict_axis_and_fields() -> None:
    found = replace(
        plain().diagnostics_,
        verdict="partly identified",
        findings=(
            finding(Limitation.BOUNDARY, "b1", "b2"),
            finding(Limitation.STALLED, handled=True),
        ),
    )
    expected = (
        "The generator is partly identified; what limits it: boundary concentration (b1, b2)."
    )
    assert found.summary == expected
    handled = replace(found, verdict="identified", findings=found.findings[1:])
    assert handled.summary == ("The generator is identified, with allowance for stalled sensor.")
    assert found.reasons == ("s", "s")


@pytest.mark.slow
def test_the_paper_recipe_gives_findings_and_no_verdict() -> None:
    found = fitted(noisy(), recipe="paper").diagnostics_
    assert found.verdict == "not assessed"
    assert found.limitation == Limitation.NOISE
    assert found.summary.startswith("The generator was not assessed: this recipe gives no error")
    assert found.drift_signal == ()
    assert found.rival == ""
    handled = fitted(noisy(), recipe="paper-noise").diagnostics_
    assert (Limitation.NOISE, True) in [(one.limitation, one.handled) for one in handled.findings]
    assert Limitation.MISSING_TERMS not in [one.limitation for one in handled.findings]
    # Residuals know of what was subtracted: a hundredth, and nothing; by five standard errors.
    assert handled.observation_noise == pytest.approx((0.01, 0.0), abs=0.0014)


@pytest.mark.slow
def test_diagnostics_are_made_when_asked_for_and_again_after_another_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def counted(fit: Fit) -> Diagnostics:
        calls.append(fit)
        return diagnose(fit)

    monkeypatch.setattr("wgsindy.estimator.diagnose", counted)
    est = WGSINDy("poly2", "sharp").fit(trajectories(plain_paths()))
    assert calls == []
    first = est.diagnostics_
    assert est.diagnostics_ is first
    assert len(calls) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        est.fit(noisy())
    assert len(calls) == 1
    assert est.diagnostics_.limitation == Limitation.NOISE != first.limitation
    assert len(calls) == 2


@pytest.mark.slow
def test_facts_are_shares_and_plain_numbers() -> None:
    est = fitted_to_noisy("sharp")
    found, left = est.diagnostics_, measured(est).residuals
    assert found.n_increments == 12_000
    assert found.n_terms == 6
    assert found.low_noise == tuple(left.low_noise / left.samples)
    assert found.singular == left.singular / left.samples
    assert found.long_steps == left.long_steps / left.samples
    assert found.holdout == pytest.approx(np.abs(left.holdout).max())
    assert found.memory == tuple(left.memory()[0])
    assert found.largest_increment == measured(est).summary.worst.max()
    for value in vars(found).values():
        assert type(value) in (int, float, str, tuple)


def test_holdout_is_of_components_that_stand_out() -> None:
    walk = fitted(trajectories(paths_of(lambda x: 0 * x, ROUND, steps=500)))
    assert (measured(walk).residuals.signal < thresholds.LEAST_SIGNAL).all()
    assert walk.diagnostics_.holdout == 0.0


def test_drift_error_is_the_spread_over_the_size() -> None:
    seen = measured(plain())
    generator, points = seen.generator, seen.points
    bands = generator.bands(points, level=0.6826894921370859)
    half = (bands.drift_high - bands.drift_low) / 2
    expected = np.sqrt(np.sum(half**2, axis=0) / np.sum(generator.drift(points) ** 2, axis=0))
    np.testing.assert_allclose(seen.drift_error, expected, rtol=1e-6)


@pytest.mark.parametrize("d", [1, 3])
def test_other_dimensions(d: int) -> None:
    rng = np.random.default_rng(d)
    x = np.zeros((6, 1501, d))
    for n in range(1500):
        x[:, n + 1] = x[:, n] * (1 - 3 * DT) + np.sqrt(DT) * rng.standard_normal((6, d))
    found = fitted(Trajectories(list(x), DT), "poly1").diagnostics_
    assert found.verdict == "identified"
    assert found.findings == ()
    assert len(found.residual_variance) == d


def test_one_trajectory_is_enough_for_a_diagnosis() -> None:
    path = paths_of(pull, ROUND, trajectories=1, steps=8000)
    found = fitted(trajectories(path)).diagnostics_
    assert found.verdict == "identified"
    assert found.holdout == 0.0


@pytest.mark.parametrize("recipe", ["sharp", "sharp-noise", "paper"])
def test_the_fewest_samples_give_a_diagnosis(recipe: str) -> None:
    path = paths_of(pull, ROUND, trajectories=1, steps=50)
    found = fitted(trajectories(path), "poly1", recipe).diagnostics_
    assert found.n_increments == 50
    assert found.summary


def test_steps_of_many_lengths_are_no_fault() -> None:
    rng = np.random.default_rng(0)
    fine = paths_of(pull, ROUND, steps=8000, dt=0.002)
    paths, times = [], []
    for path in fine:
        taken = np.append(0, np.cumsum(1 + rng.poisson(4, 1500)))
        taken = taken[taken < len(path)]
        paths.append(path[taken])
        times.append(taken * 0.002)
    data = Trajectories(paths, times=times, names=NAMES)
    assert fitted(data).diagnostics_.findings == ()


# From which number on.


def given(**measured_as: Any) -> Measurements:
    """The plain fit, of which some things were measured otherwise."""
    other = replace(measured(plain()))
    other.__dict__.update(measured_as)
    return other


def residuals(**changes: Any) -> Measurements:
    """The plain fit with other sums of residuals, whose shape nothing but chance makes odd."""
    left = replace(measured(plain()).residuals, **changes)
    return given(residuals=left, expected_shape=np.zeros((2, 2)))


@pytest.mark.parametrize(("shift", "found"), [(1.74, False), (1.76, True)])
def test_halves_may_lie_apart_by_less_than_two_deviations(shift: float, found: bool) -> None:
    assert bool(list(ask("facts.shift")(given(shift=shift)))) == found


@pytest.mark.parametrize(("evidence", "found"), [(9.9, False), (10.1, True)])
def test_a_chain_needs_strong_evidence(evidence: float, found: bool) -> None:
    assert bool(list(ask("facts.chain_evidence")(given(chain_evidence=evidence)))) == found


@pytest.mark.parametrize(
    ("box", "data", "bands", "handled"),
    [
        (0.6, 0.3, 0.4, [True]),
        (0.54, 0.2, 0.4, []),  # known well enough in the box
        (0.6, 0.33, 0.4, []),  # hardly better at the data
        (1.2, 0.41, 0.4, []),  # not known there either
        (0.6, 0.3, 0.51, []),  # bands say it themselves
        (1.01, 0.39, 0.4, [False]),
        (0.99, 0.3, 0.4, [True]),
    ],
)
def test_a_drift_in_the_box_is_a_guess_by_its_error_and_by_that_at_the_data(
    box: float, data: float, bands: float, handled: list[bool]
) -> None:
    known = KnownDrift(*(np.array([0.1, value]) for value in (box, data, bands)))
    found = list(ask("guesses")(given(known_drift=known)))
    assert [one.handled for one in found] == handled
    for one in found:
        assert one.fields == ("b2",)
        assert f"uncertain there by {box:.0%} of its size" in one.sentence


@pytest.mark.parametrize(
    ("error", "limitation"),
    [(0.39, None), (0.41, Limitation.UNCERTAIN), (0.51, Limitation.LOW_SIGNAL)],
)
def test_a_drift_is_uncertain_from_two_fifths_of_its_size_on(
    error: float, limitation: Limitation | None
) -> None:
    found = list(ask("lacking")(given(field_errors=np.array([[0.1, error], [0.0, 0.0]]))))
    assert [(one.limitation, one.fields) for one in found] == (
        [] if limitation is None else [(limitation, ("b2",))]
    )


@pytest.mark.parametrize(
    ("kurtosis", "count", "limitation"),
    [
        (0.16, 1e6, Limitation.JUMPS),
        (0.14, 1e6, None),
        (-0.16, 1e6, Limitation.BOUNDED),
        (-0.14, 1e6, None),
        (0.52, 1500.0, Limitation.JUMPS),  # 3.37 standard errors, and 0.65 for their own skewness
        (0.50, 1500.0, None),
    ],
)
def test_tails_are_odd_by_size_and_by_chance(
    kurtosis: float, count: float, limitation: Limitation | None
) -> None:
    counts = np.full(2, count)
    fourths = counts * (3 + np.array([0.0, kurtosis]))
    seen = residuals(count=counts, squares=counts, cubes=0 * counts, fourths=fourths)
    found = list(ask("heavy_tails", "light_tails", "leaning")(seen))
    assert [(one.limitation, one.fields) for one in found] == (
        [] if limitation is None else [(limitation, ("a22",))]
    )
    # As a right fit has them.
    seen.__dict__["expected_shape"] = np.array([[0.0, 0.0], [0.0, kurtosis]])
    assert list(ask("heavy_tails", "light_tails", "leaning")(seen)) == []


@pytest.mark.parametrize(
    ("skewness", "count", "odd"),
    [(-0.16, 1e6, True), (0.14, 1e6, False), (0.39, 486.0, True), (0.36, 486.0, False)],
)
def test_residuals_lean_by_size_and_by_chance(skewness: float, count: float, odd: bool) -> None:
    counts = np.full(2, count)
    seen = residuals(
        count=counts, squares=counts, cubes=counts * [skewness, 0.0], fourths=3 * counts
    )
    found = list(ask("heavy_tails", "light_tails", "leaning")(seen))
    assert [one.fields for one in found] == [("a11",)] * odd
    assert all(f"(skewness {skewness:.2g})" in one.sentence for one in found)


@pytest.mark.parametrize(
    ("variance", "balance", "wrong"),
    [(1.19, 1.0, False), (1.21, 1.0, True), (0.81, 1.0, False), (0.79, 1.0, True),
     (1.0, 0.51, False), (1.0, 0.49, True)],
)  # fmt: skip
def test_a_tensor_is_wrong_by_a_fifth_or_if_it_explodes(
    variance: float, balance: float, wrong: bool
) -> None:
    count = np.full(2, 1e4)
    seen = residuals(
        count=count,
        squares=count * [1.0, variance],
        leftover=np.array([1.0, balance]),
        allotted=np.ones(2),
    )
    found = ask("wrong_tensor")(seen)
    assert [one.fields for one in found] == [("a22",)] * wrong
    worst = balance if balance < 0.5 else variance
    assert all(f"residuals vary {worst:.2g} times" in one.sentence for one in found)


@pytest.mark.parametrize(
    ("lag_one", "longest", "limitation"),
    [
        (0.16, 1.2, Limitation.SMOOTHED),
        (0.14, 1.2, Limitation.HIDDEN),
        (0.16, 1.4, Limitation.HIDDEN),
    ],
)
def test_memory_of_a_few_steps_is_that_of_smoothed_samples(
    lag_one: float, longest: float, limitation: Limitation
) -> None:
    left = measured(plain()).residuals
    counts = np.full_like(left.block_counts, 1e4)
    # Sums over 64 steps vary so much more than those over 16, and these by half.
    ratios = np.full((len(BLOCKS), 1), 1.5)
    ratios[BLOCKS.index(64)] *= longest
    pairs = np.full(2, 1e4)
    seen = residuals(
        block_counts=counts,
        block_squares=counts * left.variance * ratios,
        pairs=pairs,
        lagged=lag_one * pairs * left.variance,
    )
    seen.__dict__["orders"] = None
    assert only(ask("residual_memory"), seen).limitation == limitation


@pytest.mark.parametrize(("count", "handled"), [(631, True), (632, False)])
def test_samples_are_left_out_without_a_word_up_to_one_in_twenty(count: int, handled: bool) -> None:
    seen = measured(plain())
    assert seen.data.n_increments == 12_000
    for name, check in (
        ("stalled", ask("repeats")),
        ("straight", ask("straight")),
    ):
        left_out: dict[str, Any] = {name: count}
        summary = replace(seen.summary, **left_out)
        found = only(check, changed(seen, summary=summary))
        assert found.handled == handled
        assert f"{count} samples (5.0%)" in found.sentence
