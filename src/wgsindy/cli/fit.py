"""`wgsindy fit`: the user's own data in; equations, a verdict and a report out."""

from __future__ import annotations

import glob
import json
import os
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wgsindy.cli.console import stage
from wgsindy.cli.outcome import RESULT_FILES, Outcome, Remark, as_json, tell, write

if TYPE_CHECKING:
    from wgsindy.changes import Change
    from wgsindy.files import Reading
    from wgsindy.generator import Generator
    from wgsindy.libraries import Library
    from wgsindy.recipes import Recipe

DATA, FIT, OUTPUT = "Data", "Fit", None  # without a name: first, together with --help
STDIN = "-"


def _option(panel: str | None, flag: str, metavar: str | None, about: str, **more: Any) -> Any:
    return typer.Option(
        flag, metavar=metavar, help=about, rich_help_panel=panel, show_default=False, **more
    )


Text = str | None
Texts = list[str] | None
Number = float | None
LibraryOption = Annotated[
    Texts,
    _option(
        FIT,
        "--library",
        "NAME",
        "auto (default), poly2, sqrt, trig, or a formula.",
    ),
]
TransformOption = Annotated[
    Texts,
    _option(
        DATA,
        "--transform",
        "FORMULA",
        "Fit a function of a state, like 'u = sqrt(x)'; mapped back.",
    ),
]


def fit(
    data: Annotated[list[str], typer.Argument(metavar="DATA", hidden=True)],
    states: Annotated[
        Texts, _option(DATA, "--states", "COLUMNS", "Of the state: x,y or 1,2.")
    ] = None,
    time: Annotated[Text, _option(DATA, "--time", "COLUMN", "Of times.")] = None,
    trajectory: Annotated[
        Text, _option(DATA, "--trajectory", "COLUMN", "Of what tells trajectories apart.")
    ] = None,
    dt: Annotated[Number, _option(DATA, "--dt", "STEP", "Of time, if no column has it.")] = None,
    unit: Annotated[Text, _option(DATA, "--unit", "UNIT", "Of time in the result: s.")] = None,
    time_unit: Annotated[
        Text, _option(DATA, "--time-unit", "UNIT", "Of the column of times.")
    ] = None,
    time_format: Annotated[
        Text, _option(DATA, "--time-format", "FORMAT", "Of timestamps, like %d.%m.%Y.")
    ] = None,
    variable: Annotated[
        Text, _option(DATA, "--variable", "COLUMN", "Of the names, in a long table.")
    ] = None,
    value: Annotated[
        Text, _option(DATA, "--value", "COLUMN", "Of the values, in a long table.")
    ] = None,
    names: Annotated[Texts, _option(DATA, "--names", "NAMES", "For the states: x,v.")] = None,
    missing: Annotated[
        list[float] | None, _option(DATA, "--missing", "NUMBER", "That stands for no value.")
    ] = None,
    gap: Annotated[Number, _option(DATA, "--gap", "TIME", "Longest step that is no gap.")] = None,
    every: Annotated[int, _option(DATA, "--every", "N", "Keep each N-th sample.", min=1)] = 1,
    log: Annotated[
        Texts, _option(DATA, "--log", "STATE", "Fit its logarithm; equations are mapped back.")
    ] = None,
    transform: TransformOption = None,
    library: LibraryOption = None,
    recipe: Annotated[
        str, _option(FIT, "--recipe", "NAME", "How to fit: sharp (default) or paper.")
    ] = "sharp",
    noise_correction: Annotated[
        bool, _option(FIT, "--noise-correction", None, "Allow for noise of the observation.")
    ] = False,
    seed: Annotated[int, _option(FIT, "--seed", "N", "Of all that is random.", min=0)] = 0,
    threads: Annotated[int, _option(FIT, "--threads", "N", "For passes over data.", min=1)] = 1,
    scheduler: Annotated[
        Text, _option(FIT, "--scheduler", "ADDRESS", "Of a Dask cluster to fit on.")
    ] = None,
    out: Annotated[
        Path | None, _option(OUTPUT, "--out", "FOLDER", "For results; default DATA-wgsindy.")
    ] = None,
    title: Annotated[Text, _option(OUTPUT, "--title", "TEXT", "Heading of the report.")] = None,
    force: Annotated[bool, _option(OUTPUT, "--force", None, "Replace an older result.")] = False,
    quiet: Annotated[bool, _option(OUTPUT, "--quiet", None, "Print errors only.")] = False,
    machine: Annotated[bool, _option(OUTPUT, "--json", None, "Print one JSON object.")] = False,
) -> None:
    """Fit an equation to DATA: files of tables or arrays, globs, or - for standard input.

    Example: `wgsindy demo --csv demo.csv && wgsindy fit demo.csv --library poly3`
    """
    from wgsindy.clusters import connected
    from wgsindy.files import refuse_occupied, whole_folder

    folder = out or default_folder(data)
    replaceable = RESULT_FILES if force else ()
    refuse_occupied(folder, replaceable)
    shown = not (quiet or machine)
    asked = {
        "states": columns(states),
        "time": column(time),
        "trajectory": column(trajectory),
        "dt": dt,
        "unit": unit,
        "time_unit": time_unit,
        "time_format": time_format,
        "variable": column(variable),
        "value": column(value),
        "names": separated(names),
        "missing": missing or (),
        "gap": gap,
    }
    with stage("reading", shown=shown), spooled(data) as sources:
        reading = read_quietly(sources, asked)
    changes = [f"log_{name} = log({name})" for name in separated(log) or ()] + (transform or [])
    with stage("fitting", shown=shown), connected(scheduler) as engine:
        outcome = fitted(
            reading,
            source=label(data),
            time_unit=known_unit(unit, time_unit),
            changes=changes,
            every=every,
            library=as_library(library or ["auto"]),
            recipe=as_recipe(recipe, noise_correction=noise_correction),
            random_state=seed,
            threads=threads,
            engine=engine,
        )
    heading = title or f"Fit of {label(data)}"
    command = shlex.join(["wgsindy", *sys.argv[1:]])
    with whole_folder(folder, replaceable) as draft, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of drawing; those of data and fit are told
        write(outcome, draft, title=heading, command=command, shown=shown)
        files = [name for name in RESULT_FILES if (draft / name).exists()]
    if machine:
        typer.echo(json.dumps(as_json(outcome, folder, files), indent=1, allow_nan=False))
    elif shown:
        tell(outcome, folder, files)


def fitted(
    reading: Reading,
    *,
    source: str,
    time_unit: str,
    changes: Sequence[str],
    every: int,
    **estimator: Any,
) -> Outcome:
    """Fit what was read, in the coordinates asked for, and map the result back."""
    from wgsindy.estimator import WGSINDy

    measured = data = reading.data.thinned(every)
    applied: list[Change] = []
    for text in changes:
        change, data = changed(text, data)
        applied.append(change)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = WGSINDy(**estimator).fit(data)
    generator = model.generator_
    for change in reversed(applied):
        generator = change.undo(generator, measured if change is applied[0] else None)
    return Outcome(
        heading=_heading(source, measured, every),
        remarks=(*remarks(reading, seen), *unidentified(applied, model.generator_)),
        changes=tuple(applied),
        data=data,
        fitted=model.generator_,
        generator=generator,
        diagnostics=model.diagnostics_,
        time_unit=time_unit,
    )


def known_unit(unit: str | None, time_unit: str | None) -> str:
    """Name the unit of time in the result: the one asked for, else that of the column."""
    from wgsindy.files.units import checked_unit

    return checked_unit(unit or time_unit, "unit") or ""


def changed(text: str, data: Any) -> tuple[Change, Any]:
    """Read a change of states and apply it."""
    from wgsindy.changes import Change

    change = Change.parse(text, data.names)
    return change, change.apply(data)


def _heading(source: str, data: Any, every: int) -> str:
    count = len(data)
    thinning = "" if every == 1 else f", one sample in {every} kept"
    return (
        f"{source}: {count} {'trajectory' if count == 1 else 'trajectories'} of "
        f"{', '.join(data.names)}{thinning}; {data.n_increments} steps, mean step "
        f"{data.mean_dt:.4g}, observed time {data.total_time:.4g}."
    )


def read_quietly(sources: Sequence[str], asked: dict[str, Any]) -> Reading:
    """Read files; the notes of the reading say all that its warnings would."""
    from wgsindy.files import read

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read(list(sources), **asked)


def remarks(reading: Reading, seen: Sequence[warnings.WarningMessage]) -> tuple[Remark, ...]:
    """Name what the reading and the fit have to say; of two about the same, the fit's."""
    from wgsindy.files.notes import WARNING_OF

    names: dict[type[Warning], str] = {kind: name for name, kind in WARNING_OF.items()}
    told = {warning.category for warning in seen}
    found = [
        Remark(note.kind, note.sentence)
        for note in reading.notes
        if WARNING_OF.get(note.kind) not in told
    ]
    for warning in seen:
        name = names.get(warning.category, warning.category.__name__)
        found.append(Remark(name, str(warning.message)))
    return tuple(dict.fromkeys(found))


def unidentified(changes: Sequence[Change], generator: Generator) -> list[Remark]:
    """Say where a mapped drift is Ito's term alone: its small error bar would mislead."""
    sure = generator.uncertainty
    drift = generator.drift_coefficients if sure is None else sure.drift
    empty = [name for name, row in zip(generator.names, drift, strict=True) if not row.any()]
    return [
        Remark(
            "change",
            f"no drift of {change.new} was identified, so the drift of {change.old} is only what "
            "Ito's formula makes of the tensor; its error bar says nothing of what was not found.",
        )
        for change in changes
        if change.new in empty
    ]


@contextmanager
def spooled(data: Sequence[str]) -> Iterator[list[str]]:
    """Give the names of all files, standard input among them."""
    if STDIN not in data:
        yield list(data)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stdin"
        path.write_bytes(sys.stdin.buffer.read())
        yield [str(path) if name == STDIN else name for name in data]


def label(data: Sequence[str]) -> str:
    """What to call the data in a sentence."""
    if len(data) > 1:
        return f"{len(data)} files"
    return "standard input" if data[0] == STDIN else os.path.basename(data[0].rstrip("/"))


def default_folder(data: Sequence[str]) -> Path:
    """Name a folder for results after the data; numbers of several files are left out.

    >>> default_folder(["runs/cell_01.csv", "runs/cell_12.csv"]).name
    'cell-wgsindy'
    """
    stem = Path(data[0]).name.split(".")[0]
    if len(data) > 1 or glob.has_magic(stem):
        stem = re.split(r"[*?\[]", stem)[0].rstrip("-_ 0123456789")
    return Path(f"{stem.strip('-') or 'data'}-wgsindy")


def separated(given: Sequence[str] | None) -> list[str] | None:
    """Take repeated options and commas alike."""
    if given is None:
        return None
    return [part.strip() for item in given for part in item.split(",") if part.strip()]


def column(text: str | None) -> str | int | None:
    """Read a column: its name, or its position if that is a number."""
    return int(text) if text is not None and text.isdecimal() else text


def columns(given: Sequence[str] | None) -> list[str | int | None] | None:
    """Read several columns."""
    names = separated(given)
    return None if names is None else [column(name) for name in names]


def as_recipe(name: str, *, noise_correction: bool) -> Recipe:
    """Return a recipe, with the correction for observation noise if wanted."""
    from wgsindy import recipes

    found = recipes.get(name)
    if not noise_correction or found.noise_correction:
        return found
    return replace(found, name=f"{found.name}-noise", noise_correction=True)


def as_library(given: Sequence[str]) -> str | Library:
    """Read a name as it is; of several, join names and formulas."""
    from wgsindy.errors import LibraryError
    from wgsindy.libraries import Library

    if len(given) == 1 and given[0].isidentifier():
        return given[0]
    parts = []
    for item in given:
        try:
            parts.append(Library.named(item))
        except LibraryError:
            parts.append(Library.custom([item]))
    return Library(tuple(part for library in parts for part in library.parts))
