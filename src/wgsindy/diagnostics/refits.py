"""Questions that take another fit: as a chain of Euler steps, and at longer steps."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from wgsindy.data import BoolArray, Dataset, FloatArray
from wgsindy.errors import WgsindyError
from wgsindy.estimate import (
    Dynamics,
    Fit,
    OrderEvidence,
    can_be_positions,
    fit_likelihood,
    log_likelihood,
    pilot_orders,
)
from wgsindy.model import field_names
from wgsindy.passes import data_summary, segments_of
from wgsindy.recipes import SHARP, SHARP_EULER, LikelihoodRecipe

# Steps on which the kind of step and its length are judged, in segments of so many.
CHAIN_STEPS, MOST_STEPS, SEGMENT = 5_000, 25_000, 250
CHAIN_EVIDENCE = 10.0  # log-evidence for an unlikely thing: measured data are no Euler steps
# Nats by which both kinds of step must differ: of fewer, chance makes no evidence of that size. It
# is as much as they differ by on average, and varies by the root of twice that.
APART = 4.0
SMALLEST = 1e-9  # variance along any direction, as a share of the largest
# Every so many samples. At steps much longer than noise is averaged over, noise and tensor cannot
# be told apart, and error bars are no longer those of normal numbers.
THINNED = (2, 4)
FEWEST_LEFT = 500  # increments
CHANGED = 3.5  # standard errors; chance reaches it once in 2,000 times a coefficient
LARGE_CHANGE = 0.1  # share of a coefficient


class _Worth(NamedTuple):
    """Log-evidence of a fit, and its terms ``(d + E, K)``."""

    worth: float
    terms: BoolArray

    @classmethod
    def of(cls, fit: Fit, data: Dataset) -> _Worth:
        """What a fit is worth on ``data``."""
        assert fit.likelihood is not None
        terms = fit.generator.written_coefficients != 0
        gained = log_likelihood(fit.generator, data) * data.n_increments
        return cls(gained - fit.likelihood.term_cost * int(terms.sum()), terms)


class StepChange(NamedTuple):
    """What keeping fewer samples does to the equations."""

    every: int  # samples of which one is kept
    fields: tuple[str, ...]  # whose coefficients change by more than chance
    size: float  # of the clearest change, as a share of the coefficient
    errors: float  # the same in standard errors


def chain_evidence(fit: Fit) -> float:
    """Log-evidence by which the samples are Euler steps of a simulation rather than a process.

    Zero where nobody can tell. A linear process is a chain with other coefficients. Without noise
    there is no likelihood to compare. Evidence that is not enough may be less than is said.
    """
    if fit.likelihood is None or fit.likelihood.noiseless.all() or fit.data.partly_seen:
        return 0.0
    # Enough to tell, and held in memory: each fit reads them several times.
    data = segments_of(fit.data, CHAIN_STEPS // SEGMENT, SEGMENT, engine=fit.engine)
    try:
        process = _Worth.of(fit, data)
        chain = _refitted(fit, data, SHARP_EULER)
        if chain.worth > process.worth + CHAIN_EVIDENCE:  # by its steps, or by its terms?
            process = max(process, _refitted(fit, data, SHARP, chain.terms), key=lambda one: one[0])
    except WgsindyError:
        return 0.0
    return chain.worth - process.worth


def nats_apart(dynamics: Dynamics, points: FloatArray, dt: float) -> float:
    """Divergence of Euler steps from those of the process, both by the same fields, of all steps.

    At some ``points (n, d)``. It takes no fit: steps so short that both are one need none.
    """
    time = np.full(len(points), dt)
    process, chain = (replace(dynamics, is_chain=kind).step(points, time) for kind in (False, True))
    if not (np.isfinite(process.covariance).all() and np.isfinite(chain.covariance).all()):
        return np.inf
    values, vectors = np.linalg.eigh(process.covariance.transpose(2, 0, 1))
    with np.errstate(all="ignore"):  # without any noise, they differ by more than any number
        white = vectors / np.sqrt(np.maximum(values, SMALLEST * values[:, -1:]))[:, None, :]
        spread = white.swapaxes(1, 2) @ chain.covariance.transpose(2, 0, 1) @ white
        gap = np.einsum("npk,pn->nk", white, chain.mean - process.mean)
        apart = np.sum(gap**2, axis=1) + np.einsum("npp->n", spread) - gap.shape[1]
        return float(np.mean(apart - np.linalg.slogdet(spread)[1]) / 2 * CHAIN_STEPS)


def second_order_evidence(fit: Fit) -> OrderEvidence | None:
    """Say whether the data are rather positions whose velocities are hidden."""
    if fit.orders is not None or fit.data.order == 2:
        return fit.orders
    if not isinstance(fit.recipe, LikelihoodRecipe) or fit.recipe.transition == "chain":
        return None
    if not can_be_positions(fit.data):
        return None
    try:
        found = pilot_orders(fit)
        # What lines leave may look like inertia: the terms of the fit have to agree.
        return pilot_orders(fit, fit.library) if found.preferred == 2 else found
    except (WgsindyError, np.linalg.LinAlgError):
        return None


def _refitted(
    fit: Fit, data: Dataset, recipe: LikelihoodRecipe, given: BoolArray | None = None
) -> _Worth:
    """Fit by a recipe that knows no noise, and say what the fit is worth."""
    recipe = replace(recipe, noise_correction=False)
    found = fit_likelihood(data, fit.library, recipe, fit.summary, name="", given=given)
    return _Worth.of(found, data)


def step_change(fit: Fit) -> StepChange | None:
    """Fit the same terms to fewer samples, and compare.

    A process that is seen through white noise has the same equations at every step. The estimate
    from all samples is the better one, so that the variance of the difference is the difference of
    the variances (Hausman); at least that of the better one. Nothing where no noise was found.
    """
    estimate = fit.likelihood
    if estimate is None or not estimate.noise_error.any() or fit.generator.basis.origin.any():
        return None
    data = segments_of(fit.data, MOST_STEPS // SEGMENT, SEGMENT, engine=fit.engine)
    whole, clearest = fit.generator.written_coefficients, StepChange(0, (), 0.0, 0.0)
    names = np.concatenate(field_names(fit.data.dimension))
    for every in THINNED:
        if data.n_increments < every * FEWEST_LEFT:
            break
        kept = data.thinned(every)
        recipe = replace(SHARP, noise_correction=True)
        summary = data_summary(kept, standardise=True)
        try:
            other = fit_likelihood(kept, fit.library, recipe, summary, name="", given=whole != 0)
        except (WgsindyError, np.linalg.LinAlgError):
            continue
        gap = np.abs(other.generator.written_coefficients - whole)
        spreads = [one.generator.uncertainty for one in (fit, other)]
        own, longer = (one.std_errors() ** 2 for one in spreads if one is not None)
        errors = gap / np.sqrt(np.maximum(longer - own, own) + np.finfo(float).tiny)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.where(whole != 0, gap / np.abs(whole), 0.0)
        changed = (errors > CHANGED) & (size > LARGE_CHANGE)
        worst = np.unravel_index(np.argmax(np.where(changed, errors, 0.0)), gap.shape)
        if changed.any() and errors[worst] > clearest.errors:
            fields = (names[worst[0]], *names[changed.any(axis=1)])
            clearest = StepChange(
                every, tuple(dict.fromkeys(fields)), float(size[worst]), float(errors[worst])
            )
    return clearest
