"""Docstrings of the house for napoleon: ``name : meaning``, where numpydoc has ``name : type``.

The text after the colon and the lines below it are one description.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

SECTIONS = {"Parameters", "Attributes"}
ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:, \w+)*) : (?P<text>.+)")
HEADING = re.compile(r"-{3,}")


def described(lines: list[str]) -> list[str]:
    """Turn entries of the sections above into a name and a description below it."""
    found: list[str] = []
    section = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if HEADING.fullmatch(following.strip()):
            section = line.strip()
        entry = ENTRY.fullmatch(line) if section in SECTIONS else None
        if entry is None:
            found.append(line)
            continue
        # A new sentence below the entry: what stands before it needs its full stop.
        stop = "." if re.match(r"\s+[A-Z]", following) else ""
        found += [entry["names"], f"    {entry['text']}{stop}"]
    return found


def _process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = described(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect before napoleon, which has the default priority."""
    app.connect("autodoc-process-docstring", _process, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
