"""Ctrl-C and SIGTERM at any moment of the command: one line at most, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from wgsindy import __main__
from wgsindy.files import refuse_unwritable, save_folder
from wgsindy.model import Generator

ENDINGS = pytest.mark.parametrize(
    ("which", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
    ids=["SIGINT", "SIGTERM"],
)
# As the script of the command does it; before, Python itself may say that it was interrupted.
RUN = (
    "import sys\n"
    "from wgsindy.__main__ import main\n"
    "sys.argv[0] = 'wgsindy'\n"
    "sys.stdout.write('up')\n"
    "sys.stdout.flush()\n"
    "main()\n"
)
# The same, but "up" is said when the fit begins: by then, nothing is left to Python itself.
IN_THE_FIT = (
    "import sys\n"
    "from wgsindy import workflow\n"
    "from wgsindy.__main__ import main\n"
    "sys.argv[0], fit = 'wgsindy', workflow.fit_dataset\n"
    "def begun(*given, **more):\n"
    "    sys.stdout.write('up')\n"
    "    sys.stdout.flush()\n"
    "    return fit(*given, **more)\n"
    "workflow.fit_dataset = begun\n"
    "main()\n"
)


def _interruptible() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's child may ignore it


def started(program: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a fit, and return when it has said that it is up."""
    walk = np.cumsum(np.random.default_rng(0).normal(0.0, 0.1, (20_000, 3)), axis=0)
    np.savetxt(folder / "walk.csv", walk, delimiter=",", header="x,y,z", comments="")
    arguments = ["fit", str(folder / "walk.csv"), "--dt", "0.1", "--out", str(folder / "out")]
    run = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_interruptible,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert run.stdout is not None
    assert run.stdout.read(2) == b"up"
    return run


@ENDINGS
def test_a_fit_that_is_ended_says_what_ended_it(
    which: signal.Signals, code: int, word: str, tmp_path: Path
) -> None:
    run = started(IN_THE_FIT, tmp_path)
    run.send_signal(which)
    said = run.communicate(timeout=60)[1].decode()
    assert run.returncode == code
    assert said.splitlines()[-1] == f"wgsindy: {word}."
    assert [item.name for item in tmp_path.iterdir()] == ["walk.csv"]


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
@pytest.mark.parametrize("wait", [0.1, 0.2, 0.4, 0.8, 1.6])
def test_a_fit_ends_at_once_and_leaves_nothing(
    which: signal.Signals, wait: float, tmp_path: Path
) -> None:
    run = started(RUN, tmp_path)
    time.sleep(wait)
    run.send_signal(which)
    said = run.communicate(timeout=60)[1].decode()
    assert run.returncode != 0
    assert "Traceback" not in said
    # What is ahead is said before a long fit; what ended it is the last line.
    assert said == "" or said.splitlines()[-1] in ("wgsindy: interrupted.", "wgsindy: terminated.")
    left = sorted(item.name for item in tmp_path.iterdir())
    # A fast machine has saved the model by then, whole, and was drawing its report.
    assert left == ["walk.csv"] or (
        left == ["out", "walk.csv"] and Generator.load(tmp_path / "out" / "model.json").names
    )


# Where a class is made, Python takes a signal for an error in it; where an object goes, and in the
# modules of some libraries, it is ignored.
MAKING_A_CLASS = """
class Named:
    def __set_name__(self, owner, name):
        end()
class Owner:
    named = Named()
"""
LETTING_GO = """
class Held:
    def __del__(self):
        end()
Held()
"""
IGNORING = """
try:
    end()
except BaseException:
    pass
"""


def ended(which: signal.Signals, loaded: str, program: str, folder: Path) -> tuple[int, str]:
    """Code and words of a command that imports, or runs, a program with a signal in it."""
    ends = f"import signal\ndef end(): signal.raise_signal({int(which)})\n"
    (folder / "given.py").write_text(ends + program)
    (folder / "run.py").write_text(
        "from wgsindy import __main__, cli\n"
        "def load():\n"
        "    import given\n"
        "    getattr(given, 'late', int)()\n"
        "    while True: pass\n"
        f"{loaded} = load\n"
        "__main__.main()\n"
    )
    run = subprocess.run(
        [sys.executable, "run.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        preexec_fn=_interruptible,
        timeout=30,
    )
    return run.returncode, run.stderr


@pytest.mark.parametrize(
    "program", [MAKING_A_CLASS, LETTING_GO, IGNORING], ids=["class", "object", "library"]
)
@pytest.mark.parametrize("loaded", ["cli.main", "cli.app"])
@ENDINGS
def test_a_signal_is_heard_that_comes_while_modules_are_imported(
    which: signal.Signals, code: int, word: str, loaded: str, program: str, tmp_path: Path
) -> None:
    assert ended(which, loaded, program, tmp_path) == (code, f"wgsindy: {word}.\n")


@ENDINGS
def test_a_signal_that_a_library_ignores_is_raised_again(
    which: signal.Signals, code: int, word: str, tmp_path: Path
) -> None:
    program = "def late():\n" + textwrap.indent(IGNORING, "    ")
    assert ended(which, "cli.app", program, tmp_path) == (code, f"wgsindy: {word}.\n")


@pytest.mark.parametrize("running", [True, False])
def test_a_command_that_has_ended_is_not_reminded(
    running: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reminded: list[int] = []
    monkeypatch.setattr(__main__, "interrupt_main", reminded.append)
    before = signal.signal(signal.SIGTERM, __main__._end if running else signal.SIG_DFL)
    __main__._remind(signal.SIGTERM, 0.0)
    signal.signal(signal.SIGTERM, before)
    assert reminded == [signal.SIGTERM] * running


@pytest.mark.parametrize("work", [refuse_unwritable, lambda out: save_folder(Path.mkdir, out)])
def test_a_signal_that_comes_with_a_new_folder_leaves_nothing(
    work: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = os.mkdir

    def interrupted(path: Path, mode: int = 0o777) -> None:
        make(path, mode)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "mkdir", interrupted)
    with suppress(KeyboardInterrupt):
        work(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
