"""Drafts: what a file or folder is until it is whole, beside the place that it will take.

A run holds a lock on its drafts, which the system releases however the run ends. So drafts of runs
that were killed can be told from those of runs that still write, and are removed by the next run
into the same place, whatever the number of its process.
"""

from __future__ import annotations

import ctypes
import glob
import os
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: drafts stay until somebody removes them
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".draft"
JUST_MADE = 60.0  # seconds in which a draft may not have its lock yet
_SWAP, _HERE = 2, -100  # of Linux's renameat2: exchange; relative to the current folder


def draft_of(target: Path) -> Path:
    """Return a path beside ``target`` that nothing else has; process numbers come again."""
    return target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}")


def is_draft(name: str) -> bool:
    """Whether a file or folder is a draft of something."""
    return name.startswith(".") and name.endswith(SUFFIX)


@contextmanager
def held(draft: Path) -> Iterator[None]:
    """Hold the lock of a draft that is there."""
    number = os.open(draft, os.O_RDONLY)
    try:
        _lock(number)
        yield
    finally:
        os.close(number)


def _lock(number: int) -> bool:
    """Take the lock of an open file; whether there is one to take and nobody has it."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held by its run, or a file system without locks
        return False
    return True


def sweep(target: Path) -> None:
    """Remove the drafts of ``target`` that runs left when they were killed."""
    for found in target.parent.glob(f".{glob.escape(target.name)}.*{SUFFIX}"):
        with suppress(OSError):  # somebody else sweeps too
            if time.time() - found.stat().st_mtime < JUST_MADE:
                continue
            number = os.open(found, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                if _lock(number):
                    _remove(found)
            finally:
                os.close(number)


def _remove(found: Path) -> None:
    if found.is_dir():
        shutil.rmtree(found, ignore_errors=True)
    else:
        found.unlink()


def take_place(draft: Path, target: Path) -> None:
    """Put a folder in the place of another, which is then where the draft was.

    On Linux both change places at once. Elsewhere there is a moment in which the older one has
    another name, that of a draft.
    """
    if not target.exists():
        os.rename(draft, target)
    elif not _swapped(draft, target):
        former = draft_of(target)
        os.rename(target, former)
        try:
            os.rename(draft, target)
        except OSError:
            os.rename(former, target)
            raise
        os.rename(former, draft)


def _swapped(one: Path, other: Path) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    swap = getattr(ctypes.CDLL(None), "renameat2", None)
    if swap is None:  # an old C library
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
