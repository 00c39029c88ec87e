"""The datasheet of a system, made from its declaration and from stored lines."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, isnan, log10
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wgsindy import metrics, symbolic, zoo
from wgsindy.bench.campaign import Line
from wgsindy.bench.table import Row, summarise
from wgsindy.display.fields import Window, plot_fields
from wgsindy.display.grid import Grid, number
from wgsindy.display.pages.page import COLUMN_WIDTH
from wgsindy.errors import CampaignError
from wgsindy.generator import Generator
from wgsindy.library import library
from wgsindy.recipes import PAPER, SHARP
from wgsindy.simulate import EulerMaruyama, ExactLinear, ExactLognormal, KineticSplitting, Scheme
from wgsindy.uncertainty import normal_quantile
from wgsindy.zoo import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MESH = 31  # points along an axis of the picture: smooth to the eye, and a small file
SIZE = (COLUMN_WIDTH, 7.0)
VERDICTS = ("identified", "partly identified", "not identified")
UNKNOWN = float("nan")


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
        If the lines hold no model of the recipe ``sharp`` to draw.
    """
    system = zoo.get(name)
    sharp = [line for line in lines if line.case.recipe == SHARP.name]
    paper = [line for line in lines if line.case.recipe == PAPER.name]
    drawn = _drawn(sharp)
    if drawn is None:
        raise CampaignError(
            f"no line of {name} by {SHARP.name} holds a model to draw; run "
            f"`wgsindy bench datasheets --system {name}` first."
        )
    sections = (
        f"# {system.title}\n\n{_identity(system)}\n",
        f"## Context\n\n{system.context}\n",
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
        "One page a system: what it is, its equations, what is recovered of them on ten data "
        "sets, and how well.\n",
    ]
    headings = ("System", "the paper's verdict", "limiting axis")
    for family, factories in zoo.FAMILIES.items():
        chosen = [zoo.get(item.__name__) for item in factories if item.__name__ in systems]
        if chosen:
            rows = [[f"[{s.title}]({s.key}.md)", s.verdict, s.axis or "-"] for s in chosen]
            parts.append(f"## {family}\n\n{Grid(family, headings, rows, left=3).markdown()}")
    return "\n".join(parts)


def _drawn(lines: Sequence[Line]) -> Drawn | None:
    for line in lines:
        if line.result is not None and "model" in line.result:
            return Drawn(line.case.seed, line.result)
    return None


def _identity(system: System) -> str:
    family = next(
        family
        for family, factories in zoo.FAMILIES.items()
        if system.key in [factory.__name__ for factory in factories]
    )
    axis = f"; limiting axis: {system.axis}" if system.axis else ""
    return f"Key `{system.key}`; family: {family}; the paper's verdict: {system.verdict}{axis}."


def _equations(system: System) -> str:
    truth = system.generator
    return (
        f"## Equations\n\n$$\n{truth.sde_latex()}\n$$\n\nThe generator is\n\n"
        f"$$\n{truth.generator_latex()}\n$$\n\n{_protocol(system)}\n"
    )


def _protocol(system: System) -> str:
    """How the system is observed, in a sentence."""
    start = ", ".join(f"{value:g}" for value in system.start)
    spread = f" with a spread of {system.start_spread:g}" if system.start_spread else ""
    named = isinstance(system.library, str)
    return (
        f"Protocol: {system.trajectories} trajectories of {system.steps} steps of length "
        f"{_step(system.dt)}, started at ({start}){spread}, simulated by "
        f"{_scheme(system.scheme, system.names)}, fitted with "
        f"{f'library `{system.library}`' if named else 'a library of formulas'} "
        f"({len(_terms(system))} terms)."
    )


def _step(dt: float) -> str:
    short = f"{dt:g}"
    return short if float(short) == dt else f"1/{1 / dt:g}"


def _scheme(scheme: Scheme, names: Sequence[str]) -> str:
    if isinstance(scheme, ExactLinear):
        return "exact transitions of the linear equation"
    if isinstance(scheme, ExactLognormal):
        return "exact lognormal transitions"
    d = len(names)
    if isinstance(scheme, KineticSplitting):
        low, high = (-scheme.limit,) * d, (scheme.limit,) * d
        return "the BAOAB splitting" + _limits(low, high, names)
    assert isinstance(scheme, EulerMaruyama)
    low = scheme.lower or (-np.inf,) * d
    high = scheme.upper or (np.inf,) * d
    finer = f" with {scheme.substeps} substeps" if scheme.substeps > 1 else ""
    return f"Euler-Maruyama{finer}" + _limits(low, high, names)


def _limits(low: Sequence[float], high: Sequence[float], names: Sequence[str]) -> str:
    """Say to which range each coordinate is clipped, if any."""
    kept = [
        f"{name} in [{a:g}, {b:g}]" if isfinite(b) else f"{name} at least {a:g}"
        for name, a, b in zip(names, low, high, strict=True)
        if isfinite(a) or isfinite(b)
    ]
    return f" (which keeps {' and '.join(kept)})" if kept else ""


def _terms(system: System) -> tuple[str, ...]:
    return library(system.library).bind(system.names).terms


class Term(NamedTuple):
    """One term of one field over the seeds: ``values`` of those that select it.

    ``true`` is NaN where no term of the library has a true coefficient; value, standard error and
    inclusion probability are those of the drawn seed, NaN if it leaves the term out.
    """

    field: str
    term: str
    true: float
    values: tuple[float, ...]
    value: float
    error: float
    inclusion: float

    @property
    def remark(self) -> str:
        """Whether a term of the truth was never found, or one was found that is not there."""
        if self.true == 0:
            return "false"
        return "" if self.values or isnan(self.true) else "missed"


def recovered_terms(
    system: System, results: Sequence[dict[str, Any]], drawn: dict[str, Any]
) -> list[Term]:
    """Terms of the truth and all that some seed selects, by field, in the library's order."""
    terms = _terms(system)
    fields = [name for names in symbolic.field_names(len(system.names)) for name in names]
    truth = {(c.target, c.term): c.value for c in system.generator.coefficients}
    beyond = unspanned_fields(system)
    found: dict[tuple[str, str], list[float]] = {key: [] for key in truth if key[1] in terms}
    for result in results:
        for field, term, value, *_ in result["coefficients"]:
            found.setdefault((field, term), []).append(value)
    shown = {(field, term): rest for field, term, *rest in drawn["coefficients"]}
    order = sorted(found, key=lambda key: (fields.index(key[0]), terms.index(key[1])))
    return [
        Term(
            *key,
            truth.get(key, UNKNOWN if key[0] in beyond else 0.0),
            tuple(found[key]),
            *shown.get(key, [UNKNOWN] * 3),
        )
        for key in order
    ]


def unspanned_fields(system: System) -> list[str]:
    """Fields of the truth with terms that the library does not have."""
    terms = _terms(system)
    outside = [c.target for c in system.generator.coefficients if c.term not in terms]
    return list(dict.fromkeys(outside))


def _recovered(system: System, sharp: Sequence[Line], drawn: Drawn, paper: Drawn | None) -> str:
    results = [line.result for line in sharp if line.result is not None]
    headings = (
        *("Field", "Term", "True", "Median", "Selected"),
        *(f"Seed {drawn.seed}", "95 % interval", "Inclusion", "Remark"),
    )
    rows = [
        _term_cells(row, len(results)) for row in recovered_terms(system, results, drawn.result)
    ]
    parts = [
        f"## Recovered\n\nRecipe `sharp` on {len(results)} seeds. Medians are over the seeds that "
        f"select the term; value, interval (given the selected terms) and inclusion probability "
        f"are those of seed {drawn.seed}. A term is `missed` if it is true and no seed selects "
        "it, `false` if some seed selects it and the truth does not have it.\n",
        Grid("Recovered", headings, rows, left=2).markdown(),
    ]
    if beyond := unspanned_fields(system):
        parts.append(
            f"The library does not span {_listed(beyond)}: no choice of terms is "
            "the truth there. A true value is shown where a term of the library is a term of the "
            "truth.\n"
        )
    parts += [_failures(sharp)] if len(results) < len(sharp) else []
    parts.append(f"Equations on seed {drawn.seed}, recipe `sharp`:\n\n{_code(drawn.result)}")
    if paper is not None:
        parts.append(f"Recipe `paper`:\n\n{_code(paper.result)}")
    return "\n".join(parts)


def _term_cells(row: Term, seeds: int) -> list[str]:
    digits = _decimals(row.error)
    ends = [row.value + side * normal_quantile(0.95) * row.error for side in (-1, 1)]
    low, high = (_fixed(end, digits) for end in ends)
    return [
        row.field,
        f"`{row.term}`",
        "-" if isnan(row.true) else f"{row.true:.6g}",
        f"{np.median(row.values):.4g}" if row.values else "-",
        f"{len(row.values)} of {seeds}",
        _fixed(row.value, digits),
        "-" if isnan(row.error) else f"[{low}, {high}]",
        number(row.inclusion, 2),
        row.remark,
    ]


def _decimals(error: float) -> int | None:
    """Decimals that show two digits of a standard error; None if there is none."""
    return max(1 - floor(log10(error)), 0) if error > 0 else None


def _fixed(value: float, decimals: int | None) -> str:
    if isnan(value):
        return "-"
    # Adding zero takes the sign from a negative value that is rounded to zero.
    return f"{value:.4g}" if decimals is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def _code(result: dict[str, Any]) -> str:
    return "```text\n" + "\n".join(written_equations(result)) + "\n```\n"


def written_equations(result: dict[str, Any]) -> list[str]:
    """The equations that the fit printed.

    The stored model has no error bars, and without them the drift would be written as the average
    over supports that is drawn, not as the selected terms; those stand in the coefficients.
    """
    model = Generator.from_dict(result["model"])
    if "coefficients" not in result:
        return model.equations()
    drift, entries = symbolic.field_names(model.dimension)
    return [
        f"{name} = " + symbolic.join_terms(_pairs(result["coefficients"], name), digits=3)
        for name in (*drift, *entries)
    ]


def _pairs(coefficients: Sequence[Sequence[Any]], field: str) -> list[tuple[float, str]]:
    return [(value, term) for target, term, value, *_ in coefficients if target == field]


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _failures(lines: Sequence[Line]) -> str:
    errors = [line.error for line in lines if line.error is not None]
    return f"{len(errors)} of {len(lines)} fits failed, the first with: {errors[0]}\n"


def _fields(system: System, drawn: Drawn) -> str:
    return (
        f"## Fields\n\n![Recovered and true fields of {system.title}](images/{system.key}.png)\n\n"
        f"Recipe `sharp`, seed {drawn.seed}, over the central 96 % of the data in each coordinate. "
        "The recovered drift averages over supports of similar evidence. Recovered and true share "
        "a scale.\n"
    )


def _picture(system: System, result: dict[str, Any]) -> Figure:
    low, high = (np.array(corner) for corner in result["range"])
    return plot_fields(
        Generator.from_dict(result["model"]),
        system.generator,
        Window(system.names, low, high),
        points=MESH,
        size=SIZE,
    )


def _figures(system: System, sharp: Sequence[Line], drawn: Drawn, table: Sequence[Line]) -> str:
    scored = [f"b{p + 1}" for p in system.scored or ()]
    counted = f" The drift error counts {_listed(scored)} only." if scored else ""
    parts = [
        f"## Figures\n\n{_metrics_grid(system, table).markdown()}",
        "Medians of relative errors over the seeds, with 95 % bootstrap intervals of the median; "
        "held-out: one half of the trajectories fitted, scored on the other; PSD: the smallest "
        "share of points over the seeds, in brackets ten times outside the data; floor: the error "
        f"of a fit that is told the true terms and the true noise.{counted} Gates: drift below "
        f"{metrics.DRIFT_GATE:.2f}, tensor below {metrics.TENSOR_GATE:.2f}, PSD at least "
        f"{metrics.PSD_GATE:.2f}, cos12 above {metrics.COSINE_GATE:.2f}; published: the paper's "
        "figures and its verdict.\n",
        _verdict(sharp, drawn),
        f"Limiting axis: {system.axis or 'none'}.\n",
    ]
    return "\n".join(parts)


def _metrics_grid(system: System, table: Sequence[Line]) -> Grid:
    headings = (
        *("Recipe", "Drift", "Tensor", "cos12", "PSD"),
        *("Held-out drift", "Held-out tensor", "Gates"),
    )
    rows = []
    for recipe in (SHARP.name, PAPER.name):
        found = summarise([line for line in table if line.case.recipe == recipe])
        rows += [_row_cells(recipe, row) for row in found]
    rows += [_published_cells(system)] if system.published else []
    for row in summarise([line for line in table if line.case.recipe == SHARP.name]):
        floors = [number(row.floor_drift), number(row.floor_tensor, 4)]
        rows.append(["floor", *floors, *["-"] * 5])
    return Grid("Figures", headings, rows)


def _row_cells(recipe: str, row: Row) -> list[str]:
    return [
        recipe,
        _with_interval(row.drift, *row.drift_ci),
        _with_interval(row.tensor, *row.tensor_ci, digits=4),
        number(row.cosine),
        f"{row.psd:.2f} ({row.psd_far:.2f})",
        number(row.held_out_drift),
        number(row.held_out_tensor, 4),
        ("pass" if row.passes else "fail") + (f" ({row.failed} failed)" if row.failed else ""),
    ]


def _published_cells(system: System) -> list[str]:
    figures = system.published or {}

    def cell(name: str, digits: int = 3) -> str:
        low, high = figures[f"{name}_ci_low"], figures[f"{name}_ci_high"]
        return _with_interval(figures[f"{name}_median"], low, high, digits)

    errors = [cell("objective_drift"), cell("diffusion", 4), cell("a12_cosine")]
    return ["published", *errors, "-", "-", "-", system.verdict]


def _with_interval(value: float, low: float, high: float, digits: int = 3) -> str:
    text = number(value, digits)
    return text if isnan(low) else f"{text} [{number(low, digits)}, {number(high, digits)}]"


def _verdict(sharp: Sequence[Line], drawn: Drawn) -> str:
    """What the data are said to determine, counted over the seeds, and why on the drawn one."""
    found = [line.result["verdict"] for line in sharp if line.result is not None]
    counts = [f"{word} on {found.count(word)}" for word in VERDICTS]
    text = f"What the data determine, by recipe `sharp`, of {len(found)} seeds: "
    text += ", ".join(counts) + ".\n"
    reasons = "".join(f"- {reason}\n" for reason in drawn.result["reasons"])
    return text + (f"\nOn seed {drawn.seed}:\n\n{reasons}" if reasons else "")
