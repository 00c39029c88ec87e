"""`wgsindy fit`: the user's own data in; equations, a verdict and a report out."""

from __future__ import annotations

import inspect
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wgsindy.cli.console import say_aside, stage

if TYPE_CHECKING:
    from wgsindy.terms import Library

DATA, FIT = "Data", None  # without a name: first, together with --help
Text = str | None
Texts = list[str] | None


def separated(given: Sequence[str]) -> list[str]:
    """Take repeated options and commas alike."""
    return [part.strip() for item in given for part in item.split(",") if part.strip()]


def column(text: str) -> str | int:
    """Read a column: its name, or its position if that is a number."""
    return int(text) if text.isdecimal() else text


def columns(given: Sequence[str]) -> list[str | int]:
    """Read several columns; a text with a comma is left to those who know all names."""
    numbers = [part.strip() for item in given for part in item.split(",")]
    if all(part.isdecimal() for part in numbers):
        return [int(part) for part in numbers]
    return list(given)


def as_library(given: Sequence[str]) -> str | Library:
    """Read a name as it is; of several, join names and formulas."""
    from wgsindy.errors import LibraryError
    from wgsindy.terms import Library

    if len(given) == 1 and given[0].isidentifier():
        return given[0]
    parts = []
    for item in given:
        try:
            parts.append(Library.named(item))
        except LibraryError:
            parts.append(Library.custom([item]))
    return Library(tuple(part for library in parts for part in library.parts))


# Options of reading: the keyword of `wgsindy.read`, what a shell gives, how it is read, and help.
READING: tuple[tuple[str, Any, Callable[[Any], Any], str | None, str], ...] = (
    ("states", Texts, columns, "COLUMNS", "Columns of the states, as x,y or 1,2."),
    ("time", Text, column, "COLUMN", "Column of the times."),
    ("trajectory", Text, column, "COLUMN", "Column that numbers the trajectories."),
    ("dt", float | None, float, "STEP", "Time step, if no column has times."),
    ("unit", Text, str, "UNIT", "Unit of time in the result, like s."),
    ("time_unit", Text, str, "UNIT", "Unit of the column of times."),
    ("time_format", Text, str, "FORMAT", "Format of the timestamps, like %d.%m.%Y."),
    ("clock", Text, str, "KIND", "rows: each row is a step; calendar: with weekends."),
    ("variable", Text, column, "COLUMN", "Long table: column that names the quantity."),
    ("value", Text, column, "COLUMN", "Long table: column of the values."),
    ("names", Texts, separated, "NAMES", "Other names for the states, like x,v."),
    ("replicates", bool, bool, None, "Each column is another run of the same state."),
    ("angle", Texts, separated, "STATES", "States that are angles."),
    ("inputs", Texts, separated, "COLUMNS", "Known inputs, without equations of their own."),
    ("missing", list[float] | None, list, "NUMBER", "A number that stands for a missing value."),
    ("gap", float | None, float, "TIME", "Longest step; longer ones are gaps."),
)


def _option(panel: str | None, flag: str, metavar: str | None, about: str, **more: Any) -> Any:
    return typer.Option(
        flag, metavar=metavar, help=about, rich_help_panel=panel, show_default=False, **more
    )


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, behind its first argument, the options of reading, as keywords if given."""

    @wraps(command)
    def read(**given: Any) -> None:
        asked = {name: (reader, given.pop(name)) for name, _, reader, _, _ in READING}
        said = {
            n: both for n, both in asked.items() if both[1] is not None and both[1] is not False
        }
        command(**given, **{name: reader(value) for name, (reader, value) in said.items()})

    signature = inspect.signature(command, eval_str=True)
    first, *others, _ = signature.parameters.values()
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=False if kind is bool else None,
            annotation=Annotated[
                kind, _option(DATA, f"--{name.replace('_', '-')}", metavar, about)
            ],
        )
        for name, kind, _, metavar, about in READING
    ]
    read.__signature__ = signature.replace(parameters=[first, *options, *others])  # type: ignore[attr-defined]
    return read


@with_reading
def fit(
    data: Annotated[list[str], typer.Argument(metavar="DATA", hidden=True)],
    every: Annotated[int, _option(DATA, "--every", "N", "Keep every N-th sample only.", min=1)] = 1,
    stream: Annotated[
        bool | None,
        _option(
            DATA, "--stream/--no-stream", None, "Read files piece by piece (default above 256 MB)."
        ),
    ] = None,
    log: Annotated[
        Texts, _option(DATA, "--log", "STATE", "Fit the logarithm of a state, then map back.")
    ] = None,
    transform: Annotated[
        Texts,
        _option(DATA, "--transform", "FORMULA", "Fit a function of a state, like 'u = sqrt(x)'."),
    ] = None,
    library: Annotated[
        Texts,
        _option(
            FIT, "--library", "NAME", "Candidate terms: auto (default), poly3, trig, or formulas."
        ),
    ] = None,
    recipe: Annotated[
        str, _option(FIT, "--recipe", "NAME", "Method: sharp (default), sharp-euler or paper.")
    ] = "sharp",
    noise_correction: Annotated[
        bool, _option(FIT, "--noise-correction", None, "Filter observation noise in any case.")
    ] = False,
    order: Annotated[
        str, _option(FIT, "--order", "1|2|auto", "2: states are positions, velocities are hidden.")
    ] = "1",
    diffusion: Annotated[
        str, _option(FIT, "--diffusion", "a|D", "Print the tensor as a (default) or D = a / 2.")
    ] = "a",
    seed: Annotated[
        int, _option(FIT, "--seed", "N", "Seed of everything that is random.", min=0)
    ] = 0,
    threads: Annotated[int, _option(FIT, "--threads", "N", "Number of threads.", min=1)] = 1,
    scheduler: Annotated[
        Text, _option(FIT, "--scheduler", "ADDRESS", "Address of a Dask cluster to fit on.")
    ] = None,
    out: Annotated[
        Path | None,
        _option(FIT, "--out", "FOLDER", "Folder for the results (default DATA-wgsindy)."),
    ] = None,
    title: Annotated[Text, _option(FIT, "--title", "TEXT", "Heading of the report.")] = None,
    no_report: Annotated[bool, _option(FIT, "--no-report", None, "Write no report.")] = False,
    figures: Annotated[
        bool, _option(FIT, "--figures", None, "Draw overview.png and fields.png, too.")
    ] = False,
    force: Annotated[bool, _option(FIT, "--force", None, "Replace an older result.")] = False,
    quiet: Annotated[bool, _option(FIT, "--quiet", None, "Print errors only.")] = False,
    machine: Annotated[bool, _option(FIT, "--json", None, "Print one JSON object.")] = False,
    **reading: Any,
) -> None:
    """Fit an equation to DATA: files of tables or arrays, globs, or - for standard input.

    Example: `wgsindy demo --csv demo.csv && wgsindy fit demo.csv --library poly3`
    """
    from wgsindy.cli.output import plain_result, tell
    from wgsindy.workflow import fit_file

    if diffusion not in ("a", "D"):
        raise typer.BadParameter(f"--diffusion is a or D, got {diffusion!r}.")
    if order not in ("1", "2", "auto"):
        raise typer.BadParameter(f"--order is 1, 2 or auto, got {order!r}.")
    shown = not (quiet or machine)
    with _client_of(scheduler) as client:
        result = fit_file(
            data,
            out=out,
            library=as_library(library or ["auto"]),
            recipe=recipe,
            noise_correction=noise_correction,
            order="auto" if order == "auto" else 2 if order == "2" else 1,
            log=log or (),
            transform=transform or (),
            every=every,
            stream=stream,
            random_state=seed,
            threads=threads,
            engine=client,
            title=title,
            command=shlex.join(["wgsindy", *sys.argv[1:]]),
            force=force,
            report=not no_report,
            figures=figures,
            stage=partial(stage, shown=shown),
            **({"tell": say_aside} if shown else {}),
            **reading,
        )
    if machine:
        typer.echo(json.dumps(plain_result(result), indent=1, allow_nan=False))
    elif shown:
        tell(result, diffusion)


def _client_of(scheduler: str | None) -> AbstractContextManager[Any]:
    """Connect to a Dask cluster, if one was named."""
    if scheduler is None:
        return nullcontext()
    from wgsindy.passes import connected

    return connected(scheduler)
