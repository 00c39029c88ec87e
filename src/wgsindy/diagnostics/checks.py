"""The checks: each asks one question of the measurements and answers with findings.

Thresholds of tests come from their false-alarm rate, those of sizes from what matters to a reader;
both were settled on seeds 100-129 of the zoo and are reported on others, by the experiment
`verdicts`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wgsindy.data.arrays import BoolArray
from wgsindy.diagnostics.findings import Finding, Limitation
from wgsindy.diagnostics.measurements import Measurements
from wgsindy.diagnostics.probe_checks import (
    LEAST_SIGNAL,
    STANDARD_ERRORS,
    bursts,
    chance,
    changing,
    delayed,
    deterministic,
    disagreement,
    independent,
    misfit,
)
from wgsindy.diagnostics.residuals import BLOCKS
from wgsindy.model.linear_form import field_names

NOISE_CORRELATION = -0.02  # of neighbouring residuals; noise adds twice that share to the tensor
SURE_NOISE = 2.0  # standard errors at which the noise of a coordinate is named
CHAIN_EVIDENCE = 10.0  # log-evidence for an unlikely thing: measured data are no Euler steps
SMOOTHED = 0.15  # correlation of neighbours: that of a mean of two samples is 1/4 or more
MEMORY = 0.1  # excess variance of sums over many steps
REPEATED = 1e-3  # share of samples
ELSEWHERE = 1.75  # standard deviations between the mean states of two halves
LOW_NOISE_SHARE = 0.15  # of samples where a coordinate has almost no noise
AT_EDGE = 0.02  # share of samples that sit on the smallest or the largest state exactly
TYPICAL = 0.5  # share of samples that makes a property one of the data
TAILS = 0.25  # excess kurtosis beyond what a simulation of the fitted process has
WRONG_VARIANCE = 0.2  # of residuals, relative
EXPLODED = 0.5  # sum of squared residuals over the sum of what the tensor says
CLIPPED = 0.05  # share of samples at which the tensor had to be clipped
LARGE_ERROR = 0.5  # expected error of a drift component over its size


def findings(seen: Measurements) -> tuple[Finding, ...]:
    """Every finding, the limiting one first: what spoils samples, then what spoils the model.

    A fault further up the list makes those below it appear; observation noise, say, looks
    like jumps to a fit that knows of no such noise.
    """
    checks = (
        stalled,
        interpolated,
        rounded,
        observation_noise,
        degenerate,
        near_singular,
        boundary,
        coverage,
        large_step,
        simulated,
        independent,
        deterministic,
        missing_terms,
        misfit,
        hidden,
        delayed,
        jumps,
        bursts,
        changing,
        disagreement,
        low_signal,
    )
    found = [finding for check in checks for finding in check(seen)]
    return tuple(sorted(found, key=lambda finding: finding.handled))


def stalled(seen: Measurements) -> Iterator[Finding]:
    """Samples that repeat longer than chance explains: a sensor that hangs, or padding."""
    number = seen.summary.stalled if seen.fit.likelihood is not None else seen.summary.repeated
    share = number / (seen.data.n_increments + seen.summary.stalled)
    dropped = seen.summary.stalled > 0
    if dropped or share > REPEATED:
        yield Finding(
            Limitation.STALLED,
            (),
            f"{number} samples ({share:.1%}) repeat the one before them exactly"
            + ("; they are left out of the fit." if dropped else "."),
            "Look for a sensor that hangs, for padding, or for a state stuck at a limit.",
            handled=dropped,
        )


def interpolated(seen: Measurements) -> Iterator[Finding]:
    """Samples on straight lines between others."""
    if seen.summary.straight:
        yield Finding(
            Limitation.INTERPOLATED,
            (),
            f"{seen.summary.straight} samples lie on straight lines between others; they are left "
            "out of the fit.",
            "Give the samples as they were measured, with gaps where there are none.",
            handled=True,
        )


def rounded(seen: Measurements) -> Iterator[Finding]:
    """Steps that are finer than the digits."""
    if seen.summary.every > 1:
        yield Finding(
            Limitation.ROUNDED,
            (),
            f"the steps are finer than the digits of the samples: one sample in "
            f"{seen.summary.every} is fitted.",
            "Write more digits.",
            handled=True,
        )


def observation_noise(seen: Measurements) -> Iterator[Finding]:
    """Noise of the sensor that the fit filters, and neighbouring residuals that still show it."""
    left, estimate = seen.residuals, seen.fit.likelihood
    filtered = seen.observation_noise > 0
    if estimate is not None and filtered.any():
        yield Finding(
            Limitation.NOISE,
            (),
            f"the samples have observation noise ({_noise_sizes(seen, filtered)}), which the fit "
            "follows with a filter.",
            "Compare with what is known of the sensor and of the digits that were written.",
            handled=True,
        )
    noisy = (left.lag_one < NOISE_CORRELATION) & (left.lag_one_errors < -STANDARD_ERRORS)
    if noisy.any():
        worst = float(left.lag_one[noisy].min())
        corrected = estimate is None and seen.fit.recipe.noise_correction is True
        followed = estimate is not None and seen.fit.recipe.noise_correction is not False
        cause = "the observation adds noise of its own, which inflates the tensor"
        if followed:
            cause = "the noise of the samples is not the same everywhere, or not normal"
        elif corrected:
            cause += ", and the fit subtracts it"
        advice = "keep every few samples only (--every 5)"
        if not followed:
            advice = f"fit with recipe='sharp', which follows such noise, or {advice}"
        yield Finding(
            Limitation.NOISE,
            seen.variances(noisy),
            f"neighbouring steps of {seen.named(noisy)} are anticorrelated (correlation "
            f"{worst:.2f}): {cause}.",
            f"{advice[0].upper()}{advice[1:]}, and compare both fits.",
            handled=corrected,
        )


def _noise_sizes(seen: Measurements, chosen: BoolArray) -> str:
    """Write standard deviations of the noise, with their errors where they are estimated."""
    estimate = seen.fit.likelihood
    assert estimate is not None
    sizes = []
    # If one coordinate has noise, the filter allows all of them to have some.
    sure = chosen & (seen.observation_noise > SURE_NOISE * estimate.noise_error)
    for p in np.flatnonzero(sure if sure.any() else chosen).tolist():
        deviation = float(np.sqrt(seen.observation_noise[p]))
        error = float(estimate.noise_error[p]) / (2 * deviation)
        how_sure = f" +- {error:.1g}" if error else ", that of rounding,"
        sizes.append(f"standard deviation {deviation:.3g}{how_sure} in {seen.data.names[p]}")
    return ", ".join(sizes)


def degenerate(seen: Measurements) -> Iterator[Finding]:
    """Coordinates without noise of their own."""
    for name in (seen.data.names[p] for p in np.flatnonzero(seen.noiseless)):
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


def boundary(seen: Measurements) -> Iterator[Finding]:
    """Samples that crowd where the noise vanishes, or sit on an edge."""
    left = seen.residuals
    low = left.low_noise / max(left.samples, 1)
    # Every trajectory may start at the same state.
    edge = np.maximum(left.at_edge.max(axis=0) - len(seen.data), 0) / max(left.samples, 1)
    noisy = left.count > 0
    crowded = noisy & ((low > LOW_NOISE_SHARE) | (edge > AT_EDGE))
    if crowded.any():
        worst = int(np.argmax(np.where(crowded, np.maximum(low, edge), 0.0)))
        yield Finding(
            Limitation.BOUNDARY,
            seen.drifts(crowded),
            f"the samples crowd at a boundary: at {low[worst]:.0%} of them "
            f"{seen.data.names[worst]} has less than a twentieth of its mean noise, and "
            f"{edge[worst]:.1%} sit on its edge exactly.",
            "What happens at the boundary looks like drift. Fit a transformed state (--log), or "
            "leave out the samples near it and compare.",
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


def missing_terms(seen: Measurements) -> Iterator[Finding]:
    """A library that the data prefer, or a tensor that does not fit."""
    rival = seen.rival
    if rival is not None and rival.is_preferred:
        formulas = "; ".join(f"{name}: {', '.join(terms)}" for name, terms in rival.chosen.items())
        yield Finding(
            Limitation.MISSING_TERMS,
            tuple(rival.chosen),
            f"with {rival.name} in the library the data would have other equations ({formulas}), "
            f"preferred by {rival.log_evidence:.0f} in log-evidence (4 means 55 to 1).",
            "Add these terms to the library, or fit with library='auto'.",
        )
    yield from _wrong_tensor(seen)


def _wrong_tensor(seen: Measurements) -> Iterator[Finding]:
    """A tensor that its residuals contradict, or that is no tensor at all at many samples."""
    left, clipped = (
        seen.residuals,
        0.0 if seen.fit.likelihood is None else seen.fit.likelihood.clipped,
    )
    # Where the tensor says that a coordinate has no noise at all, the residuals are not asked.
    missing = (left.count == 0) & ~seen.noiseless & (seen.fit.likelihood is not None)
    wrong = (np.abs(left.variance - 1.0) > WRONG_VARIANCE) | (left.balance < EXPLODED) | missing
    wrong &= ~seen.noiseless  # what other coordinates leave of these is no noise of their own
    if wrong.any() or clipped > CLIPPED:
        ratios = np.where(left.balance < EXPLODED, left.balance, left.variance)
        worst = ratios[np.argmax(np.abs(np.log(np.where(ratios > 0, ratios, 1.0))))]
        faults = [f"residuals vary {worst:.2g} times as much as it says"] * bool(wrong.any())
        faults += [f"at {clipped:.0%} of the samples its formula is not positive"] * (clipped > 0)
        yield Finding(
            Limitation.MISSING_TERMS,
            seen.variances(wrong),
            f"the tensor does not fit: {', and '.join(faults)}.",
            "Use a library that can follow the noise (a higher degree, square roots), or a "
            "transformed state.",
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
    if left.lag_one[worst] > SMOOTHED and left.memory_is_short[worst]:
        yield Finding(
            Limitation.SMOOTHED,
            (*seen.drifts(lasting), *seen.variances(lasting)),
            f"{memory}, and forgets within a few steps (neighbours: {left.lag_one[worst]:.2f}): "
            "the samples were smoothed, as by a moving average.",
            "Fit the samples as they were measured, or keep one in as many as were averaged "
            "(--every).",
        )
        return
    yield Finding(
        Limitation.HIDDEN,
        seen.drifts(lasting),
        f"{memory}. A coordinate that is not observed acts on it.",
        "Observe more of the process, or add a coordinate made of the past, such as a "
        "velocity. The fitted drift is an average over what is hidden.",
    )


def jumps(seen: Measurements) -> Iterator[Finding]:
    """Tails that neither Gaussian noise nor a long step has."""
    kurtosis, count = seen.residuals.kurtosis, np.maximum(seen.residuals.count, 1.0)
    odd = (np.abs(kurtosis) > TAILS) & (np.abs(kurtosis) > STANDARD_ERRORS * np.sqrt(24.0 / count))
    if not odd.any():
        return
    beyond = kurtosis - seen.expected_kurtosis
    odd &= (np.abs(beyond) > TAILS) & (np.abs(beyond) > STANDARD_ERRORS * np.sqrt(24.0 / count))
    heavy, light = odd & (np.minimum(beyond, kurtosis) > 0), odd & (kurtosis < 0)
    if heavy.any():
        worst = float(kurtosis[heavy].max())
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
            f"kurtosis {float(kurtosis[light].min()):.2g}): steps of a map, of a counter, or "
            "clipped ones.",
            "Look at the distribution of the increments: this is no diffusion at this step.",
        )


def low_signal(seen: Measurements) -> Iterator[Finding]:
    """Drift components that do not stand out of the noise."""
    if seen.fit.likelihood is None:
        return
    fit, data = seen.fit.likelihood, seen.data
    needed, whole = float(np.sqrt(2 * fit.term_cost)), seen.residuals.signal
    for p, name in enumerate(field_names(data.dimension)[0]):
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
