"""Uneven steps beside even ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours.uneven import RECIPES, SAMPLINGS, SYSTEMS, uneven_case
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import Index

HEADINGS = (
    *("System", "recipe", "drift: even", "uneven", "ratio"),
    *("tensor: even", "uneven", "ratio"),
)


class Row(NamedTuple):
    """Root mean square errors of one system and recipe, (even, uneven)."""

    system: str
    recipe: str
    seeds: int
    drift: tuple[float, ...]
    tensor: tuple[float, ...]


def build(lines: Sequence[Line]) -> Content:
    """The table of errors in both samplings."""
    rows = [
        [zoo.get(row.system).title, row.recipe, *_cells(row.drift), *_cells(row.tensor)]
        for row in summarise(lines)
    ]
    title = "Root mean square errors at even times and at uneven ones"
    return Content({"uneven": Grid(title, HEADINGS, rows, left=2)})


def summarise(lines: Sequence[Line]) -> list[Row]:
    """One row for each system and recipe that has both samplings."""
    index = Index(lines)
    rows = []
    for system in SYSTEMS:
        for recipe in RECIPES:
            groups = [
                index.results(uneven_case(system, recipe, seed, way) for seed in index.seeds)
                for way in SAMPLINGS
            ]
            if all(groups):
                errors = [
                    tuple(_rms([result[key] for result in group]) for group in groups)
                    for key in ("drift", "tensor")
                ]
                rows.append(Row(system, recipe, len(groups[0]), *errors))
    return rows


def _rms(errors: Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def _cells(errors: tuple[float, ...]) -> list[str]:
    even, uneven = errors
    return [number(even, 4), number(uneven, 4), number(uneven / even, 2)]
