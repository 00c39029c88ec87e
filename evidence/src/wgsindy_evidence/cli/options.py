"""Options that several commands of the evidence take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OutOption = Annotated[Path, typer.Option("--out", help="Folder for results.")]
RecipeOption = Annotated[str, typer.Option(help="Recipe of the fit.")]
SeedsOption = Annotated[str, typer.Option(help="Seeds as FIRST:LAST, without LAST.")]
OwnSeedsOption = Annotated[
    str | None, typer.Option("--seeds", help="Seeds as FIRST:LAST instead of the usual ones.")
]
SystemsOption = Annotated[
    list[str] | None, typer.Option("--system", help="Only this system; repeat for more.")
]
JobsOption = Annotated[int, typer.Option(help="Number of cases that run at a time.")]
SchedulerOption = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="Run cases on a Dask cluster instead."),
]
QuickOption = Annotated[bool, typer.Option("--quick", help="A quick look: two seeds, few systems.")]
MethodsOption = Annotated[
    list[str] | None, typer.Option("--method", help="Only this method; repeat for more.")
]
PythonOption = Annotated[
    list[str] | None,
    typer.Option("--python", help="Interpreter with the rivals: PATH, or METHOD=PATH for one."),
]
TurnsOption = Annotated[
    int, typer.Option("--jobs", help="Number of cases at a time; more than one spoils timings.")
]
