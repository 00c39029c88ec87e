"""Checks of the formulas: whether they are right, the only ones, and formulas at all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wgsindy.diagnostics.findings import Finding, Limitation
from wgsindy.diagnostics.groups import beyond_chance
from wgsindy.diagnostics.measurements import Measurements
from wgsindy.diagnostics.probe_checks import MISFIT, TYPICAL, chance, of_its_size, share_of_drift
from wgsindy.model import field_names

WRONG_VARIANCE = 0.2  # of residuals, relative
EXPLODED = 0.5  # sum of squared residuals over the sum of what the tensor says
# Error of the drift over its size with every term of the library, in the box about the data, and
# how many times that at the data it is: noted, and a limit. At the data it must be known, and bands
# in the box claim so much less: wide ones say it themselves.
NOTED_GUESS, GUESSED = (0.55, 1.9), (1.0, 2.5)
KNOWN_AT_DATA, CLAIMED_IN_BOX = 0.4, 0.5
LONGEST_FORMULA = 15  # of one formula
CANCELLING = 10.0  # times the size of a field, of one of its terms; of right formulas, at most two
# Log-evidence: how far behind another choice of the same terms may be, and how far ahead terms of
# another kind must be, to be called an equal of the written formula.
EQUAL_EVIDENCE, BETTER = 1.0, 2.0
CLIPPED = 0.05  # share of samples at which the tensor had to be clipped
# False alarms about the form of a drift, where the library was grown: there a polynomial that is
# close to the truth is all that chance has to be told from.
FORM_ALARM = 0.01
NOTED_ERROR = 0.4  # expected error of a drift component, or of a noise, over its size


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


def open_form(seen: Measurements) -> Iterator[Finding]:
    """Terms of further degrees that together explain more than chance, though none does alone."""
    form = seen.fit.form
    if form is None:
        return
    found = beyond_chance(form.squares, form.freedom)
    share = share_of_drift(seen, found.excess)
    wrong = (found.errors > chance(seen.data.dimension, FORM_ALARM)) & (share > MISFIT)
    if wrong.any():
        yield Finding(
            Limitation.MISSING_TERMS,
            seen.drifts(wrong),
            f"the drift of {seen.named(wrong)} is no short polynomial: terms of further degrees, "
            f"none of them clear by itself, together explain {of_its_size(share[wrong].max())} "
            f"({found.errors[wrong].max():.1f} standard errors).",
            "Read the field and its bands, which leave the form open, and not the formula; give "
            "terms that you know the drift to have, or use more data.",
        )


def several(seen: Measurements) -> Iterator[Finding]:
    """Formulas that explain the data as well as the written ones."""
    drift = field_names(seen.data.dimension)[0]
    found = [
        one
        for one in seen.generator.alternatives
        if one.target in drift and not one.library and one.log_evidence > -EQUAL_EVIDENCE
    ]
    for rival in seen.rivals:
        if not rival.is_preferred:
            found += [one for one in rival.alternatives if one.log_evidence > BETTER]
    if found:
        formulas = "; ".join(
            f"{one.formula}" + (f" (with {one.library})" if one.library else "")
            for one in found[:3]
        )
        yield Finding(
            Limitation.SEVERAL,
            tuple(dict.fromkeys(one.target for one in found)),
            f"the data do not choose between several formulas: {formulas}"
            + (f", and {len(found) - 3} more" if len(found) > 3 else "")
            + " would do about as well. What they make of the field where data are is the same.",
            "Read the field, and take the formula as one of several; generator.alternatives has "
            "all of them. Knowledge of the system, or more data, must choose.",
            handled=True,
        )


def long_formula(seen: Measurements) -> Iterator[Finding]:
    """Formulas with so many terms that they are a table, not an equation."""
    spread = seen.generator.uncertainty
    if spread is None:
        return
    terms = np.concatenate([spread.drift, seen.generator.tensor_field.coefficients]) != 0
    names = np.concatenate(field_names(seen.data.dimension))
    long = terms.sum(axis=1) > LONGEST_FORMULA
    if long.any():
        yield Finding(
            Limitation.LONG_FORMULA,
            tuple(names[long].tolist()),
            f"no short formula was found for {', '.join(names[long])}: it takes "
            f"{int(terms.sum(axis=1).max())} terms to follow the data. Read the field, not the "
            "terms.",
            "Look at the pictures of the field. A change of coordinates, or a library of the "
            "field's own functions, may give an equation.",
        )


def cancelling(seen: Measurements) -> Iterator[Finding]:
    """Formulas in which a large term is taken back by others: a power series in disguise.

    850 sin(x) - 850 x is a cubic and a fifth power, and no sine. Constants do not count, nor do
    powers: those of a distance from elsewhere cancel, too.
    """
    spread, basis = seen.generator.uncertainty, seen.generator.basis
    first = len(basis.monomials)
    if spread is None or first == len(basis):
        return
    formulas = np.concatenate([spread.drift, seen.generator.tensor_field.coefficients])
    theta, names = basis.values(seen.points), np.concatenate(field_names(seen.data.dimension))
    fields = (theta @ formulas.T).std(axis=0)
    terms = (theta[:, first:] * formulas[:, None, first:]).std(axis=1)
    size = np.divide(terms.max(axis=1), fields, out=np.zeros_like(fields), where=fields > 0)
    wrong = size > CANCELLING
    if wrong.any():
        term = basis.formulas[first + int(np.argmax(terms[np.argmax(size)]))]
        yield Finding(
            Limitation.LONG_FORMULA,
            tuple(names[wrong].tolist()),
            f"no formula was found for {', '.join(names[wrong])}: {term} is {size.max():.0f} times "
            "as large as what is left when the other terms have taken it back. Together they "
            "follow the data where these are, and mean nothing one by one.",
            "Read the field, not the terms, and do not trust it beyond the data. A library of the "
            "field's own functions may give an equation.",
        )


def extrapolated(seen: Measurements) -> Iterator[Finding]:
    """A drift that is known between the data only because most terms were left out."""
    known, left = seen.known_drift, seen.residuals
    # Noise along one direction leaves the corners of every box empty, and has a finding of its own.
    # So do inputs that switch.
    if known is None or left.singular > TYPICAL * left.samples or seen.data.inputs:
        return
    # Bands that are wide there say it themselves.
    size, ratio = known.box, known.box / known.data
    asked = (known.data < KNOWN_AT_DATA) & (known.bands < CLAIMED_IN_BOX)
    guessed = asked & (size > NOTED_GUESS[0]) & (ratio > NOTED_GUESS[1])
    limiting = guessed & (size > GUESSED[0]) & (ratio > GUESSED[1])
    if guessed.any():
        worst = float(known.box[guessed].max())
        yield Finding(
            Limitation.EXTRAPOLATED,
            seen.drifts(guessed),
            f"parts of the box between the smallest and the largest states have no data: with all "
            f"{len(seen.generator.basis)} terms of the library, the drift of {seen.named(guessed)} "
            f"would be uncertain there by {worst:.0%} of its size. The formula is right where data "
            "are, and a guess elsewhere.",
            "Trust the fields where the report shows data (empty cells are hatched). Start "
            "trajectories from the empty parts, or use a smaller library if you know that it is "
            "enough.",
            handled=not limiting.any(),
        )


def uncertain_noise(seen: Measurements) -> Iterator[Finding]:
    """Tensors that are hardly known: noise of a sensor may be what hides them."""
    for p, error in enumerate(seen.field_errors[1]):
        if error > NOTED_ERROR:
            yield Finding(
                Limitation.UNCERTAIN,
                seen.variances(np.arange(seen.data.dimension) == p),
                f"the noise of {seen.data.names[p]} is known to {error:.0%} of its size only.",
                "Observe more samples, at shorter steps, or with less noise of the sensor.",
            )
