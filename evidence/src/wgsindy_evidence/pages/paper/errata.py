"""Errata: each slip of the authors' release, with the figure that it changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.paper.errata import SLIPS, Slip, slip_case
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import Index, median
from wgsindy_evidence.published import table_row

HEADINGS = ("System", "what is changed", "figure", "recipe `paper`", "changed", "published")
# What each slip shows in: fields of a result; a tensor entry by its name.
SHOWN = {
    "paper-diagonal-kernel": ("drift", "tensor"),
    "paper-separate-rows": ("drift", "tensor"),
    "half kicks": ("tensor",),
    "padded": ("tensor", "drift"),
    "other units": ("tensor",),
    "truth as written": ("tensor",),
    "shrinkage in raw units": ("a22", "tensor"),
    "paper-no-shrinkage": ("tensor", "a22"),
}
WORDS = {
    "paper-diagonal-kernel": "diagonal of the inverse bandwidth",
    "paper-separate-rows": "each trajectory smoothed by itself",
    "half kicks": "two half-kicks: half the noise",
    "padded": "paths padded with repeats",
    "other units": "units only: rates x 1000",
    "truth as written": "truth of the datasheet",
    "shrinkage in raw units": "shrinkage mixes raw units",
    "paper-no-shrinkage": "no shrinkage at all",
}
PUBLISHED = {"drift": "objective_drift_median", "tensor": "diffusion_median"}


class Effect(NamedTuple):
    """Medians of one figure without and with a slip."""

    slip: Slip
    system: str
    figure: str
    right: float
    slipped: float


def build(lines: Sequence[Line]) -> Content:
    """The table of effects."""
    rows = [_cells(effect) for effect in summarise(lines)]
    title = "Errata: median errors of the paper's recipe"
    return Content({"errata": Grid(title, HEADINGS, rows, left=3)})


def summarise(lines: Sequence[Line]) -> list[Effect]:
    """Collect the effects in the order of the slips."""
    index = Index(lines)
    found = []
    for slip in SLIPS:
        for system in slip.systems:
            for figure in SHOWN[slip.name]:
                errors = [
                    _median(index, slip, system, figure, slipped=slipped)
                    for slipped in (False, True)
                ]
                if not np.isnan(errors).any():
                    found.append(Effect(slip, system, figure, *errors))
    return found


def _median(index: Index, slip: Slip, system: str, figure: str, *, slipped: bool) -> float:
    results = index.results(slip_case(slip, system, seed, slipped=slipped) for seed in index.seeds)
    return median([{**result, **result["fields"]} for result in results], figure)


def _cells(effect: Effect) -> list[str]:
    published = table_row(effect.system)
    return [
        zoo.get(effect.system).title,
        WORDS[effect.slip.name],
        f"error of {effect.figure}",
        number(effect.right),
        number(effect.slipped),
        number(published.get(PUBLISHED.get(effect.figure, ""), float("nan"))),
    ]
