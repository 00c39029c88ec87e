"""What a fit leaves on disk beside model and page: ``fit.json`` and the table of coefficients.

``fit.json`` has what a report needs beside the model and the data, as plain data. With it the page
can be drawn again without fitting again: the diagnostics, and how the data were read. Data, never
code.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from wgsindy.diagnostics import Diagnostics, Finding, Limitation, Verdict
from wgsindy.errors import ModelFileError
from wgsindy.model import Coefficient, Generator, named_fields

RECORD_FORMAT, RECORD_VERSION = "wgsindy-fit", 1
Plain = str | int | float | bool | None | list[Any] | dict[str, Any]


@dataclass(frozen=True)
class Record:
    """How a fit was made, and what was found about it."""

    diagnostics: Diagnostics
    title: str
    command: str
    notes: tuple[str, ...] = ()  # sentences about the data
    time_unit: str = ""
    changes: tuple[str, ...] = ()  # of states before the fit, as formulas
    every: int = 1  # each so many-th sample was kept
    reading: Mapping[str, Plain] = field(default_factory=dict)  # arguments of the reader

    def text(self) -> str:
        """Return what stands in the file; the numbers that JSON does not have are words."""
        content = {"format": RECORD_FORMAT, "version": RECORD_VERSION, **_plain(asdict(self))}
        return json.dumps(content, allow_nan=False, indent=1) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> Record:
        """Read a file.

        Raises
        ------
        ModelFileError
            If it is not one that :meth:`text` wrote.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            return cls.of(content)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ModelFileError(
                f"{path} does not say how its fit was made: {error or type(error).__name__}."
            ) from None

    @classmethod
    def of(cls, content: Any) -> Record:
        """Build a record from plain data; anything unexpected raises."""
        if (content["format"], content["version"]) != (RECORD_FORMAT, RECORD_VERSION):
            raise ValueError(f"its format is {content['format']!r}, {content['version']!r}")
        return cls(
            diagnostics=_diagnostics(content["diagnostics"]),
            title=_text(content["title"]),
            command=_text(content["command"]),
            notes=tuple(map(_text, content["notes"])),
            time_unit=_text(content["time_unit"]),
            changes=tuple(map(_text, content["changes"])),
            every=int(content["every"]),
            reading={_text(name): value for name, value in content["reading"].items()},
        )


def _plain(value: Any) -> Any:
    """Return nested values as what JSON has; nan and inf as words, enumerations as text."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return str(value) if isinstance(value, str) else value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} should be text")
    return value


def _diagnostics(content: Any) -> Diagnostics:
    found: dict[str, Any] = {}
    for item in fields(Diagnostics):
        value = content[item.name]
        if item.name == "findings":
            found[item.name] = tuple(map(_finding, value))
        elif item.name == "verdict":
            if value not in get_args(Verdict):
                raise ValueError(f"its verdict is {value!r:.60}")
            found[item.name] = value
        elif item.name in ("rival", "noiseless"):
            found[item.name] = _text(value) if item.name == "rival" else tuple(map(_text, value))
        elif isinstance(value, list):
            found[item.name] = tuple(map(float, value))
        else:
            found[item.name] = value if isinstance(value, int) else float(value)
    return Diagnostics(**found)


def _finding(content: Any) -> Finding:
    limitation, concerned, sentence, advice, handled = content
    return Finding(
        Limitation(limitation),
        tuple(map(_text, concerned)),
        _text(sentence),
        _text(advice),
        bool(handled),
    )


def coefficients_csv(generator: Generator) -> str:
    """Write coefficients as a table; error bars that a recipe does not give stay empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*Coefficient._fields, "field", "unit"])
    for coefficient in generator.coefficients:
        target, term, *numbers = coefficient
        written = ["" if math.isnan(n) else repr(n) for n in numbers]
        field_name = named_fields(target, generator.names)
        unit = generator.units.coefficient(target, term)
        writer.writerow([target, term, *written, field_name, unit])
    return text.getvalue()
