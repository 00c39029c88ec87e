"""What commands share: the console, what is being done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.padding import Padding
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

console = Console()
aside = Console(stderr=True)


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
    """Show what is being done and for how long, while it is, to who looks at a terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    hidden = not (shown and aside.is_terminal)
    with Progress(*columns, console=aside, transient=True, disable=hidden) as progress:
        progress.add_task(name, total=None)
        yield


@contextmanager
def passes(name: str, *, shown: bool = True) -> Iterator[None]:
    """Like :func:`stage`, with the passes over data so far and how far the present one is."""
    from wgsindy.passes import reporting_progress

    if not (shown and aside.is_terminal):
        yield
        return
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
