"""What a chain does: current, entropy, moments; rates, modes, hopping sets; when a set is reached.

exp(Q t) f and (Q - i w)^-1 f, for all t and w at once, take one factorisation and a few dozen
solves: Krylov spaces of the resolvent (van den Eshof and Hochbruck 2006) hold the smooth part of f
first, which is what remains.

Passage times and committors: a set is where a level function is negative, so its edge is known
between the cells. An edge of the chain that crosses it at a part s of its length leads to the edge
of the set, at 1 / s of its rate (Gibou et al. 2002). So passage times are of second order wherever
the edge lies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wgsindy.data import BoolArray, FloatArray, IntArray, real_numbers
from wgsindy.errors import ReadoutError
from wgsindy.readouts.chain import LEAST_POSITIVE, Chain, Grid, Side, bernoulli, factorise
from wgsindy.terms import Expression

ComplexArray = NDArray[np.complex128]
MORE = 10  # rates that are computed beside those asked for: the nearest to zero need not be slowest
METASTABLE = 3.0  # set by hand: the next rate is so many times as fast as the last of the slow ones
CONVERGED = 1e-9  # relative error of eigenvalues; what turns more slowly does not
SOLVES = 48  # dimension of a Krylov space; one that is complete ends before
CONSTANT = 1e-24  # of a square: what rounding leaves of a constant without its mean
BREAKDOWN = 1e-12  # of a new direction: what rounding leaves where the space is complete


def net_flow(chain: Chain) -> FloatArray:
    """Net probability a unit of time along each edge, ``(m,)``; zero for a reversible process."""
    edges, probability = chain.edges, chain.probability
    return np.asarray(
        probability[edges.first] * edges.forward - probability[edges.second] * edges.backward
    )


def current(chain: Chain) -> FloatArray:
    """Stationary probability current J at the centres, ``(n, d)``.

    Each end of an edge takes half of what flows along it.
    """
    grid, edges = chain.grid, chain.edges
    jump = (grid.cells[edges.second] - grid.cells[edges.first]) * grid.step
    carried = net_flow(chain)[:, None] * jump / (2 * grid.volume)
    out = np.zeros((grid.size, grid.dimension))
    for p in range(grid.dimension):
        out[:, p] = np.bincount(edges.first, carried[:, p], grid.size)
        out[:, p] += np.bincount(edges.second, carried[:, p], grid.size)
    return out


def entropy_production(chain: Chain) -> float:
    """Entropy that is produced a unit of time, in units of Boltzmann's constant.

    The integral of 2 J a^-1 J / pi, as a sum over the edges of the chain (Schnakenberg 1976): net
    flow times the logarithm of the ratio of both flows. It is never negative.
    """
    edges, probability = chain.edges, chain.probability
    ratio = np.log(probability[edges.first] / probability[edges.second]) + edges.force
    return float(net_flow(chain) @ ratio)


def moments(chain: Chain) -> tuple[FloatArray, FloatArray]:
    """Mean ``(d,)`` and covariance ``(d, d)`` of the stationary law."""
    mean = chain.probability @ chain.grid.centres
    apart = chain.grid.centres - mean
    # The law is linear within a cell, not a point at its centre.
    return mean, (apart.T * chain.probability) @ apart


class Modes(NamedTuple):
    """Eigenvalues ``(k,)`` of a generator, the slowest first, without zero; eigenfunctions."""

    values: ComplexArray
    functions: ComplexArray  # (n, k): L f = value f, of unit variance under the stationary law


def modes(chain: Chain, count: int) -> Modes:
    """Return the ``count`` slowest modes, by shift and invert (ARPACK)."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigs

    n = chain.grid.size
    wanted = min(count + MORE, n - 3)
    inverse = LinearOperator((n, n), matvec=chain.factor.solve, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)  # of no consequence once it has converged
    try:
        raw, vectors = eigs(inverse, k=wanted, v0=start, tol=CONVERGED)
    except ArpackError as error:
        raise ReadoutError(
            f"the rates did not converge ({error}); give other cells= or a smaller box=."
        ) from None
    values = chain.shift + 1 / raw
    decay = np.round(-values.real / chain.crossing, 9)  # equal for the two of a pair
    slowest = np.lexsort((-values.imag, decay))
    slowest = np.delete(slowest, int(np.argmin(np.abs(values[slowest]))))[:count]
    return Modes(values[slowest], _scaled(vectors[:, slowest], chain.probability))


def _scaled(functions: ComplexArray, probability: FloatArray) -> ComplexArray:
    """Give functions ``(n, k)`` unit variance, and a real positive value where largest."""
    spread = np.sqrt(probability @ np.abs(functions) ** 2)
    seen = np.abs(functions) * np.sqrt(probability)[:, None]
    largest = functions[np.argmax(seen, axis=0), np.arange(functions.shape[1])]
    return np.asarray(functions / (spread * largest / np.abs(largest)))


def slow_count(values: ComplexArray) -> int:
    """Number of metastable sets: one more than the rates before the first wide gap.

    >>> slow_count(np.array([-0.01, -2.0, -3.0])), slow_count(np.array([-1.0, -2.0, -3.0]))
    (2, 1)
    """
    decay = -values.real
    ratios = decay[1:] / np.maximum(decay[:-1], LEAST_POSITIVE)
    # Complex modes turn, they do not hop.
    turning = np.flatnonzero(np.abs(values.imag) > CONVERGED * np.abs(values))
    last = int(turning[0]) if len(turning) else len(values)
    wide = np.flatnonzero(ratios[:last] >= METASTABLE)
    return 1 if not len(wide) else int(wide[np.argmax(ratios[wide])]) + 2


def metastable_sets(slow: Modes) -> IntArray:
    """Number of the metastable set of each cell, ``(n,)``.

    The slow modes map cells into a simplex whose corners are the sets (Weber and Galliat 2002);
    a cell belongs to the corner that it is nearest to.
    """
    count = slow_count(slow.values)
    if count == 1:
        return np.zeros(len(slow.functions), dtype=np.int64)
    plane = np.column_stack([np.ones(len(slow.functions)), slow.functions[:, : count - 1].real])
    corners = [int(np.argmax(np.linalg.norm(plane[:, 1:], axis=1)))]
    apart = plane - plane[corners[0]]
    for _ in range(count - 1):
        corners.append(int(np.argmax(np.linalg.norm(apart, axis=1))))
        unit = apart[corners[-1]] / np.linalg.norm(apart[corners[-1]])
        apart = apart - np.outer(apart @ unit, unit)
    membership = plane @ np.linalg.inv(plane[corners])
    return np.asarray(membership.argmax(axis=1))


@dataclass(frozen=True, eq=False)
class Evolution:
    """The action of rates on one function, in a small space."""

    basis: FloatArray  # (n, m) orthonormal
    matrix: FloatArray  # (m, m): Q in the basis
    start: FloatArray  # (m,): the function in the basis

    @classmethod
    def of(cls, factor: Any, start: FloatArray, rate: float) -> Evolution:
        """Build the space of ``start (n,)``; ``factor`` of Q - ``rate``, that of interest."""
        basis = np.zeros((len(start), SOLVES + 1))
        hessenberg = np.zeros((SOLVES + 1, SOLVES))
        size = float(np.linalg.norm(start))
        basis[:, 0] = start / size
        used = SOLVES
        for k in range(SOLVES):
            vector = factor.solve(basis[:, k])
            length = np.linalg.norm(vector)
            for _ in range(2):  # orthogonal to rounding only after a second time
                overlap = basis[:, : k + 1].T @ vector
                hessenberg[: k + 1, k] += overlap
                vector = vector - basis[:, : k + 1] @ overlap
            hessenberg[k + 1, k] = np.linalg.norm(vector)
            if hessenberg[k + 1, k] <= BREAKDOWN * length:
                used = k + 1
                break
            basis[:, k + 1] = vector / hessenberg[k + 1, k]
        small = rate * np.eye(used) + np.linalg.inv(hessenberg[:used, :used])
        return cls(basis[:, :used], small, size * np.eye(used)[0])

    def at(self, times: FloatArray, weights: FloatArray) -> FloatArray:
        """Averages ``weights' exp(Q t) f`` at ``times (k,)``; weights ``(n,)`` or ``(n, m)``."""
        from scipy.linalg import expm

        averages = weights.T @ self.basis
        return np.stack([averages @ (expm(self.matrix * t) @ self.start) for t in times])

    def spectrum(self, frequencies: FloatArray, weights: FloatArray) -> FloatArray:
        """2 Re weights' (i w - Q)^-1 f at angular ``frequencies (k,)``: both sides of time."""
        averages, one = weights @ self.basis, np.eye(len(self.matrix))
        solved = [np.linalg.solve(1j * w * one - self.matrix, self.start) for w in frequencies]
        return np.array([2 * float((averages @ x).real) for x in solved])


def observed(chain: Chain, formula: Expression) -> tuple[FloatArray, FloatArray]:
    """A quantity without its mean ``(n,)``, and the same weighted by the stationary law."""
    with np.errstate(all="ignore"):
        values = formula.value(chain.grid.centres)
        moved = np.asarray(values - chain.probability @ values)
        square, variance = chain.probability @ values**2, chain.probability @ moved**2
    if not CONSTANT * square < variance < np.inf:
        raise ReadoutError(f"{formula.text} is constant or infinite in the box; it tells nothing.")
    return moved, moved * chain.probability


def moments_after(chain: Chain, start: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
    """Mean ``(d,)`` and covariance ``(d, d)`` of the state at ``time`` after ``start (d,)``.

    Powers of the way from the start are carried back to it, which is smooth at any time; a law
    that starts in a point is not.
    """
    d, weights = len(start), chain.grid.weights_at(start)
    away, after = chain.grid.centres - start, np.array([time])
    factor = factorise(chain.rates, 1.0 / time)

    def expected(values: FloatArray) -> float:
        return float(Evolution.of(factor, values, 1.0 / time).at(after, weights)[0])

    mean = np.array([expected(away[:, p]) for p in range(d)])
    square = np.zeros((d, d))
    for p in range(d):
        for q in range(p + 1):
            square[p, q] = square[q, p] = expected(away[:, p] * away[:, q])
    return start + mean, square - np.outer(mean, mean)


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
