"""Fits in other coordinates: a state replaced by a monotone function of itself, and the way back.

Let u = h(x) be monotone and x = g(u) its inverse. Ito's formula makes the generator of x from that
of u; another coordinate is called y::

    b_x = g' b_u + (1/2) g'' a_uu,   a_xx = g'^2 a_uu,   a_xy = g' a_uy,

with g' = 1 / h' and g'' = -h'' / h'^3 at the same point, so g itself is never needed. Both lines
are linear in the coefficients of the fit, and so error bars go the same way. Whether h can be
undone on the data is seen block by block, so they need not all be in memory.
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

import numpy as np

from wgsindy.data import Dataset, FloatArray, Frame, frozen
from wgsindy.errors import DataError, LibraryError
from wgsindy.model import tensor
from wgsindy.model.formulas import LinearForm, linear_fields, split_sympy, tensor_fields
from wgsindy.model.generator import Generator
from wgsindy.model.tensor import TensorField, TensorForm
from wgsindy.model.uncertainty import Uncertainty
from wgsindy.terms import Basis, Expression

if TYPE_CHECKING:
    import sympy

    from wgsindy.data import Trajectories

REVERSAL = 1e-12  # share of the range of values below which a step down is rounding
BETWEEN = 1000  # places at which a formula is looked at besides the samples


@dataclass
class Monotonicity:
    """What a formula does at the samples seen so far."""

    formula: Expression
    bad: int = 0  # samples at which the formula has no finite value and slope
    first_bad: float = np.nan  # the first of these
    low: float = np.inf  # range of the samples
    high: float = -np.inf
    least: float = np.inf  # range of the values of the formula
    most: float = -np.inf
    direction: float = 0.0  # 1 where the formula climbs, -1 where it falls
    turns: bool = False  # whether it does both
    worst: float = 0.0  # largest step against its direction

    @property
    def is_monotone(self) -> bool:
        """Whether the formula climbs, or falls, all over the range of samples."""
        # Neighbours may be so close that rounding decides which is larger.
        return not self.turns and self.worst < REVERSAL * (self.most - self.least)

    def add(self, x: FloatArray) -> None:
        """Look at some samples ``(n,)``."""
        value, slope = self._at(x)
        bad = np.flatnonzero(~(np.isfinite(value) & np.isfinite(slope)))
        if len(bad) and not self.bad:
            self.first_bad = float(x[bad[0]])
        self.bad += len(bad)
        self.low, self.high = min(self.low, float(x.min())), max(self.high, float(x.max()))
        if not self.bad:
            order = np.argsort(x)
            self._follow(x[order], value[order], slope[order])

    def add_between(self) -> None:
        """Look between the samples: a turn may hide where no sample is."""
        points = np.linspace(self.low, self.high, BETWEEN)
        self._follow(points, *self._at(points))

    def _at(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(all="ignore"):
            jet = self.formula.jet(x[:, None])
        return jet.value, jet.gradient[:, 0]

    def _follow(self, x: FloatArray, value: FloatArray, slope: FloatArray) -> None:
        """Walk along ascending ``x (n,)``."""
        self.direction = self.direction or float(np.sign(slope[0]))
        rise = self.direction * np.diff(value)[np.diff(x) > 0]
        self.turns |= not (self.direction * slope > 0).all()
        self.worst = max(self.worst, float(-rise.min(initial=0.0)))
        self.least = min(self.least, float(value.min()))
        self.most = max(self.most, float(value.max()))


def monotonicity(formula: Expression, data: Dataset, column: int) -> Monotonicity:
    """Follow a formula over all samples of one coordinate, in one reading, and between them."""
    found = Monotonicity(formula)
    for states in data.states_in_turn():
        found.add(states[:, column])
    if not found.bad:
        found.add_between()
    return found


@dataclass(frozen=True)
class Change:
    """One state seen as a function of itself: ``new = formula(old)``, monotone on the data.

    Several states are changed one after the other, and undone in the opposite order.

    Examples
    --------
    >>> change = Change.parse("u = log(x)", ("x",))
    >>> from wgsindy.data.trajectories import Trajectories
    >>> data = Trajectories([[1.0, 1.2, 1.1]], dt=0.1)
    >>> change.apply(data).names
    ('u',)
    >>> fitted = Generator.from_sympy(("u",), [0.1], [[0.04]])
    >>> change.undo(fitted).equations()
    ['b1 = 0.12*x', 'a11 = 0.04*x**2']
    """

    old: str
    new: str
    formula: Expression

    @classmethod
    def parse(cls, text: str, names: Sequence[str]) -> Change:
        """Read ``"u = log(x)"``, where ``x`` is one of the states ``names`` and ``u`` is new.

        Raises
        ------
        DataError
            If the text is not a name, an equals sign and a formula of exactly one state.
        """
        new, equals, right = (part.strip() for part in text.partition("="))
        if not equals or not new.isidentifier() or keyword.iskeyword(new):
            raise DataError(f"a change of states reads like 'u = log(x)', got {text!r}.")
        if new in names:
            raise DataError(f"{text!r} calls the new state {new!r}, as an old one; choose another.")
        try:
            formula = Expression.parse(right, names)
        except LibraryError as error:
            raise DataError(f"{text!r} cannot be used: {error}") from None
        used = [name for name in names if name in formula.variables]
        if len(used) != 1:
            raise DataError(
                f"{text!r} uses {len(used)} states; a change takes exactly one of {list(names)}."
            )
        return cls(used[0], new, Expression.parse(right, (used[0],)))

    @property
    def text(self) -> str:
        """The change as :meth:`parse` reads it."""
        return f"{self.new} = {self.formula.text}"

    @overload
    def apply(self, data: Trajectories) -> Trajectories: ...
    @overload
    def apply(self, data: Dataset) -> Dataset: ...
    def apply(self, data: Dataset) -> Dataset:
        """Return the data with ``old`` replaced by ``new``; those on disk stay there.

        Raises
        ------
        DataError
            If there is no such state, or the formula is not finite and monotone on its values.
        """
        if self.old not in data.names or self.new in data.names:
            raise DataError(f"{self.text!r} does not fit the states {list(data.names)}.")
        found = monotonicity(self.formula, data, data.names.index(self.old))
        if found.bad:
            raise DataError(
                f"{self.text!r} has no finite value and slope at {self.old} = "
                f"{found.first_bad:.6g} ({found.bad} such samples); take another formula, or mark "
                "them as missing."
            )
        if not found.is_monotone:
            raise DataError(
                f"{self.text!r} is not strictly monotone for {self.old} from {found.low:.6g} to "
                f"{found.high:.6g}, so there is no way back; take another formula."
            )
        return data.replaced(self.old, self.new, self.values)

    def values(self, x: FloatArray) -> FloatArray:
        """Values of the formula at ``x (n,)``."""
        return self.formula.value(x[:, None])

    def undo(self, generator: Generator, data: Dataset | None = None) -> Generator:
        """Return the generator of ``old`` from that of ``new``, by Ito's formula.

        Where negative eigenvalues of the fitted tensor are clipped, those of the result are
        clipped on their own; the drift takes the tensor as it is written. Error bars take the
        estimates of drift and tensor for independent of each other, as they are for short steps.
        ``data``, in the states of the result, tell where it holds.

        Raises
        ------
        DataError
            If the generator has no coordinate ``new``.
        """
        if self.new not in generator.names:
            raise DataError(f"{self.text!r} does not fit the states {list(generator.names)}.")
        basis = generator.basis.relative()
        drift = linear_fields(basis, generator.drift_coefficients)
        tensors = tensor_fields(basis, generator.tensor_field)
        written, (moving, entries) = _in_same_terms(drift, tensors)
        ito = _ItoMap.back(self, written, generator.basis)
        sure = generator.uncertainty
        form: TensorForm = "entries" if generator.tensor_field.form == "entries" else "clipped"
        field = TensorField(
            form, frozen(ito.entries(entries)), 0.0, frozen(np.ones(generator.dimension))
        )
        return replace(
            generator,
            basis=ito.basis,
            drift_coefficients=frozen(ito.drift(moving, entries)),
            tensor_field=field,
            info={**generator.info, "changes": [self.text, *generator.info.get("changes", ())]},
            region=None if data is None else _region(data),
            uncertainty=None if sure is None else ito.uncertainty(sure, entries),
        )


@dataclass(frozen=True)
class _ItoMap:
    """The linear map from coefficients of K fitted terms to those of L terms in the old states."""

    basis: Basis  # the L terms
    place: int  # of the changed coordinate
    plain: FloatArray  # (K, L): each fitted term in the L terms
    slope: FloatArray  # (K, L): each fitted term times g'
    square: FloatArray  # (K, L): each fitted term times g'^2
    bend: FloatArray  # (K, L): each fitted term times g'' / 2

    @classmethod
    def back(cls, change: Change, terms: Sequence[str], fitted_basis: Basis) -> _ItoMap:
        """Map ``terms`` in the distances of the fitted states from the origin of their basis."""
        import sympy

        h, names = change.formula.to_sympy(), fitted_basis.names
        old = sympy.Symbol(change.old, real=True)
        inside = {}
        for name, place in zip(names, fitted_basis.origin.tolist(), strict=True):
            symbol = sympy.Symbol(name, real=True)
            value = h if name == change.new else symbol
            # Multiplied out, a distance from far away would be a difference of large numbers.
            inside[symbol] = sympy.UnevaluatedExpr(value - place) if place else value
        slope = sympy.simplify(1 / sympy.diff(h, old))
        bend = sympy.simplify(-sympy.diff(h, old, 2) * slope**3 / 2)
        factors: list[sympy.Expr] = [sympy.Integer(1), slope, sympy.expand(slope**2), bend]
        parsed = [Expression.parse(term, names).to_sympy() for term in terms]
        fitted = [term.subs(inside, simultaneous=True) for term in parsed]
        before = tuple(change.old if name == change.new else name for name in names)
        products = [factor * term for factor in factors for term in fitted]
        basis, rows = split_sympy(products, before)
        return cls(basis, names.index(change.new), *rows.reshape(len(factors), len(terms), -1))

    def _own(self, p: int) -> FloatArray:
        return self.slope if p == self.place else self.plain

    def _entry(self, p: int, q: int) -> FloatArray:
        return self.square if p == q == self.place else self._own(p if p == self.place else q)

    @property
    def _variance(self) -> int:
        return tensor.entry_number(self.place, self.place)

    def drift(self, drift: FloatArray, entries: FloatArray) -> FloatArray:
        """Map ``drift (d, K)`` and ``entries (E, K)`` to drift coefficients ``(d, L)``."""
        rows = np.stack([row @ self._own(p) for p, row in enumerate(drift)])
        rows[self.place] += entries[self._variance] @ self.bend
        return rows

    def entries(self, entries: FloatArray) -> FloatArray:
        """Map ``entries (E, K)`` to ``(E, L)``."""
        pairs = tensor.pairs(tensor.dimension_of(entries))
        return np.stack(
            [row @ self._entry(*pair) for pair, row in zip(pairs, entries, strict=True)]
        )

    def uncertainty(self, sure: Uncertainty, entries: FloatArray) -> Uncertainty:
        """Map error bars; a term is included if any that it comes from is."""
        variances = (sure.entry_covariance, sure.entry_clustered)
        drifts = (sure.drift_covariance, sure.drift_clustered)
        joint, clustered = (
            None if c is None or e is None else self._drift_covariance(c, e)
            for c, e in zip(drifts, variances, strict=True)
        )
        own, shared = (None if e is None else self._entry_covariance(e) for e in variances)
        assert joint is not None
        assert own is not None
        spread, form = (
            None
            if given is None
            else np.stack([_mapped(c, self._own(p)) for p, c in enumerate(given)])
            for given in (sure.drift_spread, sure.form_spread)
        )
        assert spread is not None
        spread[self.place] += _mapped(sure.entry_covariance[self._variance], self.bend)
        return Uncertainty(
            frozen(self.drift(sure.drift, entries)),
            frozen(joint),
            frozen(own),
            frozen(spread),
            frozen(self._inclusion(sure.inclusion, len(sure.drift))),
            None if clustered is None else frozen(clustered),
            None if shared is None else frozen(shared),
            None if form is None else frozen(form),
        )

    def _drift_covariance(self, drift: FloatArray, entries: FloatArray) -> FloatArray:
        d, size = len(drift), len(self.basis)
        out = np.empty((d, size, d, size))
        for p in range(d):
            for q in range(d):
                out[p, :, q] = self._own(p).T @ drift[p, :, q] @ self._own(q)
        out[self.place, :, self.place] += _mapped(entries[self._variance], self.bend)
        return out

    def _entry_covariance(self, entries: FloatArray) -> FloatArray:
        pairs = tensor.pairs(tensor.dimension_of(entries))
        maps = [self._entry(*pair) for pair in pairs]
        return np.stack([_mapped(c, by) for c, by in zip(entries, maps, strict=True)])

    def _inclusion(self, inclusion: FloatArray, d: int) -> FloatArray:
        maps = [self._own(p) for p in range(d)]
        maps += [self._entry(*pair) for pair in tensor.pairs(d)]
        left_out = np.stack([_left_out(row, by) for row, by in zip(inclusion, maps, strict=True)])
        left_out[self.place] *= _left_out(inclusion[d + self._variance], self.bend)
        return 1.0 - left_out


def _left_out(inclusion: FloatArray, by: FloatArray) -> FloatArray:
    """Probability ``(L,)`` that none of the terms ``(K,)`` is in from which each one comes."""
    return np.where(by != 0, 1.0 - inclusion[:, None], 1.0).prod(axis=0)


def _mapped(covariance: FloatArray, by: FloatArray) -> FloatArray:
    """Covariance ``(L, L)`` of the coefficients ``c @ by`` from that of ``c (K,)``."""
    return by.T @ covariance @ by


def _in_same_terms(*forms: LinearForm) -> tuple[list[str], list[FloatArray]]:
    """Return the terms of all forms, and the coefficients of each form in these."""
    terms = list(dict.fromkeys(term for form in forms for term in form.terms))
    rows = []
    for form in forms:
        wide = np.zeros((len(form.coefficients), len(terms)))
        wide[:, [terms.index(term) for term in form.terms]] = form.coefficients
        rows.append(wide)
    return terms, rows


def _region(data: Dataset) -> Frame:
    """Mean and standard deviation of all states, in two readings: exact far from zero too."""
    mean = sum(states.sum(axis=0) for states in data.states_in_turn()) / data.n_samples
    squares = sum(((states - mean) ** 2).sum(axis=0) for states in data.states_in_turn())
    return Frame(frozen(mean), frozen(np.sqrt(squares / data.n_samples)))
