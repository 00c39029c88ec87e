"""The words and figures of a page: what only the caller knows, facts about data and fit."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from markupsafe import Markup, escape

from wgsindy.diagnostics import Diagnostics, Verdict
from wgsindy.model import Generator, Units, field_names, readouts, tensor, typographic
from wgsindy.report.digest import Digest

# A number, with its sign, its exponent, its error and its percent sign.
NUMBER = re.compile(
    r"(?<!\w)[-\u2212+]?\d[\d.,]*(?:e[-\u2212+]?\d+)?(?: ?± ?[\d.,e\u2212]+)?(?: %)?"
)
UNEVEN = 1e-3  # relative spread of the steps above which they are called uneven
# What a verdict needs beside its findings.
NEXT: dict[Verdict, str] = {
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


def duration(value: float, unit: str) -> str:
    """Write a time.

    >>> duration(0.25, "s"), duration(0.25, ""), duration(1, "")
    ('0.25 s', '0.25 units of time', '1 unit of time')
    """
    written = f"{value:.2g}"
    return f"{written} {unit or ('unit of time' if written == '1' else 'units of time')}"


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


def capitalised(text: str, names: Collection[str] = ()) -> str:
    """Begin a sentence with a capital, unless it begins with the name of a coordinate.

    >>> capitalised("the drift of x is not identified.", ("x", "v"))
    'The drift of x is not identified.'
    >>> capitalised("v has no noise of its own.", ("x", "v"))
    'v has no noise of its own.'
    """
    return text if text.split(" ", 1)[0] in names else text[:1].upper() + text[1:]


def unbroken(text: str) -> Markup:
    """Mark the numbers of a text, which the page never breaks across lines.

    >>> str(unbroken("95 % of <x>"))
    '<span class="whole">95 %</span> of &lt;x&gt;'
    """
    marked, done = Markup(""), 0
    for found in NUMBER.finditer(text):
        whole = Markup('<span class="whole">{}</span>').format(found.group())
        marked += escape(text[done : found.start()]) + whole
        done = found.end()
    return marked + escape(text[done:])


def data_facts(shown: Digest, units: Units) -> list[Fact]:
    """How much there is of what."""
    after = f" {units.time}" if units.time else ""
    data, (briefest, widest) = shown.whole, shown.steps
    shortest, longest = int(data.lengths.min()) - 1, int(data.lengths.max()) - 1
    even = widest - briefest <= UNEVEN * data.mean_dt
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
    _, entries = field_names(generator.dimension)
    for p, (name, noise, variance) in enumerate(
        zip(units.labels(), diagnostics.noise_level, diagnostics.observation_noise, strict=True)
    ):
        mean = units.title(entries[tensor.entry_number(p, p)])
        facts.append(Fact(f"Mean of {mean}", f"{noise:.3g}"))
        if variance > 0:
            facts.append(Fact(f"Observation noise of {name}", f"{variance**0.5:.3g}"))
    if diagnostics.noiseless:
        facts.append(Fact("Without noise of their own", ", ".join(diagnostics.noiseless)))
    return facts


def readout_facts(generator: Generator, shown: Digest) -> list[Fact]:
    """Leverage, curl and validity of the tensor at the samples, with bands if there are any."""
    found = readouts(generator, shown.states)
    return [Fact(capitalised(item.name), typographic(item.text)) for item in found]
