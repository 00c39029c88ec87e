"""Lists of the constants of a room, read from its code, in place of ``<!-- constants of ROOM -->``.

What a constant is stands in the comment beside or above it, and where it comes from in brackets at
the end of that.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import wgsindy

MARK = re.compile(r"^<!-- constants of (\w+) -->$", re.MULTILINE)
ORIGIN = re.compile(r" ?\[([^\[\]]+)\]$")
ESCAPED = r"\|"
SOURCE = Path(wgsindy.__file__).parent


class Constant(NamedTuple):
    """One constant, or several that are set and explained together."""

    module: str
    names: tuple[str, ...]
    values: tuple[Any, ...]
    meaning: str
    origin: str  # empty if the code does not say

    @property
    def row(self) -> str:
        """A row of the table."""
        values = ", ".join(repr(value) for value in self.values)
        names = ", ".join(f"`{name}`" for name in self.names)
        cells = (names, values, self.meaning, self.origin or "-")
        return f"| {' | '.join(cell.replace('|', ESCAPED) for cell in cells)} |"


def constants(room: str) -> list[Constant]:
    """Constants of a room that are numbers, in the order of the modules."""
    paths = sorted((SOURCE / room).rglob("*.py"))
    return [constant for path in paths for constant in _of_module(path)]


def _of_module(path: Path) -> Iterator[Constant]:
    text = path.read_text(encoding="utf-8")
    module = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    values = vars(importlib.import_module(module.removesuffix(".__init__")))
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            inner = [name for target in node.targets for name in ast.walk(target)]
            names = [name.id for name in inner if isinstance(name, ast.Name)]
            if all(name.strip("_").isupper() and _is_number(values[name]) for name in names):
                comment = _comment(text.splitlines(), node)
                origin = ORIGIN.search(comment)
                yield Constant(
                    module,
                    tuple(names),
                    tuple(values[name] for name in names),
                    ORIGIN.sub("", comment),
                    origin[1] if origin else "",
                )


def _is_number(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_number, value)) and bool(value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _comment(lines: list[str], node: ast.Assign) -> str:
    """The comment above an assignment and that behind it."""
    first = node.lineno - 1
    while lines[first - 1].startswith("# "):
        first -= 1
    above = [line[2:] for line in lines[first : node.lineno - 1]]
    behind = "\n".join(lines[node.lineno - 1 : node.end_lineno]).partition("  # ")[2]
    return " ".join([*above, behind]).strip()


def table(room: str) -> str:
    """The constants of a room as tables, one a module."""
    found = constants(room)
    parts = []
    for module in dict.fromkeys(constant.module for constant in found):
        rows = [constant.row for constant in found if constant.module == module]
        head = "| Constant | Value | What it is | Where it comes from |\n|---|---|---|---|"
        parts.append("\n".join([f"### `{module.removeprefix('wgsindy.')}`\n", head, *rows]))
    return "\n\n".join(parts)


def add_tables(app: Any, docname: str, source: list[str]) -> None:
    """Put the tables in the place of their marks."""
    source[0] = MARK.sub(lambda mark: table(mark[1]), source[0])


def setup(app: Any) -> dict[str, bool]:
    """Connect to the reading of sources."""
    app.connect("source-read", add_tables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
