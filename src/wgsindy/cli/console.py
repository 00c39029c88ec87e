"""What commands share: the console, what is being done, options that several of them have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from wgsindy.errors import OutputError

console = Console()
aside = Console(stderr=True)


def fit_argument(metavar: str, about: str = "A model.json of a fit, or its folder.") -> Any:
    """Return the argument that names a fit."""
    return typer.Argument(metavar=metavar, help=about)


ModelArgument = Annotated[Path, fit_argument("MODEL", "A model.json of a fit.")]


def force_option(what: str) -> Any:
    """Return the option that lets a command replace ``what``."""
    return typer.Option("--force", help=f"Replace an existing {what}.")


def refuse_existing(path: Path | None, force: bool) -> None:
    """Refuse to replace a file that nobody said to replace."""
    if path is not None and path.exists() and not force:
        raise OutputError(f"{path} already exists; replace it with --force, or choose another.")


def say(text: str) -> None:
    """Print a sentence."""
    console.print(text, highlight=False, markup=False)


def say_indented(text: str) -> None:
    """Print a sentence that belongs to the one before it."""
    console.print(Padding(Text(text), (0, 0, 0, 2), expand=False))


def say_unbroken(text: str) -> None:
    """Print a formula or a path on one line, however long: it may be copied."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def say_aside(text: str) -> None:
    """Print a sentence about the work, apart from its result."""
    aside.print(Text(text), soft_wrap=True)


def complain(text: str) -> None:
    """Print an error to where errors go."""
    aside.print(Text("wgsindy: ", style="bold red") + Text(text), soft_wrap=True)


@contextmanager
def stage(name: str, *, shown: bool = True) -> Iterator[None]:
    """Show what is being done and for how long, while it is, to who looks at a terminal.

    Of passes over data also how many there were so far, and how far the present one is.
    """
    if not (shown and aside.is_terminal):
        yield
        return
    from wgsindy.passes import reporting_progress

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=aside, transient=True) as progress:
        task = progress.add_task(name, total=None)
        number, before = 0, 0

        def tell(done: int, total: int) -> None:
            nonlocal number, before
            number += not 0 < before < done  # a pass that begins anew is another one
            before = done
            text = f"{name}: pass {number}, {done:,} of {total:,} steps"
            progress.update(task, description=text)

        with reporting_progress(tell):
            yield
