"""The master table of each recipe, and what the rows add up to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wgsindy import zoo
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.paper.table import Overall, overall, summarise
from wgsindy_evidence.grid import Grid, number, percent
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.tables import master_grid, overall_sentences
from wgsindy_evidence.scope import in_scope

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
    if {"sharp", "paper"} <= set(totals):
        grids["headline"] = headline(totals["sharp"], totals["paper"])
    return Content(grids, sentences=sentences)


def build_further(lines: Sequence[Line]) -> Content:
    """What sharp adds up to on more seeds, and the doubtful rows of the paper's recipe."""
    sharp = summarise([line for line in lines if line.case.recipe == "sharp"])
    total = overall(sharp)
    assert total is not None
    rows = []
    for recipe in dict.fromkeys(line.case.recipe for line in lines if line.case.recipe != "sharp"):
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


def published_medians() -> dict[str, float]:
    """Medians of the paper's own table over the systems that it declares in scope."""
    rows = [zoo.get(name).published or {} for name in in_scope()]
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
    headings = ("19 systems in scope, medians", "`sharp`", "`paper`", "the paper's own", "floor")
    return Grid("In short", headings, rows)


def _row(label: str, *figures: float) -> list[str]:
    return [label, *(number(figure, 4) for figure in figures)]
