"""What the workers of test_clusters do: they import this module, so it imports little."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wgsindy.data import Chunk
from wgsindy.errors import DataError
from wgsindy.passes.summary import MomentPass, Moments
from wgsindy_evidence.campaign import Case


class DeadlyPass:
    """Kills the worker that meets the chunk at ``place``, as long as ``lives`` are left."""

    def __init__(self, step: MomentPass, place: int, folder: Path, lives: int) -> None:
        self.step, self.place, self.folder, self.lives = step, place, folder, lives
        self.empty, self.merge = step.empty, step.merge

    def add(self, total: Moments, chunk: Chunk) -> Moments:
        if chunk.start >= self.place:
            left = self.lives - len(list(self.folder.iterdir()))
            if left > 0:
                (self.folder / f"{os.getpid()}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return self.step.add(total, chunk)


class SpyPass:
    """Does something with each chunk and counts increments."""

    def __init__(self, effect: Callable[[Chunk], object]) -> None:
        self.effect = effect

    def empty(self) -> int:
        return 0

    def add(self, total: int, chunk: Chunk) -> int:
        self.effect(chunk)
        return total + len(chunk.dt)

    def merge(self, left: int, right: int) -> int:
        return left + right


def refuse(chunk: Chunk) -> None:
    if chunk.start > 600:
        raise DataError(f"increment {chunk.start} is not welcome.")


def overflow(chunk: Chunk) -> None:
    _ = chunk.dt * 1e308 * 1e308


def square(case: Case) -> dict[str, Any]:
    """Do the case; the first worker that meets the third one dies of it."""
    marker = Path(case.system) / "marker"
    if case.seed == 2 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if case.seed == 3:
        raise DataError("three is not welcome.")
    return {"square": case.seed**2}


def forbidden(case: Case) -> dict[str, Any]:
    raise RuntimeError(f"case {case.seed} was run again")
