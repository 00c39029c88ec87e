"""Restamp: lines of older code that this code reproduces get its fingerprint.

A refactoring changes the fingerprint of an experiment and, if all goes well, none of its figures.
Two quick cases for each version of the code that made the lines are run again; if every figure
agrees with the stored one digit by digit, the lines need not be made anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wgsindy import zoo
from wgsindy_evidence.campaign import Case, Line, Store, run_alone
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.fingerprint import code_version
from wgsindy_evidence.peers import comparison, match, measured, positions
from wgsindy_evidence.registry import EXPERIMENTS, Experiment
from wgsindy_evidence.scope import Scope

QUICK = 300_000  # increments of a case that takes seconds; one of 32 million takes minutes
TIMINGS = "seconds"  # figures whose name begins like this are another time each time
TIMED = "speed"
SHOWN = 5  # differences of a case that are written out
RIVALS: dict[str, Callable[..., dict[str, Any]]] = {
    "peers": comparison.run_case,
    "peers-measured": measured.run_case,
    "peers-positions": positions.run_case,
    "match": match.run_case,
}


@dataclass(frozen=True)
class Restamped:
    """What became of the lines of an experiment.

    Parameters
    ----------
    name : of the experiment
    code : version of the code that ran the cases again
    stale : number of lines with a result that other code has made
    tried : cases that were run again
    differences : a sentence for every case that came out differently; if there is one, no line
        of the experiment is changed
    """

    name: str
    code: str
    stale: int
    tried: tuple[Case, ...]
    differences: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Say it."""
        if not self.stale:
            return f"{self.name}: all lines are of this code."
        if self.differences:
            listed = "".join(f"\n  {text}" for text in self.differences)
            return (
                f"{self.name}: {len(self.differences)} of {len(self.tried)} cases came out "
                f"differently; {self.stale} lines keep their stamp.{listed}"
            )
        return (
            f"{self.name}: {len(self.tried)} cases came out the same digit by digit; "
            f"{self.stale} lines are stamped {self.code}."
        )


def restamp(experiment: Experiment, results: Path) -> Restamped:
    """Run representatives of an experiment again, and stamp its lines if all of them agree."""
    store, code = Store(results / f"{experiment.store}.jsonl"), code_version(experiment.work)
    stale = [
        line
        for line in store.latest(experiment.cases(Scope()))
        if line.code != code and line.error is None
    ]
    tried = representatives(stale)
    found = [difference(line, run_alone(experiment.work, line.case, code)) for line in tried]
    differences = tuple(text for text in found if text)
    if stale and not differences:
        store.restamp({line.case for line in stale}, code)
    cases = tuple(line.case for line in tried)
    return Restamped(experiment.name, code, len(stale), cases, differences)


def representatives(lines: Sequence[Line]) -> list[Line]:
    """The first and the last quick case of each version of the code that made the lines."""
    chosen: dict[Case, Line] = {}
    for code in dict.fromkeys(line.code for line in lines):
        own = [line for line in lines if line.code == code]
        quick = [line for line in own if increments(line.case) <= QUICK] or own
        chosen |= {line.case: line for line in (quick[0], quick[-1])}
    return list(chosen.values())


def increments(case: Case) -> int:
    """Number of increments of the data of a case."""
    known = case.system in zoo.names()  # what is outside of the zoo is small
    return case.trajectories * (case.steps or (zoo.get(case.system).steps if known else 0))


def difference(stored: Line, again: Line) -> str:
    """Name the case and the figures that differ; nothing if all agree. Timings do not count."""
    case = stored.case
    options = "".join(f", {key} {value}" for key, value in case.options)
    title = f"{case.system} by {case.recipe}, seed {case.seed}{options}"
    if again.result is None:
        return f"{title}: {again.error}"
    before, now = (dict(figures(line.result)) for line in (stored, again))
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if not names:
        return ""
    texts = [f"{n} was {before.get(n, 'absent')}, is {now.get(n, 'absent')}" for n in names[:SHOWN]]
    more = f"; {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{title}: {'; '.join(texts)}{more}"


def figures(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every figure of a result by its place in it, as it is written to a store."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not key.startswith(TIMINGS):
                yield from figures(item, f"{name}.{key}" if name else key)
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from figures(item, f"{name}[{place}]")
    else:
        # The sign of a zero is that of a rounding error, and no page shows it.
        yield name, json.dumps(value + 0.0 if isinstance(value, float) else value)


def chosen(names: Sequence[str] | None) -> list[str]:
    """Names of experiments, all if none is given.

    Raises
    ------
    CampaignError
        If there is no experiment of a name.
    """
    known = [*EXPERIMENTS, *RIVALS, TIMED]
    for name in names or ():
        if name not in known:
            raise CampaignError(f"there is no experiment {name!r}; choose among {known}.")
    return list(names or known)


def repeatable(name: str, results: Path, pythons: Mapping[str, str]) -> Experiment | str:
    """The experiment of a name, or a sentence why it cannot be run again here."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    if name == TIMED:
        return f"{name}: skipped, since it measures time; run `wgsindy bench {name}` instead."
    cases = [line.case for line in Store(results / f"{name}.jsonl").lines()]
    needed = [method for method in comparison.RIVALS if method in {case.recipe for case in cases}]
    missing = [method for method in needed if method not in comparison.installed([method], pythons)]
    if missing:
        return (
            f"{name}: skipped, since {', '.join(missing)} cannot be run again: not installed; "
            "--python names an interpreter."
        )
    return Experiment(name, lambda scope: cases, partial(RIVALS[name], pythons=pythons), name)
