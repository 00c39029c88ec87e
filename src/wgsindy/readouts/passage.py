"""When a set is reached, and which of two: passage times and committors.

A set is where a level function is negative, so its edge is known between the cells: an edge of the
chain that crosses it at a part s of its length leads to the edge of the set, at 1 / s of its rate
(Gibou et al. 2002). So passage times are of second order wherever the edge lies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data import BoolArray, FloatArray, real_numbers
from wgsindy.errors import ReadoutError
from wgsindy.readouts.chain import Chain, bernoulli, factorise
from wgsindy.readouts.grid import Grid, Side
from wgsindy.terms import Expression

Level = Callable[[FloatArray], FloatArray]  # (n, d) -> (n,), negative inside of the set
Region = str | Level
COMPARISON = re.compile(r"^(?P<left>[^<>=!]+)(?P<sign><=?|>=?)(?P<right>[^<>=!]+)$")
NEAREST = 1e-3  # of an edge, a part of its grid error: a cell closer to a set is as good as in it
SWALLOWED = 0.99  # part of a start in cells of a set: all of it but for rounding of the weights
OVERLAP = "the two sets of a committor overlap; give sets that do not."
UNREACHED = (
    "from somewhere in the box the set is never reached, or so rarely that rounding hides it: the "
    "mean time is infinite or beyond what a grid can tell. Give a box= without such states."
)


def level_of(region: Region, names: tuple[str, ...]) -> Level:
    """Read a set: ``"x < 0"``, ``"x**2 + y**2 < 0.1"``, several joined by ``and`` or ``or``.

    A function of points ``(n, d)`` that is negative in the set is one too.

    Raises
    ------
    ReadoutError
        If it is neither.

    Examples
    --------
    >>> level_of("x > 1 and y < 2", ("x", "y"))(np.array([[3.0, 0.0], [0.0, 0.0]])).tolist()
    [-2.0, 1.0]
    """
    if callable(region):
        return lambda points: np.asarray(region(points), dtype=np.float64).reshape(len(points))
    if not isinstance(region, str):
        raise ReadoutError(f"a set is a text such as {names[0]} < 0, got {region!r:.80}.")
    either = [
        [_comparison(part, names) for part in re.split(r"\s+and\s+|&|,", one)]
        for one in re.split(r"\s+or\s+|\|", region.strip())
    ]
    return lambda x: np.min(
        [np.max([level(x) for level in both], axis=0) for both in either], axis=0
    )


def _comparison(text: str, names: tuple[str, ...]) -> Level:
    found = COMPARISON.match(text.strip())
    if found is None:
        raise ReadoutError(
            f"{text!r} is no set of states; write a comparison such as {names[0]!s} < 0, or "
            "several of them joined by 'and'."
        )
    left, right = (Expression.parse(found[side].strip(), names) for side in ("left", "right"))
    sign = 1.0 if found["sign"].startswith("<") else -1.0
    return lambda points: sign * (left.value(points) - right.value(points))


class Absorbed(NamedTuple):
    """A set in which a chain ends."""

    inside: BoolArray  # (n,)
    lost: FloatArray  # (n,) rate at which each cell outside is left for the set


def absorbed(chain: Chain, values: FloatArray) -> Absorbed:
    """End a chain where ``values (n,)`` of a level function are negative."""
    inside, edges, lost = values < 0, chain.edges, np.zeros(chain.grid.size)
    for start, end, sign in ((edges.first, edges.second, 1.0), (edges.second, edges.first, -1.0)):
        crossing = np.flatnonzero(~inside[start] & inside[end])
        near, far = values[start[crossing]], values[end[crossing]]
        part = np.maximum(near / (near - far), NEAREST)
        rate = edges.weight[crossing] / part * bernoulli(-sign * edges.force[crossing] * part)
        lost += np.bincount(start[crossing], rate, chain.grid.size)
    return Absorbed(inside, lost)


def swallowed(grid: Grid, levels: Sequence[Level], starts: FloatArray) -> bool:
    """Whether cells are so wide that no start ``(k, d)`` has one that is outside of all sets."""
    taken = np.any([level(grid.centres) < 0 for level in levels], axis=0)
    return len(starts) > 0 and bool((grid.at(starts, 1.0 * taken, order=1) > SWALLOWED).all())


def targets(chain: Chain, levels: Sequence[Level], starts: FloatArray) -> list[Absorbed]:
    """End a chain in sets that it can reach from ``starts (k, d)``, and that do not overlap."""
    found = [absorbed(chain, level(chain.grid.centres)) for level in levels]
    if not all(one.inside.any() for one in found):
        raise ReadoutError("no cell of the box is in the set; is it where the process goes?")
    if np.sum([one.inside for one in found], axis=0).max() > 1:
        raise ReadoutError(OVERLAP)
    if swallowed(chain.grid, levels, starts):
        raise ReadoutError("the set is within a cell of the start; give a smaller box=.")
    return found


def walls(chain: Chain, sides: Sequence[Side], sets: Sequence[Absorbed]) -> list[Absorbed]:
    """End a chain in the outermost cells of each of some sides, where there is no other set."""
    taken, grid = np.any([one.inside for one in sets], axis=0), chain.grid
    depths = [
        grid.shape[side.coordinate] - 1 - grid.cells[:, side.coordinate]
        if side.upper
        else grid.cells[:, side.coordinate]
        for side in sides
    ]
    return [absorbed(chain, np.where(taken, 1.0, depth - 0.5)) for depth in depths]


@dataclass(frozen=True, eq=False)
class Ending:
    """A chain that ends in any of some sets; sides of the box where there is none reflect."""

    chain: Chain
    sets: Sequence[Absorbed]

    @cached_property
    def inside(self) -> BoolArray:
        """Cells ``(n,)`` in any of the sets."""
        return np.asarray(np.any([one.inside for one in self.sets], axis=0))

    @property
    def matrix(self) -> Any:
        """Rates between the cells outside."""
        edges = self.chain.edges
        # Cells inside stay where they are: an arbitrary rate keeps the matrix regular.
        lost = np.where(self.inside, 1.0, np.sum([one.lost for one in self.sets], axis=0))
        kept = ~(self.inside[edges.first] | self.inside[edges.second])
        return self.chain.matrix(edges.forward * kept, edges.backward * kept, lost)

    @cached_property
    def factor(self) -> Any:
        """Factors of the matrix, unless rounding makes nonsense of them."""
        try:
            found = factorise(self.matrix)
        except RuntimeError:
            raise ReadoutError(UNREACHED) from None
        times = found.solve(np.where(self.inside, 0.0, -1.0))
        if not (times.min() >= 0 and times.max() * self.chain.slowest < 1):
            raise ReadoutError(UNREACHED)
        return found

    @cached_property
    def mean(self) -> FloatArray:
        """Mean time ``(n,)`` until the end, from each cell: L t = -1 outside of the sets."""
        return np.asarray(self.factor.solve(np.where(self.inside, 0.0, -1.0)))

    @property
    def variance(self) -> FloatArray:
        """Variance ``(n,)`` of that time: L t2 = -2 t for its mean square."""
        square = self.factor.solve(np.where(self.inside, 0.0, -2 * self.mean))
        return np.maximum(square - self.mean**2, 0.0)

    def chance(self, which: int) -> FloatArray:
        """Probability ``(n,)`` to end in one of the sets, from each cell."""
        ends = self.sets[which]
        found = self.factor.solve(-np.where(self.inside, ends.inside, ends.lost))
        return np.clip(found, 0.0, 1.0)

    def occupied(self, weights: FloatArray) -> FloatArray:
        """Mean time ``(n,)`` in each cell until the end, for a start by ``weights (n,)``."""
        return np.asarray(self.factor.solve(np.where(self.inside, 0.0, -weights), trans="T"))


def point_of(start: ArrayLike, grid: Grid) -> FloatArray:
    """Check that ``start`` is one state ``(d,)`` in the box."""
    point = np.atleast_1d(real_numbers(start, "a start", ReadoutError))
    if point.shape != (grid.dimension,) or not grid.inside(point[None])[0]:
        sides = zip(grid.low, grid.high, strict=True)
        box = " x ".join(f"[{low:.6g}, {high:.6g}]" for low, high in sides)
        raise ReadoutError(
            f"expected one state in the box {box}, got {point.tolist()}; give a larger box= if the "
            "process goes there."
        )
    return point
