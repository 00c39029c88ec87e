"""Checks that ask whether anything else tells of the residuals: place, time, trajectory.

Each asks many groups, lags or coordinates at once; the threshold is that of the largest of so many
normal numbers. Beside it stands the least size that matters to a reader, since with enough data
every formula is off by something.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from wgsindy.data import BoolArray, FloatArray
from wgsindy.diagnostics.findings import Finding, Limitation
from wgsindy.diagnostics.measurements import Measurements
from wgsindy.model import field_names

STANDARD_ERRORS = 4.5  # of a test that is made for every coordinate, and at several lengths
# Standard errors that a drift component as a whole must be worth. The whole of it has several
# terms, so it needs more than the 3 of a single one: of log-Heston, whose price has 4.6, a few
# samples without noise tell a constant to a percent, and nothing else.
LEAST_SIGNAL = 5.0
FALSE_ALARM = 0.003  # of each question that is asked of many groups, lags or lengths at once
TYPICAL = 0.5  # share of samples that makes a property one of the data
MISFIT = 0.1  # share of the size of the drift by which it may be off somewhere
UNEVEN = 0.04  # relative change of the tensor
PREDICTED = 0.05  # share of the variance of the next state
FEWEST_TRAJECTORIES = 3  # of which one can be the odd one out
ODD_NOISE = 0.5  # residual variance of a trajectory, relative to what the tensor says


def chance(tests: int, alarm: float = FALSE_ALARM) -> float:
    """Standard errors that the largest of so many tests exceeds at the rate of a false alarm."""
    return NormalDist().inv_cdf(1 - alarm / tests)


def share_of_drift(seen: Measurements, excess: FloatArray) -> FloatArray:
    """Root of a sum of squares beyond chance, ``(..., d)``, over the whole of each drift."""
    return np.sqrt(np.maximum(excess, 0.0)) / np.maximum(seen.residuals.signal, 1.0)


def of_its_size(share: float) -> str:
    """Say how large something is beside the drift, of which there may be next to nothing."""
    return "more than all of its size" if share > 1 else f"{share:.0%} of its size"


def _share_of_noise(seen: Measurements, excess: FloatArray) -> FloatArray:
    """How far variances are off, relative: each of n squares has a variance of two."""
    return np.sqrt(2 * np.maximum(excess, 0.0) / max(seen.residuals.samples, 1))


def independent(seen: Measurements) -> Iterator[Finding]:
    """Samples that say nothing of the next one."""
    share = seen.residuals.groups.predicted
    if (share < PREDICTED).all():
        yield Finding(
            Limitation.INDEPENDENT,
            tuple(field_names(seen.data.dimension)[0]),
            f"a sample predicts at most {max(share.max(), 0):.1%} of the variance of the next one: "
            "within one step everything is forgotten, and no drift can be read from it.",
            "Sample faster. If rows were shuffled or are independent measurements, there is no "
            "process to be found.",
        )


def deterministic(seen: Measurements) -> Iterator[Finding]:
    """Data without any noise: an ordinary differential equation, or a column that counts."""
    noiseless = seen.noiseless
    if noiseless.all():
        yield Finding(
            Limitation.DETERMINISTIC,
            tuple(field_names(seen.data.dimension)[0]),
            "no coordinate has noise of its own: these data come from a deterministic system, or "
            "were smoothed. Error bars are those of what the formula leaves unexplained and of the "
            "numerical integration; the tensor is zero.",
            "Read the formula as an ordinary differential equation, and compare it with a method "
            "for these. If there should be noise, look for what smoothed it.",
        )
        return
    spread = seen.generator.uncertainty
    if spread is None:
        return
    constant = (spread.drift != 0) <= (seen.generator.basis.degrees == 0)
    counting = noiseless & constant.all(axis=1)
    counting[seen.n_states :] = False
    if counting.any():
        yield Finding(
            Limitation.CLOCK,
            seen.drifts(counting),
            f"{seen.named(counting)} grows at a constant rate without noise: it counts, as an "
            "index or a clock does.",
            "Leave it out of the states, or name it as the time.",
        )


def misfit(seen: Measurements) -> Iterator[Finding]:
    """Residuals that depend on where the state is."""
    probes, d = seen.residuals.groups, seen.data.dimension
    means, variances = probes.places(), probes.place_variances()
    needed = chance(2 * d * d)
    share = share_of_drift(seen, means.excess)
    wrong = ((means.errors > needed) & (share > MISFIT)).any(axis=0) & ~seen.noiseless
    if wrong.any():
        yield Finding(
            Limitation.MISSING_TERMS,
            seen.drifts(wrong),
            f"the drift of {seen.named(wrong)} does not fit everywhere: along the states, what "
            f"it leaves of the steps differs from zero by {of_its_size(share[:, wrong].max())} "
            f"({means.errors[:, wrong].max():.1f} standard errors).",
            "The true drift has a form that this library does not have: look at the residuals, add "
            "terms, or use more data with library='auto'.",
        )
    size = _share_of_noise(seen, variances.excess)
    wrong = ((variances.errors > needed) & (size > UNEVEN)).any(axis=0) & ~seen.noiseless
    if wrong.any():
        yield Finding(
            Limitation.MISSING_TERMS,
            seen.variances(wrong),
            f"the tensor of {seen.named(wrong)} does not fit everywhere: along the states it is "
            f"off by {size[:, wrong].max():.0%} ({variances.errors[:, wrong].max():.1f} standard "
            "errors).",
            "Use a library that can follow the noise (a higher degree, square roots), or a "
            "transformed state.",
        )


def changing(seen: Measurements) -> Iterator[Finding]:
    """Equations that are others early and late."""
    probes, d = seen.residuals.groups, seen.data.dimension
    drift, noise = probes.times(), probes.time_variances()
    needed = chance(d * (d + 3))
    share = share_of_drift(seen, drift.excess.max(axis=1))
    size = _share_of_noise(seen, noise.excess)
    drifting = (drift.errors.max(axis=1) > needed) & (share > MISFIT) & ~seen.noiseless
    louder = (noise.errors > needed) & (size > UNEVEN) & ~seen.noiseless
    if (drifting | louder).any():
        faults = [f"its drift by {of_its_size(share[p])}" for p in _largest(share, drifting)]
        faults += [f"its noise by {size[p]:.0%}" for p in _largest(size, louder)]
        yield Finding(
            Limitation.CHANGING,
            (*seen.drifts(drifting), *seen.variances(louder)),
            f"{seen.named(drifting | louder)} changes in the course of the trajectories, "
            f"{' and '.join(faults)}: a season, a trend, or another regime.",
            "Fit stretches of time on their own and compare them, or take what drives the change "
            "as a coordinate.",
        )


def rhythmic(seen: Measurements) -> Iterator[Finding]:
    """Equations that come back in time: of the hour, of the day of the year."""
    left, d = seen.residuals, seen.data.dimension
    drift, noise = (seen.stretches.line(sums) for sums in left.stretches)
    needed = chance(2 * d * drift.frequencies)
    share, size = share_of_drift(seen, drift.excess), _share_of_noise(seen, noise.excess)
    driven = (drift.errors > needed) & (share > MISFIT) & ~seen.noiseless
    louder = (noise.errors > needed) & (size > UNEVEN) & ~seen.noiseless
    for wrong, line, what, much in (
        (driven, drift, "drift", share),
        (louder, noise, "noise", size),
    ):
        for p in _largest(line.errors, wrong):
            period = line.period[p] * seen.data.mean_dt
            yield Finding(
                Limitation.CHANGING,
                seen.drifts(wrong) if what == "drift" else seen.variances(wrong),
                f"the {what} of {seen.data.names[p]} comes back in time: what is left of its steps "
                f"has a period of {period:.3g} ({line.period[p]:.3g} steps), by {much[p]:.0%} of "
                f"its size ({line.errors[p]:.1f} standard errors). A day, a week, a season?",
                "Subtract the season from the states first, or take its phase as a coordinate.",
            )


def uneven_clock(seen: Measurements) -> Iterator[Finding]:
    """Noise that does not grow with the time between samples."""
    found = seen.residuals.pace_variances()
    size = _share_of_noise(seen, found.excess)
    wrong = (found.errors > chance(seen.data.dimension)) & (size > UNEVEN) & ~seen.noiseless
    if wrong.any():
        yield Finding(
            Limitation.UNEVEN_CLOCK,
            seen.variances(wrong),
            f"the noise of {seen.named(wrong)} is not that of the time between samples: over "
            f"shorter and longer steps it differs by {size[wrong].max():.0%} "
            f"({found.errors[wrong].max():.1f} standard errors).",
            "Does the clock run while nothing happens (nights, weekends, holidays)? Give the time "
            "that counts, or count rows (--clock rows).",
        )


def _largest(sizes: FloatArray, chosen: BoolArray) -> list[int]:
    """Which of the ``chosen (d,)`` has the largest of ``sizes (d,)``, if there are any."""
    return [int(np.argmax(np.where(chosen, sizes, -np.inf)))] if chosen.any() else []


def disagreement(seen: Measurements) -> Iterator[Finding]:
    """Trajectories of several kinds, or one that says something else."""
    if len(seen.data) < FEWEST_TRAJECTORIES:
        return
    left = seen.residuals
    variance, errors = left.odd_noise
    known = left.signal > LEAST_SIGNAL
    drift = np.abs(np.nan_to_num(left.odd_drift)) * known
    noise = np.abs(np.nan_to_num(errors)) * (np.abs(variance - 1.0) > ODD_NOISE)
    worst = [int(np.argmax(values.max(axis=1))) for values in (drift, noise)]
    if max(drift.max(), noise.max()) <= STANDARD_ERRORS:
        yield from _kinds(seen)
    else:
        number = worst[0] if drift.max() > noise.max() else worst[1]
        change = float(np.nanmax(np.abs(left.holdout[number][known]), initial=0.0))
        there = variance[number][noise[number] > 0]  # where it is odd, and that is more than chance
        faults = [
            f"its increments are {errors:.1f} standard errors from the drift"
            for errors in [drift[number].max()]
            if errors > STANDARD_ERRORS
        ]
        faults += [
            f"its residuals vary {ratio:.2g} times as much as the tensor says"
            for ratio in there[:1]
        ]
        yield Finding(
            Limitation.DISAGREEMENT,
            (),
            f"trajectory {number} (of {len(seen.data)}, counted from 0) does not fit the others: "
            f"{', '.join(faults)}. Without it the drift is {change:.0%} larger or smaller.",
            "Look at that trajectory: other units, another time step, another regime? Fit without "
            "it.",
        )


def _kinds(seen: Measurements) -> Iterator[Finding]:
    """Trajectories that differ by more than chance, all of them together."""
    found, d = seen.residuals.groups.kinds(), seen.data.dimension
    share = share_of_drift(seen, found.excess.max(axis=1))
    wrong = (found.errors.max(axis=1) > chance(d * (d + 2))) & (share > MISFIT) & ~seen.noiseless
    if wrong.any():
        yield Finding(
            Limitation.DISAGREEMENT,
            seen.drifts(wrong),
            f"the trajectories do not have one drift of {seen.named(wrong)}: they differ from each "
            f"other by {of_its_size(share[wrong].max())} beyond chance "
            f"({found.errors[wrong].max():.1f} standard errors).",
            "Are they of several kinds? Fit groups of them on their own, and compare.",
        )
