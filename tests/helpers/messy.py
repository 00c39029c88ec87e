"""Ten ways to write three trajectories of one known process into a messy file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import (
    ConstantColumnWarning,
    DuplicateRowsWarning,
    GapWarning,
    GuessedColumnWarning,
    MissingValuesWarning,
    WgsindyWarning,
)
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator

DT, TRAJECTORIES, STEPS = 0.01, 3, 3000
RECIPE = "sharp-euler"  # the samples are Euler steps of a simulation
EPOCH = 1_700_000_000  # 2023-11-14T22:13:20Z
Writer = Callable[[Path], dict[str, Any]]


def clean_paths() -> FloatArray:
    """Sample an Ornstein-Uhlenbeck process with rotation and unequal, correlated noise."""
    rng = np.random.default_rng(20)
    drift = np.array([[-1.0, -2.0], [2.0, -1.0]])
    noise = np.linalg.cholesky(np.array([[1.0, 0.3], [0.3, 0.5]]))
    x = np.zeros((TRAJECTORIES, STEPS + 1, 2))
    for n in range(STEPS):
        kick = rng.normal(size=(TRAJECTORIES, 2)) @ noise.T
        x[:, n + 1] = x[:, n] + x[:, n] @ drift.T * DT + np.sqrt(DT) * kick
    return x


PATHS = clean_paths()
TIMES = np.arange(STEPS + 1) * DT
# (id, row) of all samples: first all of trajectory 0; or all ids of the first time.
BY_TRAJECTORY = [(i, n) for i in range(TRAJECTORIES) for n in range(STEPS + 1)]
INTERLEAVED = [(i, n) for n in range(STEPS + 1) for i in range(TRAJECTORIES)]


def rows(order: list[tuple[int, int]], separator: str = ",", stamp: Any = None) -> list[str]:
    stamp = stamp or (lambda n: f"{TIMES[n]:.2f}")
    return [
        separator.join([str(i), stamp(n), repr(float(PATHS[i, n, 0])), repr(float(PATHS[i, n, 1]))])
        for i, n in order
    ]


def write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n")


def uneven_times(path: Path) -> dict[str, Any]:
    kept = np.random.default_rng(1).random(len(BY_TRAJECTORY)) < 0.8
    lines = rows([key for key, keep in zip(BY_TRAJECTORY, kept, strict=True) if keep])
    write(path, ["id,t,x,y", *lines])
    return {}


def nan_gaps(path: Path) -> dict[str, Any]:
    holes = {(i, n) for i in range(TRAJECTORIES) for n in range(500, STEPS, 500)}
    off = {(1, n) for n in range(1201, 1260)}
    lines = [
        line if key not in holes else ",".join([*line.split(",")[:2], "NaN", "NaN"])
        for key, line in zip(BY_TRAJECTORY, rows(BY_TRAJECTORY), strict=True)
        if key not in off
    ]
    write(path, ["id,t,x,y", *lines])
    return {}


def interleaved_ids(path: Path) -> dict[str, Any]:
    write(path, ["particle,t,x,y", *rows(INTERLEAVED)])
    return {}


def iso_timestamps(path: Path) -> dict[str, Any]:
    def stamp(n: int) -> str:
        moment = np.datetime64(EPOCH, "s") + np.timedelta64(10 * n, "ms")
        return f"{moment.astype('datetime64[ms]')}+00:00"

    write(path, ["run,when,x,y", *rows(BY_TRAJECTORY, stamp=stamp)])
    return {}


def epoch_milliseconds(path: Path) -> dict[str, Any]:
    lines = rows(INTERLEAVED, "\t", stamp=lambda n: str(1000 * EPOCH + 10 * n))
    write(path, ["# logger 7", "id\ttimestamp\tx\ty", *lines])
    return {}


def decimal_comma(path: Path) -> dict[str, Any]:
    lines = [line.replace(".", ",") for line in rows(BY_TRAJECTORY, "\t")]
    write(path, ["id\ttime\tx\ty", *lines])
    return {}


def semicolons(path: Path) -> dict[str, Any]:
    lines = [line.replace(".", ",") for line in rows(BY_TRAJECTORY, ";")]
    write(path, ["Messreihe 12", "", "Id;Time [s];x;y", "-;s;mm;mm", *lines])
    return {}


def no_header(path: Path) -> dict[str, Any]:
    path.mkdir()
    for i in range(TRAJECTORIES):
        table = np.column_stack([TIMES, PATHS[i]])
        np.savetxt(path / f"run{9 + i}.txt", table, fmt=["%.2f", "%.17g", "%.17g"])
    return {"source": str(path / "run*.txt")}


def duplicated_rows(path: Path) -> dict[str, Any]:
    lines = rows(BY_TRAJECTORY)
    write(path, ["id,t,x,y", *lines[:4000], *lines[3900:]])
    return {}


def constant_column(path: Path) -> dict[str, Any]:
    lines = [f"{k},{line},21.5,ok" for k, line in enumerate(rows(BY_TRAJECTORY))]
    write(path, [",id,t,x,y,temperature,status", *lines])
    return {}


MESSY: dict[str, tuple[Writer, list[type[WgsindyWarning]]]] = {
    "uneven times": (uneven_times, []),
    "nan gaps": (nan_gaps, [MissingValuesWarning, GapWarning]),
    "interleaved ids": (interleaved_ids, []),
    "iso timestamps": (iso_timestamps, []),
    "epoch milliseconds": (epoch_milliseconds, []),
    "decimal comma": (decimal_comma, []),
    "semicolons": (semicolons, []),
    "no header": (no_header, [GuessedColumnWarning]),
    "duplicated rows": (duplicated_rows, [DuplicateRowsWarning]),
    "constant column": (constant_column, [ConstantColumnWarning]),
}
# These lose samples on purpose; all others must give the clean data back.
LOSSY = {"uneven times", "nan gaps"}


def fitted(data: Trajectories) -> Generator:
    return WGSINDy(library="poly2", recipe=RECIPE).fit(data).generator_
