"""Disks that are full, folders that cannot be written, two runs into one: nothing is lost."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from wgsindy.errors import OutputError
from wgsindy.files import refuse_unwritable, save_folder, whole_folder, write_atomically
from wgsindy.model import Generator
from wgsindy.workflow import fit_file

WALK = np.cumsum(np.random.default_rng(0).normal(0.0, 0.1, 400))


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Let no file grow beyond ``size`` bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def names(folder: Path) -> list[str]:
    return sorted(item.name for item in folder.iterdir())


def one_file(draft: Path) -> None:
    write_atomically(draft / "a.txt", "new" * 1000)


@pytest.mark.parametrize("room", [0, 100, 2999])
def test_a_full_disk_leaves_the_old_result_and_the_equations(room: int, tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out") as draft:
        (draft / "a.txt").write_text("old")
    with (
        files_up_to(room),
        pytest.raises(OutputError, match=r"(?s)Nothing could be .*\nb\[x\] = 1"),
    ):
        save_folder(one_file, tmp_path / "out", ["a.txt"], otherwise="b[x] = 1")
    assert (tmp_path / "out/a.txt").read_text() == "old"
    assert names(tmp_path) == ["out"]
    save_folder(one_file, tmp_path / "out", ["a.txt"])  # with room, it goes on
    assert names(tmp_path) == ["out"]


def test_a_fit_on_a_full_disk_prints_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with (
        files_up_to(50),
        pytest.raises(OutputError, match=r"(?s)File too large. Nothing could be saved.*a11"),
    ):
        fit_file([WALK], dt=0.1, library="poly1", out=tmp_path / "out", report=False)
    assert names(tmp_path) == []


def test_a_small_file_system_that_is_full(tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(tmp_path)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("only the system's administrator may mount")
    try:
        (tmp_path / "ballast").write_bytes(bytes(8000))
        with pytest.raises(OutputError, match="No space left on device") as error:
            fit_file([WALK], dt=0.1, library="poly1", out=tmp_path / "out", report=False)
        assert names(tmp_path) == ["ballast"]
        elsewhere = Path(str(error.value).split("saved in ")[1].split("/ instead")[0])
        assert Generator.load(elsewhere / "model.json").names == ("x",)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def as_nobody(work: Callable[[], None]) -> int:
    """Run ``work`` in a child that may do what its files allow; the administrator may do all."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        if os.getuid() == 0:
            os.setuid(65534)
        work()
        code = 0
    finally:
        os._exit(code)


def test_a_folder_that_cannot_be_written_is_noticed_before_any_work(tmp_path: Path) -> None:
    closed = Path(tempfile.mkdtemp(dir="/tmp"))  # pytest's own folders are closed to others
    closed.chmod(0o555)

    def refused() -> None:
        with pytest.raises(
            OutputError, match=f"cannot be made: Permission denied .{closed}.*--out"
        ):
            refuse_unwritable(closed / "deep" / "out")

    assert as_nobody(refused) == 0
    closed.chmod(0o777)
    assert as_nobody(lambda: refuse_unwritable(closed / "deep" / "out")) == 0
    closed.rmdir()


def test_a_path_below_a_file_is_noticed_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be made: Not a directory"):
        fit_file("no such file.csv", out=tmp_path / "file" / "out")


def test_a_stale_draft_with_the_number_of_this_process_is_in_nobodys_way(tmp_path: Path) -> None:
    for stale in (f".out.{os.getpid()}.draft", f".out.{os.getpid()}-0.draft"):
        (tmp_path / stale).mkdir()
        (tmp_path / stale / "model.json").write_text("")
        os.utime(tmp_path / stale, (0, 0))
    save_folder(one_file, tmp_path / "out")
    assert names(tmp_path) == ["out"]


def test_drafts_of_runs_that_still_write_stay(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out", ["a.txt"]) as draft:
        os.utime(draft, (0, 0))
        with whole_folder(tmp_path / "out") as other:
            assert draft.exists()
            assert draft != other
        one_file(draft)
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a.txt"]


def test_a_draft_in_a_result_does_not_keep_it_from_being_replaced(tmp_path: Path) -> None:
    save_folder(one_file, tmp_path / "out")
    (tmp_path / "out" / ".report.html.17-abc.draft").write_text("half a page")
    save_folder(one_file, tmp_path / "out", ["a.txt"])
    assert names(tmp_path / "out") == ["a.txt"]


def test_of_two_runs_into_one_folder_neither_is_lost(tmp_path: Path) -> None:
    def meanwhile(draft: Path) -> None:
        one_file(draft)
        if not (tmp_path / "out").exists():
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "a.txt").write_text("of the other run")

    with pytest.raises(OutputError, match=r"already exists.*is saved in .*out-2/ instead"):
        save_folder(meanwhile, tmp_path / "out")
    assert (tmp_path / "out/a.txt").read_text() == "of the other run"
    assert (tmp_path / "out-2/a.txt").read_text().startswith("new")
    assert names(tmp_path) == ["out", "out-2"]


def test_many_runs_with_force_at_once_leave_one_whole_result(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from wgsindy.files.atomic import save_folder, write_atomically\n"
        "def save(draft):\n"
        "    for name in ('a.txt', 'b.txt'): write_atomically(draft / name, sys.argv[2])\n"
        "for _ in range(30): save_folder(save, sys.argv[1], ['a.txt', 'b.txt'])\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "out")]
    runs = [subprocess.Popen([*command, word], stderr=subprocess.PIPE) for word in ("one", "two")]
    ended = [(run.wait(120), run.stderr.read() if run.stderr else b"") for run in runs]
    whole = {(tmp_path / "out" / name).read_text() for name in ("a.txt", "b.txt")}
    assert len(whole) == 1
    for code_, said in ended:  # one may find its place taken, and says so
        assert code_ == 0 or b"is saved in" in said
    for run in runs:
        if run.stderr:
            run.stderr.close()


def test_a_fit_that_cannot_be_judged_is_saved_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr("wgsindy.workflow.diagnose", fail)
    with pytest.raises(Exception, match=r"model is saved in .*could not be judged \(LinAlgError"):
        fit_file([WALK], dt=0.1, library="poly1", out=tmp_path / "out", report=False)
    assert Generator.load(tmp_path / "out/model.json").names == ("x",)
    assert names(tmp_path / "out") == ["model.json"]
