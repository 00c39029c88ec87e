"""`wgsindy compare`: two fits side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wgsindy.cli.console import say_unbroken
from wgsindy.errors import OutputError

A = Annotated[Path, typer.Argument(metavar="A", help="A model.json of a fit, or its folder.")]
B = Annotated[Path, typer.Argument(metavar="B", help="Another fit of the same states.")]
DataOption = Annotated[
    list[str] | None,
    typer.Option("--data", metavar="FILE", help="Compare the likelihoods of both on these data."),
]
PictureOption = Annotated[
    Path, typer.Option("--out", metavar="FILE", help="Picture of all fields: PNG, PDF or SVG.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace an existing picture.")]


def compare(
    a: A,
    b: B,
    data: DataOption = None,
    out: PictureOption = Path("comparison.png"),
    force: ForceOption = False,
) -> None:
    """Put two fits side by side: coefficients, fields, likelihood of data; with a picture.

    Example: `wgsindy demo && wgsindy compare demo-output demo-output/model.json`
    """
    if out.exists() and not force:
        raise OutputError(f"{out} already exists; replace it with --force, or name another.")
    from matplotlib import use

    use("Agg")  # a file is written, no window is opened
    from wgsindy import compare as compared
    from wgsindy.files import open_data
    from wgsindy.workflow import MODEL

    models = [path / MODEL if path.is_dir() else path for path in (a, b)]
    judges = None if data is None else open_data(data).data
    both = compared(*models, data=judges, labels=(str(a), str(b)))
    for line in str(both).splitlines():
        say_unbroken(line)
    both.plot().savefig(out, dpi=150)
    say_unbroken(f"\nWrote {out}")
