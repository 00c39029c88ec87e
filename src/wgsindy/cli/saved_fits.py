"""Commands on fits that are saved: `wgsindy report`, `wgsindy compare` and `wgsindy simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wgsindy.cli.console import (
    ModelArgument,
    fit_argument,
    force_option,
    refuse_existing,
    say,
    say_unbroken,
    stage,
)
from wgsindy.errors import SimulationError

if TYPE_CHECKING:
    from wgsindy.model import Generator


def report(
    model: Annotated[Path, fit_argument("MODEL")],
    data: Annotated[list[str], typer.Argument(metavar="DATA", help="The data of that fit.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File to write (default: report.html beside MODEL)."),
    ] = None,
    force: Annotated[bool, force_option("report")] = False,
) -> None:
    """Draw the report of a fit again; DATA are read as they were then, nothing is fitted.

    Example: `wgsindy demo --csv d && wgsindy fit d && wgsindy report d-wgsindy d --force`
    """
    from wgsindy.workflow import report_again

    page = report_again(model, data, out=out, force=force, stage=stage)
    say_unbroken(f"Open {page} in a browser.")


def compare_fits(
    a: Annotated[Path, fit_argument("A")],
    b: Annotated[Path, fit_argument("B", "Another fit of the same states.")],
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data", metavar="FILE", help="Compare the likelihoods of both on these data."
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="Picture of all fields: PNG, PDF or SVG."),
    ] = Path("comparison.png"),
    force: Annotated[bool, force_option("picture")] = False,
) -> None:
    """Put two fits side by side: coefficients, fields, likelihood of data; with a picture.

    Example: `wgsindy demo && wgsindy compare demo-output demo-output/model.json`
    """
    refuse_existing(out, force)
    from matplotlib import use

    use("Agg")  # a file is written, no window is opened
    from wgsindy import compare
    from wgsindy.files import open_data
    from wgsindy.workflow import MODEL

    models = [path / MODEL if path.is_dir() else path for path in (a, b)]
    judges = None if data is None else open_data(data).data
    both = compare(*models, data=judges, labels=(str(a), str(b)))
    for line in str(both).splitlines():
        say_unbroken(line)
    both.plot().savefig(out, dpi=150)
    say_unbroken(f"\nWrote {out}")


def simulate_paths(
    model: ModelArgument,
    dt: Annotated[float, typer.Option(help="Time step.")],
    steps: Annotated[int, typer.Option(min=1, help="Steps per path.")] = 1000,
    trajectories: Annotated[int, typer.Option(min=1, help="Number of paths.")] = 1,
    start: Annotated[
        str | None, typer.Option(help="First state, like 1,0.5 (default: mean of the data).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the noise.")] = 0,
    out: Annotated[Path | None, typer.Option("--out", help="CSV file (default: stdout).")] = None,
    force: Annotated[bool, force_option("file")] = False,
) -> None:
    """Simulate paths of a fitted model; write them as a table.

    Example: `wgsindy demo && wgsindy simulate demo-output/model.json --dt 0.01 --out paths.csv`
    """
    from wgsindy.files import csv_text, write_atomically
    from wgsindy.model import Generator

    refuse_existing(out, force)
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
