"""What a fit of files found: as sentences, as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from wgsindy.cli.console import say, say_indented, say_unbroken
from wgsindy.model import named_equations, named_fields
from wgsindy.workflow import REPORT

if TYPE_CHECKING:
    from wgsindy.model import Generator
    from wgsindy.workflow import FileFit

CHOICE = "choice"
MANY_ENTRIES = 10  # of a tensor: beyond, zeros are counted, not listed
TENSOR = {
    "a": "Diffusion tensor a = 2 D (to print D: --diffusion D)",
    "D": "Diffusion tensor D = a / 2 (a is the noise covariance per unit of time)",
}


def tell(result: FileFit, diffusion: str = "a") -> None:
    """Print what was read, the equations, the verdict, and where the files are."""
    names = result.generator.names
    say_unbroken(result.heading)
    for note in result.notes:
        told = note.kind == CHOICE  # not a warning: it needs no name
        say_indented(note.sentence if told else f"{note.kind}: {note.sentence}")
    if result.changes:
        _tell_equations(result.fit.generator, f", fitted in {result.change_text}", diffusion)
        _tell_equations(result.generator, ", mapped back by Ito's formula", diffusion)
    else:
        _tell_equations(result.generator, "", diffusion)
    say("At the samples: median, and 95 % band where there is one")
    for readout in result.readouts:
        say_unbroken(f"  {readout.name}: {readout.text}")
    say("")
    say(named_fields(result.diagnostics.summary, names))
    for finding in result.diagnostics.findings:
        say_indented(
            named_fields(f"{finding.limitation}: {finding.sentence} {finding.advice}", names)
        )
    say("")
    written = ", ".join(name for name in result.files if name != REPORT)
    say_unbroken(f"Wrote {written} to {result.folder}/")
    if REPORT in result.files:
        say_unbroken(f"Open {result.folder / REPORT} in a browser.")


def _tell_equations(generator: Generator, how: str, diffusion: str) -> None:
    equations, zeros = printed_equations(generator, diffusion)
    say("")
    states = generator.dimension - len(generator.inputs)
    driven = f", driven by {', '.join(generator.inputs)}" if generator.inputs else ""
    say(f"Drift b of ({', '.join(generator.names[:states])}){driven}{how}")
    for equation in equations[:states]:
        say_unbroken(f"  {equation}")
    say(TENSOR[diffusion])
    for equation in equations[states:]:
        say_unbroken(f"  {equation}")
    if zeros:
        say_indented(f"and {zeros} other entries, all of them 0")


def printed_equations(generator: Generator, diffusion: str = "a") -> tuple[list[str], int]:
    """Write each field by its name and with its unit; of many zeros only say how many.

    With ``diffusion="D"`` the tensor is D = a / 2.
    """
    lines = named_equations(generator, diffusion)
    states = generator.dimension - len(generator.inputs)
    if len(lines) - states <= MANY_ENTRIES:
        return lines, 0
    kept = [line for line in lines[states:] if not line.split("   ")[0].endswith(" = 0")]
    return [*lines[:states], *kept], len(lines) - states - len(kept)


def plain_result(result: FileFit) -> dict[str, Any]:
    """Return the result as plain data; what is not known is null."""
    diagnostics = result.diagnostics
    content = {
        "read": result.heading,
        "notes": [{"name": note.kind, "sentence": note.sentence} for note in result.notes],
        **_model(result.generator),
        "readouts": [_known(readout._asdict()) for readout in result.readouts],
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
    units = generator.units
    return {
        "states": list(generator.names),
        "equations": generator.equations(errors=True),
        "time_unit": generator.observation.time_unit,
        "units": dict(generator.observation.units),
        "coefficients": [
            _known(coefficient._asdict())
            | {
                "field": named_fields(coefficient.target, generator.names),
                "unit": units.coefficient(coefficient.target, coefficient.term),
            }
            for coefficient in generator.coefficients
        ],
    }


def _known(content: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in content.items()
    }
