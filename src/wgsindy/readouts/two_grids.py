"""Quantities on two grids and over draws: a value, its interval and the error of the grid.

On cells half as wide an error of order p is 2^p times smaller, so two grids tell how large it is,
and take most of it away (Richardson). Draws of the coefficients are solved on the coarser grid:
what is used of them is how far they are from the fitted generator on that same grid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.errors import ReadoutError
from wgsindy.model import Generator, normal_quantile
from wgsindy.readouts.box import CUT, open_sides
from wgsindy.readouts.chain import Chain
from wgsindy.readouts.draws import drawn_generators
from wgsindy.readouts.grid import Grid
from wgsindy.readouts.values import Field, Value

# Draws that leave the box go where no data were: the data contradict them, and they are left out.
# A note says how many; if they are more than these, the interval has no end.
NOTED_LOST, MOST_LOST = 0.05, 1 / 3
MOST_EXTRAPOLATED = 0.7  # of a logarithm: in the tails two grids tell of nothing
LOOSE_CUT = 100 * CUT  # probability at the sides of the box from which on a draw does not confine


class Solved(NamedTuple):
    """A generator and its chain."""

    generator: Generator
    chain: Chain


Quantity = Callable[[Solved], FloatArray]


@dataclass(frozen=True, eq=False)
class TwoGrids:
    """A generator on a grid, on one of half as many cells a side, and draws on that one."""

    generator: Generator
    grid: Grid
    draws: int
    level: float
    seed: int
    cut: float = CUT  # probability at a side of the box from which on it cuts the law
    check: Callable[[Solved], None] | None = None  # of a box, for what needs no stationary law

    @cached_property
    def fine(self) -> Solved:
        """The fitted generator on the grid."""
        return Solved(self.generator, Chain.of(self.generator, self.grid))

    @cached_property
    def coarse(self) -> Solved:
        """The fitted generator on half as many cells a side."""
        return Solved(self.generator, Chain.of(self.generator, self.grid.refined(0.5)))

    @cached_property
    def ensemble(self) -> list[Solved]:
        """Drawn generators, on the coarser grid."""
        rng = np.random.default_rng(self.seed)
        drawn = drawn_generators(self.generator, self.draws, rng)
        return [Solved(one, Chain.of(one, self.coarse.chain.grid)) for one in drawn]

    @cached_property
    def confined(self) -> list[Solved]:
        """Those of the drawn generators whose stationary law is in the box."""
        kept = []
        for one in self.ensemble:
            if one.chain.is_settled and not open_sides(one.chain, one.generator, LOOSE_CUT):
                kept.append(one)
            one.chain.forget()
        return kept

    def refuse_cut(self) -> None:
        """Refuse a box that cuts the stationary law."""
        opened = open_sides(self.fine.chain, self.generator, self.cut)
        if opened:
            names = self.generator.names
            where = " and the ".join(side.name(names) for side in opened)
            raise ReadoutError(
                f"the box cuts the stationary law at the {where}; give a larger box=, or none. If "
                "no box is large enough, there is no stationary law."
            )
        if not self.fine.chain.is_settled:
            raise ReadoutError(
                "parts of the box exchange probability so rarely that rounding hides how much of "
                "it each holds; give a box= that has only one of them."
            )

    def number(self, quantity: Quantity, scale: str = "linear", stationary: bool = True) -> Value:
        """Evaluate a number; ``scale`` is ``log`` for what is positive, ``positive`` if >= 0."""
        return self.field(quantity, scale, stationary=stationary).entry(0, self.level)

    def field(self, quantity: Quantity, scale: str = "linear", stationary: bool = True) -> Field:
        """Evaluate an array of numbers, with pointwise intervals and grid errors."""
        stationary = stationary and self.check is None
        if stationary:
            self.refuse_cut()
        logarithmic = scale == "log"

        def there(one: Solved) -> FloatArray:
            if self.check is not None:
                self.check(one)
            return _logarithm(quantity(one)) if logarithmic else np.asarray(quantity(one))

        fine, coarse = there(self.fine), there(self.coarse)
        upwind = bool(self.fine.chain.upwind.any())
        order = self.fine.chain.order if stationary else (1.0 if upwind else 2.0)
        apart = (fine - coarse) / (2**order - 1)
        if logarithmic:
            apart = np.clip(apart, -MOST_EXTRAPOLATED, MOST_EXTRAPOLATED)
        best = fine + apart
        found, note = self._deviations(there, coarse, stationary)
        half = self._half_width(found, best)
        low, high = best - half, best + half
        if logarithmic:
            values, low, high = np.exp(best), np.exp(low), np.exp(high)
            return Field(values, low, high, values * np.abs(np.expm1(np.abs(apart))), note)
        if scale == "positive":
            # Errors only ever add to it: the fitted value has been pushed up as the draws are.
            pushed = np.abs(np.mean(found, axis=0)) if len(found) else 0.0
            best, low = np.maximum(best, 0.0), np.maximum(low - pushed, 0.0)
        return Field(best, low, high, np.abs(apart), note)

    def _deviations(
        self, quantity: Quantity, coarse: FloatArray, stationary: bool
    ) -> tuple[list[FloatArray], str]:
        """How far each draw is from the fitted generator, on the same grid; and a note.

        None if the generator has no error bars; infinite where too many have no stationary law.
        """
        if not self.ensemble:
            return [], ""
        used, found = self.confined if stationary else self.ensemble, []
        for one in used:
            with suppress(ReadoutError):
                found.append(quantity(one) - coarse)
            one.chain.forget()
        lost = 1 - len(found) / len(self.ensemble)
        if lost > MOST_LOST:
            note = f"{100 * lost:.0f} % of the generators that the fit allows leave the box"
            return [np.full_like(coarse, np.inf)], note
        note = f"without {100 * lost:.0f} % of the draws, which leave the box"
        return found, note if lost > NOTED_LOST else ""

    def _half_width(self, found: list[FloatArray], best: FloatArray) -> FloatArray:
        """Root mean square of the draws about the fitted value, as a half-width of its interval.

        About the value and not about their mean: where that is elsewhere, the value may be too.
        """
        if not found:
            return np.full_like(best, np.nan)
        square = np.mean(np.square(found), axis=0)
        return np.asarray(widened(self.level, len(found)) * np.sqrt(square))


def _logarithm(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(values, 1e-300))


def widened(level: float, count: int) -> float:
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
