"""`wgsindy demo`: the bundled data, its known truth, and everything a fit writes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from wgsindy.cli.console import console, say, say_unbroken, stage
from wgsindy.errors import OutputError

if TYPE_CHECKING:
    from wgsindy.diagnostics import Diagnostics
    from wgsindy.estimate import Fit
    from wgsindy.zoo import System

CsvOption = Annotated[
    Path | None, typer.Option("--csv", help="Write the bundled data to this file; fit nothing.")
]
OpenOption = Annotated[bool, typer.Option("--open", help="Show the report in the browser.")]
FolderOption = Annotated[Path, typer.Option("--out", help="Folder for results.")]


def demo(
    out: FolderOption = Path("demo-output"), csv: CsvOption = None, show: OpenOption = False
) -> None:
    """Fit a small bundled data set; print its equations beside the truth, write a report.

    Example: `wgsindy demo --out demo-output`
    """
    if csv is not None:
        _write_data(csv)
        return
    from wgsindy import zoo
    from wgsindy.diagnostics import diagnose
    from wgsindy.estimate import fit_dataset
    from wgsindy.zoo import DEMO_SYSTEM, demo_data

    system, data = zoo.get(DEMO_SYSTEM), demo_data()
    say(f"{system.title}: {data}")
    started = time.perf_counter()
    with stage("fitting"):
        fit = fit_dataset(data, system.library, "sharp")
    seconds, diagnostics = time.perf_counter() - started, diagnose(fit)
    _print_outcome(fit, diagnostics, system, seconds)
    _write_outcome(fit, diagnostics, system, out)
    say_unbroken(f"Wrote model.json, fit.json and coefficients.csv to {out}/")
    say_unbroken(f"Open {out / 'report.html'} in a browser.")
    if show:
        _open(out / "report.html")


def _print_outcome(fit: Fit, diagnostics: Diagnostics, system: System, seconds: float) -> None:
    """Print the equations beside the true ones, the verdict and the errors."""
    from wgsindy.zoo import demo_data, scores_of

    table = Table("recovered", "true", title=f"Equations, fitted in {seconds:.2f} s")
    for pair in zip(
        fit.generator.equations(errors=True), system.generator.equations(), strict=True
    ):
        table.add_row(*pair)
    console.print(table)
    say(diagnostics.summary)
    scores = scores_of(fit.generator, system.generator, demo_data().states)
    say(
        f"Relative error on the central grid: drift {scores.drift:.3f}, "
        f"tensor {scores.tensor:.3f}; positive semidefinite at {scores.psd:.0%} of the points."
    )


def _write_outcome(fit: Fit, diagnostics: Diagnostics, system: System, out: Path) -> None:
    """Write model, table and report into a folder."""
    from wgsindy.files import write_atomically
    from wgsindy.report import Record, coefficients_csv, write_report

    record = Record(diagnostics, f"{system.title}, the bundled data", "wgsindy demo")
    out.mkdir(parents=True, exist_ok=True)
    fit.generator.save(out / "model.json")
    write_atomically(out / "coefficients.csv", coefficients_csv(fit.generator))
    write_atomically(out / "fit.json", record.text())
    with stage("writing the report"):
        write_report(
            out / "report.html",
            fit.generator,
            fit.data,
            diagnostics,
            title=record.title,
            command=record.command,
        )


def _write_data(path: Path) -> None:
    from wgsindy.files import write_atomically
    from wgsindy.zoo import demo_text

    if path.exists() and path.read_text(encoding="utf-8", errors="replace") != demo_text():
        raise OutputError(f"{path} already exists; choose another name with --csv.")
    write_atomically(path, demo_text())
    say_unbroken(f"Wrote the bundled data to {path}; now try: wgsindy fit {path}")


def _open(path: Path) -> None:
    import webbrowser

    if not webbrowser.open(path.absolute().as_uri()):
        say("No browser could be started.")
