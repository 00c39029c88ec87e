"""A library chosen by evidence: grown from the second degree as long as the data ask for more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from wgsindy.data.dataset import Dataset
from wgsindy.errors import WgsindyError
from wgsindy.estimate.likelihood.rival_libraries import Alternative, Fitted
from wgsindy.estimate.likelihood.stages import recover_sharp
from wgsindy.passes.engine import SERIAL, Engine
from wgsindy.passes.summary import data_summary
from wgsindy.recipes import SHARP
from wgsindy.terms.library import Library, library

START = "poly2"
MOST_ROUNDS = 6
LEAST_SHARE = 100  # increments for each term, below which a larger library is not tried


class Chosen(NamedTuple):
    """A library and how it was grown."""

    library: Library
    name: str


def chosen_library(data: Dataset, *, engine: Engine = SERIAL) -> Chosen:
    """Grow a library until no larger one is preferred.

    Each round fits by the sharp recipe and asks whether some field is better off by more than
    chance with one degree more, with sines and cosines, or with square roots.

    Examples
    --------
    >>> from wgsindy import zoo
    >>> data = zoo.get("duffing").simulate(seed=0, trajectories=4)
    >>> chosen_library(data).name
    'poly3'
    """
    return chosen_and_fitted(data, engine=engine)[0]


def chosen_and_fitted(data: Dataset, *, engine: Engine = SERIAL) -> tuple[Chosen, Fitted | None]:
    """Do what :func:`chosen_library` does; with its sharp fit, if that was the last thing done."""
    chosen = Chosen(library(START), START)
    summary = data_summary(data, standardise=SHARP.standardise, engine=engine)
    for _ in range(MOST_ROUNDS):
        basis = chosen.library.bind(data.names)
        if len(basis) * LEAST_SHARE > data.n_increments:
            break  # nothing larger can be afforded, so there is nothing to compare
        try:
            fit = recover_sharp(data, basis, summary, SHARP, engine=engine)
        except WgsindyError:
            break  # whoever fits with this library gets the sentence
        fitted = Fitted(data, basis, summary, SHARP, fit, engine)
        rivals = fitted.alternatives()
        affordable = [
            rival
            for rival in rivals
            if rival.is_preferred
            and len(rival.library.bind(data.names)) * LEAST_SHARE <= data.n_increments
        ]
        if not affordable:
            return chosen, replace(fitted, known=tuple(rivals))
        chosen = _grown(chosen, affordable[0], data.names)
    return chosen, None


def _grown(chosen: Chosen, rival: Alternative, names: Sequence[str]) -> Chosen:
    basis = rival.library.bind(names)
    if basis.is_closed:
        return Chosen(rival.library, f"poly{int(basis.degrees.max())}")
    return Chosen(rival.library, f"{chosen.name} + {rival.name}")
