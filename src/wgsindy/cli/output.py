"""What a fit of the user's own data found: as sentences, as JSON, as files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wgsindy.cli.console import passes, say, say_indented, say_unbroken, stage

if TYPE_CHECKING:
    from wgsindy.data.dataset import Dataset
    from wgsindy.diagnostics import Diagnostics
    from wgsindy.model.change_of_variables import Change
    from wgsindy.model.generator import Generator

MODEL, FITTED_MODEL, REPORT, TABLE = (
    "model.json",
    "fitted-model.json",
    "report.html",
    "coefficients.csv",
)
# Everything that a fit may write: nothing else is ever removed with --force.
RESULT_FILES = (MODEL, FITTED_MODEL, REPORT, TABLE, "overview.png", "fields.png")


CHOICE = "choice"


class Remark(NamedTuple):
    """A named sentence about the data."""

    name: str
    sentence: str


@dataclass(frozen=True)
class Outcome:
    """A fit: ``data`` and ``fitted`` in the coordinates of the fit, ``generator`` in the file's."""

    heading: str
    remarks: tuple[Remark, ...]
    changes: tuple[Change, ...]
    data: Dataset
    fitted: Generator
    generator: Generator
    diagnostics: Diagnostics
    time_unit: str = ""

    @property
    def change_text(self) -> str:
        """How the coordinates of the fit are made of those of the file."""
        return ", ".join(change.text for change in self.changes)


def write(outcome: Outcome, folder: Path, *, title: str, command: str, shown: bool) -> None:
    """Write all files of a fit into an empty folder."""
    from wgsindy.diagnostics.findings import weak_fields
    from wgsindy.report import write_report
    from wgsindy.report.digest import digest
    from wgsindy.report.figures.fit_figures import coefficients_csv, fit_figures
    from wgsindy.report.style import page_style, save_picture

    outcome.generator.save(folder / MODEL)
    if outcome.changes:
        outcome.fitted.save(folder / FITTED_MODEL)
    (folder / TABLE).write_text(coefficients_csv(outcome.generator.coefficients))
    with passes("drawing", shown=shown), page_style():
        weak, drawn = weak_fields(outcome.diagnostics.findings), digest(outcome.data)
        for name, figure in fit_figures(outcome.fitted, drawn, weak).items():
            save_picture(figure, folder / f"{name}.png", dpi=150)
    notes = [remark.sentence for remark in outcome.remarks]
    if outcome.changes:
        notes.append(f"Fitted in {outcome.change_text}.")
    with stage("writing the report", shown=shown):
        write_report(
            folder / REPORT,
            outcome.fitted,
            drawn,
            outcome.diagnostics,
            title=title,
            command=command,
            model_file=FITTED_MODEL if outcome.changes else MODEL,
            notes=notes,
            time_unit=outcome.time_unit,
            mapped=outcome.generator if outcome.changes else None,
        )


def tell(outcome: Outcome, folder: Path, files: Sequence[str]) -> None:
    """Print what was read, the equations, the verdict, and where the files are."""
    say_unbroken(outcome.heading)
    for remark in outcome.remarks:
        told = remark.name == CHOICE  # not a warning: it needs no name
        say_indented(remark.sentence if told else f"{remark.name}: {remark.sentence}")
    if outcome.changes:
        _tell_equations(outcome.fitted, f", fitted in {outcome.change_text}")
        _tell_equations(outcome.generator, ", mapped back by Ito's formula")
    else:
        _tell_equations(outcome.generator, "")
    say("")
    say(outcome.diagnostics.summary)
    for finding in outcome.diagnostics.findings:
        say_indented(f"{finding.limitation}: {finding.sentence} {finding.advice}")
    say("")
    say_unbroken(f"Wrote {', '.join(name for name in files if name != REPORT)} to {folder}/")
    say_unbroken(f"Open {folder / REPORT} in a browser.")


def _tell_equations(generator: Generator, how: str) -> None:
    equations = generator.equations(errors=True)
    say("")
    say(f"Drift b of ({', '.join(generator.names)}){how}")
    for equation in equations[: generator.dimension]:
        say_unbroken(f"  {equation}")
    say("Diffusion tensor a")
    for equation in equations[generator.dimension :]:
        say_unbroken(f"  {equation}")


def as_json(outcome: Outcome, folder: Path, files: Iterable[str]) -> dict[str, Any]:
    """Return the outcome as plain data; what is not known is null."""
    diagnostics = outcome.diagnostics
    content = {
        "read": outcome.heading,
        "notes": [remark._asdict() for remark in outcome.remarks],
        **_model(outcome.generator),
        "verdict": diagnostics.verdict,
        "limitation": str(diagnostics.limitation),
        "summary": diagnostics.summary,
        "findings": [
            finding._asdict() | {"limitation": str(finding.limitation)}
            for finding in diagnostics.findings
        ],
        "files": {name: str(folder / name) for name in files},
    }
    if outcome.changes:
        content["fitted"] = {
            "changes": [change.text for change in outcome.changes],
            **_model(outcome.fitted),
        }
    return content


def _model(generator: Generator) -> dict[str, Any]:
    return {
        "states": list(generator.names),
        "equations": generator.equations(errors=True),
        "coefficients": [
            {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in found._asdict().items()
            }
            for found in generator.coefficients
        ],
    }
