"""A fingerprint of the code that can change a figure, which survives a corrected comment.

Stored lines carry it, so that a campaign knows which of them this code has made. It is a hash of
the top-level statements of the modules concerned, as syntax trees: comments, docstrings, imports
and ``__all__`` do not count, nor does the module in which a statement stands, nor the order of
modules. A function that moves to another room keeps the fingerprint; another constant, another
name or another order of operations changes it. So does another value in a table that code reads
(TOML).
"""

from __future__ import annotations

import ast
import hashlib
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import wgsindy
import wgsindy_evidence

# Rooms of wgsindy that can change a figure. How data are read from files and how results are shown
# cannot: experiments simulate what they fit.
COMPUTING = (
    *("data", "passes", "terms", "model", "readouts", "recipes", "estimate", "diagnostics", "zoo"),
    "estimator",  # hands arguments on, and decides what is handed on if none are given
)
# Rooms of the evidence that make lines; of these, an experiment depends on what it imports.
MEASURING = ("baselines", "experiments", "peers", "recipes", "speed")
LENGTH = 12


def code_version(work: Callable[..., Any]) -> str:
    """Release and fingerprint of the code behind lines that ``work`` makes."""
    function = work.func if isinstance(work, partial) else work
    return _code_version(function.__module__)


@cache
def _code_version(module: str) -> str:
    package, evidence = (Path(str(item.__file__)).parent for item in (wgsindy, wgsindy_evidence))
    files = [*modules_of(package, COMPUTING), *imported(module, evidence)]
    return f"{wgsindy.__version__}+{fingerprint(files)}"


def fingerprint(files: Iterable[Path]) -> str:
    """Hash what the modules do, whatever they are called and however they are documented."""
    readers: dict[str, Callable[[bytes], tuple[str, ...]]] = {
        ".py": statement_digests,
        ".toml": row_digests,
    }
    digests = (digest for path in files for digest in readers[path.suffix](path.read_bytes()))
    return hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()[:LENGTH]


def modules_of(root: Path, rooms: Iterable[str]) -> list[Path]:
    """Every module and table of some rooms of a package; a room may be a single module."""
    rooms = list(rooms)
    single = [root / f"{room}.py" for room in rooms]
    return [
        *(path for path in single if path.exists()),
        *(path for room in rooms for path in sorted((root / room).rglob("*.py"))),
        *(path for room in rooms for path in sorted((root / room).rglob("*.toml"))),
    ]


def imported(module: str, root: Path) -> list[Path]:
    """Return the modules of the package at ``root`` that make the lines of ``module``.

    These are the module itself, what it imports of the measuring rooms, and what that imports in
    turn. Whoever imports a package depends on all its modules. A module of another package has
    none.
    """
    found: dict[Path, None] = {}
    waiting = _files(module, root)
    while waiting:
        path = waiting.pop()
        if path in found or path.relative_to(root).with_suffix("").parts[0] not in MEASURING:
            continue
        found[path] = None
        for name in _imports(ast.parse(path.read_bytes())):
            waiting += _files(name, root)
    return sorted(found)


def _files(name: str, root: Path) -> list[Path]:
    """The file of a module, the files of a package; of a name within a module, that module's."""
    package, *parts = name.split(".")
    if package != root.name:
        return []
    for length in range(len(parts), 0, -1):
        place = root.joinpath(*parts[:length])
        if place.is_dir():
            # `from package import module` has looked for the module before it comes here.
            return sorted(place.glob("*.py"))
        if place.with_suffix(".py").exists():
            return [place.with_suffix(".py")]
    return []


def _imports(tree: ast.Module) -> Iterator[str]:
    """Names that a module imports, wherever it does so, as ``module.name``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def statement_digests(source: bytes) -> tuple[str, ...]:
    """A hash of each top-level statement that does something."""
    tree = _WithoutWords().visit(ast.parse(source))
    return tuple(hashlib.sha256(repr(_described(node)).encode()).hexdigest() for node in tree.body)


def row_digests(source: bytes) -> tuple[str, ...]:
    """A hash of each entry of a table of TOML."""
    rows = tomllib.loads(source.decode()).items()
    return tuple(hashlib.sha256(repr(row).encode()).hexdigest() for row in rows)


class _WithoutWords(ast.NodeTransformer):
    """Removes what cannot change a figure: imports, docstrings and other bare text, ``__all__``."""

    def visit_Import(self, node: ast.Import) -> None: ...

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None: ...

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if ast.unparse(node.targets[0]) == "__all__" else node

    def visit_If(self, node: ast.If) -> ast.AST | None:
        self.generic_visit(node)
        return node if node.body or node.orelse else None  # `if TYPE_CHECKING:` is empty by now


def _described(node: Any) -> Any:
    """A syntax tree as nested tuples, without line numbers.

    Empty fields are left out, so that versions of Python that know more fields agree.
    """
    if isinstance(node, list):
        return [_described(item) for item in node]
    if not isinstance(node, ast.AST):
        return node
    fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
    return (type(node).__name__, *((name, _described(value)) for name, value in fields))
