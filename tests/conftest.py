"""Fixtures that several rooms share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import Command, Ended

from wgsindy import __main__


@pytest.fixture
def wgsindy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run the command line in an empty folder, as a shell would."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr("sys.argv", ["wgsindy", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            __main__.main()
        return Ended(int(ended.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what takes time and is tested elsewhere."""

    def write_page(path: Path, *_: Any, **__: Any) -> list[str]:
        path.write_text("a page")
        return []

    monkeypatch.setattr("wgsindy.report.write_report", write_page)
