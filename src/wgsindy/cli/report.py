"""`wgsindy report`: the page of a saved fit, drawn again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wgsindy.cli.console import passes, say_unbroken

ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model.json of a fit, or its folder.")
]
DataArgument = Annotated[list[str], typer.Argument(metavar="DATA", help="The data of that fit.")]
PageOption = Annotated[
    Path | None, typer.Option("--out", help="File to write (default: report.html beside MODEL).")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace an existing report.")]


def report(
    model: ModelArgument, data: DataArgument, out: PageOption = None, force: ForceOption = False
) -> None:
    """Draw the report of a fit again; DATA are read as they were then, nothing is fitted.

    Example: `wgsindy demo --csv d && wgsindy fit d && wgsindy report d-wgsindy d --force`
    """
    from wgsindy.workflow import report_again

    page = report_again(model, data, out=out, force=force, stage=passes)
    say_unbroken(f"Open {page} in a browser.")
