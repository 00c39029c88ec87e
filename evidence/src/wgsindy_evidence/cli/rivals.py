"""Commands that compare with other packages, with clocks, and with what goes wrong."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from wgsindy_evidence.cli.commands import show_page
from wgsindy_evidence.cli.console import console, parse_seeds, run, say, show
from wgsindy_evidence.cli.options import (
    MethodsOption,
    OutOption,
    OwnSeedsOption,
    PythonOption,
    QuickOption,
    SeedsOption,
    SystemsOption,
    TurnsOption,
)

if TYPE_CHECKING:
    from wgsindy_evidence.pages import Build


def bench_speed(
    python: PythonOption = None,
    quick: QuickOption = False,
    out: OutOption = Path("results"),
) -> None:
    """Measure what a fit costs, against yardsticks and on files up to 1.6 GB.

    Passes are timed one by one, and rivals (sfi, pysindy) where they are installed. About ten
    minutes on a machine that does nothing else; goes on where it was stopped.

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


def bench_trust(
    count: Annotated[int, typer.Option(help="Spoilt inputs of each kind.", min=1)] = 100_000,
    kind: Annotated[str, typer.Option(help="Only kinds whose name contains this.")] = "",
    out: OutOption = Path("results"),
) -> None:
    """Try bad input and faults: spoilt files, kills, full disks, lost clusters.

    In a checkout with the tools of `make test`; half an hour, most of it spoilt inputs. Goes on
    where it was stopped.

    Example: `wgsindy bench trust --count 1000`
    """
    from wgsindy_evidence import trust
    from wgsindy_evidence.pages.trust import build

    cases = [case for case in trust.trust_cases(count) if kind in case.system]
    lines = run("trust", cases, trust.run_case, out / "trust.jsonl", jobs=1)
    show_page(build, lines, out)


def bench_peers(
    methods: MethodsOption = None,
    seeds: SeedsOption = "1000:1005",
    systems: SystemsOption = None,
    python: PythonOption = None,
    jobs: TurnsOption = 1,
    out: OutOption = Path("results"),
) -> None:
    """Compare errors and time with those of rivals, on identical trajectories.

    Rivals: sfi, pydaddy, pysindy (extra `rivals` of this package). Goes on where it was stopped.
    Where no method and no system is named, `wgsindy bench peers-measured` follows.

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
    if not methods and not systems:
        bench_peers_measured(python=python, jobs=jobs, out=out)


def _beside_a_rival(
    peers: ModuleType,
    build: Build,
    methods: list[str] | None,
    seeds: str | None,
    systems: list[str] | None,
    python: list[str] | None,
    jobs: int,
    out: Path,
) -> None:
    """Run the cases of a module of ``wgsindy_evidence.peers``, and show its page."""
    from wgsindy_evidence.peers import comparison

    chosen = methods or list(peers.METHODS)
    pythons = comparison.interpreters(python or [])
    cases = peers.cases(chosen, parse_seeds(seeds) if seeds else peers.SEEDS, systems)
    comparison.check_interpreters(chosen, pythons)
    work = partial(peers.run_case, pythons=pythons)
    lines = run(peers.EXPERIMENT, cases, work, out / f"{peers.EXPERIMENT}.jsonl", jobs)
    show_page(build, lines, out)


def bench_peers_measured(
    methods: MethodsOption = None,
    seeds: OwnSeedsOption = None,
    systems: SystemsOption = None,
    python: PythonOption = None,
    jobs: TurnsOption = 1,
    out: OutOption = Path("results"),
) -> None:
    """Compare with a rival's parametric estimators, on coarse and noisy samples.

    About an hour on a machine that does nothing else, most of it the rival's.

    Example: `wgsindy bench peers-measured --python ~/peers/bin/python --system rotation`
    """
    from wgsindy_evidence.pages.peers_measured import build
    from wgsindy_evidence.peers import measured

    _beside_a_rival(measured, build, methods, seeds, systems, python, jobs, out)


def bench_peers_positions(
    methods: MethodsOption = None,
    seeds: OwnSeedsOption = None,
    systems: SystemsOption = None,
    python: PythonOption = None,
    jobs: TurnsOption = 1,
    out: OutOption = Path("results"),
) -> None:
    """Compare with a rival's estimator for positions whose velocities are hidden.

    Example: `wgsindy bench peers-positions --python ~/peers/bin/python --system linear`
    """
    from wgsindy_evidence.pages.peers_positions import build
    from wgsindy_evidence.peers import positions

    _beside_a_rival(positions, build, methods, seeds, systems, python, jobs, out)


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
    from wgsindy.draw import save_picture
    from wgsindy.files import write_atomically
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
    bench.command("trust")(bench_trust)
    bench.command("peers")(bench_peers)
    bench.command("peers-measured")(bench_peers_measured)
    bench.command("peers-positions")(bench_peers_positions)
    bench.command("match")(bench_match)
