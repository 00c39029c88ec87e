"""A diffusion as a Markov chain on the cells of a grid, with rates that are never negative.

For the modules of this room: the grid, its integer directions, and the rates between its cells.

In divergence form the probability current is J = (1/2) a (2 g pi - grad pi), with the force
g = a^-1 (b - div a / 2). In units of the cells a = sum_e w_e e e', with w_e >= 0 and d (d + 1) / 2
integer vectors e (Selling 1874): with an obtuse superbase b_0 + ... + b_d = 0, <b_i, a b_j> <= 0,
the weights are w_ij = -<b_i, a b_j> and e_ij is orthogonal to all its other vectors. So
J = sum_e J_e e, and each J_e is one-dimensional along the edge between x and x + e. There the
exponentially fitted current of Scharfetter and Gummel (1969) is exact for a constant one:

    J_e = (w_e / 2) (B(-2 z) pi(x) - B(2 z) pi(x + e)),   B(u) = u / (e^u - 1),

with z the integral of g along the edge (Simpson's rule). Rates are positive for any tensor, mass
is conserved, and a process whose force is a gradient has no current on the grid either.

Where noise is missing in a direction the force is not finite. There the tensor is raised to a
small part of what the drift carries over a cell in the same time, which makes the current upwind:
first order in the size of the cells instead of second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from wgsindy.data import BoolArray, FloatArray, IntArray
from wgsindy.errors import ReadoutError
from wgsindy.model import Generator

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

# A side, by the number of coordinates: a second for a fit without draws.
DEFAULT_CELLS = {1: 1024, 2: 128, 3: 24}
FEWEST_CELLS, MOST_CELLS = 16, 400_000  # a side, and in all: what memory holds of factors


@dataclass(frozen=True)
class Side:
    """One side of a box."""

    coordinate: int
    upper: bool

    def name(self, names: tuple[str, ...]) -> str:
        """Return it in words."""
        return f"{'upper' if self.upper else 'lower'} end of {names[self.coordinate]}"


@dataclass(frozen=True, eq=False)
class Grid:
    """A box ``low`` to ``high``, ``(d,)`` each, cut into ``shape`` cells of equal size."""

    low: FloatArray
    high: FloatArray
    shape: tuple[int, ...]

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(np.prod(self.shape))

    @cached_property
    def step(self) -> FloatArray:
        """Sides of a cell, ``(d,)``."""
        return np.asarray((self.high - self.low) / self.shape)

    @property
    def volume(self) -> float:
        """Volume of a cell."""
        return float(np.prod(self.step))

    @cached_property
    def centres(self) -> FloatArray:
        """Centres of all cells ``(n, d)``, the last coordinate running fastest."""
        return _mesh([self.low[p] + (np.arange(m) + 0.5) * self.step[p] for p, m in self._axes])

    @property
    def _axes(self) -> list[tuple[int, int]]:
        return list(enumerate(self.shape))

    @cached_property
    def cells(self) -> IntArray:
        """Numbers of each cell along the axes, ``(n, d)``."""
        return np.stack(np.unravel_index(np.arange(self.size), self.shape), axis=1)

    def number(self, cells: IntArray) -> IntArray:
        """Place of cells ``(..., d)`` in the order of :attr:`centres`."""
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(cells, -1, 0)), self.shape))

    @property
    def half_shape(self) -> tuple[int, ...]:
        """Shape of the lattice of centres and of the points half-way between them."""
        return tuple(2 * m - 1 for m in self.shape)

    @cached_property
    def half_points(self) -> FloatArray:
        """Points of that lattice, ``(m, d)``; cell (i, j) is its point (2 i, 2 j)."""
        axes = [self.low[p] + (np.arange(2 * m - 1) + 1) * self.step[p] / 2 for p, m in self._axes]
        return _mesh(axes)

    @property
    def sides(self) -> list[Side]:
        """All sides: low and high of each coordinate in turn."""
        return [Side(p, upper) for p in range(self.dimension) for upper in (False, True)]

    def boundary(self, layers: int = 1) -> list[BoolArray]:
        """The outermost cells ``(n,)`` at each of the sides."""
        sides = []
        for p, m in self._axes:
            sides += [self.cells[:, p] < layers, self.cells[:, p] >= m - layers]
        return sides

    def refined(self, factor: float) -> Grid:
        """Return the same box in ``factor`` times as many cells a side."""
        return Grid(self.low, self.high, tuple(max(4, round(m * factor)) for m in self.shape))

    def inside(self, points: FloatArray) -> BoolArray:
        """Whether points ``(n, d)`` are in the box."""
        return np.asarray(((points >= self.low) & (points <= self.high)).all(axis=1))

    def at(self, points: FloatArray, values: FloatArray, order: Literal[0, 1, 3] = 3) -> FloatArray:
        """Interpolate ``values (n, ...)`` of the cells at ``points (k, d)`` by splines."""
        from scipy.ndimage import map_coordinates

        places = ((points - self.low) / self.step - 0.5).T
        columns = values.reshape(self.size, -1).T
        found = [
            map_coordinates(column.reshape(self.shape), places, order=order, mode="nearest")
            for column in columns
        ]
        return np.stack(found, axis=1).reshape(len(points), *values.shape[1:])

    def weights_at(self, point: FloatArray) -> FloatArray:
        """Weights ``(n,)`` that sum to one and have their mean at ``point (d,)``.

        Two neighbouring cells along each axis share it, so a start need not be a centre.
        """
        place = np.clip((point - self.low) / self.step - 0.5, 0, np.array(self.shape) - 1)
        weights = np.ones(())
        for p, m in self._axes:
            first = min(int(place[p]), m - 2)
            row = np.zeros(m)
            row[first], row[first + 1] = 1 - (place[p] - first), place[p] - first
            weights = np.multiply.outer(weights, row)
        return weights.ravel()


def shape_of(cells: int | Sequence[int] | None, dimension: int) -> tuple[int, ...]:
    """Cells along each axis; by default 1024, 128 and 24 in 1, 2 and 3 dimensions."""
    if dimension not in DEFAULT_CELLS:
        raise ReadoutError(f"a grid takes 1 to 3 coordinates, this generator has {dimension}.")
    asked = DEFAULT_CELLS[dimension] if cells is None else cells
    shape = tuple(asked) if np.iterable(asked) else (asked,) * dimension
    counts = len(shape) == dimension and all(isinstance(m, int | np.integer) for m in shape)
    if not counts or min(shape) < FEWEST_CELLS or math.prod(shape) > MOST_CELLS:
        raise ReadoutError(
            f"cells must be a number, or one for each of {dimension} coordinates, of at least "
            f"{FEWEST_CELLS} a side and at most {MOST_CELLS:,} in all; got {asked!r}."
        )
    return shape


def _mesh(axes: list[FloatArray]) -> FloatArray:
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


MOST_FLIPS = 200  # an anisotropy of ten thousand takes as many as a hundred (tried)
OBTUSE = 1e-12  # of the trace: a product that rounding leaves of none


def decompose(tensor: FloatArray) -> tuple[FloatArray, IntArray]:
    """Weights ``(n, E)`` and integer directions ``(n, E, d)`` of tensors ``(n, d, d)``, d <= 3.

    Raises
    ------
    ReadoutError
        If a tensor is as good as singular.

    Examples
    --------
    >>> weights, directions = decompose(np.array([[[2.0, 1.0], [1.0, 2.0]]]))
    >>> np.einsum("e,ep,eq->pq", weights[0], directions[0], directions[0]).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    >>> bool((weights >= 0).all())
    True
    """
    n, d = tensor.shape[:2]
    if d == 1:
        return tensor[:, 0].copy(), np.ones((n, 1, 1), dtype=np.int64)
    base = np.zeros((n, d + 1, d), dtype=np.int64)
    base[:, :d] = np.eye(d, dtype=np.int64)
    base[:, d] = -1
    pairs = list(combinations(range(d + 1), 2))
    _make_obtuse(base, tensor, pairs)
    weights = np.stack([-_product(base, tensor, i, j) for i, j in pairs], axis=1)
    directions = np.stack([_orthogonal(base, pair) for pair in pairs], axis=1)
    return np.maximum(weights, 0.0), directions


def _product(base: IntArray, tensor: FloatArray, i: int, j: int) -> FloatArray:
    return np.asarray(np.einsum("np,npq,nq->n", base[:, i], tensor, base[:, j], optimize=True))


def _make_obtuse(base: IntArray, tensor: FloatArray, pairs: list[tuple[int, int]]) -> None:
    """Flip pairs of a superbase ``(n, d + 1, d)`` until every product is at most zero."""
    limit = OBTUSE * np.einsum("npp->n", tensor)
    active = np.arange(len(base))
    for _ in range(MOST_FLIPS):
        turned = np.zeros(len(active), dtype=bool)
        for i, j in pairs:
            product = _product(base[active], tensor[active], i, j)
            acute = (product > limit[active]) & ~turned
            turned |= acute
            _flip(base, active[acute], i, j)
        active = active[turned]
        if not len(active):
            return
    raise ReadoutError("a tensor is too close to singular to be put on a grid.")


def _flip(base: IntArray, at: IntArray, i: int, j: int) -> None:
    first, second = base[at, i], base[at, j]
    rest = [k for k in range(base.shape[1]) if k not in (i, j)]
    if len(rest) == 1:
        base[at, rest[0]] = first - second
    else:
        for k in rest:
            base[at, k] += first
    base[at, i] = -first


def _orthogonal(base: IntArray, pair: tuple[int, int]) -> IntArray:
    """Integer vector ``(n, d)`` orthogonal to every vector of the superbase but the pair."""
    rest = [base[:, k] for k in range(base.shape[1]) if k not in pair]
    if len(rest) == 1:
        return np.stack([-rest[0][:, 1], rest[0][:, 0]], axis=1)
    return np.asarray(np.cross(rest[0], rest[1]))


# What rounding leaves: doubles have 2e-16, of which some add up in a factorisation.
ROUNDED_RATE = 2e-14  # of the largest rate: what is slower, rounding may have made
UNDERFLOW = 1e-15  # of the largest probability: what rounding leaves of none at all
LEAST_POSITIVE = 1e-300  # stands for zero in a logarithm or below a fraction: a double above 0
NOISE_FLOOR = 1e-12  # of the largest noise of the box, where there is neither noise nor drift
UPWIND = 0.1  # of the drift over a cell is the least noise: a jump back is e^-20 as likely then
# Set by hand: from where on more noise, or a wall, is seen in how errors fall.
RAISED = 1e-6  # of the noise: where more was added, the current is upwind
FIRST_ORDER = 0.02  # probability of such cells from which on errors are of first order
AT_A_WALL = 1e-3  # probability of the cells at a side from which on a law reaches a wall
LEAST_ORDER = 0.1  # two cells do not tell a lower one
# Inverse iteration: the closer to zero the matrix is factorised, the faster a law is found.
SHIFT = 1e-5  # of the rate at which the box is crossed: beside every rate that is of interest
CLOSER = 1e-3  # of the shift before: where it is again, if a law has slower parts
SAME_LAW, MOST_ITERATIONS = 1e-12, 200  # change of probability at which it is found


class Edges(NamedTuple):
    """Pairs of cells between which the chain jumps, ``(m,)`` each; a pair may occur twice."""

    first: IntArray
    second: IntArray
    weight: FloatArray  # w_e / 2 of the edge, per unit of time
    force: FloatArray  # 2 z, from the first to the second

    @property
    def forward(self) -> FloatArray:
        """Rates from the first cell to the second."""
        return self.weight * bernoulli(-self.force)

    @property
    def backward(self) -> FloatArray:
        """Rates from the second cell to the first."""
        return self.weight * bernoulli(self.force)


@dataclass(frozen=True, eq=False)
class Chain:
    """A generator as a Markov chain on the cells of ``grid``."""

    generator: Generator
    grid: Grid
    edges: Edges
    upwind: BoolArray  # (n,) where noise was raised
    crossing: float  # rate at which the box is crossed, by drift or by noise

    @classmethod
    def of(cls, generator: Generator, grid: Grid) -> Chain:
        """Put a process on a grid."""
        points = grid.half_points
        drift, tensor = generator.drift(points), generator.diffusion(points)
        if not (np.isfinite(drift).all() and np.isfinite(tensor).all()):
            raise ReadoutError(
                "drift or tensor is not finite somewhere in the box; give a smaller box=."
            )
        noise = tensor / np.multiply.outer(grid.step, grid.step)
        carried = (drift - _divergence(grid, tensor) / 2) / grid.step
        raised, centres = _upwind(noise, carried), _centres(grid)
        force: FloatArray = np.linalg.solve(raised, carried[:, :, None])[:, :, 0].astype(np.float64)
        shares = np.abs(carried).mean(axis=0) / grid.shape
        shares += np.einsum("npp->p", noise) / len(noise) / np.square(grid.shape)
        return cls(
            generator,
            grid,
            _edges(grid, raised[centres], force),
            (np.einsum("npp->n", raised - noise) > RAISED * np.einsum("npp->n", noise))[centres],
            float(shares.max()),
        )

    @cached_property
    def rates(self) -> csc_matrix:
        """The matrix Q of rates ``(n, n)``; rows sum to zero, and Q f is the generator on f."""
        return self.matrix(self.edges.forward, self.edges.backward)

    def matrix(
        self, forward: FloatArray, backward: FloatArray, lost: FloatArray | float = 0.0
    ) -> csc_matrix:
        """Rates as a matrix, with a rate ``lost (n,)`` at which each cell is left for good."""
        from scipy.sparse import coo_matrix

        n, edges = self.grid.size, self.edges
        out = np.bincount(edges.first, forward, n) + np.bincount(edges.second, backward, n) + lost
        every = np.arange(n)
        rows = np.concatenate([edges.first, edges.second, every])
        columns = np.concatenate([edges.second, edges.first, every])
        return coo_matrix((np.concatenate([forward, backward, -out]), (rows, columns))).tocsc()

    @property
    def shift(self) -> float:
        """Where the matrix is factorised: close to zero, beside every rate that is of interest."""
        return SHIFT * self.crossing

    @cached_property
    def factor(self) -> Any:
        """Factors of Q - shift."""
        return factorise(self.rates, self.shift)

    @property
    def slowest(self) -> float:
        """The slowest rate that rounding cannot have made."""
        return ROUNDED_RATE * float(np.abs(self.rates.diagonal()).max())

    @property
    def probability(self) -> FloatArray:
        """Stationary probability of each cell ``(n,)``."""
        return self._law[0]

    @property
    def is_settled(self) -> bool:
        """Whether that is known: not if rounding hides what parts of the box exchange."""
        return self._law[1]

    @cached_property
    def _law(self) -> tuple[FloatArray, bool]:
        """By inverse iteration, closer to zero the slower it is."""
        law = np.full(self.grid.size, 1.0 / self.grid.size)
        factor, shift, settled = self.factor, self.shift, False
        while not settled and shift > self.slowest:
            for _ in range(MOST_ITERATIONS):
                before = law
                law = np.abs(factor.solve(before, trans="T"))
                law /= law.sum()
                settled = bool(np.abs(law - before).sum() < SAME_LAW)
                if settled:
                    break
            else:
                shift *= CLOSER
                factor = factorise(self.rates, shift)
        return np.maximum(law, UNDERFLOW * law.max()), settled

    @property
    def density(self) -> FloatArray:
        """Stationary density at the centres ``(n,)``."""
        return self.probability / self.grid.volume

    @property
    def is_upwind(self) -> bool:
        """Whether noise was raised where the process is."""
        return bool(self.probability[self.upwind].sum() > FIRST_ORDER)

    @property
    def order(self) -> float:
        """Order at which errors fall with the size of the cells.

        Two, or one where the current is upwind. At a wall where the density grows as v^(s - 1) the
        cell beside it is off by v^s, so the order is s if that is less.
        """
        return min(
            1.0 if self.is_upwind else 2.0,
            *(self._wall_order(p) for p in range(self.grid.dimension)),
        )

    def _wall_order(self, p: int) -> float:
        held = np.bincount(self.grid.cells[:, p], self.probability, self.grid.shape[p])
        ends = [(held[0], held[1]), (held[-1], held[-2])]
        # Centres of the first two cells are at 1/2 and 3/2 of a cell from the wall.
        orders = [1 - np.log(a / b) / np.log(3.0) for a, b in ends if a > AT_A_WALL]
        return float(np.clip(min(orders, default=2.0), LEAST_ORDER, 2.0))

    def forget(self) -> None:
        """Let go of what is large; it is made again when it is asked for."""
        for name in ("factor", "rates"):
            self.__dict__.pop(name, None)


def factorise(matrix: Any, shift: float = 0.0) -> Any:
    """A ``SuperLU`` of ``matrix - shift``, whose diagonal is dominant: rows stay where they are."""
    from scipy.sparse import identity
    from scipy.sparse.linalg import splu

    shifted: Any = matrix - shift * identity(matrix.shape[0])
    return splu(
        shifted.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


def bernoulli(u: FloatArray) -> FloatArray:
    """B(u) = u / (e^u - 1), which is 1 at zero, without overflow.

    >>> bernoulli(np.array([-800.0, 0.0, 800.0])).tolist()
    [800.0, 1.0, 0.0]
    """
    small = np.abs(u) < 1e-5
    size = np.where(small, 1.0, np.minimum(np.abs(u), 700.0))
    downhill = np.where(small, 1.0 - np.abs(u) / 2, size / np.expm1(size))
    return np.where(u < 0, downhill - u, np.where(np.abs(u) > 700.0, 0.0, downhill))


def _centres(grid: Grid) -> IntArray:
    """Places of the centres in the half lattice, ``(n,)``."""
    return np.asarray(np.ravel_multi_index(tuple((2 * grid.cells).T), grid.half_shape))


def _divergence(grid: Grid, tensor: FloatArray) -> FloatArray:
    """sum_q d a_pq / d x_q ``(m, d)`` on the half lattice; fourth order in the interior."""
    field = tensor.reshape(*grid.half_shape, grid.dimension, grid.dimension)
    out = np.zeros(field.shape[:-1])
    for q in range(grid.dimension):
        rows, step = np.moveaxis(field[..., q], q, 0), grid.step[q] / 2
        slope = np.gradient(rows, step, axis=0, edge_order=2)
        if len(rows) > 4:
            wide = (rows[4:] - rows[:-4]) / (4 * step)
            slope[2:-2] += (slope[2:-2] - wide) / 3
        out += np.moveaxis(slope, 0, q)
    return out.reshape(len(tensor), grid.dimension)


def _upwind(noise: FloatArray, carried: FloatArray) -> FloatArray:
    """Raise tensors ``(m, d, d)``, in units of the cells, where they are small beside the drift."""
    d = noise.shape[1]
    least = np.linalg.eigvalsh(noise)[:, 0] if d > 1 else noise[:, 0, 0]
    missing = np.maximum(UPWIND * np.abs(carried) - least[:, None], 0.0)
    floor = NOISE_FLOOR * float(np.abs(noise).max(initial=0.0)) or 1.0
    missing += np.maximum(floor - least[:, None], 0.0)
    raised = noise.copy()
    for p in range(d):
        raised[:, p, p] += missing[:, p]
    return raised


def _edges(grid: Grid, noise: FloatArray, force: FloatArray) -> Edges:
    """Edges of all cells; ``noise (n, d, d)`` at the centres, ``force`` on the half lattice.

    The weight of an edge is the mean of those at its two ends. Where an edge would leave the box
    its end is moved to the nearest cell: without it a corner may have no way in or out.
    """
    weights, directions = decompose(noise)
    strides = np.array([int(np.prod(grid.half_shape[p + 1 :])) for p in range(grid.dimension)])
    edges: list[Edges] = []
    for e in range(weights.shape[1]):
        for sign in (1, -1):
            ends = np.clip(grid.cells + sign * directions[:, e], 0, np.array(grid.shape) - 1)
            jump = ends - grid.cells
            used = np.flatnonzero((jump != 0).any(axis=1) & (weights[:, e] > 0))
            jump, start = jump[used], (2 * grid.cells[used]) @ strides
            along = sum(
                share * np.einsum("np,np->n", force[start + (jump * part) @ strides], jump)
                for share, part in ((1 / 6, 0), (4 / 6, 1), (1 / 6, 2))
            )
            weight = weights[used, e] / 4
            edges.append(Edges(used, grid.number(ends[used]), weight, 2 * np.asarray(along)))
    return Edges(*(np.concatenate(parts) for parts in zip(*edges, strict=True)))
