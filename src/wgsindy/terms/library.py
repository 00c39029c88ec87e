"""Libraries: which candidate terms the user asks for.

A :class:`Library` is a name (``"poly3"``, ``"sqrt"``), a list of formulas, or several of these;
bound to the state names of a dataset it becomes a :class:`~wgsindy.terms.basis.Basis`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from wgsindy.data import Frame
from wgsindy.errors import LibraryError
from wgsindy.terms.basis import Basis, basis_of
from wgsindy.terms.expression import Expression
from wgsindy.terms.monomials import Monomials, monomial_name
from wgsindy.terms.origin import origin_of

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
