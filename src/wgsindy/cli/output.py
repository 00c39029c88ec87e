"""What a fit of files found: as sentences, as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from wgsindy.cli.console import say, say_indented, say_unbroken
from wgsindy.workflow import REPORT

if TYPE_CHECKING:
    from wgsindy.model.generator import Generator
    from wgsindy.workflow import FileFit

CHOICE = "choice"


def tell(result: FileFit) -> None:
    """Print what was read, the equations, the verdict, and where the files are."""
    say_unbroken(result.heading)
    for note in result.notes:
        told = note.kind == CHOICE  # not a warning: it needs no name
        say_indented(note.sentence if told else f"{note.kind}: {note.sentence}")
    if result.changes:
        _tell_equations(result.fit.generator, f", fitted in {result.change_text}")
        _tell_equations(result.generator, ", mapped back by Ito's formula")
    else:
        _tell_equations(result.generator, "")
    say("")
    say(result.diagnostics.summary)
    for finding in result.diagnostics.findings:
        say_indented(f"{finding.limitation}: {finding.sentence} {finding.advice}")
    say("")
    written = ", ".join(name for name in result.files if name != REPORT)
    say_unbroken(f"Wrote {written} to {result.folder}/")
    if REPORT in result.files:
        say_unbroken(f"Open {result.folder / REPORT} in a browser.")


def _tell_equations(generator: Generator, how: str) -> None:
    equations = generator.equations(errors=True)
    say("")
    say(f"Drift b of ({', '.join(generator.names)}){how}")
    for equation in equations[: generator.dimension]:
        say_unbroken(f"  {equation}")
    say("Diffusion tensor a")
    for equation in equations[generator.dimension :]:
        say_unbroken(f"  {equation}")


def as_json(result: FileFit) -> dict[str, Any]:
    """Return the result as plain data; what is not known is null."""
    diagnostics = result.diagnostics
    content = {
        "read": result.heading,
        "notes": [{"name": note.kind, "sentence": note.sentence} for note in result.notes],
        **_model(result.generator),
        "verdict": diagnostics.verdict,
        "limitation": str(diagnostics.limitation),
        "summary": diagnostics.summary,
        "findings": [
            finding._asdict() | {"limitation": str(finding.limitation)}
            for finding in diagnostics.findings
        ],
        "files": {name: str(result.folder / name) for name in result.files},
    }
    if result.changes:
        content["fitted"] = {
            "changes": [change.text for change in result.changes],
            **_model(result.fit.generator),
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
