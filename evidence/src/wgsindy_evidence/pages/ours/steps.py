"""Coarse steps: bias and error of both ways to take a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours.steps import grid_of
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import Content

STEP_HEADINGS = ("System", "sampled", "dt", "recipe", "drift bias", "rms", "tensor bias", "rms")


def build(lines: Sequence[Line]) -> Content:
    """The table of biases."""
    return Content({"steps": steps_grid(summarise(lines), "Bias and error of coarse steps")})


@dataclass(frozen=True)
class StepRow:
    """Bias (error of the mean field over seeds) and root mean square error, relative to truth."""

    system: str
    kind: str
    dt: float
    recipe: str
    seeds: int
    drift_bias: float
    drift_error: float
    tensor_bias: float
    tensor_error: float


def summarise(lines: Sequence[Line]) -> list[StepRow]:
    """One row for each system, sampling, spacing and recipe."""
    groups: dict[tuple[str, str, float, str], list[dict[str, Any]]] = {}
    for line in lines:
        if line.result is not None:
            case = line.case
            key = (case.system, case.settings["kind"], case.settings["dt"], case.recipe)
            groups.setdefault(key, []).append(line.result)
    return [_row(*key, results) for key, results in groups.items()]


def _row(
    name: str, kind: str, dt: float, recipe: str, results: Sequence[dict[str, Any]]
) -> StepRow:
    truth, grid = zoo.get(name).generator, grid_of(name)
    sizes = {"drift": truth.drift(grid), "tensor": truth.diffusion(grid)}
    figures = []
    for key, true in sizes.items():
        errors = np.array([result[key] for result in results])
        size = np.linalg.norm(true)
        figures += [
            float(np.linalg.norm(errors.mean(axis=0)) / size),
            float(np.sqrt(np.mean(np.sum(errors**2, axis=1))) / size),
        ]
    return StepRow(name, kind, dt, recipe, len(results), *figures)


def _step_cells(row: StepRow) -> list[str]:
    return [
        row.system,
        row.kind,
        f"{row.dt:g}",
        row.recipe,
        number(row.drift_bias, 4),
        number(row.drift_error, 4),
        number(row.tensor_bias, 4),
        number(row.tensor_error, 4),
    ]


def steps_grid(rows: Sequence[StepRow], title: str) -> Grid:
    """The table of step biases."""
    return Grid(title, STEP_HEADINGS, [_step_cells(row) for row in rows], left=4)
