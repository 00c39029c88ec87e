"""Numbers and fields that say how sure they are: two grids, and draws of the coefficients.

On cells half as wide an error of order p is 2^p times smaller, so two grids tell how large it is,
and take most of it away (Richardson). Draws of the coefficients are solved on the coarser grid:
what is used of them is how far they are from the fitted generator on that same grid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import FloatArray, frozen
from wgsindy.errors import ReadoutError
from wgsindy.model import Generator, Uncertainty, normal_quantile, padded, tensor
from wgsindy.readouts.chain import LEAST_POSITIVE, Chain, Grid
from wgsindy.readouts.state_space import CUT, LOOSE_CUT, open_sides

# Set by hand. Draws that leave the box go where no data were: the data contradict them, and they
# are left out. A note says how many; if they are more than these, the interval has no end.
NOTED_LOST, MOST_LOST = 0.05, 1 / 3
MOST_EXTRAPOLATED = 0.7  # of a logarithm, a factor of two: in the tails two grids tell of nothing


@dataclass(frozen=True)
class Value:
    """A number; ``float()`` takes it.

    ``low`` and ``high`` are the interval that the errors of the fit leave, and not numbers where
    the generator has no error bars. ``grid_error`` is what the grid may be off by.

    >>> value = Value(1.0, 0.91, 1.08, 0.002)
    >>> float(value), value
    (1.0, 1.00 (95 % interval 0.910 to 1.08, grid 0.0020))
    """

    value: float
    low: float = np.nan
    high: float = np.nan
    grid_error: float = 0.0
    level: float = 0.95
    note: str = ""

    def __float__(self) -> float:
        return self.value

    def inverse(self) -> Value:
        """1 / value, of a value that is positive."""
        result = 1.0 / self.value
        high = np.inf if self.low <= 0 else 1.0 / self.low
        error = self.grid_error * result**2
        return Value(result, 1.0 / self.high, high, error, self.level, self.note)

    def __repr__(self) -> str:
        parts = []
        if not np.isnan(self.low):
            share = f"{100 * self.level:g} % interval"
            parts.append(f"{share} {padded(self.low, 3)} to {padded(self.high, 3)}")
        if self.grid_error:
            parts.append(f"grid {padded(self.grid_error, 2)}")
        if self.note:
            parts.append(self.note)
        return padded(self.value, 3) + (f" ({', '.join(parts)})" if parts else "")


@dataclass(frozen=True)
class Rate:
    """An eigenvalue -decay + i frequency of a generator; ``complex()`` takes it."""

    decay: Value
    frequency: Value  # angular; zero where nothing turns

    def __complex__(self) -> complex:
        return complex(-self.decay.value, self.frequency.value)


@dataclass(frozen=True, eq=False)
class Field:
    """Values at points, with pointwise intervals and grid errors; NumPy takes it as an array."""

    values: FloatArray
    low: FloatArray  # not numbers where the generator has no error bars
    high: FloatArray
    grid_error: FloatArray
    note: str = ""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the values."""
        return np.array(self.values, dtype=dtype)

    def entry(self, place: int, level: float) -> Value:
        """One of the values, in the order in which NumPy would flatten them."""
        value, low, high, error = (
            float(np.ravel(part)[place])
            for part in (self.values, self.low, self.high, self.grid_error)
        )
        return Value(value, low, high, error, level, self.note)

    def mapped(self, change: Callable[[FloatArray], FloatArray]) -> Field:
        """Change values, both ends of the band and grid errors alike."""
        values, low, high, error = (
            change(part) for part in (self.values, self.low, self.high, self.grid_error)
        )
        return Field(values, low, high, error, self.note)

    def limited(self, least: float, most: float) -> Field:
        """Clip values and bands to what is possible."""
        bounded = self.mapped(lambda part: np.clip(part, least, most))
        return replace(bounded, grid_error=self.grid_error)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self.values[place]

    def __repr__(self) -> str:
        return f"Field({np.array2string(self.values, precision=4, threshold=8)})"


class Split(NamedTuple):
    """A drift in two parts, ``(n, d)`` each, whose sum it is."""

    conservative: Field  # (div a + a grad log pi) / 2, which alone would leave pi and no current
    rotational: Field  # J / pi, along the stationary current


class PassageTime(NamedTuple):
    """When a set is reached."""

    mean: Value
    variance: Value


class Oscillation(NamedTuple):
    """How fast a process turns, and for how long it keeps its phase."""

    frequency: Value  # turns a unit of time
    quality: Value  # frequency over the width at half height of its peak in the spectrum


class Forecast(NamedTuple):
    """The law at a later time."""

    mean: Field  # (d,)
    covariance: Field  # (d, d)


def drawn_generators(generator: Generator, count: int, rng: np.random.Generator) -> list[Generator]:
    """Draw ``count`` generators, in pairs about the fitted one; none without error bars.

    Drift coefficients are drawn from their spread over supports of similar evidence, so terms that
    may be there take part by how likely they are; components are tied by their joint covariance.
    Errors of tensor entries are tied as those of a sample covariance:
    cov(a_pq, a_rs) ~ a_pr a_qs + a_ps a_qr.
    """
    sure = generator.uncertainty
    if sure is None:
        return []
    drift_root = _root(_drift_covariance(sure))
    entry_roots = np.array([_root(block) for block in sure.entry_covariance])
    ties = _root(_entry_correlation(generator))
    shape, entries = generator.drift_coefficients.shape, generator.tensor_field.coefficients
    drawn: list[Generator] = []
    while len(drawn) < count:
        of_drift = (drift_root @ rng.standard_normal(drift_root.shape[0])).reshape(shape)
        tied = ties @ rng.standard_normal(entries.shape)
        of_entries = np.einsum("ekl,el->ek", entry_roots, tied)
        drawn += [_moved(generator, sign * of_drift, sign * of_entries) for sign in (1.0, -1.0)]
    return drawn[:count]


def _moved(generator: Generator, drift: FloatArray, entries: FloatArray) -> Generator:
    field = generator.tensor_field
    moved = replace(
        field,
        coefficients=frozen(field.coefficients + entries),
        form="clipped" if field.form == "entries" else field.form,
    )
    drift = frozen(generator.drift_coefficients + drift)
    return replace(generator, drift_coefficients=drift, tensor_field=moved, uncertainty=None)


def _drift_covariance(sure: Uncertainty) -> FloatArray:
    """Covariance ``(d K, d K)``: the spread of each component, tied by the joint covariance."""
    joint = sure.drift_covariance.copy()
    for p, spread in enumerate(sure.drift_spread):
        joint[p, :, p] = spread
    size = sure.drift.size
    return joint.reshape(size, size)


def _entry_correlation(generator: Generator) -> FloatArray:
    """Correlations ``(E, E)`` between errors of tensor entries, at the centre of the data."""
    centre = generator.basis.origin if generator.region is None else generator.region.centre
    a, pairs = generator.diffusion(centre[None])[0], tensor.pairs(generator.dimension)
    covariance = np.array(
        [[a[p, r] * a[q, s] + a[p, s] * a[q, r] for r, s in pairs] for p, q in pairs]
    )
    found = tensor.correlation(covariance[None])[0]
    np.fill_diagonal(found, 1.0)
    return found


def _root(covariance: FloatArray) -> FloatArray:
    """Symmetric root of a covariance; what is negative by rounding counts as zero."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    unit = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(unit, unit))
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(unit[:, None] * root)


ChainQuantity = Callable[[Chain], FloatArray]


@dataclass(frozen=True, eq=False)
class TwoGrids:
    """A generator on a grid, on one of half as many cells a side, and draws on that one."""

    generator: Generator
    grid: Grid
    draws: int
    level: float
    seed: int
    cut: float = CUT  # probability at a side of the box from which on it cuts the law
    check: Callable[[Chain], None] | None = None  # of a box, for what needs no stationary law

    @cached_property
    def fine(self) -> Chain:
        """The fitted generator on the grid."""
        return Chain.of(self.generator, self.grid)

    @cached_property
    def coarse(self) -> Chain:
        """The fitted generator on half as many cells a side."""
        return Chain.of(self.generator, self.grid.refined(0.5))

    @cached_property
    def ensemble(self) -> list[Chain]:
        """Drawn generators, on the coarser grid."""
        rng = np.random.default_rng(self.seed)
        drawn = drawn_generators(self.generator, self.draws, rng)
        return [Chain.of(one, self.coarse.grid) for one in drawn]

    @cached_property
    def confined(self) -> list[Chain]:
        """Those of the drawn generators whose stationary law is in the box."""
        kept = []
        for chain in self.ensemble:
            if chain.is_settled and not open_sides(chain, LOOSE_CUT):
                kept.append(chain)
            chain.forget()
        return kept

    def refuse_cut(self) -> None:
        """Refuse a box that cuts the stationary law."""
        opened = open_sides(self.fine, self.cut)
        if opened:
            names = self.generator.names
            where = " and the ".join(side.name(names) for side in opened)
            raise ReadoutError(
                f"the box cuts the stationary law at the {where}; give a larger box=, or none. If "
                "no box is large enough, there is no stationary law."
            )
        if not self.fine.is_settled:
            raise ReadoutError(
                "parts of the box exchange probability so rarely that rounding hides how much of "
                "it each holds; give a box= that has only one of them."
            )

    def field(
        self, quantity: ChainQuantity, scale: str = "linear", stationary: bool = True
    ) -> Field:
        """Evaluate an array of numbers, with pointwise intervals and grid errors.

        ``scale`` is ``log`` for what is positive, ``positive`` for what is not negative.
        """
        stationary = stationary and self.check is None
        if stationary:
            self.refuse_cut()
        logarithmic = scale == "log"

        def evaluated(chain: Chain) -> FloatArray:
            if self.check is not None:
                self.check(chain)
            return _logarithm(quantity(chain)) if logarithmic else np.asarray(quantity(chain))

        fine, coarse = evaluated(self.fine), evaluated(self.coarse)
        apart = (fine - coarse) / (2 ** self._order(stationary) - 1)
        if logarithmic:
            apart = np.clip(apart, -MOST_EXTRAPOLATED, MOST_EXTRAPOLATED)
        best = fine + apart
        deviations, note = self._deviations(evaluated, coarse, stationary)
        half = self._half_width(deviations, best)
        low, high = best - half, best + half
        if logarithmic:
            values, low, high = np.exp(best), np.exp(low), np.exp(high)
            return Field(values, low, high, values * np.abs(np.expm1(np.abs(apart))), note)
        if scale == "positive":
            # Errors only ever add to it: the fitted value has been pushed up as the draws are.
            pushed = np.abs(np.mean(deviations, axis=0)) if len(deviations) else 0.0
            best, low = np.maximum(best, 0.0), np.maximum(low - pushed, 0.0)
        return Field(best, low, high, np.abs(apart), note)

    def _order(self, stationary: bool) -> float:
        """Order at which grid errors fall; without a law to weigh them, upwind cells all count."""
        return self.fine.order if stationary else 1.0 if self.fine.upwind.any() else 2.0

    def _deviations(
        self, quantity: ChainQuantity, coarse: FloatArray, stationary: bool
    ) -> tuple[list[FloatArray], str]:
        """How far each draw is from the fitted generator, on the same grid; and a note.

        None if the generator has no error bars; infinite where too many have no stationary law.
        """
        if not self.ensemble:
            return [], ""
        deviations = []
        for chain in self.confined if stationary else self.ensemble:
            with suppress(ReadoutError):
                deviations.append(quantity(chain) - coarse)
            chain.forget()
        lost = 1 - len(deviations) / len(self.ensemble)
        if lost > MOST_LOST:
            note = f"{100 * lost:.0f} % of the generators that the fit allows leave the box"
            return [np.full_like(coarse, np.inf)], note
        note = f"without {100 * lost:.0f} % of the draws, which leave the box"
        return deviations, note if lost > NOTED_LOST else ""

    def _half_width(self, deviations: list[FloatArray], best: FloatArray) -> FloatArray:
        """Root mean square of the draws about the fitted value, as a half-width of its interval.

        About the value and not about their mean: where that is elsewhere, the value may be too.
        """
        if not deviations:
            return np.full_like(best, np.nan)
        square = np.mean(np.square(deviations), axis=0)
        return np.asarray(interval_factor(self.level, len(deviations)) * np.sqrt(square))


def _logarithm(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(values, LEAST_POSITIVE))


def interval_factor(level: float, count: int) -> float:
    """Half-width of an interval in spreads that were measured on ``count`` draws.

    Quantile of Student's t to first order in 1 / count: a spread of few draws is uncertain.
    """
    normal = normal_quantile(level)
    return normal * (1 + (normal**2 + 1) / (4 * max(count, 2)))


def matched(values: Sequence[complex], to: Sequence[complex]) -> list[int]:
    """Places of those of ``values`` that are nearest to each of ``to``, each used once."""
    from scipy.optimize import linear_sum_assignment

    cost = np.abs(np.subtract.outer(np.asarray(to), np.asarray(values)))
    return [int(place) for place in linear_sum_assignment(cost)[1]]
