"""The master table of each recipe, what the rows add up to, and the ledger of stable support."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wgsindy import zoo
from wgsindy.data import FloatArray
from wgsindy.model import field_names
from wgsindy.terms import library
from wgsindy_evidence import support
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.paper.table import CONTROL
from wgsindy_evidence.grid import Grid, number, percent
from wgsindy_evidence.ledger import Overall, Row, overall, summarise
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.published import table_row
from wgsindy_evidence.recipes import PAPER, SHARP_EULER
from wgsindy_evidence.scope import in_scope

HEADINGS = (
    *("System", "Drift", "paper", "floor", "Tensor", "paper", "floor"),
    *("cos12", "PSD", "L f", "paper", "score", "gates"),
)
LEDGER_HEADINGS = (
    *("System", "active terms", "found: paper", "false", "found: sharp-euler", "false"),
)
FALSE_HEADINGS = ("Recipe", "System", "field", "term", "seeds", "size", "true size")
# What the paper counts over its 19 PASS systems.
PUBLISHED_LEDGER = support.Ledger(active=134, recovered=104, false_positives=0)
PUBLISHED = {
    "drift": "objective_drift_median",
    "tensor": "diffusion_median",
    "cosine": "a12_cosine_median",
}


def build(lines: Sequence[Line]) -> Content:
    """Tables of all recipes that have lines, sentences under each, and the headline."""
    grids, sentences, totals = {}, {}, {}
    for recipe in dict.fromkeys(line.case.recipe for line in lines):
        rows = summarise([line for line in lines if line.case.recipe == recipe])
        grids[f"table-{recipe}"] = master_grid(rows, f"Master table, recipe {recipe}")
        total = overall(rows)
        if total is not None:
            totals[recipe] = total
            sentences[f"table-{recipe}"] = "\n".join(f"- {s}" for s in overall_sentences(total))
    if {SHARP_EULER.name, PAPER.name} <= set(totals):
        grids["headline"] = headline(totals[SHARP_EULER.name], totals[PAPER.name])
    return Content(grids, sentences=sentences)


def build_further(lines: Sequence[Line]) -> Content:
    """What our recipe adds up to on more seeds, and the doubtful rows of the paper's."""
    sharp = summarise([line for line in lines if line.case.recipe == SHARP_EULER.name])
    total = overall(sharp)
    assert total is not None
    rows = []
    others = dict.fromkeys(line.case.recipe for line in lines)
    for recipe in [name for name in others if name != SHARP_EULER.name]:
        for row in summarise([line for line in lines if line.case.recipe == recipe]):
            interval = [
                f"{number(row.published(key, 'ci_low'))} - {number(row.published(key, 'ci_high'))}"
                for key in ("drift", "tensor")
            ]
            figures = [number(row.drift), interval[0], number(row.tensor), interval[1]]
            rows.append([row.title, recipe, *figures, number(row.psd, 2)])
    headings = (
        "System",
        "recipe",
        "drift",
        "paper's interval",
        "tensor",
        "paper's interval",
        "PSD",
    )
    grid = Grid("Doubtful rows on 30 further seeds", headings, sorted(rows), left=2)
    listed = "\n".join(f"- {sentence}" for sentence in overall_sentences(total))
    return Content({"further-seeds": grid}, sentences={"further-seeds": listed})


def _cells(row: Row) -> list[str]:
    """Format one system; ``*`` marks a median above the paper's 95 % interval."""
    above = {key: "" if row.within_paper(key) else "*" for key in ("drift", "tensor")}
    gates = "pass" if row.passes else "fail"
    return [
        row.title,
        number(row.drift) + above["drift"],
        number(row.published("drift", "median")),
        number(row.floor_drift),
        number(row.tensor) + above["tensor"],
        number(row.published("tensor", "median")),
        number(row.floor_tensor, 4),
        number(row.cosine),
        number(min(row.psd, row.psd_far), 2),
        number(row.action),
        number(row.paper.get("generator_action_error_median", float("nan"))),
        number(row.score),
        gates if row.verdict == "pass" else f"{gates} ({row.verdict})",
    ]


def master_grid(rows: Sequence[Row], title: str) -> Grid:
    """The master table."""
    return Grid(title, HEADINGS, [_cells(row) for row in rows])


def overall_sentences(summary: Overall) -> list[str]:
    """Say what the rows add up to."""
    more = summary.rows > summary.systems  # than the systems in scope
    held = f"; of all rows of the paper's table, {summary.held} of {summary.rows}" if more else ""
    ratios = (
        f"; drift {summary.spanned_ratio_drift:.3f}, tensor {summary.spanned_ratio_tensor:.3f} "
        "over all rows but Müller-Brown and SABR"
    )
    sentences = [
        f"In scope: {summary.passed} of {summary.systems} systems hold the gates on medians{held}.",
        f"Median drift error {summary.drift:.4f} (floor {summary.floor_drift:.4f}, ratio "
        f"{summary.drift / summary.floor_drift:.3f}), tensor error {summary.tensor:.4f} (floor "
        f"{summary.floor_tensor:.4f}, ratio {summary.tensor / summary.floor_tensor:.3f}), "
        f"a12 cosine {summary.cosine:.4f}.",
        f"Geometric mean of error over floor: drift {summary.ratio_drift:.3f}, tensor "
        f"{summary.ratio_tensor:.3f} in scope{ratios if more else ''}.",
    ]
    found = summary.ledger
    sentences.append(
        f"Stable support in the standardised coordinates of each data set, where a shift turns one "
        f"power into several: {found.recovered} of {found.active} terms, {found.false_positives} "
        "false ones (the paper counts in the declared library instead: see Stable support)."
    )
    terms = summary.terms
    if terms.present:
        sentences.append(
            f"Terms: {terms.found} of {terms.present} true ones found "
            f"({terms.found / terms.present:.1%}), {terms.false} of {terms.absent} others taken "
            f"for one ({terms.false / terms.absent:.2%})."
        )
    return sentences


def published_medians() -> dict[str, float]:
    """Medians of the paper's own table over the systems that it declares in scope."""
    rows = [table_row(name) for name in in_scope()]
    return {
        key: float(np.nanmedian([row[name] for row in rows])) for key, name in PUBLISHED.items()
    }


def headline(sharp: Overall, paper: Overall) -> Grid:
    """Both recipes, the paper and the floor in a few lines."""
    theirs = published_medians()
    rows = [
        [
            "hold the gates (of all 29 rows)",
            *(f"{item.passed} ({item.held})" for item in (sharp, paper)),
            str(len(in_scope())),
            "",
        ],
        _row("drift error", sharp.drift, paper.drift, theirs["drift"], sharp.floor_drift),
        _row("tensor error", sharp.tensor, paper.tensor, theirs["tensor"], sharp.floor_tensor),
        [
            "a12 cosine",
            *(number(value) for value in (sharp.cosine, paper.cosine, theirs["cosine"])),
            "",
        ],
        ["true terms found", percent(sharp.terms.found / sharp.terms.present), "-", "-", ""],
        ["false terms", percent(sharp.terms.false / sharp.terms.absent, 1), "-", "-", ""],
    ]
    recipes = (f"`{SHARP_EULER.name}`", f"`{PAPER.name}`")
    headings = ("19 systems in scope, medians", *recipes, "the paper's own", "floor")
    return Grid("In short", headings, rows)


def _row(label: str, *figures: float) -> list[str]:
    return [label, *(number(figure, 4) for figure in figures)]


def build_ledger(lines: Sequence[Line]) -> Content:
    """The ledger of stable support in the declared library, and every false term by its name."""
    systems = list(dict.fromkeys(line.case.system for line in lines))
    recipes = (PAPER.name, SHARP_EULER.name)
    supports = {
        (name, recipe): _supports(lines, name, recipe) for name in systems for recipe in recipes
    }
    found = {
        key: support.stable_support(*value) for key, value in supports.items() if len(value[0])
    }
    scoped = [name for name in systems if zoo.get(name).verdict == "pass"]
    others = [name for name in systems if name not in scoped]
    totals = {
        recipe: [_total(found, names, recipe) for names in (scoped, systems)] for recipe in recipes
    }
    rows = [
        _ledger_cells(zoo.get(name).title, [found.get((name, r)) for r in recipes])
        for name in scoped
    ]
    rows.append(_ledger_cells("the systems in scope", [totals[r][0] for r in recipes]))
    rows.append(_ledger_cells("published", [PUBLISHED_LEDGER, None]))
    rows += [
        _ledger_cells(zoo.get(name).title, [found.get((name, r)) for r in recipes])
        for name in others
    ]
    rows.append(_ledger_cells("all rows", [totals[r][1] for r in recipes]))
    false = [
        row
        for recipe in (*recipes, CONTROL)
        for name in systems
        for row in _false_rows(name, recipe, *_supports(lines, name, recipe))
    ]
    grids = {"ledger": Grid("Stable support in the declared library", LEDGER_HEADINGS, rows)}
    grids["ledger-false"] = Grid(
        "Terms that recur and are not there", FALSE_HEADINGS, false, left=4
    )
    sentences = [f"- {_ledger_sentence(r, totals[r][0])}" for r in recipes]
    truths = [supports[name, PAPER.name][1] for name in scoped if (name, PAPER.name) in found]
    faint = sum(int(support.faint_terms(truth).sum()) for truth in truths)
    sentences.append(
        f"- {faint} of these terms have less than 20 % of their field's largest in the truth "
        "itself, and the rule cannot count them, whoever finds them."
    )
    return Content(grids, sentences={"ledger": "\n".join(sentences)})


def _supports(lines: Sequence[Line], system: str, recipe: str) -> tuple[FloatArray, FloatArray]:
    """Projected supports ``(seeds, targets, K)`` of estimates and truths."""
    results = [
        line.result
        for line in lines
        if (line.case.system, line.case.recipe) == (system, recipe) and line.result is not None
    ]
    estimates, truths = (
        np.array([result[key] for result in results]) for key in ("support", "true_support")
    )
    return estimates, truths


def _total(
    found: dict[tuple[str, str], support.Ledger], systems: Sequence[str], recipe: str
) -> support.Ledger:
    own = [found[name, recipe] for name in systems if (name, recipe) in found]
    return sum(own, support.Ledger(0, 0, 0))


def _ledger_cells(title: str, ledgers: Sequence[support.Ledger | None]) -> list[str]:
    known = [ledger for ledger in ledgers if ledger is not None]
    cells = [title, str(known[0].active) if known else "-"]
    for ledger in ledgers:
        counts = ("-", "-") if ledger is None else (ledger.recovered, ledger.false_positives)
        cells += map(str, counts)
    return cells


def _false_rows(
    system: str, recipe: str, estimates: FloatArray, truths: FloatArray
) -> list[list[str]]:
    """Name each false term: in how many seeds, and its share of the field's largest term."""
    if not len(estimates):
        return []
    item = zoo.get(system)
    fields = [name for names in field_names(len(item.names)) for name in names]
    terms = library(item.library).bind(item.names).terms
    sizes = [np.median(np.abs(values), axis=0) for values in (estimates, truths)]
    rows = []
    for target, term in np.argwhere(support.false_terms(estimates, truths)):
        seeds = int(support.is_selected(estimates)[:, target, term].sum())
        shares = [size[target, term] / max(size[target].max(), 1e-300) for size in sizes]
        name = f"`{terms[term]}`"
        counted = f"{seeds} of {len(estimates)}"
        rows.append([recipe, item.title, fields[target], name, counted, *map(percent, shares)])
    return rows


def _ledger_sentence(recipe: str, total: support.Ledger) -> str:
    theirs = PUBLISHED_LEDGER
    return (
        f"`{recipe}` finds {total.recovered} of the {total.active} terms of the systems in scope, "
        f"with {total.false_positives} false ones; published: {theirs.recovered} of "
        f"{theirs.active}, with {theirs.false_positives}."
    )
