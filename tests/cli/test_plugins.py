"""Commands that other packages bring."""

from __future__ import annotations

import pytest
import typer

from wgsindy.cli import add_commands, app
from wgsindy.errors import MissingPackageError


def test_the_evidence_brings_its_command() -> None:
    assert [group.name for group in app.registered_groups] == ["bench"]


@pytest.mark.parametrize("arguments", [["bench"], ["bench", "table", "--quick"]])
def test_without_the_evidence_a_sentence_says_how_to_get_it(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wgsindy.cli.entry_points", lambda group: ())
    plain = typer.Typer()
    plain.command("fit")(lambda: None)
    add_commands(plain)
    with pytest.raises(MissingPackageError, match=r"wgsindy-evidence.*pip install \./evidence"):
        plain(arguments, standalone_mode=False)
