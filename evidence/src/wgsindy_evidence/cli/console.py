"""What the commands of the evidence share: tables on the terminal, a campaign with its progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from wgsindy_evidence.errors import CampaignError

if TYPE_CHECKING:
    from wgsindy_evidence.campaign import Case, Line, Work
    from wgsindy_evidence.grid import Grid

# Not the console of wgsindy.cli: importing that loads this package, as one of its commands.
console = Console()
WIDE = 220  # columns of figures are not for wrapping: on a narrow terminal let lines run over


def say(text: str) -> None:
    """Print a sentence."""
    console.print(text, highlight=False, markup=False)


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
    from wgsindy.passes import connected
    from wgsindy_evidence.campaign import Store, run_campaign

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
