"""The origin of the terms, where data are far from zero: the point about which they are fewest.

A polynomial about one point is one about any other, with other coefficients. So the same normal
equations tell, for every point, what the best formula about it is worth.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar, cast

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.estimate.filtering.noisy_samples import Filtered
from wgsindy.estimate.likelihood.reweighting import Weighted
from wgsindy.estimate.likelihood.term_selection import Extrapolation, TermSelection
from wgsindy.estimate.likelihood.working_model import WorkingModel
from wgsindy.terms import Basis, round_number

GRIDS = ((0.04, 30), (0.01, 4))  # spreads between points to try, and points either way
NEWTON_STEPS = 8
ROUNDINGS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.005)  # spreads by which the origin may be rounded
CHANCE = 2.0  # log-evidence, a coordinate, below which a round number near the mean is as good
OTHER_TERMS = 4.0  # the same, where formulas have other terms there
SAME = 0.05  # log-evidence that a round number may cost: a third of a standard error

Last = TypeVar("Last", bound=Weighted | Filtered)


def about_sparsest(last: Last, selection: TermSelection) -> tuple[Last, TermSelection]:
    """Measure the terms of coordinates that are far from zero from where they are fewest."""
    origin = selection.basis.origin
    far = np.flatnonzero(origin)
    if not (len(far) and selection.basis.is_closed) or selection.given is not None:
        return last, selection
    summary = selection.extrapolation.summary
    spread = summary.region.scale
    starts = [np.where(origin != 0, x, 0.0) for x in (summary.region.centre, _at_rest(last.model))]
    best, found = max(
        ((_worth(*_about(last, selection, start)), start) for start in (origin, *starts)),
        key=lambda pair: pair[0],
    )
    for width, count in GRIDS:
        for p in far.tolist():
            middle = found
            for k in range(-count, count + 1):
                tried = middle.copy()
                tried[p] += k * width * spread[p]
                worth = _worth(*_about(last, selection, tried))
                if worth > best:
                    best, found = worth, tried
    same = _supports(*_about(last, selection, found)) == _supports(last, selection)
    gained = best - _worth(*_about(last, selection, origin))
    if gained < (CHANCE if same else OTHER_TERMS) * len(far):
        return last, selection
    for p in far.tolist():
        for tolerance in ROUNDINGS:
            rounded = found.copy()
            rounded[p] = round_number(found[p], tolerance * spread[p])
            if (
                _worth(*_about(last, selection, rounded)) > best - SAME
                or tolerance == ROUNDINGS[-1]
            ):
                found = rounded
                break
    return _about(last, selection, found)


def _at_rest(model: WorkingModel) -> FloatArray:
    """Return a point ``(d,)`` within the data where the drift vanishes, by Newton's method."""
    place = model.place
    x = place.probe.mean(axis=0)
    for _ in range(NEWTON_STEPS):
        drift = model.basis.values(x[None])[0] @ model.drift.T
        jacobian = model.drift @ model.basis.gradients(x[None])[0]
        x = np.clip(x - np.linalg.lstsq(jacobian, drift)[0], place.low, place.high)
    return x


def _about(last: Last, selection: TermSelection, origin: FloatArray) -> tuple[Last, TermSelection]:
    """Express the equations in terms about another origin ``(d,)``."""
    old = last.model.basis
    work = Basis(old.names, old.monomials, old.others, old.frame, origin)
    basis = selection.basis.about(origin)
    box = Extrapolation(basis, selection.extrapolation.summary)
    model = replace(last.model, basis=work)
    equations = replace(last.equations, change=work.from_physical)
    moved = cast(Last, last._replace(model=model, equations=equations))
    return moved, replace(selection, basis=basis, extrapolation=box)


def _supports(last: Weighted | Filtered, selection: TermSelection) -> list[list[bool]]:
    """Terms of the best formulas."""
    drift = selection.drift(last.equations, last.model.drift)
    entries = selection.entries(last.equations, last.model.entries)
    return [one.best.tolist() for one in (*drift, *entries)]


def _worth(last: Weighted | Filtered, selection: TermSelection) -> float:
    """Log-evidence of the best formulas."""
    drift = selection.drift(last.equations, last.model.drift)
    entries = selection.entries(last.equations, last.model.entries)
    return sum(float(one.gain - one.best @ selection.costs) for one in (*drift, *entries))
