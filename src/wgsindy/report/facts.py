"""The words and figures of a page: what only the caller knows, facts about data and fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf, isfinite, nan
from typing import NamedTuple

from markupsafe import Markup, escape

from wgsindy.diagnostics import (
    CLIPPED,
    ELSEWHERE,
    LARGE_ERROR,
    LEAST_SIGNAL,
    LOW_NOISE_SHARE,
    MEMORY,
    NOISE_CORRELATION,
    REPEATED,
    TAILS,
    TYPICAL,
    WRONG_VARIANCE,
    Diagnostics,
    Verdict,
)
from wgsindy.draw import capitalised, field_pairs
from wgsindy.estimate import PREFERRED
from wgsindy.model import (
    Generator,
    Units,
    in_full,
    readouts,
    rounded,
    typographic,
)
from wgsindy.passes import OUTLIER_RATIO
from wgsindy.report.plot_sample import PlotSample

# A number, with its sign, its exponent, its error and its percent sign.
WRITTEN_NUMBER = re.compile(
    r"(?<!\w)[-\u2212+]?\d[\d.,]*(?:e[-\u2212+]?\d+)?(?: ?± ?[\d.,e\u2212]+)?(?: %)?"
)
UNEVEN_STEPS = 1e-3  # relative spread of the steps above which they are called uneven
# What a verdict needs beside its findings.
NEXT_STEP: dict[Verdict, str] = {
    "identified": (
        "Look at the checks, the residuals and the simulated data below before you rely on this."
    ),
    "partly identified": "",
    "not identified": (
        "The diffusion tensor may still be good: it needs many steps, the drift needs long times."
    ),
    "not assessed": (
        "The recipe of this fit gives neither a verdict nor error bars. Fit with "
        "recipe='sharp' for both."
    ),
}

DIVERGING = (
    "Do not simulate beyond the range of the data. Where the state is bounded by something that "
    "the library does not have, add it (a term that pulls back, a logarithm of a positive state); "
    "else more data at the edges, or a library of lower degree."
)


class Origin(NamedTuple):
    """What only the caller knows: text for the page, never markup."""

    title: str
    command: str  # how the fit was made
    model_file: str  # name under which the page offers the model
    notes: tuple[str, ...]  # sentences about the data
    time_unit: str = ""
    mapped: Generator | None = None  # in the states of the file, if the fit was of changed states


class Fact(NamedTuple):
    """A line of a table of two columns."""

    name: str
    value: str


def unbroken(text: str) -> Markup:
    """Mark the numbers of a text, which the page never breaks across lines.

    >>> str(unbroken("95 % of <x>"))
    '<span class="whole">95 %</span> of &lt;x&gt;'
    """
    marked, done = Markup(""), 0
    for found in WRITTEN_NUMBER.finditer(text):
        whole = Markup('<span class="whole">{}</span>').format(found.group())
        marked += escape(text[done : found.start()]) + whole
        done = found.end()
    return marked + escape(text[done:])


def data_facts(shown: PlotSample, units: Units) -> list[Fact]:
    """How much there is of what."""
    after = f" {units.time}" if units.time else ""
    data, (briefest, widest) = shown.whole, shown.steps
    shortest, longest = int(data.lengths.min()) - 1, int(data.lengths.max()) - 1
    even = widest - briefest <= UNEVEN_STEPS * data.mean_dt
    facts = [
        Fact("Coordinates", ", ".join(data.names)),
        Fact("Trajectories", f"{len(data)}"),
        Fact("Steps", f"{data.n_increments}"),
        Fact(
            "Steps per trajectory",
            f"{shortest}" if shortest == longest else f"{shortest} to {longest}",
        ),
        Fact(
            "Time step",
            (
                f"{data.mean_dt:.6g}"
                if even
                else f"{briefest:.4g} to {widest:.4g}, mean {data.mean_dt:.4g}"
            )
            + after,
        ),
        Fact("Observed time", f"{data.total_time:.6g}{after}"),
    ]
    labels = units.labels(shown.names)
    for name, least, most in zip(labels, shown.low, shown.high, strict=True):
        facts.append(Fact(f"Range of {name}", typographic(f"{least:.4g} to {most:.4g}")))
    return facts


def fit_facts(generator: Generator, diagnostics: Diagnostics) -> list[Fact]:
    """How the fit was made, and from how much."""
    units = generator.units
    facts = [
        Fact("Recipe", str(generator.info.get("recipe", "unknown"))),
        Fact("Library", str(generator.info.get("library", "unknown"))),
        Fact("Candidate terms per field", f"{diagnostics.n_terms}"),
        Fact("Rows", f"{diagnostics.n_rows}"),
        Fact("Effective time, worst 5 %", f"{diagnostics.horizon:.3g} {units.time}".rstrip()),
    ]
    variances = [entry for entry, (p, q) in field_pairs(generator.dimension).items() if p == q]
    for entry, name, noise, variance in zip(
        variances,
        units.labels(),
        diagnostics.noise_level,
        diagnostics.observation_noise,
        strict=True,
    ):
        facts.append(Fact(f"Mean of {units.title(entry)}", f"{noise:.3g}"))
        if variance > 0:
            facts.append(Fact(f"Observation noise of {name}", f"{variance**0.5:.3g}"))
    if diagnostics.noiseless:
        facts.append(Fact("Without noise of their own", ", ".join(diagnostics.noiseless)))
    return facts


def readout_facts(generator: Generator, shown: PlotSample) -> list[Fact]:
    """Leverage, curl and validity of the tensor at the samples, with bands if there are any."""
    found = readouts(generator, shown.states)
    return [Fact(capitalised(item.name), typographic(item.text)) for item in found]


NO_NOISE = "no noise"
# Beyond this the terms of a library can hardly be told apart on the data.
LARGE_CONDITION = 1e4
NO_DRIFT = "no drift was found"
NOT_ASKED = "needs recipe='sharp'"


class CheckValue(NamedTuple):
    """One figure of a fact."""

    coordinate: str  # that it belongs to; empty if it is one of the whole fit
    text: str
    number: float
    normal: bool = True
    missing: str = ""  # why there is no figure


class Measured(NamedTuple):
    """A line of the table."""

    fact: str  # attribute of the diagnostics
    name: str
    tells: str
    normal: str  # range in words
    values: tuple[CheckValue, ...]  # one, or one a coordinate


class Check(NamedTuple):
    """How a fact is named, read and judged."""

    fact: str  # attribute of the diagnostics
    name: str
    tells: str
    low: float = -inf  # of the normal range; near zero if it has no ends
    high: float = inf
    share: bool = False  # written in percent
    missing: str = NO_NOISE  # why it may not be known

    @property
    def normal(self) -> str:
        """The normal range in words."""
        low, high = self.written(self.low), self.written(self.high)
        if isfinite(self.low) and isfinite(self.high):
            return f"{low} to {high}"
        if isfinite(self.high):
            return f"below {high}"
        return f"above {low}" if isfinite(self.low) else f"near {self.written(0.0)}"

    def written(self, value: float) -> str:
        """Write a value as a number or as a share; beyond 100 % its size says nothing."""
        if self.share and abs(value) > 1:
            return "more than 100 %"
        return typographic(f"{rounded(100 * value)} %" if self.share else in_full(value))

    def judged(self, value: float, coordinate: str = "", text: str = "") -> CheckValue:
        """Write a value and compare it."""
        if not isfinite(value):
            return CheckValue(coordinate, "", value, missing=self.missing)
        normal = self.low <= value <= self.high
        return CheckValue(coordinate, text or self.written(value), value, normal)

    def line(self, values: Sequence[CheckValue]) -> Measured:
        """Put the values beside what is normal."""
        return Measured(self.fact, self.name, self.tells, self.normal, tuple(values))


PER_COORDINATE = (
    Check(
        "residual_variance",
        "Residual variance",
        "Away from 1 the tensor does not fit.",
        1 - WRONG_VARIANCE,
        1 + WRONG_VARIANCE,
    ),
    Check(
        "excess_kurtosis",
        "Excess kurtosis of the residuals",
        "Heavy tails: jumps, outliers, or noise of hidden strength.",
        high=TAILS,
    ),
    Check(
        "lag_one",
        "Correlation of neighbouring residuals",
        "Below zero: there is observation noise.",
        low=NOISE_CORRELATION,
    ),
    Check(
        "memory",
        "Memory: excess variance of sums of residuals",
        "Something that is not observed acts on the state.",
        high=MEMORY,
    ),
    Check(
        "thinning",
        "Change of the drift at every other sample",
        "Large: steps are too long, or the observation is noisy.",
        share=True,
        missing=NO_DRIFT,
    ),
    Check(
        "low_noise",
        "Samples with almost no noise",
        "Many: the samples crowd at a boundary, or the coordinate has no noise.",
        high=LOW_NOISE_SHARE,
        share=True,
    ),
    Check(
        "drift_signal",
        "Strongest drift term, in standard errors",
        "Small: the drift does not stand out of the noise.",
        low=LEAST_SIGNAL,
        missing=NOT_ASKED,
    ),
    Check(
        "drift_error",
        "Expected error of the drift",
        "Relative to its size where the data are.",
        high=LARGE_ERROR,
        share=True,
        missing=NO_DRIFT,
    ),
)
OF_THE_FIT = (
    Check(
        "singular",
        "Samples with a nearly singular tensor",
        "Noise is confined to fewer directions than there are coordinates.",
        high=TYPICAL,
        share=True,
    ),
    Check(
        "long_steps",
        "Samples with long steps",
        "Within one of them the drift changes by more than a tenth.",
        high=TYPICAL,
        share=True,
    ),
    Check(
        "shift",
        "Shift between halves, in standard deviations",
        "Large: the data are one passage from one place to another.",
        high=ELSEWHERE,
    ),
    Check(
        "largest_increment",
        "Largest increment over the typical one",
        "Large: an outlier, a jump or a gap in the record.",
        high=OUTLIER_RATIO,
    ),
    Check(
        "condition_number",
        "Condition number of the library",
        "Large: its terms can hardly be told apart on the data.",
        high=LARGE_CONDITION,
    ),
)
REPEATS = Check(
    "repeated_samples",
    "Samples that repeat the one before",
    "A stalled sensor, padding, or a state stuck at a limit.",
    high=REPEATED,
    share=True,
)
CLIPPING = Check(
    "clipped_fraction",
    "Samples with a clipped tensor",
    "Its formula has a negative eigenvalue there, which is set to zero.",
    high=CLIPPED,
    share=True,
    missing=NOT_ASKED,
)
RIVAL = Check(
    "rival_log_evidence",
    "Preference for another library, in log-evidence",
    "Large: the library lacks terms. A preference of 4 means 55 to 1.",
    high=PREFERRED,
    missing="no other library was tried",
)
HOLDOUT = Check(
    "holdout",
    "Change of the drift without one trajectory",
    "Large: one trajectory does not fit the others.",
    share=True,
    missing="there is one trajectory only",
)


def measured(diagnostics: Diagnostics, names: Sequence[str], n_trajectories: int) -> list[Measured]:
    """Write down every fact: those of each coordinate, then those of the whole fit."""
    return [
        *(_of_coordinates(quantity, diagnostics, names) for quantity in PER_COORDINATE),
        *(
            quantity.line([quantity.judged(float(getattr(diagnostics, quantity.fact)))])
            for quantity in OF_THE_FIT
        ),
        _repeats(diagnostics),
        _clipping(diagnostics),
        _rival(diagnostics),
        HOLDOUT.line([HOLDOUT.judged(diagnostics.holdout if n_trajectories > 1 else nan)]),
    ]


def _of_coordinates(quantity: Check, diagnostics: Diagnostics, names: Sequence[str]) -> Measured:
    found: Sequence[float] = getattr(diagnostics, quantity.fact)
    if not found:
        return quantity.line([quantity._replace(missing=NOT_ASKED).judged(nan)])
    quiet = diagnostics.noiseless if quantity.missing == NO_NOISE else ()
    return quantity.line(
        [
            quantity.judged(nan if name in quiet else value, name)
            for value, name in zip(found, names, strict=True)
        ]
    )


def _repeats(diagnostics: Diagnostics) -> Measured:
    share = diagnostics.repeated_samples / diagnostics.n_increments
    counted = f"{diagnostics.repeated_samples} ({REPEATS.written(share)})"
    return REPEATS.line([REPEATS.judged(share, text=counted)])


def _clipping(diagnostics: Diagnostics) -> Measured:
    known = diagnostics.verdict != "not assessed"
    return CLIPPING.line([CLIPPING.judged(diagnostics.clipped_fraction if known else nan)])


def _rival(diagnostics: Diagnostics) -> Measured:
    if diagnostics.verdict == "not assessed":
        return RIVAL.line([RIVAL._replace(missing=NOT_ASKED).judged(nan)])
    text = f"{diagnostics.rival}: {RIVAL.written(diagnostics.rival_log_evidence)}"
    return RIVAL.line(
        [RIVAL.judged(diagnostics.rival_log_evidence if diagnostics.rival else nan, "", text)]
    )
