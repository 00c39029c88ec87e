"""Commands that compare with other packages, check error bars, and measure coarse steps."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from wgsindy.cli.bench import (
    JobsOption,
    OutOption,
    RecipeOption,
    SeedsOption,
    SystemsOption,
    bench,
)
from wgsindy.cli.console import console, parse_seeds, run, save_figure, say, show

__all__ = ["bench"]  # with the commands of this module

MethodsOption = Annotated[list[str] | None, typer.Option("--method", help="Only these.")]
PythonOption = Annotated[
    list[str] | None,
    typer.Option("--python", help="Interpreter with the rivals: PATH, or METHOD=PATH for one."),
]
TurnsOption = Annotated[
    int, typer.Option("--jobs", help="Cases at a time; more than one spoils timings.")
]


@bench.command("peers")
def bench_peers(
    methods: MethodsOption = None,
    seeds: SeedsOption = "1000:1005",
    systems: SystemsOption = None,
    python: PythonOption = None,
    jobs: TurnsOption = 1,
    out: OutOption = Path("results"),
) -> None:
    """Fit identical trajectories with this package and its rivals; compare errors and time.

    Rivals: sfi, pydaddy, pysindy (extra `bench`). Goes on where it was stopped.

    Example: `wgsindy bench peers --python ~/peers/bin/python --seeds 0:2`
    """
    from wgsindy.bench import peers
    from wgsindy.bench.standings import summarise
    from wgsindy.display.tables import peers_grids, peers_markdown
    from wgsindy.files import write_atomically

    chosen = methods or list(peers.METHODS)
    pythons = peers.interpreters(python or [])
    cases = peers.peer_cases(chosen, parse_seeds(seeds), systems)
    peers.check_interpreters(chosen, pythons)
    work = partial(peers.run_case, pythons=pythons)
    lines = run("peers", cases, work, out / "peers.jsonl", jobs)
    summary = summarise(lines, chosen[0])
    show(*reversed(peers_grids(summary, f"Rivals by system, seeds {seeds}")))
    for sentence in summary.failures:
        console.print(f"[yellow]failed:[/] {sentence}", highlight=False)
    write_atomically(out / "peers.md", peers_markdown(summary))


@bench.command("match")
def bench_match(
    methods: MethodsOption = None,
    seeds: SeedsOption = "1000:1010",
    systems: SystemsOption = None,
    python: PythonOption = None,
    jobs: TurnsOption = 1,
    out: OutOption = Path("results"),
) -> None:
    """Measure how much data it takes to find exactly the terms of the drift.

    Example: `wgsindy bench match --method paper --system rotational_ou --seeds 0:3`
    """
    from wgsindy.bench import match, peers
    from wgsindy.display.curves import plot_match
    from wgsindy.display.tables import match_grid
    from wgsindy.files import write_atomically

    chosen = methods or list(match.METHODS)
    pythons = peers.interpreters(python or [])
    cases = match.match_cases(chosen, parse_seeds(seeds), systems)
    peers.check_interpreters(chosen, pythons)
    work = partial(match.run_case, pythons=pythons)
    curves = match.summarise(run("match", cases, work, out / "match.jsonl", jobs))
    grid = match_grid(curves, f"Share of exact matches of the drift's terms, seeds {seeds}")
    show(grid)
    write_atomically(out / "match.md", grid.markdown())
    save_figure(plot_match(curves), out / "match.png")
    say(f"Wrote match.md and match.png to {out}/")


@bench.command("calibration")
def bench_calibration(
    recipe: RecipeOption = "sharp",
    seeds: SeedsOption = "1000:1020",
    systems: SystemsOption = None,
    jobs: JobsOption = 2,
    out: OutOption = Path("results"),
) -> None:
    """Check error bars and inclusion probabilities against known truths.

    Example: `wgsindy bench calibration --system rotational_ou --seeds 0:5`
    """
    from wgsindy.bench import calibration
    from wgsindy.display.curves import plot_reliability
    from wgsindy.display.tables import calibration_grid, reliability_grid
    from wgsindy.files import write_atomically

    cases = calibration.calibration_cases(recipe, parse_seeds(seeds), systems)
    lines = run("calibration", cases, calibration.run_case, out / "calibration.jsonl", jobs)
    rows, bins = calibration.summarise(lines), calibration.reliability(lines)
    grids = (
        calibration_grid(rows, f"Coverage of 95 % intervals, seeds {seeds}"),
        reliability_grid(bins),
    )
    show(*grids)
    write_atomically(out / "calibration.md", "\n".join(grid.markdown() for grid in grids))
    save_figure(plot_reliability(bins), out / "reliability.png")
    say(f"Wrote calibration.md and reliability.png to {out}/")


@bench.command("steps")
def bench_steps(
    seeds: SeedsOption = "1000:1010",
    systems: SystemsOption = None,
    jobs: JobsOption = 2,
    out: OutOption = Path("results"),
) -> None:
    """Measure the bias of coarse steps, with and without the finite-step correction.

    Example: `wgsindy bench steps --system rotational_ou --seeds 0:4`
    """
    from wgsindy.bench import steps
    from wgsindy.display.tables import steps_grid
    from wgsindy.files import write_atomically

    cases = steps.step_cases(parse_seeds(seeds), systems)
    rows = steps.summarise(run("steps", cases, steps.run_case, out / "steps.jsonl", jobs))
    grid = steps_grid(rows, f"Bias and error of coarse steps, seeds {seeds}")
    show(grid)
    write_atomically(out / "steps.md", grid.markdown())
