"""Every check of the page of trust turns red if what it guards is spoilt."""

from __future__ import annotations

import pytest

from breaks import BREAKS, RED, run
from wgsindy_evidence.trust import CHECKS


@pytest.mark.parametrize("name", [name for name in BREAKS if name != "nothing"])
def test_a_check_turns_red_by_its_break(name: str) -> None:
    ended = run(name)
    assert ended.returncode == RED, ended.stdout + ended.stderr
    # Red by what the check says, not since it could not even begin.
    assert "error" not in ended.stdout.splitlines()[-1]


def test_a_check_passes_if_nothing_is_spoilt() -> None:
    assert run("nothing").returncode == 0


def test_every_check_has_a_break() -> None:
    assert {check.broken_by for check in CHECKS if check.broken_by} == set(BREAKS) - {"nothing"}
