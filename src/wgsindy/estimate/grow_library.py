"""A library chosen by evidence: grown from the second degree as long as the data ask for more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from wgsindy.data.dataset import Dataset
from wgsindy.errors import WgsindyError
from wgsindy.estimate.likelihood.fit import fit_likelihood
from wgsindy.estimate.result import Fit
from wgsindy.estimate.rival_libraries import RivalLibrary, rival_libraries
from wgsindy.passes.engine import SERIAL, Engine
from wgsindy.passes.summary import data_summary
from wgsindy.recipes import SHARP
from wgsindy.terms.library import Library, library

START = "poly2"
MOST_ROUNDS = 6
LEAST_SHARE = 100  # increments for each term, below which a larger library is not tried


class Grown(NamedTuple):
    """A library, how it was grown, and its fit by ``sharp``, if that was the last thing done."""

    library: Library
    name: str
    fit: Fit | None = None


def grow_library(data: Dataset, *, engine: Engine = SERIAL) -> Grown:
    """Grow a library until no larger one is preferred.

    Each round fits by the sharp recipe and asks whether some field is better off by more than
    chance with one degree more, with sines and cosines, or with square roots.

    Examples
    --------
    >>> from wgsindy import zoo
    >>> data = zoo.get("duffing").simulate(seed=0, trajectories=4)
    >>> grow_library(data).name
    'poly3'
    """
    grown = Grown(library(START), START)
    summary = data_summary(data, standardise=True, engine=engine)
    for _ in range(MOST_ROUNDS):
        if not _is_affordable(grown.library, data):
            break  # nothing larger can be afforded either, so there is nothing to compare
        try:
            fit = fit_likelihood(
                data, grown.library, SHARP, summary, name=grown.name, engine=engine
            )
        except WgsindyError:
            break  # whoever fits with this library gets the sentence
        rivals = rival_libraries(fit)
        preferred = [r for r in rivals if r.is_preferred and _is_affordable(r.library, data)]
        if not preferred:
            return grown._replace(fit=replace(fit, rivals=tuple(rivals)))
        grown = _larger(grown, preferred[0], data.names)
    return grown


def _is_affordable(candidates: Library, data: Dataset) -> bool:
    return len(candidates.bind(data.names)) * LEAST_SHARE <= data.n_increments


def _larger(grown: Grown, rival: RivalLibrary, names: Sequence[str]) -> Grown:
    basis = rival.library.bind(names)
    if basis.is_closed:
        return Grown(rival.library, f"poly{int(basis.degrees.max())}")
    return Grown(rival.library, f"{grown.name} + {rival.name}")
