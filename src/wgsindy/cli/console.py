"""What commands share: the console, what is being done, a campaign behind a progress bar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from wgsindy.errors import CampaignError

if TYPE_CHECKING:
    from wgsindy.bench.campaign import Case, Line, Work
    from wgsindy.display.grid import Grid

console = Console()
aside = Console(stderr=True)
WIDE = 140  # columns of figures are not for wrapping: on a narrow terminal let lines run over


def say(text: str) -> None:
    """Print a sentence."""
    console.print(text, highlight=False, markup=False)


def say_indented(text: str) -> None:
    """Print a sentence that belongs to the one before it."""
    console.print(Padding(Text(text), (0, 0, 0, 2), expand=False))


def say_unbroken(text: str) -> None:
    """Print a formula or a path on one line, however long: it may be copied."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


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
    from wgsindy.engine import watched

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

        with watched(tell):
            yield


def show(*grids: Grid) -> None:
    """Print tables."""
    wide = Console(width=max(console.width, WIDE))
    for grid in grids:
        wide.print(grid.terminal())


def run(
    title: str,
    cases: Sequence[Case],
    work: Work,
    path: Path,
    jobs: int,
    scheduler: str | None = None,
) -> list[Line]:
    """Run a campaign behind a progress bar, and name the cases that failed."""
    from wgsindy.bench.campaign import Store, run_campaign
    from wgsindy.clusters import connected

    with connected(scheduler) as client, _progress() as progress:
        task = progress.add_task(title, total=len(cases))
        lines = run_campaign(
            cases,
            work,
            Store(path),
            jobs=jobs,
            client=client,
            progress=lambda done, total: progress.update(task, completed=done, total=total),
        )
    for line in lines:
        if line.error:
            console.print(f"[yellow]{line.case.system}, seed {line.case.seed}:[/] {line.error}")
    return lines


def parse_seeds(text: str) -> range:
    """Read FIRST:LAST."""
    first, colon, last = text.partition(":")
    if not (colon and first.isdecimal() and last.isdecimal() and int(first) < int(last)):
        raise CampaignError(f"seeds must be FIRST:LAST with FIRST < LAST, like 0:10; got {text!r}.")
    return range(int(first), int(last))


def listed(paths: Iterable[Path]) -> str:
    """Names of files, for a sentence."""
    return ", ".join(path.name for path in paths) or "nothing"


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )
