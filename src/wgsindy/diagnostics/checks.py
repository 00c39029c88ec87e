"""The checks: each asks one question of the measurements and answers with findings.

Thresholds of tests come from their false-alarm rate, those of sizes from what matters to a reader;
both were settled on seeds 100-129 of the zoo and are reported on others, by the experiment
`verdicts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from wgsindy.data import BoolArray, FloatArray
from wgsindy.diagnostics.findings import Finding, Limitation
from wgsindy.diagnostics.formula_checks import (
    NOTED_ERROR,
    cancelling,
    extrapolated,
    long_formula,
    missing_terms,
    open_form,
    several,
    uncertain_noise,
)
from wgsindy.diagnostics.measurements import CHAIN_EVIDENCE, Measurements
from wgsindy.diagnostics.past_checks import bursts, delayed, wandering
from wgsindy.diagnostics.probe_checks import (
    LEAST_SIGNAL,
    TYPICAL,
    chance,
    changing,
    deterministic,
    disagreement,
    independent,
    misfit,
    rhythmic,
    uneven_clock,
)
from wgsindy.diagnostics.residuals import BLOCKS
from wgsindy.diagnostics.sample_checks import (
    boundary,
    copied,
    interpolated,
    observation_noise,
    other_steps,
    rounded,
    stalled,
    uneven_noise,
    wall,
)
from wgsindy.model import field_names

SMOOTHED = 0.15  # correlation of neighbours: that of a mean of two samples is 1/4 or more
MEMORY = 0.1  # excess variance of sums over many steps
ELSEWHERE = 1.75  # standard deviations between the mean states of two halves
TAILS = 0.15  # excess kurtosis beyond what a simulation of the fitted process has
LEANING = 0.15  # skewness beyond that
LARGE_ERROR = 0.5  # expected error of a drift component over its size: hardly identified


def findings(seen: Measurements) -> tuple[Finding, ...]:
    """Every finding, the limiting one first: what spoils samples, then what spoils the model.

    A fault further up the list makes those below it appear; observation noise, say, looks
    like jumps to a fit that knows of no such noise.
    """
    checks = (
        stalled,
        interpolated,
        copied,
        rounded,
        observation_noise,
        uneven_noise,
        other_steps,
        degenerate,
        near_singular,
        boundary,
        wall,
        extrapolated,
        coverage,
        large_step,
        simulated,
        independent,
        deterministic,
        missing_terms,
        misfit,
        open_form,
        several,
        long_formula,
        cancelling,
        hidden,
        order,
        delayed,
        jumps,
        uneven_clock,
        bursts,
        rhythmic,
        changing,
        wandering,
        disagreement,
        low_signal,
        uncertain_noise,
    )
    found = [finding for check in checks for finding in check(seen)]
    return tuple(sorted(found, key=lambda finding: finding.handled))


def degenerate(seen: Measurements) -> Iterator[Finding]:
    """Coordinates without noise of their own; if none has any, that is a finding of its own."""
    if seen.noiseless.all() or seen.data.order == 2:  # of positions, that is what they are
        return
    for name in (seen.data.names[p] for p in np.flatnonzero(seen.noiseless[: seen.n_states])):
        yield Finding(
            Limitation.DEGENERATE,
            (),
            f"{name} has no noise of its own: its residuals are what the other coordinates and "
            "the drift leave within a step, so its row of the tensor is set to zero.",
            "Read its equation as an exact one. If it should have noise, check its units and "
            "whether it was smoothed.",
            handled=True,
        )


def near_singular(seen: Measurements) -> Iterator[Finding]:
    """Noise that is nearly confined to fewer directions than there are coordinates."""
    share = seen.residuals.singular / max(seen.residuals.samples, 1)
    copies = seen.residuals.doubled > TYPICAL * seen.residuals.samples
    if share > TYPICAL:
        yield Finding(
            Limitation.NEAR_SINGULAR,
            tuple(field_names(seen.data.dimension)[1]),
            f"at {share:.0%} of the samples the noises are correlated so strongly that some "
            "combination of the coordinates has almost none.",
            "Small errors of the tensor become large in its inverse. Fit that combination as a "
            "coordinate of its own.",
            handled=seen.fit.likelihood is not None and not copies,
        )


def coverage(seen: Measurements) -> Iterator[Finding]:
    """One transient, seen once."""
    if seen.shift > ELSEWHERE:
        yield Finding(
            Limitation.COVERAGE,
            tuple(field_names(seen.data.dimension)[0]),
            f"the second halves of the trajectories lie {seen.shift:.1f} standard deviations from "
            "the first: the data are one passage from one place to another, and neither is seen "
            "for long.",
            "Trust the fields along that passage only. Observe for longer, or from several "
            "starting points.",
        )


def large_step(seen: Measurements) -> Iterator[Finding]:
    """Steps in which the process does much of what it ever does."""
    share = seen.residuals.long_steps / max(seen.residuals.samples, 1)
    if share > TYPICAL and seen.is_chain:
        thinning = seen.residuals.thinning
        changes = np.abs(thinning[np.isfinite(thinning)])
        yield Finding(
            Limitation.LARGE_STEP,
            tuple(field_names(seen.data.dimension)[0]),
            f"within one step of {seen.data.mean_dt:.3g} the drift changes by more than a tenth at "
            f"{share:.0%} of the samples"
            + (
                f"; leaving out every other sample changes it by {changes.max():.0%}."
                if len(changes)
                else "."
            ),
            "Sample faster, or fit with recipe='sharp', which takes the data for a continuous "
            "process seen at this step.",
        )


def simulated(seen: Measurements) -> Iterator[Finding]:
    """Samples that one Euler step leads to."""
    if seen.chain_evidence > CHAIN_EVIDENCE:
        yield Finding(
            Limitation.SIMULATED,
            tuple(field_names(seen.data.dimension)[0]),
            "these look like Euler steps of a simulation: as a chain of such steps the data are "
            f"preferred to a process seen at intervals by {seen.chain_evidence:.0f} in "
            "log-evidence.",
            "If they were simulated with one step from sample to sample, fit with "
            "recipe='sharp-euler'.",
        )


def hidden(seen: Measurements) -> Iterator[Finding]:
    """Residuals that remember: samples that were smoothed, or something that is not observed."""
    left = seen.residuals
    excess, errors = left.memory()
    lasting = (errors > chance(excess.size * len(BLOCKS))) & (excess > MEMORY)
    if not lasting.any():
        return
    worst = int(np.argmax(np.where(lasting, errors, 0.0)))
    memory = (
        f"what the drift leaves of {seen.named(lasting)} has a memory: summed over many "
        f"steps it varies {1 + excess[worst]:.2g} times as much as independent residuals "
        f"({errors[worst]:.0f} standard errors)"
    )
    inertia, advice = "", ""
    if seen.orders is not None and seen.orders.preferred == 2:
        inertia = f" As positions of something with inertia, {seen.orders.sentence}"
        advice = "Fit with --order 2 (order=2), which takes the states for positions. Else: "
    if left.lag_one[worst] > SMOOTHED and left.memory_is_short[worst]:
        yield Finding(
            Limitation.SMOOTHED,
            (*seen.drifts(lasting), *seen.variances(lasting)),
            f"{memory}, and forgets within a few steps (neighbours: {left.lag_one[worst]:.2f}): "
            "the samples were smoothed, as by a moving average, or by the exposure of a camera "
            f"(motion blur).{inertia}",
            f"{advice}Fit the samples as they were measured, or keep one in as many as were "
            "averaged (--every).",
        )
        return
    yield Finding(
        Limitation.HIDDEN,
        seen.drifts(lasting),
        f"{memory}. A coordinate that is not observed acts on it.{inertia}",
        f"{advice}Observe more of the process, or add a coordinate made of the past, such as a "
        "velocity. The fitted drift is an average over what is hidden.",
    )


def order(seen: Measurements) -> Iterator[Finding]:
    """First or second order, where that was asked."""
    found = seen.fit.orders
    if found is None:
        return
    yield Finding(
        Limitation.ORDER,
        () if found.preferred else tuple(field_names(seen.data.dimension)[0]),
        found.sentence[0].upper() + found.sentence[1:],
        "Fit with --order 1 and --order 2, and compare.",
        handled=True,
    )


def jumps(seen: Measurements) -> Iterator[Finding]:
    """Tails that neither Gaussian noise nor a long step has, and noise that leans to one side."""
    count, needed = np.maximum(seen.residuals.count, 1.0), chance(4 * seen.data.dimension)
    # Fourth powers lean to one side: the second term is Cornish and Fisher's.
    heavier = needed + np.sqrt(216.0 / count) * (needed**2 - 1) / 6
    kurtosis = Shape(seen.residuals.kurtosis, TAILS, heavier * np.sqrt(24.0 / count))
    skewness = Shape(seen.residuals.skewness, LEANING, needed * np.sqrt(6.0 / count))
    if not (kurtosis.odd().any() or skewness.odd().any()):
        return
    leaning, tails = seen.expected_shape
    odd, beyond = kurtosis.odd(tails), kurtosis.value - tails
    heavy = odd & (np.minimum(beyond, kurtosis.value) > 0)
    light, skew = odd & (kurtosis.value < 0), skewness.odd(leaning) & ~heavy
    if heavy.any():
        worst = float(kurtosis.value[heavy].max())
        yield Finding(
            Limitation.JUMPS,
            seen.variances(heavy),
            f"residuals of {seen.named(heavy)} have heavier tails than Gaussian noise (excess "
            f"kurtosis {worst:.2g}): jumps, outliers, an uneven clock, or noise whose strength is "
            "not observed.",
            "Look at the largest increments. The tensor is a mean over calm and stormy times.",
        )
    if light.any():
        yield Finding(
            Limitation.BOUNDED,
            seen.variances(light),
            f"residuals of {seen.named(light)} have lighter tails than Gaussian noise (excess "
            f"kurtosis {float(kurtosis.value[light].min()):.2g}): steps of a map, of a counter, or "
            "clipped ones.",
            "Look at the distribution of the increments: this is no diffusion at this step.",
        )
    if skew.any():
        worst = float(skewness.value[skew][np.argmax(np.abs(skewness.value[skew]))])
        yield Finding(
            Limitation.JUMPS,
            seen.variances(skew),
            f"residuals of {seen.named(skew)} lean to one side (skewness {worst:.2g}), which "
            "Gaussian noise does not: jumps in one direction, or a column that counts events.",
            "Look at the distribution of the increments. Counts have a law of their own.",
        )


class Shape(NamedTuple):
    """A moment of residuals ``(d,)``, and how far from that of a right fit it may be."""

    value: FloatArray
    size: float  # that matters
    chance: FloatArray  # (d,) that chance reaches

    def odd(self, expected: FloatArray | float = 0.0) -> BoolArray:
        """Whether it is not zero, and not what is ``expected (d,)`` of a right fit either."""
        return np.logical_and.reduce(
            [
                (np.abs(gap) > self.size) & (np.abs(gap) > self.chance)
                for gap in (self.value, self.value - expected)
            ]
        )


def low_signal(seen: Measurements) -> Iterator[Finding]:
    """Drift components that do not stand out of the noise."""
    if seen.fit.likelihood is None:
        return
    fit, data = seen.fit.likelihood, seen.data
    needed, whole = float(np.sqrt(2 * fit.term_cost)), seen.residuals.signal
    for p, name in enumerate(field_names(data.dimension)[0][: seen.n_states]):
        signal, error = float(fit.signals[p]), float(seen.drift_error[p])
        empty = not fit.uncertainty.drift[p].any()
        if empty and signal < needed:
            longer = max((needed / max(signal, 0.1)) ** 2, 1.5)
            yield Finding(
                Limitation.LOW_SIGNAL,
                (name,),
                f"the drift of {data.names[p]} is not identified: within {data.total_time:.3g} "
                f"units of time its strongest term stands {signal:.1f} standard errors out of the "
                f"noise, and {needed:.1f} are needed. It may be zero.",
                f"Observe for longer: a drift of that size would show in about {longer:.0f} times "
                "the observed time.",
            )
        elif empty or error > LARGE_ERROR or whole[p] < LEAST_SIGNAL:
            yield Finding(
                Limitation.LOW_SIGNAL,
                (name,),
                f"the drift of {data.names[p]} is hardly identified: within {data.total_time:.3g} "
                f"units of time the whole of it stands {whole[p]:.1f} standard errors out of the "
                "noise.",
                "Observe for longer, or use a smaller library.",
            )
        elif error > NOTED_ERROR:
            yield Finding(
                Limitation.UNCERTAIN,
                (name,),
                f"the drift of {data.names[p]} is known to {error:.0%} of its size only.",
                "Observe for longer: four times the observed time halves the error.",
            )
