"""Monomials in several variables: values, derivatives, products and exact changes of variables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb, prod
from typing import NamedTuple

import numpy as np

from wgsindy.data import FloatArray, IntArray

MATRIX_UP_TO = 24  # monomials up to which sums over them are faster as a matrix (measured)


class Taylor(NamedTuple):
    """What moments of y add to the mean of each monomial of x + y.

    ``(k, m, row, c)``: to monomial k, monomial m of x times c times the moment that is so listed.
    """

    terms: list[tuple[int, int, int, float]]
    source: IntArray  # (P,) m of each term
    row: IntArray  # (P,) its moment
    matrix: FloatArray | None  # (K, P) by which all terms are summed, if these are few

    def of(self, values: FloatArray, moments: FloatArray) -> FloatArray:
        """Return it, ``(K, n)``, for monomials ``(K, n)`` of x and a list of moments ``(M, n)``."""
        if self.matrix is not None:
            return self.matrix @ (values.take(self.source, axis=0) * moments.take(self.row, axis=0))
        out = np.zeros_like(values)
        for k, m, row, factor in self.terms:
            out[k] += factor * moments[row] * values[m]
        return out


class Monomials:
    """A set of monomials; row ``k`` of ``powers (K, d)`` stands for prod_p x_p ** powers[k, p].

    Examples
    --------
    >>> Monomials.up_to(2, dimension=2).powers.tolist()
    [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
    """

    def __init__(self, powers: IntArray) -> None:
        self.powers = np.asarray(powers, dtype=np.int64)
        self._rows = self.powers.tolist()
        self._position = {tuple(row): k for k, row in enumerate(self._rows)}

    @classmethod
    def up_to(cls, degree: int, *, dimension: int) -> Monomials:
        """Every monomial up to ``degree``, by degree, then in reading order."""
        rows = [
            np.bincount(np.array(factors, dtype=np.int64), minlength=dimension)
            for total in range(degree + 1)
            for factors in combinations_with_replacement(range(dimension), total)
        ]
        return cls(np.array(rows).reshape(-1, dimension))

    def __len__(self) -> int:
        return len(self.powers)

    @cached_property
    def _plan(self) -> list[tuple[slice, slice, int]]:
        """Monomials that are earlier ones times a variable: neighbours at once, made of neighbours.

        Of others the variable is -1.
        """
        plan: list[tuple[slice, slice, int]] = []
        for k, row in enumerate(self.powers):
            options = ((self._divisor(row, p), p) for p in np.flatnonzero(row).tolist())
            of, p = next(((i, p) for i, p in options if i is not None and i < k), (0, -1))
            own, source = slice(k, k + 1), slice(of, of + 1)
            if plan and p == plan[-1][2] >= 0 and plan[-1][1].stop == of < plan[-1][0].start:
                last = plan.pop()
                own, source = slice(last[0].start, k + 1), slice(last[1].start, of + 1)
            plan.append((own, source, p))
        return plan

    def _divisor(self, row: IntArray, variable: int) -> int | None:
        lower = row.copy()
        lower[variable] -= 1
        return self._position.get(tuple(lower.tolist()))

    def values(self, x: FloatArray) -> FloatArray:
        """Evaluate at ``x (n, d)``; returns ``(K, n)``, one contiguous row a monomial."""
        out = np.empty((len(self.powers), len(x)))
        columns = np.ascontiguousarray(x.T)
        for own, source, p in self._plan:
            if p >= 0:
                np.multiply(out[source], columns[p], out=out[own])
                continue
            out[own] = 1.0
            for q, power in enumerate(self._rows[own.start]):
                if power:
                    out[own] *= columns[q] ** power
        return out

    def taylor(self, places: Sequence[IntArray], scale: FloatArray) -> Taylor:
        """Say what moments about a point add; they are of y / ``scale (d,)``.

        ``places``: where those of each order are listed, ``(d, d)`` of the second, and so on.
        """
        d, found = self.powers.shape[1], []
        for place in places:
            for at in combinations_with_replacement(range(d), place.ndim):
                taken = np.bincount(np.array(at), minlength=d)
                for k, row in enumerate(self.powers):
                    m = self._position.get(tuple((row - taken).tolist()))
                    if m is not None:
                        factors = [comb(*pair) for pair in zip(row, taken, strict=True)]
                        factor = float(prod(factors) * scale[list(at)].prod())
                        found.append((k, m, int(place[at]), factor))
        matrix = None
        if len(self) <= MATRIX_UP_TO:
            matrix = np.zeros((len(self), len(found)))
            matrix[[k for k, *_ in found], range(len(found))] = [factor for *_, factor in found]
        _, source, row, _ = np.array(found).reshape(-1, 4).T.astype(np.int64)
        return Taylor(found, source, row, matrix)

    def gradients(self, x: FloatArray) -> FloatArray:
        """Derivatives at ``x (n, d)``; returns ``(n, K, d)``."""
        if self.is_closed:
            return (self.derivatives @ self.values(x)).transpose(2, 1, 0)
        out = np.empty((len(x), *self.powers.shape))
        for p in range(self.powers.shape[1]):
            lower = self.powers.copy()
            lower[:, p] = np.maximum(lower[:, p] - 1, 0)
            out[:, :, p] = (Monomials(lower).values(x) * self.powers[:, p, None]).T
        return out

    @cached_property
    def derivatives(self) -> FloatArray:
        """Matrices ``D (d, K, K)`` with d/dx_p ``values(x)`` = ``D[p] @ values(x)``.

        Only for a closed set: elsewhere a derivative leaves the span.
        """
        assert self.is_closed
        out = np.zeros((self.powers.shape[1], len(self), len(self)))
        for k, row in enumerate(self.powers):
            for p in np.flatnonzero(row).tolist():
                out[p, k, self._divisor(row, p)] = row[p]
        return out

    def hessians(self, x: FloatArray) -> FloatArray:
        """Second derivatives at ``x (n, d)``; returns ``(n, K, d, d)``."""
        d = self.powers.shape[1]
        out = np.empty((len(x), len(self), d, d))
        for p in range(d):
            lower = self.powers.copy()
            lower[:, p] = np.maximum(lower[:, p] - 1, 0)
            out[:, :, p] = Monomials(lower).gradients(x) * self.powers[:, p, None]
        return out

    @cached_property
    def is_closed(self) -> bool:
        """Whether every divisor of each monomial is there, so that shifts stay in the span."""
        return all(
            self._divisor(row, p) is not None
            for row in self.powers
            for p in np.flatnonzero(row).tolist()
        )

    def affine_map(self, centre: FloatArray, scale: FloatArray) -> FloatArray:
        """Matrix ``T`` with ``values((x - centre) / scale) = T @ values(x)``, exactly.

        ``centre`` and ``scale`` have shape ``(..., d)``, the result ``(..., K, K)``. Only for
        a closed set: elsewhere a shift leaves the span.
        """
        assert self.is_closed
        old, new = self.powers[:, None, :], self.powers[None, :, :]
        shift = (-centre[..., None, None, :]) ** np.maximum(old - new, 0)
        binomials = _binomials(int(self.powers.max(initial=0)))[old, new]
        factors = binomials * shift / scale[..., None, None, :] ** old
        return np.asarray(factors.prod(axis=-1))

    def product_index(self, wide: Monomials) -> IntArray:
        """Index ``(K, K)`` into ``wide`` of the product of each pair of monomials."""
        sums = self.powers[:, None, :] + self.powers[None, :, :]
        flat = [wide._position[tuple(row)] for row in sums.reshape(-1, sums.shape[-1]).tolist()]
        return np.array(flat, dtype=np.int64).reshape(len(self), len(self))


def _binomials(largest: int) -> FloatArray:
    """Pascal's triangle ``(largest + 1, largest + 1)``; zero above its diagonal."""
    numbers = range(largest + 1)
    return np.array([[comb(n, k) for k in numbers] for n in numbers], dtype=np.float64)


def monomial_name(powers: Sequence[int], names: Sequence[str]) -> str:
    """Return the formula of one monomial, ``"1"`` for the constant.

    >>> monomial_name((1, 2), ("x", "y"))
    'x*y**2'
    """
    factors = [
        name if power == 1 else f"{name}**{power}"
        for name, power in zip(names, powers, strict=True)
        if power
    ]
    return "*".join(factors) or "1"
