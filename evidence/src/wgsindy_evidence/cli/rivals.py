"""Commands that compare with other packages."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from wgsindy_evidence.cli.commands import show_page
from wgsindy_evidence.cli.console import console, parse_seeds, run, say, show
from wgsindy_evidence.cli.options import (
    MethodsOption,
    OutOption,
    PythonOption,
    QuickOption,
    SeedsOption,
    SystemsOption,
    TurnsOption,
)


def bench_speed(
    python: PythonOption = None,
    quick: QuickOption = False,
    out: OutOption = Path("results"),
) -> None:
    """Measure what a fit costs: against yardsticks, on files up to 1.6 GB, pass by pass.

    Rivals (sfi, pysindy) are timed as well where they are installed. About ten minutes on a
    machine that does nothing else; goes on where it was stopped.

    Example: `wgsindy bench speed --quick`
    """
    from wgsindy_evidence import speed
    from wgsindy_evidence.pages.speed import build
    from wgsindy_evidence.peers import comparison

    pythons = comparison.interpreters(python or [])
    rivals = comparison.installed(speed.RIVALS, pythons)
    work = partial(speed.run_case, pythons=pythons)
    cases = speed.speed_cases(rivals, quick=quick)
    lines = run("speed", cases, work, out / "speed.jsonl", jobs=1)
    show_page(build, lines, out)
    for rival in set(speed.RIVALS) - set(rivals):
        say(f"{rival} is not installed and was not timed; --python names an interpreter with it.")


def bench_peers(
    methods: MethodsOption = None,
    seeds: SeedsOption = "1000:1005",
    systems: SystemsOption = None,
    python: PythonOption = None,
    jobs: TurnsOption = 1,
    out: OutOption = Path("results"),
) -> None:
    """Fit identical trajectories with this package and its rivals; compare errors and time.

    Rivals: sfi, pydaddy, pysindy (extra `rivals` of this package). Goes on where it was stopped.

    Example: `wgsindy bench peers --python ~/peers/bin/python --seeds 0:2`
    """
    from wgsindy.files import write_atomically
    from wgsindy_evidence.pages.peers import peers_grids, peers_markdown
    from wgsindy_evidence.peers import comparison
    from wgsindy_evidence.peers.standings import summarise

    chosen = methods or list(comparison.METHODS)
    pythons = comparison.interpreters(python or [])
    cases = comparison.peer_cases(chosen, parse_seeds(seeds), systems)
    comparison.check_interpreters(chosen, pythons)
    work = partial(comparison.run_case, pythons=pythons)
    lines = run("peers", cases, work, out / "peers.jsonl", jobs)
    summary = summarise(lines, chosen[0])
    show(*reversed(peers_grids(summary, f"Rivals by system, seeds {seeds}")))
    for sentence in summary.failures:
        console.print(f"[yellow]failed:[/] {sentence}", highlight=False)
    write_atomically(out / "peers.md", peers_markdown(summary))


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
    from wgsindy.files import write_atomically
    from wgsindy.report.figures.fields import save_picture
    from wgsindy_evidence.pages.peers import match_grid, plot_match
    from wgsindy_evidence.peers import comparison, match

    chosen = methods or list(match.METHODS)
    pythons = comparison.interpreters(python or [])
    cases = match.match_cases(chosen, parse_seeds(seeds), systems)
    comparison.check_interpreters(chosen, pythons)
    work = partial(match.run_case, pythons=pythons)
    curves = match.summarise(run("match", cases, work, out / "match.jsonl", jobs))
    grid = match_grid(curves, f"Share of exact matches of the drift's terms, seeds {seeds}")
    show(grid)
    write_atomically(out / "match.md", grid.markdown())
    save_picture(plot_match(curves), out / "match.png", dpi=150)
    say(f"Wrote match.md and match.png to {out}/")


def add_rivals(bench: typer.Typer) -> None:
    """Add these commands to those of the evidence."""
    bench.command("speed")(bench_speed)
    bench.command("peers")(bench_peers)
    bench.command("match")(bench_match)
