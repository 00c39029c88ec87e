"""Save a result again and again, and be killed at every touch of the disk, one after the other.

``python killed_writes.py FOLDER SIGNAL [careless]``: the fit is made once. Then there is a child
for each event that Python tells of (a folder made, a file opened, renamed or removed), in which
the signal is raised right before it, that is, right after the one before. Prints one JSON object:
events, and what the folder held after each. ``careless`` removes the old result first, as a
program without drafts would.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wgsindy import workflow
from wgsindy.files import atomic, save_folder

TOUCHES = {
    "open",
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "shutil.rmtree",
    "ctypes.dlsym",
}
SAVED = 7  # what a child exits with when it came to its end


def saving() -> Callable[[Path], None]:
    """Fit once and return what writes the result into a folder."""
    found: list[Callable[[Path], None]] = []
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(0.0, 0.1, 400))
    setattr(workflow, "save_folder", lambda save, *_, **__: found.append(save))  # noqa: B010
    workflow.fit_file([walk], dt=0.1, library="poly1", out="nowhere", report=False)
    return found[0]


def killed_at(number: int, which: int, work: Callable[[], None]) -> int:
    """Run ``work`` in a child that dies before its ``number``-th touch of the disk."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    seen = 0

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if event in TOUCHES:
            seen += 1
            if seen == number:
                os.kill(os.getpid(), which)

    def end(*_: object) -> None:
        raise SystemExit(1)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.addaudithook(watch)
    try:
        work()
    except BaseException:
        os._exit(1)
    os._exit(SAVED)


def content(folder: Path) -> str:
    """Say which result is there: ``old``, ``new``, or what is wrong."""
    names = {item.name for item in folder.iterdir()} if folder.is_dir() else set()
    whole = {workflow.MODEL, workflow.RECORD, workflow.TABLE}
    if not names >= whole:
        return f"broken: {sorted(names)}"
    return "old" if "mark" in (folder / workflow.TABLE).read_text() else "new"


def careless(draft: Path, target: Path) -> None:
    """Make room first: what must be noticed."""
    shutil.rmtree(target, ignore_errors=True)
    os.rename(draft, target)


def main() -> None:
    if sys.argv[3:] == ["careless"]:
        setattr(atomic, "take_place", careless)  # noqa: B010
    folder, which = Path(sys.argv[1]).absolute(), getattr(signal, sys.argv[2])
    folder.parent.mkdir(parents=True, exist_ok=True)
    save, found, number = saving(), Counter[str](), 0
    work = partial(save_folder, save, folder, workflow.RESULT_FILES)
    while True:
        number += 1
        for item in folder.parent.iterdir():
            shutil.rmtree(item)
        save_folder(save, folder)
        (folder / workflow.TABLE).write_text("mark")
        ended = killed_at(number, which, work)
        found[content(folder)] += 1
        for draft in folder.parent.glob(".*"):  # as old as they would be the next morning
            os.utime(draft, (0, 0))
            for inner in draft.glob("**/*"):
                os.utime(inner, (0, 0))
        work()  # the next run finishes, and clears up
        if content(folder) != "new" or [item.name for item in folder.parent.iterdir()] != [
            folder.name
        ]:
            found[f"left behind: {sorted(item.name for item in folder.parent.iterdir())}"] += 1
        if ended == SAVED:
            break
    print(json.dumps({"touches": number - 1, "after": dict(found)}))


if __name__ == "__main__":
    main()
