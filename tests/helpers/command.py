"""The command line, run as a shell would."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Ended(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        return " ".join(self.err.split())


Command = Callable[..., Ended]
