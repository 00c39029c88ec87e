"""Results on disk, whole or not at all: written as drafts, which then take their place.

A draft stands beside the place that it will take. A run holds a lock on its drafts, which the
system releases however the run ends. So drafts of runs that were killed can be told from those of
runs that still write, and are removed by the next run into the same place, whatever the number of
its process.
"""

from __future__ import annotations

import ctypes
import glob
import os
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from wgsindy.data import Trajectories
from wgsindy.errors import OutputError

try:
    import fcntl
except ImportError:  # Windows: drafts stay until somebody removes them
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".draft"
JUST_MADE = 60.0  # seconds in which a draft may not have its lock yet
_SWAP, _HERE = 2, -100  # of Linux's renameat2: exchange; relative to the current folder


@contextmanager
def draft_of(target: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """Give a draft that ``make`` makes beside ``target``; in the end nothing is left there."""
    _sweep(target)
    # Nothing else has that name; process numbers come again.
    draft = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}")
    try:
        make(draft)  # may be interrupted when it is done, and is cleared away all the same
        with _locked(draft):
            yield draft
    finally:
        _remove(draft)


def _is_draft(name: str) -> bool:
    return name.startswith(".") and name.endswith(SUFFIX)


@contextmanager
def _locked(draft: Path) -> Iterator[bool]:
    """Hold the lock of a draft; gives whether there was one to take and nobody had it."""
    if fcntl is None:
        yield False
        return
    number = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            taken = True
        except OSError:  # held by its run, or a file system without locks
            taken = False
        yield taken
    finally:
        os.close(number)


def _sweep(target: Path) -> None:
    """Remove the drafts of ``target`` that runs left when they were killed."""
    for draft in target.parent.glob(f".{glob.escape(target.name)}.*{SUFFIX}"):
        with suppress(OSError):  # somebody else sweeps too
            if time.time() - draft.stat().st_mtime > JUST_MADE:
                with _locked(draft) as nobodys:
                    if nobodys:
                        _remove(draft)


def _remove(draft: Path) -> None:
    if draft.is_dir():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        draft.unlink(missing_ok=True)


def take_place(draft: Path, target: Path) -> None:
    """Put a folder in the place of another, which is then where the draft was.

    On Linux both change places at once. Elsewhere there is a moment in which the older one has
    another name, that of a draft.
    """
    if not target.exists():
        os.rename(draft, target)
    elif not _swapped(draft, target):
        former = draft.with_suffix(f".former{SUFFIX}")
        os.rename(target, former)
        try:
            os.rename(draft, target)
        except OSError:
            os.rename(former, target)
            raise
        os.rename(former, draft)


def _swapped(one: Path, other: Path) -> bool:
    """Let two folders change places, if the system can do that."""
    linux = sys.platform.startswith("linux")
    swap = getattr(ctypes.CDLL(None), "renameat2", None) if linux else None
    if swap is None:  # or an old C library
        return False
    return bool(swap(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _SWAP) == 0)


def opened(path: str, flags: int) -> int:
    """Open a file or a pipe that somebody writes to: a device has no end, an empty pipe waits."""
    number = os.open(path, flags | os.O_NONBLOCK)
    if stat.S_ISCHR(os.fstat(number).st_mode) and path != os.devnull:
        os.close(number)
        raise ValueError("it is a device, not a file")
    os.set_blocking(number, True)
    return number


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part of it."""
    target = Path(path)
    if not target.parent.is_dir():
        raise OutputError(f"{target} cannot be written: there is no folder {target.parent}.")
    with draft_of(target, Path.touch) as draft:
        with open(draft, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)


def refuse_unwritable(path: str | Path) -> None:
    """Make sure, before any work, that a folder can be made at ``path``.

    Raises
    ------
    OutputError
        If not, with the reason of the system.
    """
    target = Path(path).absolute()
    there = next(parent for parent in target.parents if parent.exists())
    try:
        # Without a name, where a system has such files: nothing is left, however a run ends.
        tempfile.TemporaryFile(dir=there).close()
    except OSError as error:
        raise OutputError(
            f"{path}/ cannot be made: {error.strerror} ({there}); choose another folder with --out."
        ) from None


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
    there = sorted(item.name for item in target.iterdir() if not _is_draft(item.name))
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
    with draft_of(target, Path.mkdir) as draft:
        yield draft
        refuse_occupied(path, replaceable)
        take_place(draft, target)


def save_folder(
    save: Callable[[Path], None],
    path: str | Path,
    replaceable: Collection[str] = (),
    *,
    otherwise: str = "",
) -> None:
    """Put what ``save`` writes into a folder at ``path``, or where there is room for it.

    What took long to find is not lost because a disk is full, or because somebody else has put
    something at ``path`` meanwhile.

    Raises
    ------
    OutputError
        If it is not at ``path``: where it is instead, or else what it is, ``otherwise``.
    """
    target = Path(path).absolute()
    neighbours = [target.with_name(f"{target.name}-{number}") for number in range(2, 10)]
    elsewhere = Path(tempfile.gettempdir(), f"{target.name}-{secrets.token_hex(4)}")
    reason = ""
    for place in (target, *neighbours, elsewhere):
        try:
            with whole_folder(place, replaceable if place == target else ()) as draft:
                save(draft)
        except OutputError as error:
            reason = reason or str(error)
            continue
        except OSError as error:
            reason = reason or f"{path}/ cannot be written: {error.strerror or error}."
            continue
        if place == target:
            return
        raise OutputError(f"{reason} The result is saved in {place}/ instead.")
    raise OutputError(f"{reason} Nothing could be saved; this was found:\n{otherwise}")


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
