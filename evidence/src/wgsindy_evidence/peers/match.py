"""How much data it takes to find exactly the terms of the drift.

For each system, trajectory length and method: the share of seeds on which the selected monomials
are those of the true drift, no more and no fewer. A fit that fails is not a match. Rivals select
the drift only, to save time; a process stays alive from seed to seed, so that code compiled for
one data set serves the others of its shape.
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wgsindy import zoo
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.peers import comparison
from wgsindy_evidence.peers.workers.run import DONE

SYSTEMS = ("rotational_ou", "double_well_transverse", "maier_stein", "van_der_pol")
STEPS = (200, 400, 800, 1600, 3200)
METHODS = ("sharp-euler", "sfi")
EXPERIMENT = "match"


def match_cases(
    methods: Sequence[str], seeds: Sequence[int], systems: Sequence[str] | None = None
) -> list[Case]:
    """Cases by system, length, method and seed; the length is part of the experiment's name."""
    chosen = SYSTEMS if systems is None else systems
    for name in chosen:
        comparison.basis_of(zoo.get(name))
    for method in methods:
        comparison.check_method(method)
    return [
        Case(f"{EXPERIMENT}-{steps}", name, method, seed)
        for name in chosen
        for steps in STEPS
        for method in methods
        for seed in seeds
    ]


def steps_of(case: Case) -> int:
    """Number of increments of a trajectory of the case."""
    return int(case.experiment.removeprefix(f"{EXPERIMENT}-"))


def run_case(case: Case, *, pythons: Mapping[str, str]) -> dict[str, Any]:
    """Simulate, select, and compare the drift's terms with the true ones."""
    system = zoo.get(case.system)
    data = system.simulate(case.seed, trajectories=case.trajectories, steps=steps_of(case))
    with tempfile.TemporaryDirectory() as folder:
        task, result = Path(folder, "task.npz"), Path(folder, "result.npz")
        comparison.write_task(task, comparison.zoo_task(case, data, drift_only=True))
        helper_for(case, pythons).fit(task, result)
        outcome = comparison.score(system, data, comparison.read_result(result))
    kept = ("failure", "recall", "false_positives", "exact", "drift")
    return {
        **{key: value for key, value in outcome.items() if key in kept},
        "time": data.total_time,
    }


class Helper:
    """A worker that stays alive; it ends by itself when this process does."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=comparison.worker_environment(),
            text=True,
        )

    def fit(self, task: Path, result: Path) -> None:
        """Hand over a task and wait until its result is written."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        clock = threading.Timer(comparison.TIMEOUT, self._process.kill)
        clock.start()
        try:
            self._process.stdin.write(f"{task}\t{result}\n")
            self._process.stdin.flush()
            replied = any(line.strip() == DONE for line in self._process.stdout)
        except BrokenPipeError:
            replied = False
        finally:
            clock.cancel()
        if not replied:
            self.close()
            raise CampaignError("the worker ended without a result; run again to go on.")

    @property
    def is_alive(self) -> bool:
        """Whether it can take a further task."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


_current: dict[tuple[str, ...], Helper] = {}  # of this process, at most one


def helper_for(case: Case, pythons: Mapping[str, str]) -> Helper:
    """Return the helper for data of this shape, started if need be.

    Only one is kept: what SFI compiles for a shape stays in memory, 60 MB a data set.
    """
    key = (*comparison.worker_command(case.recipe, pythons), case.system, case.experiment)
    if key not in _current or not _current[key].is_alive:
        close_helper()
        _current[key] = Helper(key[:-2])
    return _current[key]


def close_helper() -> None:
    """End the helper of this process, if there is one."""
    while _current:
        _current.popitem()[1].close()


@dataclass(frozen=True)
class Curve:
    """Share of exact matches of one method on one system against the observed time.

    Parameters
    ----------
    times : total time of all trajectories of a data set, ascending
    shares : of seeds, at each time
    n : number of seeds at each time
    """

    system: str
    title: str
    method: str
    times: tuple[float, ...]
    shares: tuple[float, ...]
    n: tuple[int, ...]


def summarise(lines: Sequence[Line]) -> list[Curve]:
    """Collect lines into curves, by system and method in the order in which they come."""
    keys = dict.fromkeys((line.case.system, line.case.recipe) for line in lines)
    return [
        _curve(*key, [line for line in lines if (line.case.system, line.case.recipe) == key])
        for key in keys
    ]


def _curve(system: str, method: str, lines: Sequence[Line]) -> Curve:
    known = zoo.get(system)
    lengths = sorted({steps_of(line.case) for line in lines})
    groups = [[line for line in lines if steps_of(line.case) == steps] for steps in lengths]
    matches = [sum(bool(line.result and line.result.get("exact")) for line in g) for g in groups]
    return Curve(
        system=system,
        title=known.title,
        method=method,
        times=tuple(
            steps * known.dt * group[0].case.trajectories
            for steps, group in zip(lengths, groups, strict=True)
        ),
        shares=tuple(count / len(g) for count, g in zip(matches, groups, strict=True)),
        n=tuple(len(group) for group in groups),
    )
