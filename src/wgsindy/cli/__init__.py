"""The command line: arguments -> public calls. The only place that prints."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from wgsindy.cli.bench import OutOption
from wgsindy.cli.console import console
from wgsindy.cli.rivals import bench
from wgsindy.errors import WgsindyError

app = typer.Typer(
    name="wgsindy",
    help="Recover the stochastic differential equation behind measured trajectories.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)
app.add_typer(bench, name="bench")


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
