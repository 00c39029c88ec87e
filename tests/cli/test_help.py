"""Help: every command's fits a screen and carries an example that works when pasted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from wgsindy import cli

WIDTH, HEIGHT = 100, 47
# These run whole campaigns, or need a checkout or other packages: their examples are read by the
# parser of the command line, which refuses what it does not know, and not carried out.
PARSED_ONLY = "bench"


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command of the app by its words, groups included."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(cli.app)))
LEAVES = [path for path, command in COMMANDS.items() if not hasattr(command, "commands")]


def examples(command: Any) -> list[str]:
    return re.findall(r"Example: `([^`]+)`", " ".join(str(command.help).split()))


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["wgsindy", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_all_commands_are_looked_at() -> None:
    assert {("fit",), ("demo",), ("zoo",), ("simulate",), ("bench", "table")} <= set(LEAVES)
    assert len(LEAVES) > 20


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_fits_a_screen(
    path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setenv("LINES", str(HEIGHT))
    assert run(monkeypatch, *path, "--help") == 0
    lines = capsys.readouterr().out.rstrip("\n").split("\n")
    assert len(lines) <= HEIGHT
    assert max(map(len, lines)) <= WIDTH
    assert any("Usage:" in line for line in lines)


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_help_shows_an_example_of_its_own_command(
    path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = examples(COMMANDS[path])
    assert " ".join(["wgsindy", *path]) in example
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    run(monkeypatch, *path, "--help")
    # On one line, or it cannot be copied as one.
    assert f"Example: {example}" in capsys.readouterr().out


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_example_works(
    path: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for example in examples(COMMANDS[path]):
        for part in example.split("&&"):
            program, *words = shlex.split(part)
            assert program == "wgsindy"
            if words[0] == PARSED_ONLY:
                command = COMMANDS[PARSED_ONLY, words[1]]
                command.make_context(words[1], words[2:])
            else:
                assert run(monkeypatch, *words) == 0
    assert "wgsindy:" not in capsys.readouterr().err


def test_an_example_with_an_unknown_option_would_be_seen() -> None:
    with pytest.raises(Exception, match="No such option: --nosuch"):
        COMMANDS["bench", "table"].make_context("table", ["--nosuch"])
