"""How long a fit will take, so that whoever waits knows what for."""

from __future__ import annotations

from collections.abc import Sequence

from wgsindy.data import Dataset, velocity_name
from wgsindy.estimate.fit import AUTO, START, Candidates
from wgsindy.estimate.orders import Order
from wgsindy.model import tensor
from wgsindy.terms import library

# Seconds a number of a pass over the data, and a number of the search for terms; measured on one
# core with 20 states of poly1, 10 of poly2 and 2 of poly20, fit and diagnostics together.
PASSING, SEARCHING = 2e-6, 5e-8
FILTERING = 1.5  # times that, of a filter along positions: 16 x 1600 of poly3 and its diagnostics
ROUNDS = 3  # in which `auto` grows a library, usually
LONG = 3.0  # seconds
MOST_NAMED = 12  # states


def expected_seconds(data: Dataset, candidates: Candidates = AUTO, order: Order = 1) -> float:
    """Return about how long a fit by ``sharp`` and its diagnostics take on one core.

    With N steps of d states, F fields of K terms: passes cost N (d^3 + F K), the search F K^3.
    Positions have as many velocities, and a filter follows them.
    """
    names = _states(data, order)
    d, terms, fields = len(names), _terms(names, candidates), _fields(len(names))
    passing = PASSING * data.n_increments * (d**3 + fields * terms)
    passing *= 1 if order == 1 else FILTERING
    once = passing + SEARCHING * fields * terms**3
    return once * (ROUNDS if candidates == AUTO else 1)


def work_ahead(label: str, data: Dataset, candidates: Candidates, order: Order = 1) -> str:
    """Say what a long fit is about to do and for how long; nothing of a short one."""
    seconds = expected_seconds(data, candidates, order)
    if seconds < LONG:
        return ""
    states = _states(data, order)
    names = ", ".join(states[:MOST_NAMED])
    more = f" and {len(states) - MOST_NAMED} more" if len(states) > MOST_NAMED else ""
    about = f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
    grows = " to begin with" if candidates == AUTO else ""
    return (
        f"{label}: {data.n_increments:,} steps of {len(states)} states ({names}{more}). "
        f"{_terms(states, candidates)} terms{grows} for each of {_fields(len(states))} "
        f"fields: about {about}. Fewer states (--states) or a smaller --library are faster."
    )


def _states(data: Dataset, order: Order) -> tuple[str, ...]:
    """Names of the states: positions have velocities, unless they are taken for states."""
    return data.names if order == 1 else (*data.names, *map(velocity_name, data.names))


def _terms(names: Sequence[str], candidates: Candidates) -> int:
    return len(library(START if candidates == AUTO else candidates).bind(names))


def _fields(dimension: int) -> int:
    return dimension + len(tensor.pairs(dimension))
