"""The command line: arguments -> public calls. The only place that prints."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from wgsindy.errors import CampaignError, WgsindyError

if TYPE_CHECKING:
    from wgsindy.bench.campaign import Case, Line, Work

console = Console()
app = typer.Typer(
    name="wgsindy",
    help="Recover the stochastic differential equation behind measured trajectories.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)
bench = typer.Typer(help="Benchmarks on systems whose equations are known.", no_args_is_help=True)
app.add_typer(bench, name="bench")

OutOption = Annotated[Path, typer.Option("--out", help="Folder for results.")]
RecipeOption = Annotated[str, typer.Option(help="Recipe of the fit.")]
SeedsOption = Annotated[str, typer.Option(help="Seeds as FIRST:LAST, last one excluded.")]
SystemsOption = Annotated[list[str] | None, typer.Option("--system", help="Only these.")]
MethodsOption = Annotated[list[str] | None, typer.Option("--method", help="Only these.")]
PythonOption = Annotated[
    list[str] | None,
    typer.Option("--python", help="Interpreter with the rivals: PATH, or METHOD=PATH for one."),
]
JobsOption = Annotated[int, typer.Option(help="Cases at a time; more than one spoils timings.")]


def main() -> None:
    """Run the command line; expected errors end in one sentence, not in a traceback."""
    try:
        app()
    except (WgsindyError, OSError) as error:
        Console(stderr=True).print(f"[bold red]wgsindy:[/] {error}", highlight=False)
        sys.exit(1)


@app.command()
def demo(out: OutOption = Path("demo-output")) -> None:
    """Fit a small bundled data set; print its equations beside the truth and draw both.

    Example: `wgsindy demo --out demo-output`
    """
    from wgsindy import zoo
    from wgsindy.demo import DEMO_SYSTEM, demo_data
    from wgsindy.display.fields import plot_comparison, plot_overview
    from wgsindy.estimator import WGSINDy
    from wgsindy.metrics import compare

    system, data = zoo.get(DEMO_SYSTEM), demo_data()
    console.print(f"[bold]{system.title}[/]: {data}", highlight=False)
    started = time.perf_counter()
    fitted = WGSINDy(system.library, "sharp").fit(data)
    estimate = fitted.generator_
    seconds = time.perf_counter() - started
    table = Table("recovered", "true", title=f"Equations, fitted in {seconds:.2f} s")
    found = estimate.equations(errors=True)
    for pair in zip(found, system.generator.equations(), strict=True):
        table.add_row(*pair)
    console.print(table)
    console.print(f"Drift and tensor are {fitted.diagnostics_.verdict}.", highlight=False)
    scores = compare(estimate, system.generator, data.states)
    console.print(
        f"Relative error on the central grid: drift {scores.drift:.3f}, "
        f"tensor {scores.tensor:.3f}; positive semidefinite at {scores.psd:.0%} of the points.",
        highlight=False,
    )
    out.mkdir(parents=True, exist_ok=True)
    estimate.save(out / "model.json")
    plot_overview(estimate, system.generator, data).savefig(out / "overview.png", dpi=130)
    plot_comparison(estimate, system.generator, data).savefig(out / "fields.png", dpi=110)
    console.print(f"Wrote model.json, overview.png and fields.png to {out}/", highlight=False)


@app.command("zoo")
def show_zoo() -> None:
    """List the benchmark systems with their equations.

    Example: `wgsindy zoo`
    """
    from wgsindy import zoo

    table = Table("name", "library", "steps x dt", "paper", "equations")
    for name in zoo.names(variants=True):
        system = zoo.get(name)
        equations = [
            text if len(text) <= 100 else text[:97] + "..." for text in system.generator.equations()
        ]
        table.add_row(
            name,
            system.library if isinstance(system.library, str) else "formulas",
            f"{system.steps} x {system.dt:.4g}",
            system.verdict,
            "\n".join(equations),
            end_section=True,
        )
    console.print(table)


@bench.command("table")
def bench_table(
    recipe: RecipeOption = "paper",
    seeds: Annotated[
        str, typer.Option(help="Seeds as FIRST:LAST, last one excluded.")
    ] = "1000:1010",
    systems: Annotated[list[str] | None, typer.Option("--system", help="Only these.")] = None,
    trajectories: Annotated[int, typer.Option(help="Trajectories a case.")] = 16,
    jobs: Annotated[int, typer.Option(help="Cases at a time.")] = 2,
    out: OutOption = Path("results"),
) -> None:
    """Fit every system on every seed and print the master table; goes on where it was stopped.

    Example: `wgsindy bench table --system rotational_ou --seeds 0:3`
    """
    from wgsindy import recipes
    from wgsindy.bench import table
    from wgsindy.display.tables import master_markdown, master_table, overall_sentences
    from wgsindy.files import write_atomically

    name = recipes.get(recipe).name
    cases = table.table_cases(name, parse_seeds(seeds), systems, trajectories)
    started = time.perf_counter()
    title, store = f"table, recipe {name}", out / f"table-{name}.jsonl"
    lines = _campaign(title, cases, table.run_case, store, jobs)
    rows = table.summarise(lines)
    # Columns of figures are not for wrapping: on a narrow terminal let lines run over.
    wide = Console(width=max(console.width, 130))
    wide.print(master_table(rows, f"Master table, recipe {name}, seeds {seeds}"))
    console.print("* above the paper's 95 % interval", highlight=False)
    summary = table.overall(rows)
    for sentence in overall_sentences(summary) if summary else []:
        console.print(sentence, highlight=False)
    for line in lines:
        if line.error:
            console.print(f"[yellow]{line.case.system}, seed {line.case.seed}:[/] {line.error}")
    write_atomically(out / f"table-{name}.md", master_markdown(rows))
    console.print(
        f"{len(cases)} cases in {time.perf_counter() - started:.0f} s; lines and table in {out}/",
        highlight=False,
    )


@bench.command("speed")
def bench_speed(
    recipe: RecipeOption = "paper",
    repeats: Annotated[int, typer.Option(help="Repetitions of each timing.")] = 5,
) -> None:
    """Time a fit against KMeans(64, n_init=10) and measure memory and growth with N.

    Example: `wgsindy bench speed --repeats 3`
    """
    from wgsindy.bench import speed

    for library in ("poly2", "poly4"):
        timing = speed.time_fit(recipe, repeats=repeats, library=library)
        console.print(
            f"{timing.increments} increments, {library}, one thread: fit {timing.fit:.3f} s, "
            f"KMeans(64, n_init=10) {timing.yardstick:.3f} s, ratio {timing.ratio:.3f}",
            highlight=False,
        )
    console.print(
        f"First fit in a fresh process, imports included: {speed.first_fit(recipe):.2f} s",
        highlight=False,
    )
    table = Table("increments", "seconds", "microseconds per increment", "added peak memory, MB")
    for increments in (100_000, 200_000, 400_000):
        growth = speed.measure_growth(recipe, increments)
        table.add_row(
            f"{growth.increments}",
            f"{growth.seconds:.2f}",
            f"{1e6 * growth.seconds / growth.increments:.2f}",
            f"{growth.megabytes:.0f}",
        )
    console.print(table)


@bench.command("peers")
def bench_peers(
    methods: MethodsOption = None,
    seeds: SeedsOption = "1000:1005",
    systems: SystemsOption = None,
    python: PythonOption = None,
    jobs: JobsOption = 1,
    out: OutOption = Path("results"),
) -> None:
    """Fit identical trajectories with this package and its rivals; compare errors and time.

    Rivals: sfi, pydaddy, pysindy (extra `bench`). Goes on where it was stopped.

    Example: `wgsindy bench peers --python ~/peers/bin/python --seeds 0:2`
    """
    from wgsindy.bench import peers
    from wgsindy.bench.standings import summarise
    from wgsindy.display.tables import peers_markdown, peers_tables
    from wgsindy.files import write_atomically

    chosen = methods or list(peers.METHODS)
    pythons = peers.interpreters(python or [])
    cases = peers.peer_cases(chosen, parse_seeds(seeds), systems)
    peers.check_interpreters(chosen, pythons)
    work = partial(peers.run_case, pythons=pythons)
    lines = _campaign("peers", cases, work, out / "peers.jsonl", jobs)
    summary = summarise(lines, chosen[0])
    wide = Console(width=max(console.width, 140))
    for table in peers_tables(summary, f"Rivals by system, seeds {seeds}"):
        wide.print(table)
    for sentence in summary.failures:
        console.print(f"[yellow]failed:[/] {sentence}", highlight=False)
    write_atomically(out / "peers.md", peers_markdown(summary))


@bench.command("match")
def bench_match(
    methods: MethodsOption = None,
    seeds: SeedsOption = "1000:1010",
    systems: SystemsOption = None,
    python: PythonOption = None,
    jobs: JobsOption = 1,
    out: OutOption = Path("results"),
) -> None:
    """Measure how much data it takes to find exactly the terms of the drift.

    Example: `wgsindy bench match --method paper --system rotational_ou --seeds 0:3`
    """
    from wgsindy.bench import match, peers
    from wgsindy.display.curves import plot_match
    from wgsindy.display.tables import match_markdown, match_table
    from wgsindy.files import write_atomically

    chosen = methods or list(match.METHODS)
    pythons = peers.interpreters(python or [])
    cases = match.match_cases(chosen, parse_seeds(seeds), systems)
    peers.check_interpreters(chosen, pythons)
    work = partial(match.run_case, pythons=pythons)
    lines = _campaign("match", cases, work, out / "match.jsonl", jobs)
    curves = match.summarise(lines)
    wide = Console(width=max(console.width, 130))
    wide.print(match_table(curves, f"Share of exact matches of the drift's terms, seeds {seeds}"))
    write_atomically(out / "match.md", match_markdown(curves))
    plot_match(curves).savefig(out / "match.png", dpi=150)
    console.print(f"Wrote match.md and match.png to {out}/", highlight=False)


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
    from wgsindy.display.tables import calibration_markdown, calibration_table
    from wgsindy.files import write_atomically

    cases = calibration.calibration_cases(recipe, parse_seeds(seeds), systems)
    lines = _campaign("calibration", cases, calibration.run_case, out / "calibration.jsonl", jobs)
    rows, bins = calibration.summarise(lines), calibration.reliability(lines)
    wide = Console(width=max(console.width, 110))
    wide.print(calibration_table(rows, f"Coverage of 95 % intervals, seeds {seeds}"))
    write_atomically(out / "calibration.md", calibration_markdown(rows, bins))
    plot_reliability(bins).savefig(out / "reliability.png", dpi=150)
    console.print(f"Wrote calibration.md and reliability.png to {out}/", highlight=False)


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
    from wgsindy.display.tables import steps_markdown, steps_table
    from wgsindy.files import write_atomically

    cases = steps.step_cases(parse_seeds(seeds), systems)
    rows = steps.summarise(_campaign("steps", cases, steps.run_case, out / "steps.jsonl", jobs))
    wide = Console(width=max(console.width, 110))
    wide.print(steps_table(rows, f"Bias and error of coarse steps, seeds {seeds}"))
    write_atomically(out / "steps.md", steps_markdown(rows))


def _campaign(title: str, cases: Sequence[Case], work: Work, path: Path, jobs: int) -> list[Line]:
    """Run a campaign behind a progress bar."""
    from wgsindy.bench.campaign import Store, run_campaign

    with _progress() as progress:
        task = progress.add_task(title, total=len(cases))
        return run_campaign(
            cases,
            work,
            Store(path),
            jobs=jobs,
            progress=lambda done, total: progress.update(task, completed=done, total=total),
        )


def parse_seeds(text: str) -> range:
    """Read FIRST:LAST."""
    first, colon, last = text.partition(":")
    if not (colon and first.isdecimal() and last.isdecimal() and int(first) < int(last)):
        raise CampaignError(f"seeds must be FIRST:LAST with FIRST < LAST, like 0:10; got {text!r}.")
    return range(int(first), int(last))


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
