"""Commands that other packages bring: the evidence is a package of its own."""

from __future__ import annotations

from importlib.metadata import entry_points

import typer

from wgsindy.errors import MissingPackageError

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
