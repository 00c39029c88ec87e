"""Rules of the evidence: small rooms, lines that know nothing of pages, commands that load fast."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import wgsindy_evidence
from wgsindy_evidence.fingerprint import MEASURING

SOURCE = Path(wgsindy_evidence.__file__).parent
MOST_MODULES, LONGEST_FUNCTION, MOST_LINES = 12, 60, 300
SHOWING = ("cli", "datasheets", "documents", "grid", "ledger", "pages", "published")


def modules() -> dict[str, ast.Module]:
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def imported_rooms(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wgsindy_evidence"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name.split(".")[1] for name in names}
    return found


def test_what_makes_lines_knows_nothing_of_what_shows_them() -> None:
    rooms = {name: imported_rooms(tree) for name, tree in modules().items()}
    making = {name: found for name, found in rooms.items() if name.startswith(MEASURING)}
    assert {
        name: found & set(SHOWING) for name, found in making.items() if found & set(SHOWING)
    } == {}
    assert len(making) > 30
    assert "experiments" in rooms["pages/paper/ladder.py"]  # the other way round is seen


def test_rooms_files_and_functions_are_small() -> None:
    folders = [SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir())]
    counts = {
        str(folder): len([path for path in folder.glob("*.py") if path.stem != "__init__"])
        for folder in folders
    }
    assert {room for room, count in counts.items() if count > MOST_MODULES} == set()
    lengths = {path.name: len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py")}
    assert {name for name, length in lengths.items() if length > MOST_LINES} == set()
    functions = {
        f"{name}:{node.name}": (node.end_lineno or 0) - node.lineno + 1
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }
    assert {name for name, length in functions.items() if length > LONGEST_FUNCTION} == set()


def test_the_commands_are_imported_first_and_cheaply() -> None:
    """Every command of wgsindy loads them; and whoever imports them first must not go in a ring."""
    code = (
        "import wgsindy_evidence.cli, sys; "
        "print({m.split('.')[0] for m in sys.modules} & {'numpy', 'scipy', 'sympy', 'matplotlib'})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=120)
    assert run.stdout.decode().strip() == "set()"
