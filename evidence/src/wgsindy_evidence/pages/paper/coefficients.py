"""The coefficient table: every true term, by every method, beside what it is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy.model import field_names
from wgsindy.terms import library
from wgsindy_evidence import published, support
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.experiments.paper.coefficients import METHODS, POOLED, TRAJECTORIES
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import COLUMN_WIDTH, Content

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADINGS = (
    *("System", "field", "term", "true", "worth", "sharp-euler", "rate", "paper", "rate"),
    *("paper, pooled rows", "rate", "pooled, entries", "rate", "published", "rate"),
    *("Kramers-Moyal", "rate"),
)
FALSE_HEADINGS = ("Method", "true terms", "in every seed", "median relative error", "false terms")
VISIBLE = 6.0  # standard errors at which chance misses a term in less than one seed in a hundred


class Estimate(NamedTuple):
    """Selection rate over seeds and median over the ``hits``, the seeds that select the term."""

    value: float
    rate: float
    hits: int = 0


class Term(NamedTuple):
    """One true term: ``worth`` standard errors, and what each method finds."""

    system: str
    target: str
    name: str
    true: float
    worth: float
    found: dict[str, Estimate]

    @property
    def relative_error(self) -> float:
        """Of the median by ``sharp-euler``."""
        return abs(self.found["sharp-euler"].value / self.true - 1)


def build(lines: Sequence[Line]) -> Content:
    """The table, its summary, the run with more data, and a figure of selection against worth."""
    usual = [line for line in lines if line.case.trajectories == TRAJECTORIES]
    more = [line for line in lines if line.case.trajectories != TRAJECTORIES]
    terms, extra = summarise(usual), summarise(more)
    grids = {
        "coefficients": Grid("Coefficients", HEADINGS, [_cells(term) for term in terms], left=3),
        "coefficients-summary": _summary(terms, usual),
    }
    if extra:
        times = more[0].case.trajectories // TRAJECTORIES
        title = f"With {times} times the data"
        rows = [_cells(term)[:7] for term in extra]
        grids["coefficients-more"] = Grid(title, HEADINGS[:7], rows, left=3)
    return Content(grids, {"coefficients": plot_selection([*terms, *extra])})


def summarise(lines: Sequence[Line]) -> list[Term]:
    """Collect the true terms of every system."""
    results = {line.case: line.result for line in lines if line.result is not None}
    systems = dict.fromkeys(case.system for case in results)
    return [term for system in systems for term in _terms(system, results)]


def _terms(name: str, results: dict[Case, dict[str, Any]]) -> list[Term]:
    system = zoo.get(name)
    true = system.true_coefficients()
    assert true is not None
    labels = library(system.library).bind(system.names).terms
    drift, entries = field_names(len(system.names))
    own = {case: result for case, result in results.items() if case.system == name}
    found = []
    for target, row in zip([*drift, *entries], true, strict=True):
        for k in np.flatnonzero(row):
            errors = [
                result["errors"][target][labels[k]] for result in own.values() if "errors" in result
            ]
            estimates = {
                method: _estimate(
                    target, labels[k], [r for c, r in own.items() if c.recipe == method]
                )
                for method in METHODS
            }
            worth = abs(row[k]) / float(np.median(errors)) if errors else float("nan")
            found.append(Term(system.title, target, labels[k], float(row[k]), worth, estimates))
    return found


def _estimate(target: str, term: str, results: Sequence[dict[str, Any]]) -> Estimate:
    if not results:
        return Estimate(float("nan"), float("nan"))
    values = np.array([result["selected"].get(target, {}).get(term, 0.0) for result in results])
    rate = support.selection_rate(values)
    return Estimate(support.conditional_median(values), rate, round(rate * len(values)))


def _cells(term: Term) -> list[str]:
    name, true = f"`{term.name}`", f"{term.true:+.4g}"
    cells = [term.system, term.target, name, true, number(term.worth, 1)]
    theirs = _published(term)
    for method in ("sharp-euler", "paper", *POOLED):
        cells += _pair(term.found[method])
    return [*cells, *_pair(theirs), *_pair(term.found["kramers-moyal"])]


def _pair(estimate: Estimate) -> list[str]:
    value = "-" if np.isnan(estimate.value) else f"{estimate.value:+.4f}"
    return [value, number(estimate.rate, 2)]


def _published(term: Term) -> Estimate:
    """The paper's own figure; it lists a part of the terms."""
    plain = term.name.replace("**", "^").replace("*", "")
    for row in published.rows("coefficients"):
        if (row["system"], row["target"], row["term"]) == (term.system, term.target, plain):
            rate = float(row["selection_rate"])
            return Estimate(float(row["wg_sindy"]) if rate else float("nan"), rate)
    return Estimate(float("nan"), float("nan"))


def _summary(terms: Sequence[Term], lines: Sequence[Line]) -> Grid:
    """Count over all systems: true terms found in every seed, errors, false terms."""
    rows = []
    for method in METHODS:
        always = [term for term in terms if term.found[method].rate == 1]
        errors = [abs(term.found[method].value / term.true - 1) for term in always]
        results = [line.result for line in lines if line.case.recipe == method and line.result]
        selected = sum(len(fields) for r in results for fields in r["selected"].values())
        hits = sum(term.found[method].hits for term in terms)
        rows.append(
            [
                method,
                str(len(terms)),
                str(len(always)),
                f"{100 * float(np.median(errors)):.2f} %" if errors else "-",
                f"{(selected - hits) / max(len(results), 1):.1f} a fit",
            ]
        )
    return Grid("Coefficients: summary", FALSE_HEADINGS, rows)


def plot_selection(terms: Sequence[Term]) -> Figure:
    """Draw the relative error of each coefficient against what the term is worth."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN_WIDTH, 3.4), layout="constrained")
    axes = figure.subplots()
    worth = np.array([term.worth for term in terms])
    missed = np.array([term.found["sharp-euler"].rate < 1 for term in terms])
    errors = np.array([term.relative_error for term in terms])
    axes.plot(worth[~missed], errors[~missed], "o", markersize=4, label="selected in every seed")
    axes.plot(worth[missed], np.ones(missed.sum()), "x", color="C3", label="not in every seed")
    line = np.geomspace(max(worth.min(), 0.5), worth.max(), 50)
    axes.plot(line, 0.674 / line, color="0.5", linestyle="--", label="median expected of one seed")
    axes.axvline(VISIBLE, color="0.7", linewidth=0.8)
    axes.set(xscale="log", yscale="log")
    axes.set_xlabel("worth: |coefficient| / its standard error with the true terms given")
    axes.set_ylabel("relative error (median of seeds)")
    axes.legend()
    return figure
