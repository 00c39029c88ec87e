"""Commands of the evidence: experiments on known systems, and the documents made from them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wgsindy_evidence.cli.console import parse_seeds, run, say, show
from wgsindy_evidence.cli.options import (
    JobsOption,
    OutOption,
    OwnSeedsOption,
    QuickOption,
    RecipeOption,
    SchedulerOption,
    SeedsOption,
    SystemsOption,
)

if TYPE_CHECKING:
    from wgsindy_evidence.campaign import Line
    from wgsindy_evidence.pages import Build
    from wgsindy_evidence.scope import Scope

bench = typer.Typer(help="Benchmarks on systems whose equations are known.", no_args_is_help=True)

# Command -> the experiments that it runs, and what it is about.
COMMANDS = {
    "ladder": (("ladder",), "From the naive port to the paper's recipe, one mechanism at a time."),
    "ablation": (("ablation",), "Leave one mechanism out: errors, conditioning, efficiency."),
    "baselines": (("baselines",), "Four other methods, with the paper's budgets and equal ones."),
    "departures": (("departures",), "Formulas of the paper's text that `paper` does not follow."),
    "naive": (
        ("naive", "weak-rows"),
        "Where the one-dimensional method fails in two dimensions, and why.",
    ),
    "ledger": (("ledger",), "Terms that recur over seeds, counted as the paper counts them."),
    "coefficients": (("coefficients",), "Which terms are selected with much data, and how well."),
    "convergence": (("convergence",), "Errors against the total observed time, with slopes."),
    "nulls": (("nulls",), "Systems at their limit, beside an oracle that knows the terms."),
    "readouts": (
        ("leverage", "circulation", "noise"),
        "Leverage, circulation and observation noise.",
    ),
    "generator-readouts": (
        ("generator-readouts", "readout-intervals"),
        "Density, current and rates of recovered generators, and their intervals.",
    ),
    "further-seeds": (("further-seeds",), "More seeds where ten leave a question open."),
    "calibration": (
        ("calibration",),
        "How often 95 % intervals and inclusion probabilities are right.",
    ),
    "steps": (("steps",), "What a coarse step costs, by sharp-euler and by sharp."),
    "recordings": (("recordings",), "Four realistic recordings: exact terms, intervals that hold."),
    "arena": (("arena",), "The test suite of FIM-SDE, simulated again."),
    "arrive": (
        ("arrive", "arrive-lotka-volterra", "arrive-noisy"),
        "Random systems seen in random ways: does every fit arrive?",
    ),
    "uneven": (("uneven",), "Uneven against even steps, on the same trajectories."),
    "hidden": (
        ("positions", "positions-speed", "orders", "missing"),
        "Hidden velocities, first against second order, missing values.",
    ),
    "verdicts": (
        ("verdicts",),
        "How often the verdict raises false alarms, and names known limits.",
    ),
    "zoo-verdicts": (
        ("zoo-verdicts",),
        "Verdicts of all systems of the paper, beside their bands.",
    ),
    "linear-forms": (
        ("linear-forms",),
        "Chemistry in few copies: is the linear form written, or an equal?",
    ),
    "gallery": (("gallery",), "Data that are no diffusion, which must not be called identified."),
    "datasheets": (("datasheets",), "The fits from which the datasheets are made."),
    "errata": (("errata",), "What each slip of the authors' release does to a figure."),
}


def _add_command(name: str, experiments: tuple[str, ...], about: str) -> None:
    @bench.command(name, help=f"{about}\n\nExample: `wgsindy bench {name} --quick`")
    def command(
        seeds: OwnSeedsOption = None,
        systems: SystemsOption = None,
        quick: QuickOption = False,
        jobs: JobsOption = 2,
        scheduler: SchedulerOption = None,
        out: OutOption = Path("results"),
    ) -> None:
        from wgsindy_evidence.scope import Scope

        scope = Scope(parse_seeds(seeds) if seeds else None, systems, quick)
        for experiment in having(experiments, systems):
            run_experiment(experiment, scope, jobs, out, scheduler)


for _name, (_experiments, _about) in COMMANDS.items():
    _add_command(_name, _experiments, _about)


def having(experiments: Sequence[str], systems: Sequence[str] | None) -> list[str]:
    """Those of several experiments that use all the systems asked for; all, if none does."""
    from wgsindy_evidence.registry import EXPERIMENTS
    from wgsindy_evidence.scope import Scope

    used = {
        name: {case.system for case in EXPERIMENTS[name].cases(Scope())} for name in experiments
    }
    return [name for name in experiments if set(systems or ()) <= used[name]] or list(experiments)


def run_experiment(
    name: str, scope: Scope, jobs: int, out: Path, scheduler: str | None = None
) -> None:
    """Run what is missing of an experiment, print its tables, write tables and figures."""
    from wgsindy_evidence.pages import PAGES
    from wgsindy_evidence.registry import EXPERIMENTS

    experiment = EXPERIMENTS[name]
    cases = experiment.cases(scope)
    started = time.perf_counter()
    path = out / f"{experiment.store}.jsonl"
    lines = run(name, cases, experiment.work, path, jobs, scheduler)
    seconds = time.perf_counter() - started
    if name in PAGES:
        show_page(PAGES[name], lines, out)
    say(f"{name}: {len(cases)} cases in {seconds:.0f} s; lines, tables and figures in {out}/")


def show_page(build: Build, lines: Sequence[Line], out: Path) -> None:
    """Print the tables of a page, and write tables and figures to files."""
    from wgsindy.draw import page_style, save_picture
    from wgsindy.files import write_atomically

    with page_style():
        content = build(lines)
        for key, figure in content.figures.items():
            save_picture(figure, out / f"{key}.png", dpi=150)
    show(*content.grids.values())
    for sentence in content.sentences.values():
        say(sentence)
    for key, grid in content.grids.items():
        write_atomically(out / f"{key}.md", grid.markdown())


@bench.command("all")
def bench_all(
    quick: QuickOption = False,
    jobs: JobsOption = 2,
    scheduler: SchedulerOption = None,
    out: OutOption = Path("results"),
) -> None:
    """Run every experiment of the evidence; goes on where it was stopped.

    About an hour on two cores, `--quick` minutes.

    Example: `wgsindy bench all --quick --out /tmp/look`
    """
    from wgsindy_evidence.registry import EXPERIMENTS
    from wgsindy_evidence.scope import Scope

    started = time.perf_counter()
    for name in EXPERIMENTS:
        run_experiment(name, Scope(quick=quick), jobs, out, scheduler)
    say(f"All of it in {(time.perf_counter() - started) / 60:.1f} minutes.")


@bench.command("table")
def bench_table(
    recipe: RecipeOption = "paper",
    seeds: SeedsOption = "1000:1010",
    systems: SystemsOption = None,
    trajectories: Annotated[int, typer.Option(help="Trajectories per case.")] = 16,
    jobs: JobsOption = 2,
    scheduler: SchedulerOption = None,
    out: OutOption = Path("results"),
) -> None:
    """Fit every system on every seed and print the master table.

    Goes on where it was stopped.

    Example: `wgsindy bench table --system rotational_ou --seeds 0:3`
    """
    from wgsindy_evidence import recipes
    from wgsindy_evidence.experiments.paper import table
    from wgsindy_evidence.pages.paper.table import build

    name = recipes.get(recipe).name
    cases = table.table_cases(name, parse_seeds(seeds), systems, trajectories)
    started = time.perf_counter()
    title, path = f"table, recipe {name}", out / "table.jsonl"
    lines = run(title, cases, table.run_case, path, jobs, scheduler)
    show_page(build, lines, out)
    say("* above the paper's 95 % interval")
    say(f"{len(cases)} cases in {time.perf_counter() - started:.0f} s; lines and table in {out}/")
