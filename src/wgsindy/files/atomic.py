"""Results on disk, whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from wgsindy.data.trajectories import Trajectories
from wgsindy.errors import OutputError


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part of it."""
    target = Path(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    try:
        with open(draft, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def refuse_occupied(path: str | Path, replaceable: Collection[str] = ()) -> None:
    """Make sure that a folder can be put at ``path``.

    That is so if nothing is there, or a folder that holds none but ``replaceable`` files: what
    somebody else put there is never removed.

    Raises
    ------
    OutputError
        Otherwise.
    """
    target = Path(path)
    if not target.exists() and not target.is_symlink():
        return
    if target.is_symlink() or not target.is_dir():
        raise OutputError(f"{target} is not a folder; choose another with --out.")
    there = sorted(item.name for item in target.iterdir())
    if there and not replaceable:
        raise OutputError(
            f"{target}/ already exists; replace it with --force, or choose another with --out."
        )
    foreign = [name for name in there if name not in replaceable]
    if foreign:
        raise OutputError(
            f"{target}/ holds {foreign[0]!r}, which is no file of a fit, so it is not replaced; "
            "choose another folder with --out."
        )


@contextmanager
def whole_folder(path: str | Path, replaceable: Collection[str] = ()) -> Iterator[Path]:
    """Give an empty folder to write to, which takes its place at ``path`` if all goes well.

    If anything goes wrong it is removed, and what was at ``path`` stays as it was; see
    :func:`refuse_occupied` for what may be replaced.
    """
    target = Path(path).absolute()
    refuse_occupied(path, replaceable)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft, former = (
        target.with_name(f".{target.name}.{os.getpid()}.{what}") for what in ("draft", "former")
    )
    draft.mkdir()
    try:
        yield draft
        refuse_occupied(path, replaceable)
        if target.exists():
            os.rename(target, former)
        try:
            os.rename(draft, target)
        except OSError:
            if former.exists():
                os.rename(former, target)
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(former, ignore_errors=True)


def csv_text(data: Trajectories) -> str:
    """Write trajectories as a table: number of the trajectory, time from 0, states.

    >>> print(csv_text(Trajectories([[1.0, 0.5]], dt=0.1)), end="")
    trajectory,t,x
    0,0.0,1.0
    0,0.1,0.5
    """
    lines = [",".join(["trajectory", "t", *data.names])]
    for number, states in enumerate(data):
        times = np.concatenate([[0.0], np.cumsum(data.steps(number))])
        rows = np.column_stack([times, states]).tolist()
        # Sums of many steps end in digits that mean nothing.
        lines += [
            ",".join([str(number), repr(float(f"{time:.12g}")), *map(repr, state)])
            for time, *state in rows
        ]
    return "\n".join(lines) + "\n"
