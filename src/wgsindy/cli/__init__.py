"""The command line: arguments -> public calls. The only place that prints."""

from __future__ import annotations

import os
import sys
import warnings
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer
from rich.table import Table

from wgsindy import __version__
from wgsindy.cli.console import complain, console, say, say_aside
from wgsindy.cli.demo import demo
from wgsindy.cli.fit import fit
from wgsindy.cli.readout import readout
from wgsindy.cli.saved_fits import compare_fits, report, simulate_paths
from wgsindy.errors import MissingPackageError, WgsindyError

TRACEBACK = "WGSINDY_TRACEBACK"
# Commands that other packages bring: the evidence is a package of its own.
ENTRY_POINTS = "wgsindy.commands"
BENCH = "bench"


def add_commands(app: typer.Typer) -> None:
    """Add what installed packages offer; `bench` says how to get it if nobody does."""
    points = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    for name, point in points.items():
        app.add_typer(point.load(), name=name)
    if BENCH not in points:
        settings = {"ignore_unknown_options": True, "allow_extra_args": True}
        app.command(BENCH, context_settings=settings, hidden=True)(_explain_bench)


def _explain_bench(context: typer.Context) -> None:
    """Benchmarks on systems whose equations are known."""
    raise MissingPackageError(
        "the benchmarks are a package of their own, wgsindy-evidence: in a checkout of wgsindy, "
        "run `pip install ./evidence` (make demo and make test do)."
    )


app = typer.Typer(  # with --install-completion and --show-completion for the shell
    name="wgsindy",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command()(fit)
app.command()(report)
app.command("compare")(compare_fits)
app.command("simulate")(simulate_paths)
app.command()(readout)
app.command()(demo)
add_commands(app)


def main() -> None:
    """Run the command line; every error ends in one sentence, not in a traceback."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say_warning
            app()
    except (WgsindyError, OSError) as error:
        complain(str(error))
        sys.exit(1)
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        complain(
            f"unexpected {type(error).__name__}: {error or 'no message'}. That should not happen; "
            f"run it again with {TRACEBACK}=1 to see where, and report it."
        )
        sys.exit(1)


def _say_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print what a library warns of as one line; where in its code is of no use here."""
    doubt = " (numbers near the limits of floating point: doubt what they enter)"
    say_aside(f"note: {message}{doubt if issubclass(category, RuntimeWarning) else ''}.")


def _say_version(wanted: bool) -> None:
    if wanted:
        say(f"wgsindy {__version__}")
        raise typer.Exit


@app.callback()
def introduce(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Recover the stochastic differential equation behind measured trajectories.

    Example: `wgsindy demo --csv demo.csv && wgsindy fit demo.csv --library poly3`
    """


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
