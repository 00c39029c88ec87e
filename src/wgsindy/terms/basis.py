"""A basis: candidate terms bound to state names, which can be evaluated and differentiated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from wgsindy.data import BoolArray, FloatArray, Frame, IntArray, frozen
from wgsindy.errors import LibraryError
from wgsindy.terms.expression import Expression
from wgsindy.terms.monomials import Monomials, monomial_name

if TYPE_CHECKING:
    import sympy

OUTSIDE_SPAN = 1e-9  # share of a derivative that rounding may put outside of the span


class Basis:
    """Candidate terms bound to state names, evaluated in a frame.

    Monomials come first. If there is nothing else and their span is closed under shifts, the
    basis may be evaluated in standardised coordinates (:meth:`in_frame`) and its coefficients
    mapped back exactly (:attr:`to_physical`).

    Physical terms are functions of ``x - origin``, which is ``x`` unless data are far from zero
    (:mod:`wgsindy.terms.candidates`).

    Parameters
    ----------
    names : state names
    monomials : the polynomial terms
    others : formulas that are not monomials
    frame : where the terms are evaluated; that of ``x - origin`` unless given
    origin : ``(d,)``; zero unless given
    """

    def __init__(
        self,
        names: Sequence[str],
        monomials: Monomials,
        others: Sequence[Expression] = (),
        frame: Frame | None = None,
        origin: FloatArray | None = None,
    ) -> None:
        self.names = tuple(names)
        self.monomials = monomials
        self.others = tuple(others)
        plain = Frame.identity(len(self.names))
        self.origin = plain.centre if origin is None else frozen(origin)
        self.frame = Frame(self.origin, plain.scale) if frame is None else frame

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms as formulas in the coordinates of the frame."""
        polynomial = [monomial_name(row, self.names) for row in self.monomials.powers.tolist()]
        return (*polynomial, *(expression.text for expression in self.others))

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """The physical terms as formulas in ``x``, such as ``(x - 500000)**2``."""
        if not self.origin.any():
            return self.terms
        return tuple(expression.about(self.origin).text for expression in self.expressions)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What the physical terms are functions of: ``x``, or ``x - 500000``."""
        states = [Expression.parse(name, self.names) for name in self.names]
        return tuple(state.about(self.origin).text for state in states)

    def __len__(self) -> int:
        return len(self.monomials) + len(self.others)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Basis):
            return NotImplemented
        return (
            self.names == other.names
            and self.terms == other.terms
            and np.array_equal(self.origin, other.origin)
            and np.array_equal(self.frame.centre, other.frame.centre)
            and np.array_equal(self.frame.scale, other.frame.scale)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_polynomial(self) -> bool:
        """Whether every term is a monomial."""
        return not self.others

    @property
    def is_closed(self) -> bool:
        """Whether the span is closed under shifts and rescaling of single coordinates."""
        return self.is_polynomial and self.monomials.is_closed

    @cached_property
    def movable(self) -> BoolArray:
        """Along which coordinates shifts stay in the span, ``(d,)``: sines need their cosines.

        Shifts do where derivatives do, and these are tried at random points. A term that does not
        exist at all of them, such as a root or a logarithm, holds its states where they are.
        """
        d = len(self.names)
        if self.is_closed:
            return np.ones(d, dtype=bool)
        points = np.random.default_rng(0).uniform(-2.0, 2.0, (4 * len(self), d))
        values, slopes, held = [points[:, 0] * 0], [points * 0], set[str]()
        for term in self.expressions:
            with np.errstate(all="ignore"):
                jet = term.jet(points)
            if np.isfinite(jet.value).all() and np.isfinite(jet.gradient).all():
                values.append(jet.value / (np.abs(jet.value).max() or 1.0))
                slopes.append(jet.gradient)
            else:
                held |= term.variables
        inner, target = np.stack(values, axis=1), np.hstack(slopes)
        outside = target - inner @ np.linalg.lstsq(inner, target, rcond=None)[0]
        inside = np.abs(outside).max(axis=0) <= OUTSIDE_SPAN * np.abs(target).max(axis=0)
        return inside.reshape(-1, d).all(axis=0) & ~np.isin(self.names, list(held))

    @cached_property
    def parts(self) -> tuple[Basis, Basis]:
        """The monomials, if they are closed under shifts, and all other terms."""
        none = Monomials(np.empty((0, len(self.names)), dtype=np.int64))
        if not self.monomials.is_closed:
            return Basis(self.names, none, (), self.frame, self.origin), self
        return (
            Basis(self.names, self.monomials, (), self.frame, self.origin),
            Basis(self.names, none, self.others, self.frame, self.origin),
        )

    def in_frame(self, frame: Frame) -> Basis:
        """Return the same terms as functions of ``(x - centre) / scale``."""
        return Basis(self.names, self.monomials, self.others, frame, self.origin)

    def about(self, origin: FloatArray) -> Basis:
        """Return the same terms as functions of ``x - origin``; ``origin (d,)``."""
        return Basis(self.names, self.monomials, self.others, origin=origin)

    def relative(self) -> Basis:
        """Return the basis of whoever calls ``x - origin`` just ``x``."""
        frame = Frame(self.frame.centre - self.origin, self.frame.scale)
        return Basis(self.names, self.monomials, self.others, frame)

    def values(self, x: FloatArray) -> FloatArray:
        """Evaluate at states ``(n, d)``; returns ``(n, K)``.

        Raises
        ------
        LibraryError
            Where a term is not finite, such as the root of a negative number.
        """
        z = self.frame.standardise(x)
        rows = self.monomials.values(z)
        if self.others:
            with np.errstate(all="ignore"):
                others = np.stack([expression.value(z) for expression in self.others])
            rows = np.concatenate([rows, others])
            self._refuse_undefined(rows, x)
        return rows.T

    def _refuse_undefined(self, rows: FloatArray, x: FloatArray) -> None:
        bad = np.argwhere(~np.isfinite(rows))
        if len(bad):
            k, n = bad[0]
            point = ", ".join(f"{s} = {v:.6g}" for s, v in zip(self.names, x[n], strict=True))
            raise LibraryError(
                f"term {self.terms[k]} is not finite at {point}; choose a library that is defined "
                "on all states, or transform the states first."
            )

    def gradients(self, x: FloatArray) -> FloatArray:
        """Derivatives with respect to ``x`` at states ``(n, d)``; returns ``(n, K, d)``."""
        z = self.frame.standardise(x)
        out = np.empty((len(z), len(self), len(self.names)))
        out[:, : len(self.monomials)] = self.monomials.gradients(z)
        for k, expression in enumerate(self.others, start=len(self.monomials)):
            out[:, k] = expression.jet(z).gradient
        return out / self.frame.scale

    def slopes(self, coefficients: FloatArray) -> FloatArray:
        """Coefficients ``(..., d, K)`` of the derivatives of fields ``coefficients (..., K)``.

        Only for a closed set of terms: elsewhere a derivative leaves the span.
        """
        turned = np.tensordot(coefficients, self.monomials.derivatives, (-1, 1))
        return np.asarray(turned / self.frame.scale[:, None])

    def hessians(self, x: FloatArray) -> FloatArray:
        """Second derivatives with respect to ``x`` at states ``(n, d)``; ``(n, K, d, d)``."""
        return self.derivatives(x)[1]

    def derivatives(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """First and second derivatives, as :meth:`gradients` and :meth:`hessians` have them."""
        z = self.frame.standardise(x)
        n, d = z.shape
        first = np.zeros((len(self), d, n)).transpose(2, 0, 1)
        second = np.zeros((len(self), d, d, n)).transpose(3, 0, 1, 2)
        count = len(self.monomials)
        first[:, :count] = self.monomials.gradients(z)
        second[:, :count] = self.monomials.hessians(z)
        for k, expression in enumerate(self.others, start=count):
            own, jet = expression.own_jet(z)
            first[:, k, own], second[:, k, own[:, None], own] = jet.gradient, jet.hessian
        scale = self.frame.scale
        first /= scale
        second /= np.outer(scale, scale)
        return first, second

    def curvatures(self, x: FloatArray, spread: FloatArray) -> FloatArray:
        """sum_pq d_p d_q theta ``spread[p, q]`` at states ``(n, d)``; returns ``(K, n)``.

        ``spread (d, d, n)`` is a covariance, in the units of the states.
        """
        z, scale = self.frame.standardise(x), self.frame.scale
        spread = spread / np.outer(scale, scale)[..., None]
        found, count = np.empty((len(self), len(z))), len(self.monomials)
        if count:
            found[:count] = np.einsum("nkpq,pqn->kn", self.monomials.hessians(z), spread)
        for k, expression in enumerate(self.others, start=count):
            own, jet = expression.own_jet(z)
            bend = jet.hessian.transpose(1, 2, 0)
            found[k] = sum(
                bend[i, j] * spread[p, q] for i, p in enumerate(own) for j, q in enumerate(own)
            )
        return found

    @cached_property
    def degrees(self) -> FloatArray:
        """How complicated each term is, ``(K,)``: the degree of a monomial, and its like."""
        polynomial = self.monomials.powers.sum(axis=1).astype(np.float64)
        return np.append(polynomial, [expression.degree for expression in self.others])

    @cached_property
    def products(self) -> tuple[IntArray, IntArray]:
        """Distinct products of two terms: ``pairs (2, P)``, and which one each pair is, ``(K, K)``.

        Monomials whose powers add up to the same are the same product.
        """
        found: dict[tuple[Any, ...], int] = {}
        pairs: list[tuple[int, int]] = []
        index = np.empty((len(self), len(self)), dtype=np.int64)
        powers = [tuple(row) for row in self.monomials.powers.tolist()]
        for k in range(len(self)):
            for m in range(k, len(self)):
                if m < len(powers):
                    key: tuple[Any, ...] = tuple(map(sum, zip(powers[k], powers[m], strict=True)))
                else:
                    key = ("pair", k, m)
                if key not in found:
                    found[key] = len(pairs)
                    pairs.append((k, m))
                index[k, m] = index[m, k] = found[key]
        return np.array(pairs, dtype=np.int64).T, index

    @cached_property
    def to_physical(self) -> FloatArray:
        """Matrix ``T (K, K)``: coefficients ``c`` in the frame are ``c @ T`` in ``x - origin``."""
        if not self.is_closed:
            return np.eye(len(self))
        return self.monomials.affine_map(self.frame.centre - self.origin, self.frame.scale)

    @cached_property
    def from_physical(self) -> FloatArray:
        """Inverse of :attr:`to_physical`, exactly: theta(x - origin) = from_physical @ theta(z)."""
        if not self.is_closed:
            return np.eye(len(self))
        centre, scale = self.frame.centre - self.origin, self.frame.scale
        return self.monomials.affine_map(-centre / scale, 1.0 / scale)

    @cached_property
    def expressions(self) -> tuple[Expression, ...]:
        """The terms as formulas in the frame's coordinates."""
        return (
            *(
                Expression.parse(monomial_name(row, self.names), self.names)
                for row in self.monomials.powers.tolist()
            ),
            *self.others,
        )

    def to_sympy(self) -> tuple[sympy.Expr, ...]:
        """Terms as SymPy expressions in the frame's coordinates."""
        return tuple(expression.to_sympy() for expression in self.expressions)


def basis_of(expressions: Sequence[Expression], names: Sequence[str]) -> Basis:
    """Collect formulas into a basis: monomials first, doubles dropped."""
    powers: dict[tuple[int, ...], None] = {}
    others: dict[str, Expression] = {}
    for expression in expressions:
        row = expression.powers
        if row is None:
            others.setdefault(expression.text, expression)
        else:
            powers.setdefault(row)
    # Graded order lets each monomial be made from an earlier one by one multiplication.
    rows = sorted(powers, key=lambda row: (sum(row), [-p for p in row]))
    array = np.array(rows, dtype=np.int64).reshape(-1, len(names))
    return Basis(names, Monomials(array), tuple(others.values()))


def collect_terms(
    fields: Sequence[Sequence[tuple[float, Expression]]], names: Sequence[str]
) -> tuple[Basis, FloatArray]:
    """Collect fields, each a list of coefficients and terms, as rows ``(F, K)`` of one basis."""
    basis = basis_of([term for field in fields for _, term in field], names)
    position = {term: k for k, term in enumerate(basis.terms)}
    coefficients = np.zeros((len(fields), len(basis)))
    for row, field in zip(coefficients, fields, strict=True):
        for coefficient, term in field:
            row[position[basis_of([term], names).terms[0]]] += coefficient
    return basis, coefficients


def split_formulas(formulas: Sequence[str], names: Sequence[str]) -> tuple[Basis, FloatArray]:
    """Read formulas as rows ``(F, K)`` of a basis of their own terms; brackets stay closed.

    >>> basis, coefficients = split_formulas(["1 - x/2", "x*(1 + y)"], ("x", "y"))
    >>> basis.terms, coefficients.tolist()
    (('1', 'x', 'x*(1 + y)'), [[1.0, -0.5, 0.0], [0.0, 0.0, 1.0]])
    """
    return collect_terms([Expression.parse(text, names).summands() for text in formulas], names)
