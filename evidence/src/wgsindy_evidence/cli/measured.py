"""The command that fits data as they are measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wgsindy_evidence.cli.commands import show_page
from wgsindy_evidence.cli.console import parse_seeds, run, say
from wgsindy_evidence.cli.options import (
    JobsOption,
    OutOption,
    OwnSeedsOption,
    QuickOption,
    RecipeOption,
    SchedulerOption,
    SystemsOption,
)
from wgsindy_evidence.errors import CampaignError

GroupOption = Annotated[
    list[str] | None,
    typer.Option("--group", help="fine, coarse, noise, both, rounded or offset; repeat for more."),
]


def bench_measured(
    seeds: OwnSeedsOption = None,
    systems: SystemsOption = None,
    groups: GroupOption = None,
    recipe: RecipeOption = "sharp",
    quick: QuickOption = False,
    jobs: JobsOption = 2,
    scheduler: SchedulerOption = None,
    out: OutOption = Path("results"),
) -> None:
    """Fit coarse, noisy, rounded and shifted samples of processes beyond the zoo.

    Example: `wgsindy bench measured --seeds 100:104 --group coarse --out /tmp/look`
    """
    from wgsindy_evidence import recipes
    from wgsindy_evidence.experiments.ours import measured
    from wgsindy_evidence.pages.ours.measured import build
    from wgsindy_evidence.scope import Scope

    chosen = groups or (measured.GROUPS[:1] if quick else measured.GROUPS)
    for group in chosen:
        if group not in measured.GROUPS:
            raise CampaignError(f"there is no group {group!r}; choose among {measured.GROUPS}.")
    scope = Scope(parse_seeds(seeds) if seeds else None, systems, quick)
    cases = measured.cases_of(scope, chosen, recipes.get(recipe).name)
    lines = run("measured", cases, measured.run_case, out / "measured.jsonl", jobs, scheduler)
    show_page(build, lines, out)
    say(f"{len(cases)} fits; lines and tables in {out}/")


def add_measured(bench: typer.Typer) -> None:
    """Add this command to those of the evidence."""
    bench.command("measured")(bench_measured)
