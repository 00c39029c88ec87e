"""The ladder: medians of each rung, raw, beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from wgsindy_evidence import published
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.fits import fit_case
from wgsindy_evidence.experiments.paper.ladder import PAPER_SYSTEMS, RUNGS, Rung
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import COLUMN_WIDTH, Content
from wgsindy_evidence.pages.summary import Index, Spread, spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADINGS = ("Step", "R", "score", "paper", "all 19", "drift", "paper", "tensor", "paper", "PSD")
PUBLISHED_COLUMNS = (
    "raw_median_inscope_score",
    "median_objective_drift_rel_l2",
    "median_diffusion_rel_l2",
)
NOTHING = float("nan")


class Step(NamedTuple):
    """One rung: figures over the paper's 13 systems, the score over all 19, and the paper's."""

    rung: Rung
    score: Spread
    everywhere: float
    drift: float
    tensor: float
    psd: float
    paper_score: float
    paper_drift: float
    paper_tensor: float


def build(lines: Sequence[Line]) -> Content:
    """Table and figure of the ladder."""
    steps = summarise(lines)
    return Content(
        {"ladder": Grid("Ladder: medians over cases", HEADINGS, [_cells(step) for step in steps])},
        {"ladder": plot_ladder(steps)},
    )


def summarise(lines: Sequence[Line]) -> list[Step]:
    """Collect the rungs."""
    index = Index(lines)
    return [_step(index, number, rung) for number, rung in enumerate(RUNGS)]


def _step(index: Index, place: int, rung: Rung) -> Step:
    def results(systems: Sequence[str]) -> list[dict[str, float]]:
        return index.results(
            fit_case(system, rung.method, seed, trajectories=rung.trajectories)
            for system in systems
            for seed in index.seeds
        )

    shared = results([name for name in index.systems if name in PAPER_SYSTEMS])
    theirs = published.rows("ladder")
    row = theirs[place] if place < len(theirs) else None
    figures = [published.figure(row, name) if row else NOTHING for name in PUBLISHED_COLUMNS]
    return Step(
        rung,
        spread(shared, "score"),
        spread(results(index.systems), "score").median,
        spread(shared, "drift").median,
        spread(shared, "tensor").median,
        spread(shared, "psd").median,
        *figures,
    )


def _cells(step: Step) -> list[str]:
    return [
        step.rung.label,
        str(step.rung.trajectories),
        number(step.score.median),
        number(step.paper_score),
        number(step.everywhere),
        number(step.drift),
        number(step.paper_drift),
        number(step.tensor),
        number(step.paper_tensor),
        number(step.psd),
    ]


def plot_ladder(steps: Sequence[Step]) -> Figure:
    """Draw the raw score of each rung with its quartiles, and the paper's own beside it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN_WIDTH, 3.6), layout="constrained")
    axes = figure.subplots()
    places = list(range(len(steps)))[::-1]  # the first rung on top
    for place, step in zip(places, steps, strict=True):
        ours = "C3" if step.rung.method == "sharp-euler" else "C0"
        axes.barh(place, step.score.median, height=0.62, color=ours, alpha=0.85)
        axes.plot([step.score.low, step.score.high], [place, place], color="0.2", linewidth=1)
        axes.text(0.012, place, f"{step.score.median:.3f}", va="center", color="white", fontsize=8)
    shown = [(step.paper_score, place) for place, step in zip(places, steps, strict=True)]
    axes.plot(*zip(*shown, strict=True), "k|", markersize=13, label="published, raw")
    axes.plot([], [], color="0.2", linewidth=1, label="quartiles over cases")
    axes.set_yticks(places, [step.rung.label for step in steps])
    axes.set_xlim(0, 1)
    axes.set_xlabel("composite score (1 = perfect), median over 13 systems")
    figure.legend(loc="outside upper right", ncols=2)
    return figure
