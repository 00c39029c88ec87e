"""From where formulas measure a coordinate: from zero, or from a round number amid its values.

That an equation is sparse in x means nothing where x is 500000 ± 3: there every power of x is
close to a straight line, and nothing happens at x = 0. It may well be sparse in x - 500000.
"""

from __future__ import annotations

import numpy as np

from wgsindy.data import BoolArray, FloatArray, Frame
from wgsindy.terms.basis import Basis

# Spreads between zero and the mean, beyond which terms are measured from a number near the mean:
# a price of 100 ± 15 stays as it is, 293 ± 2 kelvin do not.
FAR = 25.0


def origin_of(basis: Basis, region: Frame) -> FloatArray:
    """Choose the origin ``(d,)`` of the terms on data of this mean and spread.

    It is zero for a coordinate that is not far from it, and for one whose terms would be other
    functions about any other point, such as sqrt(x).
    """
    far = _is_far(region)
    if not far.any():
        return np.zeros(len(far))
    return np.where(far & basis.movable, _round_means(region), 0.0)


def origin_notes(basis: Basis, region: Frame) -> list[str]:
    """Say of each coordinate far from zero what its terms are functions of."""
    notes = []
    for p in np.flatnonzero(_is_far(region)).tolist():
        name, near = basis.names[p], basis.coordinates[p]
        where = f"{name} is {_round_means(region)[p]:.15g} ± {region.scale[p]:.2g}, far from zero"
        notes.append(
            f"{where}: its terms are functions of {near}."
            if basis.origin[p]
            else f"{where}: its terms stay functions of {name}, since this library is another one "
            "in the distance from a point. Polynomials of some degree are not."
        )
    return notes


def _is_far(region: Frame) -> BoolArray:
    return np.abs(region.centre) > FAR * region.scale


def _round_means(region: Frame) -> FloatArray:
    pairs = zip(region.centre.tolist(), region.scale.tolist(), strict=True)
    return np.array([round_number(mean, spread / 2) for mean, spread in pairs])


def round_number(value: float, tolerance: float) -> float:
    """Return the number of fewest digits within a tolerance.

    >>> round_number(500000.7, 1.5), round_number(293.41, 0.1), round_number(-1234567.8, 40.0)
    (500000.0, 293.4, -1234600.0)
    """
    roundings = (float(f"{value:.{digits}e}") for digits in range(17))
    return next((short for short in roundings if abs(short - value) <= tolerance), value)
