"""The runner: cases are values, results are lines, a killed campaign goes on where it was."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import MISSING, dataclass, fields
from functools import partial
from multiprocessing.connection import wait as wait_for_any
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from wgsindy.errors import WgsindyError
from wgsindy.files import write_atomically
from wgsindy.passes.dask_cluster import completed
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.fingerprint import code_version

DIGITS = 6


@dataclass(frozen=True)
class Case:
    """One fit of a campaign.

    ``steps`` 0 stands for the number that the system declares. ``options`` are whatever else an
    experiment varies, as pairs in a fixed order.
    """

    experiment: str
    system: str
    recipe: str
    seed: int
    trajectories: int = 16
    steps: int = 0
    options: tuple[tuple[str, float | str], ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """The options by name."""
        return dict(self.options)

    def to_json(self) -> dict[str, Any]:
        """What is stored: defaults are left out."""
        given = {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if item.default is MISSING or getattr(self, item.name) != item.default
        }
        return given | ({"options": self.settings} if self.options else {})

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Case:
        """Read what :meth:`to_json` wrote."""
        options = tuple(dict(content.get("options", {})).items())
        return cls(**{**content, "options": options})


class Line(NamedTuple):
    """One stored result: the case, the code that ran it, and what came out or went wrong."""

    case: Case
    code: str
    result: dict[str, Any] | None
    error: str | None


Work = Callable[[Case], dict[str, Any]]
Progress = Callable[[int, int], None]


class Store:
    """A file of JSON lines. Only whole lines count, so a kill at any moment does no harm."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def lines(self) -> list[Line]:
        """Return the stored lines; one cut short by a kill, or no line of ours, is passed over."""
        if not self.path.exists():
            return []
        found = []
        for text in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                found.append(_line_of(json.loads(text)))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                continue
        return found

    def latest(self, cases: Iterable[Case]) -> list[Line]:
        """The last line of each case that has one, in the order of the cases, of any code."""
        found = {line.case: line for line in self.lines()}
        return [found[case] for case in dict.fromkeys(cases) if case in found]

    def append(self, line: Line) -> None:
        """Add one line and see it to the disk."""
        text = _as_text(line)
        with open(self.path, "a+b") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # what a kill left behind stays on a line of its own
                    file.write(b"\n")
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    def restamp(self, cases: Collection[Case], code: str) -> None:
        """Write another version of the code to the lines of some cases; all others stay."""
        lines = [
            line._replace(code=code) if line.case in cases and line.error is None else line
            for line in self.lines()
        ]
        write_atomically(self.path, "".join(map(_as_text, lines)))

    def compact(self) -> None:
        """Keep the last line of each case only, sorted, so that a version of it is small."""
        kept = {line.case: line for line in self.lines()}
        ordered = sorted(_as_text(line) for line in kept.values())
        write_atomically(self.path, "".join(ordered))


def _line_of(content: Any) -> Line:
    """Take a stored line apart; anything else raises KeyError, TypeError or ValueError."""
    case = Case.from_json(content["case"])
    hash(case)  # options may be lists, which no case has
    result, error = content.get("result"), content.get("error")
    kinds = [(content["code"], str), (result, dict | None), (error, str | None)]
    if not all(isinstance(value, kind) for value, kind in kinds) or (result is None) is (
        error is None
    ):
        raise TypeError("this is no line of a store")
    return Line(case, content["code"], result, error)


def _as_text(line: Line) -> str:
    content: dict[str, Any] = {"case": line.case.to_json(), "code": line.code}
    content |= {"result": line.result} if line.error is None else {"error": line.error}
    return json.dumps(content, separators=(",", ":")) + "\n"


def rounded(value: Any) -> Any:
    """Round every number in a result to six digits: what is stored is what is read."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


def run_campaign(
    cases: Sequence[Case],
    work: Work,
    store: Store,
    *,
    jobs: int = 2,
    client: Any = None,
    progress: Progress | None = None,
) -> list[Line]:
    """Run the cases that the store does not hold yet and return the lines of all of them.

    A case counts as done if this very code ran it without an error. Cases that fail with one of
    the package's own errors are stored with their sentence and tried again next time. They run in
    ``jobs`` processes, or as tasks of a Dask ``client``; lines are written here and nowhere else.
    """
    if jobs < 1:
        raise CampaignError(f"jobs must be at least 1, got {jobs}.")
    store.path.parent.mkdir(parents=True, exist_ok=True)
    wanted, code = dict.fromkeys(cases), code_version(work)
    lines = {
        line.case: line
        for line in store.lines()
        if line.case in wanted and line.code == code and line.error is None
    }
    todo = [case for case in wanted if case not in lines]
    report = progress or (lambda done, total: None)
    report(len(lines), len(wanted))
    finished = _finished(todo, work, jobs) if client is None else _on_cluster(todo, work, client)
    for line in finished:
        store.append(line)
        lines[line.case] = line
        report(len(lines), len(wanted))
    return [lines[case] for case in wanted]


def _finished(todo: Sequence[Case], work: Work, jobs: int) -> Iterable[Line]:
    """Yield lines as they are done."""
    if not todo:
        return
    # Spawned workers start clean: a fork of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_prepare_worker) as pool:
        code = code_version(work)  # here, once: it takes a second
        waiting: set[Future[Line]] = {pool.submit(_run, work, case, code) for case in todo}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _on_cluster(todo: Sequence[Case], work: Work, client: Any) -> Iterable[Line]:
    """Yield lines as tasks are done; the case of a worker that dies is run again, elsewhere."""
    from distributed import KilledWorker

    code = code_version(work)
    futures = client.map(partial(_run_on_worker, work), todo, pure=False)
    case_of = {future.key: case for future, case in zip(futures, todo, strict=True)}
    for future in completed(client, futures):
        try:
            line: Line = future.result()
        except KilledWorker as error:
            reason = f"took down {error.allowed_failures + 1} workers, one after the other."
            line = Line(case_of[future.key], code, None, f"CampaignError: {reason}")
        if line.code != code:
            raise CampaignError(
                f"workers run wgsindy {line.code}, this program is {code}; install the same code "
                "everywhere."
            )
        yield line


def _run_on_worker(work: Work, case: Case) -> Line:
    """Run a case, signed by the code that the worker has."""
    return run_alone(work, case, code_version(work))


def run_alone(work: Work, case: Case, code: str) -> Line:
    """Run a case with one thread; the process may serve others, so the limit ends with the case."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return _run(work, case, code)


def _prepare_worker() -> None:
    """End with the campaign, even a killed one, and calculate with one thread."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    one_thread()


def _end_with(sentinel: int) -> None:
    """Leave at once when the process behind the sentinel is gone: nobody waits for the result."""
    wait_for_any([sentinel])
    os._exit(1)


def one_thread() -> None:
    """Leave the cores to the cases."""
    import numpy as np  # noqa: F401 - loads the thread pools that are to be limited
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _run(work: Work, case: Case, code: str) -> Line:
    try:
        return Line(case, code, rounded(work(case)), None)
    except WgsindyError as error:
        return Line(case, code, None, f"{type(error).__name__}: {error}")
