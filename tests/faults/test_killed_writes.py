"""A run that is ended at any touch of the disk leaves the old result or the new one, whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HELPER = Path(__file__).parents[1] / "helpers" / "killed_writes.py"


def kill_everywhere(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, str(HELPER), *arguments]
    found: dict[str, Any] = json.loads(
        subprocess.run(command, check=True, capture_output=True).stdout
    )
    return found


@pytest.mark.parametrize("which", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_the_old_result_or_the_new_one_is_there_and_the_next_run_clears_up(
    which: str, tmp_path: Path
) -> None:
    found = kill_everywhere(str(tmp_path / "results" / "out"), which)
    assert found["touches"] >= 15
    assert set(found["after"]) == {"old", "new"}


def test_a_program_that_makes_room_first_would_be_noticed(tmp_path: Path) -> None:
    found = kill_everywhere(str(tmp_path / "results" / "out"), "SIGKILL", "careless")
    assert any(state.startswith("broken") for state in found["after"])
