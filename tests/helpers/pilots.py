"""How much of the data is a pilot, and from how much data on there is one."""

from __future__ import annotations

import pytest

from wgsindy.estimate.likelihood.normal_equations import MANY, PIECE, PIECES, Runner


def set_pilots(
    monkeypatch: pytest.MonkeyPatch, pieces: int = PIECES, piece: int = PIECE, many: int = MANY
) -> None:
    """So many stretches of so many steps, where there are ``many`` times more."""
    monkeypatch.setattr(Runner.on_pilot, "__defaults__", (pieces, piece, many))
