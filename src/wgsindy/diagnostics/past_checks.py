"""Checks of what the past tells of the next step, beside the state: of a right fit, nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.diagnostics.findings import Finding, Limitation
from wgsindy.diagnostics.groups import DELAYS
from wgsindy.diagnostics.measurements import Measurements
from wgsindy.diagnostics.past_scores import MEANS, RATE_WINDOWS, SPELLS, WINDOWS
from wgsindy.diagnostics.probe_checks import MISFIT, chance, of_its_size, share_of_drift
from wgsindy.model import field_names

LAGGED, BURSTY = 0.03, 0.04  # correlations of residuals, and of their squares, with earlier ones
NEARLY_WHITE = 0.5  # standard errors that a filter and the fitted terms add to such a correlation
# False alarms about two rates in one: of the error of a sensor that lasts five steps, 6,000 samples
# tell by 2.6 standard errors at most, whatever is computed of them.
RATES_ALARM = 0.01


def _is_partly_seen(seen: Measurements) -> bool:
    """Whether the fit knows of something unseen: that lasts, and is allowed for."""
    return seen.data.order == 2 or seen.data.partly_seen > 0


def _share(seen: Measurements, errors: FloatArray) -> FloatArray:
    """How large what is so many standard ``errors (d, ...)`` is beside each drift."""
    return np.moveaxis(share_of_drift(seen, np.moveaxis(errors, 0, -1) ** 2 - 1), -1, 0)


def delayed(seen: Measurements) -> Iterator[Finding]:
    """Residuals that earlier ones tell of, of the same coordinate or of another."""
    probes, d = seen.residuals.groups, seen.data.dimension
    found = probes.correlations
    errors = np.abs(found) * np.sqrt(probes.lag_count)[:, None, None]
    needed = chance(2 * found.size) + NEARLY_WHITE
    clear = (errors > needed) & (np.abs(found) > LAGGED)
    together = probes.together()
    size = np.sqrt(np.maximum(together.excess, 0.0) / np.maximum(probes.lag_count[0], 1.0))
    # Many correlations, each too small to be clear, may be so together.
    clear |= (together.errors > chance(d * d) + NEARLY_WHITE) & (size > LAGGED)
    if clear.any():
        k, p, q = np.unravel_index(np.argmax(np.where(clear, errors, 0.0)), found.shape)
        name, other = seen.data.names[p], seen.data.names[q]
        yield Finding(
            Limitation.DELAYED,
            (field_names(d)[0][p],),
            f"what the drift leaves of {name} correlates with what it left of {other} "
            f"{DELAYS[k]} steps before ({found[k, p, q]:.2f}; {errors[k, p, q]:.1f} standard "
            f"errors, all lags together {together.errors[p, q]:.1f}): the next state depends on "
            "more than this one.",
            "A delay, a smoothed or shifted column? Give the columns as measured, at the same "
            "times, or keep every few samples only (--every).",
        )
    else:
        yield from _lasting(seen)


def _lasting(seen: Measurements) -> Iterator[Finding]:
    """Residuals that sums of earlier ones tell of, each too little for any one of them to show."""
    if _is_partly_seen(seen):
        return
    d, left = seen.data.dimension, seen.residuals
    errors = left.past.of_residuals(seen.past_scores.fitted)
    errors[seen.noiseless] = 0.0
    share = _share(seen, errors)
    clear = (np.abs(errors) > chance(2 * errors.size)) & (share > MISFIT)
    if clear.any():
        p, q, w = np.unravel_index(np.argmax(np.where(clear, np.abs(errors), 0.0)), clear.shape)
        name, other = seen.data.names[p], seen.data.names[q]
        yield Finding(
            Limitation.DELAYED,
            (field_names(d)[0][p],),
            f"what the drift leaves of {name} has a memory: what it left of {other} over the last "
            f"{WINDOWS[w]} steps tells of the next one ({abs(errors[p, q, w]):.1f} standard "
            f"errors; about {of_its_size(share[p, q, w])}). Something that is not observed "
            "acts on it, or the error of a sensor lasts.",
            "Observe more of the process, or keep every few samples only (--every) and compare. "
            "The fitted drift is an average over what is hidden.",
        )
    else:
        yield from _two_rates(seen)


def _two_rates(seen: Measurements) -> Iterator[Finding]:
    """Residuals that are taken back soon and go on later: a fast and a slow process in one."""
    errors = seen.residuals.past.of_rates(seen.past_scores.fitted)
    share = _share(seen, errors)
    clear = (
        (errors > chance(errors.size, RATES_ALARM)) & (share > MISFIT) & ~seen.noiseless[:, None]
    )
    if clear.any():
        p, v = np.unravel_index(np.argmax(np.where(clear, errors, 0.0)), clear.shape)
        short, long = RATE_WINDOWS[v]
        yield Finding(
            Limitation.DELAYED,
            (field_names(seen.data.dimension)[0][p],),
            f"{seen.data.names[p]} has two rates: what the drift left of its last {short} steps is "
            f"taken back, what it left of the last {long} goes on ({errors[p, v]:.1f} standard "
            f"errors; about {of_its_size(share[p, v])}). The error of a sensor lasts, the noise "
            "has a memory, or something that is not observed acts on it.",
            "Observe more of the process, or keep every few samples only (--every) and compare. "
            "The fitted drift and tensor lie between those of the two.",
        )
    else:
        yield from _returning(seen)


def _returning(seen: Measurements) -> Iterator[Finding]:
    """States that go back to where they were on average, more than the drift says."""
    errors = seen.residuals.past.of_means(seen.past_scores.fitted)
    share = _share(seen, errors)
    clear = (errors > chance(errors.size)) & (share > MISFIT) & ~seen.noiseless[:, None]
    if clear.any():
        p, m = np.unravel_index(np.argmax(np.where(clear, errors, 0.0)), clear.shape)
        yield Finding(
            Limitation.DELAYED,
            seen.drifts(np.asarray(clear.any(axis=1))),
            f"{seen.data.names[p]} goes back to where it was: beside the state, its mean over the "
            f"last {MEANS[m]} steps tells of the next one ({errors[p, m]:.1f} standard errors; "
            f"about {of_its_size(share[p, m])}). There are several centres, of trajectories or of "
            "times, or something that is not observed moves the centre.",
            "Fit trajectories, or stretches of time, on their own and compare their centres. The "
            "fitted drift is an average over them.",
        )


def wandering(seen: Measurements) -> Iterator[Finding]:
    """Coefficients that are above their mean for a while, and then below."""
    if _is_partly_seen(seen):
        return
    fitted = seen.past_scores.fitted & ~seen.noiseless[:, None]
    if not fitted.any():
        return
    # One that wanders lasts: what it was tells of what it will be, never of the opposite.
    errors = seen.residuals.past.of_terms(seen.past_scores.fitted) * fitted[:, :, None]
    share = _share(seen, errors)
    clear = (errors > chance(int(fitted.sum()) * len(SPELLS))) & (share > MISFIT)
    if clear.any():
        p, k, s = np.unravel_index(np.argmax(np.where(clear, errors, 0.0)), clear.shape)
        term = seen.generator.basis.formulas[seen.past_scores.terms[k]]
        yield Finding(
            Limitation.CHANGING,
            seen.drifts(np.asarray(clear.any(axis=(1, 2)))),
            f"the drift of {seen.data.names[p]} is not the same all the time: by how much the last "
            f"{SPELLS[s]} steps ask for more of {term} tells of the next one "
            f"({errors[p, k, s]:.1f} standard errors; about {of_its_size(share[p, k, s])}). "
            "Something that is not observed sets its strength.",
            "Observe what sets it, or fit stretches of time on their own and compare them. The "
            "fitted drift is an average over strong and weak times.",
        )


def bursts(seen: Measurements) -> Iterator[Finding]:
    """Noise that is loud and quiet by turns, and not by the state."""
    probes = seen.residuals.groups
    found = probes.burstiness(seen.residuals.kurtosis)
    errors = found * np.sqrt(probes.lag_count)[:, None]
    clear = (errors > chance(found.size) + NEARLY_WHITE) & (found > BURSTY)
    if clear.any():
        k, p = np.unravel_index(np.argmax(np.where(clear, errors, 0.0)), found.shape)
        yield Finding(
            Limitation.BURSTS,
            seen.variances(np.asarray(clear.any(axis=0))),
            f"large steps of {seen.data.names[p]} come together: squares of its residuals "
            f"correlate with those {DELAYS[k]} steps before ({found[k, p]:.2f}, "
            f"{errors[k, p]:.0f} standard errors). The strength of the noise is not a function of "
            "the states, or the clock is not even.",
            "Check the times of the samples (weekends, gaps); else the noise has a coordinate of "
            "its own that is not observed.",
        )
