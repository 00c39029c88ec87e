"""When a set is reached, and which of two: passage times and committors.

A set is where a level function is negative, so its edge is known between the cells: an edge of the
chain that crosses it at a part s of its length leads to the edge of the set, at 1 / s of its rate
(Gibou et al. 2002). So passage times are of second order wherever the edge lies.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data.arrays import BoolArray, FloatArray
from wgsindy.data.validation import numbers
from wgsindy.errors import ReadoutError
from wgsindy.readouts.chain import Chain, bernoulli, factorise
from wgsindy.terms.expression import Expression

Level = Callable[[FloatArray], FloatArray]  # (n, d) -> (n,), negative inside of the set
Region = str | Level
COMPARISON = re.compile(r"^(?P<left>[^<>=!]+)(?P<sign><=?|>=?)(?P<right>[^<>=!]+)$")
NEAREST = 1e-3  # of an edge: a cell closer to a set than this is as good as in it


def level_of(region: Region, names: tuple[str, ...]) -> Level:
    """Read a set: ``"x < 0"``, ``"x**2 + y**2 < 0.1"``, several joined by ``and``, or a function.

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
        return region
    if not isinstance(region, str):
        raise ReadoutError(f"a set is a text such as {names[0]} < 0, got {region!r:.80}.")
    levels = [_comparison(part, names) for part in re.split(r"\s+and\s+|&|,", region.strip())]
    return lambda points: np.max([level(points) for level in levels], axis=0)


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
    """A chain that ends in a set: rates between the cells outside, and those into the set."""

    inside: BoolArray  # (n,)
    forward: FloatArray  # (m,) rates along the edges; zero where one ends in the set
    backward: FloatArray
    lost: FloatArray  # (n,) rate at which each cell is left for the set


def absorbed(chain: Chain, level: Level) -> Absorbed:
    """End a chain where ``level`` is negative."""
    values = np.asarray(level(chain.grid.centres), dtype=np.float64)
    inside, edges = values < 0, chain.edges
    if not inside.any():
        raise ReadoutError("no cell of the box is in the set; is it where the process goes?")
    forward, backward = edges.forward, edges.backward
    lost = np.zeros(chain.grid.size)
    for start, end, sign in ((edges.first, edges.second, 1.0), (edges.second, edges.first, -1.0)):
        crossing = np.flatnonzero(~inside[start] & inside[end])
        near, far = values[start[crossing]], values[end[crossing]]
        part = np.maximum(near / (near - far), NEAREST)
        rate = edges.weight[crossing] / part * bernoulli(-sign * edges.force[crossing] * part)
        lost += np.bincount(start[crossing], rate, chain.grid.size)
    cut = inside[edges.first] | inside[edges.second]
    return Absorbed(inside, np.where(cut, 0.0, forward), np.where(cut, 0.0, backward), lost)


class Passage(NamedTuple):
    """Mean and variance ``(n,)`` of the time at which a set is reached, from each cell."""

    mean: FloatArray
    variance: FloatArray


def passage_times(chain: Chain, target: Level) -> Passage:
    """Time until ``target`` is reached: L t = -1 outside of it, L t2 = -2 t for the mean square."""
    ended = absorbed(chain, target)
    # Cells inside stay where they are: an arbitrary rate keeps the matrix regular.
    lost = np.where(ended.inside, 1.0, ended.lost)
    factor = factorise(chain.matrix(ended.forward, ended.backward, lost))
    outside = np.where(ended.inside, 0.0, 1.0)
    mean = factor.solve(-outside)
    square = factor.solve(-2 * mean * outside)
    if not (np.isfinite(mean).all() and (mean >= 0).all()):
        raise ReadoutError("the set is not reached from everywhere in the box.")
    return Passage(mean, np.maximum(square - mean**2, 0.0))


def committor(chain: Chain, first: Level, second: Level) -> FloatArray:
    """Probability ``(n,)`` to reach ``second`` before ``first``, from each cell."""
    to_first, to_second = absorbed(chain, first), absorbed(chain, second)
    if (to_first.inside & to_second.inside).any():
        raise ReadoutError("the two sets of a committor overlap; give sets that do not.")
    inside = to_first.inside | to_second.inside
    lost = np.where(inside, 1.0, to_first.lost + to_second.lost)
    forward = np.minimum(to_first.forward, to_second.forward)
    backward = np.minimum(to_first.backward, to_second.backward)
    factor = factorise(chain.matrix(forward, backward, lost))
    found = factor.solve(-np.where(to_second.inside, 1.0, to_second.lost * ~inside))
    return np.clip(np.where(to_first.inside, 0.0, found), 0.0, 1.0)


def point_of(start: ArrayLike, chain: Chain) -> FloatArray:
    """Check that ``start`` is one state ``(d,)`` in the box."""
    point = np.atleast_1d(numbers(start, "a start", ReadoutError))
    if point.shape != (chain.grid.dimension,) or not chain.grid.inside(point[None])[0]:
        low, high = chain.grid.low.round(4).tolist(), chain.grid.high.round(4).tolist()
        raise ReadoutError(
            f"a start is one state in the box from {low} to {high}, got {point.tolist()}."
        )
    return point
