"""Breaks on purpose: each spoils one thing, and the check of that thing must turn red.

``python tests/breaks/breaks.py NAME`` spoils it in every Python that its check starts, runs the
check, and fails if that passes; without a name, one after the other.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FUZZ, PYTEST = "tests/fuzz/fuzz.py --count 200 --target ", "-m pytest -q -x -p no:cacheprovider "
NAME = "WGSINDY_BREAK"
RED = 1  # what pytest and the fuzzer exit with if something failed, and only then


@dataclass(frozen=True)
class Break:
    """What is spoilt, and arguments of Python that run the check; ``-k`` is the last of them."""

    check: str
    spoil: Callable[[], None]

    @property
    def command(self) -> list[str]:
        """The check as a program and its arguments."""
        words, _, chosen = self.check.partition(" -k ")
        return [sys.executable, *words.split(), *(["-k", chosen] if chosen else [])]


def put(place: Any, name: str, value: Any) -> None:
    """Put something in the place of what is there."""
    assert hasattr(place, name)
    setattr(place, name, value)


def before(place: Any, name: str, first: Callable[[], object]) -> None:
    """Do something first, whenever a function is called."""
    original = getattr(place, name)

    def spoilt(*given: Any, **more: Any) -> Any:
        first()
        return original(*given, **more)

    put(place, name, spoilt)


def evaluating_parser() -> None:
    from wgsindy.terms import expression

    before(expression, "parse", lambda: eval("1"))


def running_reader() -> None:
    from wgsindy.model import model_file

    before(model_file, "content_of", lambda: subprocess.run(["true"], check=True))


def dying_store() -> None:
    from wgsindy_evidence import campaign

    def lines(self: campaign.Store) -> list[Any]:
        return [campaign._line_of(json.loads(text)) for text in self.path.open()]

    put(campaign.Store, "lines", lines)


def raw_errors() -> None:
    from wgsindy.files.formats import loading

    put(loading, "as_data_error", lambda *_: nullcontext())


def making_room_first() -> None:
    from wgsindy.files import atomic

    def careless(draft: Path, target: Path) -> None:
        shutil.rmtree(target, ignore_errors=True)
        os.rename(draft, target)

    put(atomic, "take_place", careless)


def writing_in_place() -> None:
    from wgsindy.files import atomic

    @contextmanager
    def folder(target: Path, *_: object) -> Iterator[Path]:
        target.mkdir(exist_ok=True)
        yield target

    put(atomic, "whole_folder", folder)
    put(atomic, "write_atomically", lambda path, content: path.write_text(content))


def unnoticed_change() -> None:
    from wgsindy.data import stream

    put(stream, "_changed", lambda rows: RuntimeError("something is different"))


def deaf_to_signals() -> None:
    original = signal.signal

    def without_term(which: int, handler: Any) -> Any:
        return None if which == signal.SIGTERM else original(which, handler)

    put(signal, "signal", without_term)


def unforgiving_cluster() -> None:
    os.environ["DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"] = "0"


def unbounded_unpacking() -> None:
    from wgsindy.files.formats import loading

    put(loading, "refuse_large_arrays", lambda *_: None)


def any_step() -> None:
    import numpy as np

    from wgsindy.data import trajectories

    put(trajectories, "checked_dt", lambda dt, n: np.ones(n))


def spoilt_fit() -> None:
    from wgsindy.model import Generator

    original = Generator.drift
    put(Generator, "drift", lambda self, points: original(self, points) + 1e-3)


def overwritten_parameter() -> None:
    from wgsindy.estimator import WGSINDy

    original = WGSINDy.fit

    def fit(self: WGSINDy, *given: Any, **more: Any) -> WGSINDy:
        found = original(self, *given, **more)
        self.library = "poly1"
        return found

    put(WGSINDy, "fit", fit)


def changed_lock() -> None:
    original = Path.read_text

    def read_text(self: Path, *given: Any, **more: Any) -> str:
        text = original(self, *given, **more)
        return text.replace("numpy==", "numpi==") if self.name == "locked.txt" else text

    put(Path, "read_text", read_text)


def nothing() -> None:
    """The control of the controls: with nothing spoilt, a check passes."""


KILLED = "tests/faults/test_killed_writes.py -k old_result and "
BREAKS = {
    "evaluating-parser": Break(FUZZ + "formulas", evaluating_parser),
    "running-reader": Break(FUZZ + "models", running_reader),
    "dying-store": Break(FUZZ + "stores", dying_store),
    "raw-errors": Break(FUZZ + "readers", raw_errors),
    "room-first-kill": Break(PYTEST + KILLED + "SIGKILL", making_room_first),
    "room-first-term": Break(PYTEST + KILLED + "SIGTERM", making_room_first),
    "room-first-int": Break(PYTEST + KILLED + "SIGINT", making_room_first),
    "in-place": Break(PYTEST + "tests/faults/test_disks.py -k full_disk_leaves", writing_in_place),
    "unnoticed-change": Break(
        PYTEST + "tests/faults/test_changed_files.py -k cut_short and text", unnoticed_change
    ),
    "deaf": Break(PYTEST + "tests/faults/test_signals.py -k says_what", deaf_to_signals),
    "unforgiving": Break(
        PYTEST + "tests/passes/test_dask_cluster.py -k dies_in_a_pass", unforgiving_cluster
    ),
    "unbounded": Break(
        PYTEST + "tests/files/formats/test_loading.py -k stands_for and hdf5", unbounded_unpacking
    ),
    "any-step": Break(PYTEST + "tests/estimate/test_bad_input.py -k data and negative", any_step),
    "spoilt-fit": Break(
        PYTEST + "tests/properties/test_fit_properties.py -k units_of_states", spoilt_fit
    ),
    "overwritten": Break(
        PYTEST + "tests/estimator/test_estimator_checks.py -k overwrite", overwritten_parameter
    ),
    "changed-lock": Break(
        PYTEST + "tests/house/test_supply_chain.py -k locked_at and numpy", changed_lock
    ),
    "nothing": Break(PYTEST + "tests/house/test_supply_chain.py -k locked_at and numpy", nothing),
}


def run(name: str) -> subprocess.CompletedProcess[str]:
    """Run the check of a break; Python itself spoils every process that it starts."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text("import breaks; breaks.spoil_this_process()")
        places = [folder, Path(__file__).parent, ROOT / "src", ROOT / "evidence/src"]
        env = {**os.environ, NAME: name, "PYTHONPATH": os.pathsep.join(map(str, places))}
        return subprocess.run(
            BREAKS[name].command, cwd=ROOT, env=env, capture_output=True, text=True
        )


def spoil_this_process() -> None:
    """What every Python of a check does first."""
    BREAKS[os.environ[NAME]].spoil()


def main() -> None:
    unnoticed = []
    for name in sys.argv[1:] or BREAKS:
        ended = run(name)
        red = ended.returncode == RED
        said = (ended.stdout + ended.stderr).strip().splitlines()[-1:]
        print(f"{name}: {'red' if red else f'exit code {ended.returncode}'}; {said}", flush=True)
        unnoticed += [name] if red == (name == "nothing") else []
    sys.exit(f"not noticed: {', '.join(unnoticed)}" if unnoticed else 0)


if __name__ == "__main__":
    main()
