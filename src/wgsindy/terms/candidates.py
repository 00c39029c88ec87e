"""Libraries: which candidate terms the user asks for, and from where they measure a coordinate.

A :class:`Library` is a name (``"poly3"``, ``"sqrt"``), a list of formulas, or several of these;
bound to the state names of a dataset it becomes a :class:`~wgsindy.terms.basis.Basis`.

Terms measure a coordinate from zero, or from a round number amid its values. That an equation is
sparse in x means nothing where x is 500000 ± 3: there every power of x is close to a straight line,
and nothing happens at x = 0. It may well be sparse in x - 500000.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from wgsindy.data import BoolArray, FloatArray, Frame
from wgsindy.errors import LibraryError
from wgsindy.terms.basis import Basis, basis_of
from wgsindy.terms.expression import Expression
from wgsindy.terms.monomials import Monomials, monomial_name

# Spreads between zero and the mean, beyond which terms are measured from a number near the mean:
# a price of 100 ± 15 stays as it is, 293 ± 2 kelvin do not.
FAR = 25.0
_POLYNOMIAL = re.compile(r"poly([0-9]{1,2})")
_KNOWN = "poly1, poly2, ... polyN, sqrt, trig, or a list of formulas in the state names"


@dataclass(frozen=True)
class Library:
    """What the user asks for: names of ready-made libraries and formulas; ``+`` joins.

    Examples
    --------
    >>> (Library.named("poly1") + Library.custom(["sin(x)"])).bind(("x", "y")).terms
    ('1', 'x', 'y', 'sin(x)')
    """

    parts: tuple[str | tuple[str, ...], ...]

    @classmethod
    def named(cls, name: str) -> Library:
        """Return a ready-made library: ``polyN``, ``sqrt`` or ``trig``."""
        if not (_POLYNOMIAL.fullmatch(name) or name in ("sqrt", "trig")):
            raise LibraryError(f"there is no library {name!r}; choose {_KNOWN}.")
        return cls((name,))

    @classmethod
    def custom(cls, formulas: Sequence[str]) -> Library:
        """Return a library of the user's own formulas."""
        if not formulas:
            raise LibraryError("a library needs at least one term, got an empty list.")
        return cls((tuple(formulas),))

    def __add__(self, other: Library) -> Library:
        return Library(self.parts + other.parts)

    def bind(self, names: Sequence[str], region: Frame | None = None) -> Basis:
        """Bind to state names; where data are far from zero, as :func:`.origin_of` says.

        Raises
        ------
        LibraryError
            If a formula is malformed or uses a name that is not a state.
        """
        texts: list[str] = []
        for part in self.parts:
            texts += _formulas(part, tuple(names)) if isinstance(part, str) else list(part)
        basis = basis_of([Expression.parse(text, names) for text in texts], names)
        return basis if region is None else basis.about(origin_of(basis, region))


def _formulas(name: str, names: tuple[str, ...]) -> list[str]:
    match = _POLYNOMIAL.fullmatch(name)
    degree = int(match.group(1)) if match else 2
    powers = Monomials.up_to(degree, dimension=len(names)).powers.tolist()
    polynomial = [monomial_name(row, names) for row in powers]
    if name == "sqrt":
        roots = [f"sqrt({s})" for s in names]
        return [*polynomial, *roots, *(f"sqrt({s}*{t})" for s, t in combinations(names, 2))]
    if name == "trig":
        return [*polynomial, *(f"sin({s})" for s in names), *(f"cos({s})" for s in names)]
    return polynomial


def library(spec: str | Sequence[str] | Library) -> Library:
    """Return a library from its name, a list of formulas, or a library.

    Examples
    --------
    >>> library("poly2").bind(("x", "y")).terms
    ('1', 'x', 'y', 'x**2', 'x*y', 'y**2')
    >>> library(["1", "x", "sin(y)"]).bind(("x", "y")).terms
    ('1', 'x', 'sin(y)')
    """
    if isinstance(spec, Library):
        return spec
    if isinstance(spec, str):
        return Library.named(spec)
    if isinstance(spec, Sequence) and not isinstance(spec, bytes):
        return Library.custom([str(item) for item in spec])
    raise LibraryError(f"a library is {_KNOWN}, got {type(spec).__name__}.")


def angular_library(names: Sequence[str], angles: Sequence[str]) -> Library:
    """Return polynomials of degree 2 in the other states, sines, cosines, and their products.

    Whatever drives an angle is the same after a turn, so no power of it is a candidate.

    >>> angular_library(("theta", "w"), ["theta"]).bind(("theta", "w")).terms
    ('1', 'w', 'w**2', 'sin(theta)', 'cos(theta)', 'w*sin(theta)', 'w*cos(theta)')
    """
    others = [name for name in names if name not in angles]
    plain = list(library("poly2").bind(others).terms) if others else ["1"]
    waves = [f"{f}({angle})" for angle in angles for f in ("sin", "cos")]
    mixed = [f"{other}*{wave}" for other in others for wave in waves]
    return Library.custom([*plain, *waves, *mixed])


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
