"""The datasheet of a system, made from its declaration and from stored lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy.draw import Plane, View
from wgsindy.model import Generator, field_names
from wgsindy.zoo import System
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.datasheets.contexts import contexts
from wgsindy_evidence.datasheets.fields import plot_fields
from wgsindy_evidence.datasheets.figures import metrics_grid
from wgsindy_evidence.datasheets.protocol import protocol
from wgsindy_evidence.datasheets.terms import (
    recovered_terms,
    term_cells,
    unspanned_fields,
    written_equations,
)
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.grid import Grid
from wgsindy_evidence.pages.page import COLUMN_WIDTH
from wgsindy_evidence.recipes import PAPER, SHARP_EULER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MESH = 31  # points along an axis of the picture: smooth to the eye, and a small file
SIZE = (COLUMN_WIDTH, 7.0)
EULER = "`sharp` for samples that are taken for Euler steps"
VERDICTS = ("identified", "partly identified", "not identified")


class Datasheet(NamedTuple):
    """A page of Markdown and its picture."""

    text: str
    figure: Figure


class Drawn(NamedTuple):
    """What the lines keep of the one seed that is drawn."""

    seed: int
    result: dict[str, Any]


def datasheet(name: str, lines: Sequence[Line], table: Sequence[Line]) -> Datasheet:
    """Build the page of one system from its datasheet lines and its lines of the table.

    Raises
    ------
    CampaignError
        If the lines hold no model of the recipe ``sharp-euler`` to draw.
    """
    system = zoo.get(name)
    sharp = [line for line in lines if line.case.recipe == SHARP_EULER.name]
    paper = [line for line in lines if line.case.recipe == PAPER.name]
    drawn = _drawn(sharp)
    if drawn is None:
        raise CampaignError(
            f"no line of {name} by {SHARP_EULER.name} holds a model to draw; run "
            f"`wgsindy bench datasheets --system {name}` first."
        )
    sections = (
        f"# {system.title}\n\n{_identity(system)}\n",
        f"## Context\n\n{contexts()[system.key]}\n",
        _equations(system),
        _recovered(system, sharp, drawn, _drawn(paper)),
        _fields(system, drawn),
        _figures(system, sharp, drawn, table),
    )
    return Datasheet("\n".join(sections), _picture(system, drawn.result))


def index_of(systems: Sequence[str]) -> str:
    """The list of datasheets, by family."""
    parts = [
        "# Datasheets\n",
        "One page per system: what it is, its equations, what is recovered of them on ten data "
        "sets, and how well.\n",
    ]
    headings = ("System", "the paper's verdict", "declared limitation")
    for family, members in zoo.FAMILIES.items():
        chosen = [zoo.get(name) for name in members if name in systems]
        if chosen:
            rows = [[f"[{s.title}]({s.key}.md)", s.verdict, s.limitation or "-"] for s in chosen]
            parts.append(f"## {family}\n\n{Grid(family, headings, rows, left=3).markdown()}")
    return "\n".join(parts)


def _drawn(lines: Sequence[Line]) -> Drawn | None:
    for line in lines:
        if line.result is not None and "model" in line.result:
            return Drawn(line.case.seed, line.result)
    return None


def _identity(system: System) -> str:
    family = next(name for name, members in zoo.FAMILIES.items() if system.key in members)
    limit = f"; declared limitation: {system.limitation}" if system.limitation else ""
    return f"Key `{system.key}`; family: {family}; the paper's verdict: {system.verdict}{limit}."


def _equations(system: System) -> str:
    truth = system.generator
    return (
        f"## Equations\n\n$$\n{truth.sde_latex()}\n$$\n\nThe generator is\n\n"
        f"$$\n{truth.generator_latex()}\n$$\n\n{protocol(system)}\n"
    )


def _recovered(system: System, sharp: Sequence[Line], drawn: Drawn, paper: Drawn | None) -> str:
    results = [line.result for line in sharp if line.result is not None]
    headings = (
        *("Field", "Term", "True", "Median", "Selected"),
        *(f"Seed {drawn.seed}", "95 % interval", "Inclusion", "Remark"),
    )
    rows = [term_cells(row, len(results)) for row in recovered_terms(system, results, drawn.result)]
    parts = [
        f"## Recovered\n\nRecipe `sharp-euler` ({EULER}) on {len(results)} seeds. Medians are over "
        "the seeds that select the term; value, interval (which leaves the choice of the other "
        f"terms open) and inclusion probability are those of seed {drawn.seed}. A term is `missed` "
        "if it is true and no seed selects it, `false` if some seed selects it and the truth does "
        "not have it.\n",
        Grid("Recovered", headings, rows, left=2).markdown(),
    ]
    if beyond := unspanned_fields(system):
        parts.append(
            f"The library does not span {_listed(beyond)}: no choice of terms is "
            "the truth there. A true value is shown where a term of the library is a term of the "
            "truth.\n"
        )
    parts += [_failures(sharp)] if len(results) < len(sharp) else []
    parts.append(f"Equations on seed {drawn.seed}, recipe `sharp-euler`:\n\n{_code(drawn.result)}")
    if paper is not None:
        parts.append(f"Recipe `paper`:\n\n{_code(paper.result)}")
    return "\n".join(parts)


def _code(result: dict[str, Any]) -> str:
    return "```text\n" + "\n".join(written_equations(result)) + "\n```\n"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _failures(lines: Sequence[Line]) -> str:
    errors = [line.error for line in lines if line.error is not None]
    return f"{len(errors)} of {len(lines)} fits failed, the first with: {errors[0]}\n"


def _fields(system: System, drawn: Drawn) -> str:
    return (
        f"## Fields\n\n![Recovered and true fields of {system.title}](images/{system.key}.png)\n\n"
        f"Recipe `sharp-euler`, seed {drawn.seed}, over the central 96 % of the data in each "
        "coordinate. The recovered drift averages over supports of similar evidence. Recovered and "
        "true share a scale.\n"
    )


def _picture(system: System, result: dict[str, Any]) -> Figure:
    low, high = (np.array(corner) for corner in result["range"])
    return plot_fields(
        Generator.from_dict(result["model"]),
        system.generator,
        Plane.of(View(low, high, (low + high) / 2), (0, 1), system.names),
        points=MESH,
        size=SIZE,
    )


def _figures(system: System, sharp: Sequence[Line], drawn: Drawn, table: Sequence[Line]) -> str:
    components, _ = field_names(len(system.names))
    scored = [components[p] for p in system.scored or ()]
    counted = f" The drift error counts {_listed(scored)} only." if scored else ""
    parts = [
        f"## Figures\n\n{metrics_grid(system, table).markdown()}",
        "Medians of relative errors over the seeds, with 95 % bootstrap intervals of the median; "
        "held-out: one half of the trajectories fitted, scored on the other; PSD: the smallest "
        "share of points over the seeds, in brackets ten times outside the data; floor: the error "
        f"of a fit that is told the true terms and the true noise.{counted} Gates: drift below "
        f"{metrics.LARGEST_DRIFT_ERROR:.2f}, tensor below {metrics.LARGEST_TENSOR_ERROR:.2f}, "
        f"PSD at least {metrics.LEAST_PSD:.2f}, cos12 above {metrics.LEAST_COSINE:.2f}; "
        "published: the paper's figures and its verdict.\n",
        _verdict(sharp, drawn),
    ]
    return "\n".join(parts)


def _verdict(sharp: Sequence[Line], drawn: Drawn) -> str:
    """What the data are said to determine, counted over the seeds, and why on the drawn one."""
    found = [line.result["verdict"] for line in sharp if line.result is not None]
    counts = [f"{word} on {found.count(word)}" for word in VERDICTS]
    text = f"Verdicts of recipe `sharp-euler` over {len(found)} seeds: "
    text += ", ".join(counts) + ".\n"
    reasons = "".join(f"- {reason}\n" for reason in drawn.result["reasons"])
    return text + (f"\nOn seed {drawn.seed}:\n\n{reasons}" if reasons else "")
