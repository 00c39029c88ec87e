"""The words and figures of a report: verdict, advice, tables, facts about the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from wgsindy.diagnostics import OUTLIER_RATIO, Diagnostics
from wgsindy.display.grid import percent
from wgsindy.findings import Verdict
from wgsindy.generator import Generator
from wgsindy.trajectories import Trajectories

# Beyond this the terms of a library can hardly be told apart on the data.
LARGE_CONDITION = 1e4
MINUS = "\N{MINUS SIGN}"
UNEVEN = 1e-3  # relative spread of the steps above which they are called uneven

ADVICE: dict[Verdict, str] = {
    "identified": (
        "Every component of the drift stands out of the noise. Look at the residuals and at the "
        "simulated data below before you rely on the equations: a term that no candidate can "
        "express shows there."
    ),
    "partly identified": (
        "Some components of the drift stand out of the noise, others do not. Do not read a zero "
        "as a finding: observe for longer, or more of the process at once."
    ),
    "not identified": (
        "No component of the drift stands out of the noise. The diffusion tensor may still be "
        "good: it needs many steps, the drift needs long times. Observe for longer."
    ),
    "not assessed": (
        "The recipe of this fit gives neither a verdict nor error bars. Fit with "
        "recipe='sharp' for both."
    ),
}


class Origin(NamedTuple):
    """What only the caller knows: text for the page, never markup."""

    title: str
    command: str
    model_file: str
    notes: tuple[str, ...]


class Fact(NamedTuple):
    """A line of a table of two columns."""

    name: str
    value: str


@dataclass(frozen=True)
class Judgement:
    """Verdict, what it rests on, what to do, and what else to look at."""

    verdict: Verdict
    advice: str
    reasons: tuple[str, ...]
    cautions: tuple[str, ...]


def judgement(diagnostics: Diagnostics) -> Judgement:
    """Put the diagnostics of a fit into sentences."""
    return Judgement(
        diagnostics.verdict,
        ADVICE[diagnostics.verdict],
        tuple(capitalised(reason) for reason in diagnostics.reasons),
        tuple(_cautions(diagnostics)),
    )


def capitalised(text: str) -> str:
    """Begin a sentence with a capital, unless it begins with the name of a coordinate.

    >>> capitalised("the drift of x is not identified.")
    'The drift of x is not identified.'
    >>> capitalised("v has no noise of its own.")
    'v has no noise of its own.'
    """
    return text[:1].upper() + text[1:] if text.startswith(("the ", "a ")) else text


def _cautions(diagnostics: Diagnostics) -> list[str]:
    found = []
    if diagnostics.repeated_samples:
        found.append(
            f"{diagnostics.repeated_samples} samples repeat the one before them exactly: a "
            "stalled sensor, padding or a state stuck at a limit."
        )
    if diagnostics.largest_increment > OUTLIER_RATIO:
        found.append(
            f"The largest increment is {diagnostics.largest_increment:.3g} times the typical "
            "one: an outlier, a jump or a gap in the record."
        )
    if diagnostics.clipped_fraction > 0:
        found.append(
            f"At {percent(diagnostics.clipped_fraction, 1)} of the samples the formula of the "
            "tensor has a negative eigenvalue, which the field sets to zero."
        )
    if diagnostics.condition_number > LARGE_CONDITION:
        found.append(
            f"The condition number of the library on the data is "
            f"{diagnostics.condition_number:.2g}: some terms can hardly be told apart. Try a "
            "smaller library."
        )
    return found


def data_facts(data: Trajectories) -> list[Fact]:
    """How much there is of what."""
    lengths = np.array([len(path) - 1 for path in data])
    steps = np.concatenate([data.steps(index) for index in range(len(data))])
    shortest, longest = int(lengths.min()), int(lengths.max())
    even = float(np.ptp(steps)) <= UNEVEN * data.mean_dt
    facts = [
        Fact("Coordinates", ", ".join(data.names)),
        Fact("Trajectories", f"{len(data)}"),
        Fact("Steps", f"{data.n_increments}"),
        Fact(
            "Steps a trajectory",
            f"{shortest}" if shortest == longest else f"{shortest} to {longest}",
        ),
        Fact(
            "Time step",
            f"{data.mean_dt:.6g}"
            if even
            else f"{steps.min():.4g} to {steps.max():.4g}, mean {data.mean_dt:.4g}",
        ),
        Fact("Observed time", f"{data.total_time:.6g}"),
    ]
    low, high = data.states.min(axis=0), data.states.max(axis=0)
    for name, least, most in zip(data.names, low, high, strict=True):
        facts.append(Fact(f"Range of {name}", f"{least:.4g} to {most:.4g}".replace("-", MINUS)))
    return facts


def fit_facts(generator: Generator, diagnostics: Diagnostics) -> list[Fact]:
    """How the fit was made and what its linear systems looked like."""
    facts = [
        Fact("Recipe", str(generator.info.get("recipe", "unknown"))),
        Fact("Candidate terms a field", f"{diagnostics.n_terms}"),
        Fact("Rows", f"{diagnostics.n_rows}"),
        Fact("Condition number", f"{diagnostics.condition_number:.3g}"),
        Fact("Largest increment over the typical one", f"{diagnostics.largest_increment:.3g}"),
        Fact("Repeated samples", f"{diagnostics.repeated_samples}"),
    ]
    for name, signal in zip(generator.names, diagnostics.drift_signal, strict=False):
        facts.append(Fact(f"Strongest drift term of {name}", f"{signal:.1f} standard errors"))
    return facts
