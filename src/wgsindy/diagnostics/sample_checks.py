"""Checks of the samples themselves: what happened to them on the way, and where they end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wgsindy.data import BoolArray, FloatArray
from wgsindy.diagnostics.findings import Finding, Limitation
from wgsindy.diagnostics.measurements import Measurements
from wgsindy.diagnostics.past_checks import LAGGED
from wgsindy.diagnostics.probe_checks import STANDARD_ERRORS

COPIED = 0.02  # share of samples that stand in several places
SPOILT = 0.05  # share of samples that may be left out without a word in the verdict
REPEATED = 1e-3  # share of samples
NOISE_CORRELATION = -0.02  # of neighbouring residuals; noise adds twice that share to the tensor
SURE_NOISE = 2.0  # standard errors at which the noise of a coordinate is named
LOW_NOISE_SHARE = 0.15  # of samples where a coordinate has almost no noise
AT_EDGE = 0.02  # share of samples that sit on the smallest or the largest state exactly
# Visits to within half a step of the smallest or largest state. The ends of a distribution that
# fades away are seen once or twice, whatever the number of samples.
MANY_VISITS = 12


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
            handled=dropped and share <= SPOILT,
        )


def interpolated(seen: Measurements) -> Iterator[Finding]:
    """Samples on straight lines between others."""
    if seen.summary.straight:
        share = seen.summary.straight / (seen.data.n_increments + seen.summary.straight)
        yield Finding(
            Limitation.INTERPOLATED,
            (),
            f"{seen.summary.straight} samples ({share:.1%}) lie on straight lines between others; "
            "they are left out of the fit.",
            "Give the samples as they were measured, with gaps where there are none.",
            handled=share <= SPOILT,
        )


def rounded(seen: Measurements) -> Iterator[Finding]:
    """Steps that are finer than the digits."""
    if seen.summary.every > 1:
        yield Finding(
            Limitation.ROUNDED,
            (),
            f"the steps are finer than the digits of the samples: one sample in "
            f"{seen.summary.every} is fitted, and what happens between these is not seen.",
            "Write more digits.",
        )
        return
    step = _step(seen)
    coarse = (seen.summary.quantum > step) & ~seen.noiseless
    if coarse.any():
        yield Finding(
            Limitation.ROUNDED,
            seen.variances(coarse),
            f"the digits of {seen.named(coarse)} are coarser than its steps: a grid of "
            f"{seen.summary.quantum[coarse].max():.3g}, where a step has a deviation of "
            f"{step[coarse].min():.3g}. The fit takes rounding for noise of a sensor; what happens "
            "within the grid is not seen.",
            "Write more digits, or keep every few samples only (--every), and compare both fits.",
        )


def _step(seen: Measurements) -> FloatArray:
    """The deviation of a step, ``(d,)``."""
    return np.sqrt(seen.noise_level * seen.data.mean_dt)


def copied(seen: Measurements) -> Iterator[Finding]:
    """Stretches that stand in several places: windows that overlap, a file given twice."""
    share = seen.residuals.copied
    # Data without noise come back to where they were, and few digits do so by chance.
    fine = ~seen.noiseless & (2 * seen.summary.quantum < _step(seen))
    if share > COPIED and fine.any():
        yield Finding(
            Limitation.COPIED,
            (),
            f"{share:.0%} of the samples stand in several places, digit by digit: windows that "
            "overlap, or trajectories that were copied. The fit counts them as often as they are "
            "given, and its error bars are too small.",
            "Give every sample once: the record as a whole, or windows that do not overlap.",
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
    if estimate is not None and estimate.unfollowed.any():
        yield Finding(
            Limitation.NOISE,
            seen.variances(estimate.unfollowed),
            f"the samples of {seen.named(estimate.unfollowed)} have noise, of a sensor or of few "
            "digits, that the fit could not follow: pass after pass, the equations still change. "
            "The tensor may hold some of it, and the drift be too weak.",
            "Keep every few samples only (--every 5), or write more digits, and compare both fits.",
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


def uneven_noise(seen: Measurements) -> Iterator[Finding]:
    """Noise of the sensor that is larger at some states than at others."""
    probes = seen.residuals.groups
    errors = probes.neighbours_by_place()
    size = np.abs(errors) / np.sqrt(max(probes.lag_count[0], 1.0))
    clear = (np.abs(errors) > STANDARD_ERRORS) & (size > LAGGED) & ~seen.noiseless
    if clear.any():
        q, p = np.unravel_index(np.argmax(np.where(clear, np.abs(errors), 0.0)), errors.shape)
        name, other = seen.data.names[p], seen.data.names[q]
        yield Finding(
            Limitation.NOISE,
            seen.variances(np.asarray(clear.any(axis=0))),
            f"the observation noise of {name} is not the same everywhere: neighbouring steps are "
            f"anticorrelated more where {other} is {'large' if errors[q, p] < 0 else 'small'} "
            f"({abs(errors[q, p]):.1f} standard errors). Noise that depends on the state is taken "
            "for a tensor that does.",
            "If the noise is a share of the reading, fit the logarithm, of which it is the same "
            f"everywhere (--log {name}); else keep every few samples only (--every 5), and compare "
            "both fits.",
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


def other_steps(seen: Measurements) -> Iterator[Finding]:
    """Equations that depend on which samples are kept, where noise was filtered."""
    changed = seen.step_change
    if changed is None or not changed.fields:
        return
    yield Finding(
        Limitation.NOISE,
        changed.fields,
        f"with one of {changed.every} samples only, the equations are others: a coefficient of "
        f"{changed.fields[0]} changes by {changed.size:.0%} ({changed.errors:.1f} standard "
        "errors). The noise of the sensor has a memory, or the process has one.",
        "Compare with what is known of the sensor; keep every few samples only (--every), until "
        "the equations no longer change.",
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


def wall(seen: Measurements) -> Iterator[Finding]:
    """States that end where noise does not: something throws them back."""
    visits = seen.residuals.visits
    hit = (visits > MANY_VISITS).any(axis=0) & (seen.residuals.count > 0)
    for p in np.flatnonzero(hit).tolist():
        upper = bool(visits[1, p] > visits[0, p])
        end = float((seen.summary.high if upper else seen.summary.low)[p])
        yield Finding(
            Limitation.BOUNDARY,
            seen.drifts(np.arange(seen.data.dimension) == p),
            f"{seen.data.names[p]} ends at {end:.4g} as at a wall: it came within half a step of "
            f"it {visits[int(upper), p]:.0f} times and never passed, though its noise does not "
            "vanish there.",
            "What a wall does looks like drift near it. Trust the fields away from it, or fit "
            "without the samples near it and compare.",
        )
