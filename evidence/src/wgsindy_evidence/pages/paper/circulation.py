"""Circulation: cosines to the true rotation and to the true stationary current."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy_evidence import published
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import COLUMN_WIDTH, Content
from wgsindy_evidence.pages.summary import spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADINGS = (
    *("System", "omega", "method", "curl", "true", "cosine, rotation", "smallest", "published"),
    *("cosine, current", "smallest", "current error"),
)


class Turn(NamedTuple):
    """One rotation rate by one method, over seeds."""

    system: str
    omega: float
    method: str
    results: tuple[dict[str, float], ...]

    def median(self, key: str) -> float:
        """Median over seeds."""
        return spread(self.results, key).median

    def smallest(self, key: str) -> float:
        """Worst seed."""
        known = [result[key] for result in self.results if not np.isnan(result[key])]
        return min(known, default=float("nan"))


def build(lines: Sequence[Line]) -> Content:
    """Table and figure."""
    turns = summarise(lines)
    grid = Grid("Circulation: medians over seeds", HEADINGS, [_cells(t) for t in turns], left=3)
    return Content({"circulation": grid}, {"circulation": plot_cosines(turns)})


def summarise(lines: Sequence[Line]) -> list[Turn]:
    """One row a system, rate and method, in the order in which they come."""
    groups: dict[tuple[str, float, str], list[dict[str, float]]] = {}
    for line in lines:
        if line.result is not None:
            key = (line.case.system, float(line.case.settings["omega"]), line.case.recipe)
            groups.setdefault(key, []).append(line.result)
    return [Turn(*key, tuple(results)) for key, results in groups.items()]


def _cells(turn: Turn) -> list[str]:
    return [
        zoo.get(turn.system).title,
        f"{turn.omega:g}",
        turn.method,
        number(turn.median("curl")),
        number(turn.median("true_curl")),
        number(turn.median("antisymmetric"), 4),
        number(turn.smallest("antisymmetric"), 4),
        number(_published(turn), 4),
        number(turn.median("current"), 4),
        number(turn.smallest("current"), 4),
        number(turn.median("current_error")),
    ]


def _published(turn: Turn) -> float:
    for row in published.rows("circulation"):
        same = row["system"] == turn.system and float(row["omega"]) == turn.omega
        if same and turn.method == "paper":
            return float(row["current_cosine"])
    return float("nan")


def plot_cosines(turns: Sequence[Turn]) -> Figure:
    """Draw how far each cosine is from one, every seed a point."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN_WIDTH, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    kinds = {"antisymmetric": "rotating part of the drift", "current": "stationary current"}
    labels = list(dict.fromkeys((turn.system, turn.omega) for turn in turns))
    for axes, (key, title) in zip(panels, kinds.items(), strict=True):
        for turn in turns:
            colour, shift = ("C3", 0.12) if turn.method == "sharp-euler" else ("C0", -0.12)
            place = labels.index((turn.system, turn.omega)) + shift
            away = np.maximum([1 - result[key] for result in turn.results], 1e-9)
            label = turn.method if (turn.system, turn.omega) == labels[0] else None
            axes.plot(np.full(len(away), place), away, ".", color=colour, alpha=0.6, label=label)
        axes.axhline(0.01, color="0.7", linestyle=":", label="cosine 0.99")
        names = [f"{_short(system)}\n{omega:g}" for system, omega in labels]
        axes.set_xticks(range(len(labels)), names, fontsize=7)
        axes.set(yscale="log", title=title)
    panels[0].set_ylabel("1 - cosine to the truth")
    figure.supxlabel("system and rotation rate omega")
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper center", ncols=3)
    return figure


def _short(system: str) -> str:
    return {"rotational_ou": "rot. OU", "nongradient_circulation": "non-grad."}[system]
