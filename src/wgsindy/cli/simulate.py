"""`wgsindy simulate`: paths of a model file as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wgsindy.cli.console import say, stage
from wgsindy.errors import OutputError, SimulationError

if TYPE_CHECKING:
    from wgsindy.model import Generator

ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A model.json of a fit.")]
StartOption = Annotated[
    str | None, typer.Option(help="First state, like 1,0.5 (default: mean of the data).")
]
FileOption = Annotated[Path | None, typer.Option("--out", help="CSV file (default: stdout).")]


def simulate(
    model: ModelArgument,
    dt: Annotated[float, typer.Option(help="Time step.")],
    steps: Annotated[int, typer.Option(min=1, help="Steps per path.")] = 1000,
    trajectories: Annotated[int, typer.Option(min=1, help="Number of paths.")] = 1,
    start: StartOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the noise.")] = 0,
    out: FileOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Simulate paths of a fitted model; write them as a table.

    Example: `wgsindy demo && wgsindy simulate demo-output/model.json --dt 0.01 --out paths.csv`
    """
    from wgsindy.files import csv_text, write_atomically
    from wgsindy.model import Generator

    if out is not None and out.exists() and not force:
        raise OutputError(f"{out} already exists; replace it with --force, or choose another.")
    generator = Generator.load(model)
    first = _start(start, generator)
    with stage("simulating"):
        paths = generator.simulate(
            first, dt=dt, steps=steps, trajectories=trajectories, random_state=seed
        )
    if out is None:
        typer.echo(csv_text(paths), nl=False)
    else:
        write_atomically(out, csv_text(paths))
        say(f"Wrote {trajectories} x {steps} steps to {out}")


def _start(text: str | None, generator: Generator) -> list[float]:
    if text is None:
        if generator.region is None:
            raise SimulationError("this model does not know its data; pass --start, like 1,0.5.")
        return generator.region.centre.tolist()
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != generator.dimension:
        raise SimulationError(
            f"--start needs a number for each of {list(generator.names)}, like 1,0.5; got {text!r}."
        )
    return numbers
