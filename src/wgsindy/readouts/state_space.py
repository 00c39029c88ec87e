"""Where a process lives: the box that holds its stationary law, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wgsindy.data import BoolArray, FloatArray, Frame
from wgsindy.errors import LibraryError, ReadoutError
from wgsindy.model import Generator, tensor
from wgsindy.readouts.chain import UNDERFLOW, Chain, Grid, Side, factorise, shape_of
from wgsindy.readouts.long_run import Ending, Evolution, Level, absorbed, swallowed, targets, walls

# Cells a side while looking: a coarse grid adds noise of its own, and a finer one less.
COARSE = {1: (256, 512, 1024), 2: (40, 80, 160), 3: (14, 20, 24)}
# All below are set by hand: how much beyond a box is too little to count, in the units they name.
CARRIED = 0.8  # mean force along an edge, in units of the noise, that makes a grid add much noise
TAIL = 1e-7  # probability that may be beyond each side of the box
USUAL = 64  # cells a side that the following are for
CUT = 1e-4  # probability in the outermost cells of a side from which on a box cuts the law
LOOSE_CUT = 100 * CUT  # the same for a draw, and for a box that was closed on another grid
CLOSED = CUT / 5  # the same while looking: the grid that is used in the end is another
FULL = 0.02  # probability at the sides that no finer grid would take away
# By how much an open side moves out: a little at first, since what is far from the data is
# extrapolation, then more, and much where formulas may have their states far from zero.
GROWTH = (1.3,) * 4 + (1.7,) * 18 + (4.0,) * 6
TIGHT, MOST_TRIES = 0.8, 12  # part of the width that is worth keeping, and how often to try
AT_FIRST = 2.5  # deviations of the data to begin with
NEAR_DATA, MOST_OUTSIDE = 4.0, 0.05  # deviations that data reach, and what may be beyond
FELT = 1e-3  # of a mean time, or of a probability: a box that counts for more is too small
WALL = 1e-6  # of the noise within the box: a side with less noise across is an end of the states


def given_box(box: Any, names: tuple[str, ...]) -> tuple[FloatArray, FloatArray]:
    """Read ``box``: a pair (low, high) for each coordinate, or one pair if there is only one.

    >>> low, high = given_box([(-1, 1), (0, 2)], ("x", "y"))
    >>> low.tolist(), high.tolist()
    ([-1.0, 0.0], [1.0, 2.0])
    """
    try:
        pairs = np.asarray(box, dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError):
        pairs = np.empty((0, 2))
    with np.errstate(over="ignore", invalid="ignore"):
        width = pairs[:, 1] - pairs[:, 0]
    ordered = (np.isfinite(width) & (width > 0)).all()
    if len(pairs) != len(names) or not ordered:
        raise ReadoutError(
            f"box needs a pair (low, high) for each of {list(names)}, such as "
            f"{[(-1, 1)] * len(names)}; got {box!r}."
        )
    return pairs[:, 0], pairs[:, 1]


def find_box(generator: Generator, region: Frame | None) -> tuple[FloatArray, FloatArray]:
    """Grow and shrink a box until it just holds the stationary law, ``(d,)`` each corner.

    ``region`` is where data were, if that is known.

    Raises
    ------
    ReadoutError
        If probability leaves every box, or most of it is where no data were.
    """
    names, d = generator.names, generator.dimension
    shape_of(None, d)  # refuses more than three
    frame = Frame(generator.basis.origin, np.ones(d)) if region is None else region
    walls = _lower_walls(generator, frame)
    low = np.maximum(frame.centre - AT_FIRST * frame.scale, walls)
    high = np.maximum(frame.centre + AT_FIRST * frame.scale, low + frame.scale)
    chain = _tightened(_closed(generator, low, high, walls), COARSE[d][1])
    if _carried_far(chain):
        chain = _tightened(
            _on_grid(generator, *_tight(chain.grid, chain.probability), COARSE[d][2])
        )
    if region is not None:
        _refuse_far_from_data("the stationary law", chain.grid, chain.probability, region, names)
    return chain.grid.low, chain.grid.high


def closing_box(
    generator: Generator,
    region: Frame | None,
    levels: Sequence[Level],
    starts: FloatArray,
    timed: bool,
) -> tuple[FloatArray, FloatArray]:
    """Grow and shrink a box until passages from ``starts (k, d)`` into sets do not feel its sides.

    Raises
    ------
    ReadoutError
        If they feel those of every box, or if most of them goes where no data were.
    """
    d = generator.dimension
    shape_of(None, d)
    frame = Frame(starts.mean(axis=0), np.ones(d)) if region is None else region
    ends = _lower_walls(generator, frame)
    low = np.minimum(frame.centre - AT_FIRST * frame.scale, starts.min(axis=0) - frame.scale)
    high = np.maximum(frame.centre + AT_FIRST * frame.scale, starts.max(axis=0) + frame.scale)
    low, shape = np.maximum(low, ends), (COARSE[d][1],) * d
    for _ in range(MOST_TRIES):
        if swallowed(Grid(low, high, shape), levels, starts):
            low, high = (
                starts.mean(axis=0) + (end - starts.mean(axis=0)) / 16 for end in (low, high)
            )
    for growth in GROWTH:
        chain = _on_grid(generator, low, high, COARSE[d][1])
        sides = felt_sides(chain, levels, starts, timed)
        if not sides:
            break
        widest = max(sides.values())
        low, high = _grow(
            low, high, [side for side in sides if sides[side] > widest / 10], ends, growth
        )
    else:
        raise ReadoutError("however large the box, " + too_small(sides, generator.names))
    for _ in range(MOST_TRIES):
        ended = Ending(chain, targets(chain, levels, starts))
        weights = np.mean([chain.grid.weights_at(start) for start in starts], axis=0)
        occupied = ended.occupied(weights)
        low, high = _tight(chain.grid, occupied / occupied.sum(), UNDERFLOW)
        if ((high - low) > TIGHT * (chain.grid.high - chain.grid.low)).all():
            break
        smaller = _on_grid(generator, low, high, COARSE[d][1])
        if felt_sides(smaller, levels, starts, timed):
            break
        chain = smaller
    if region is not None:
        entries = occupied * np.sum([one.lost for one in ended.sets], axis=0)
        for what, held in (("the time of such passages", occupied), ("their ends", entries)):
            _refuse_far_from_data(what, chain.grid, held / held.sum(), region, generator.names)
    return chain.grid.low, chain.grid.high


def felt_sides(
    chain: Chain, levels: Sequence[Level], starts: FloatArray, timed: bool
) -> dict[Side, float]:
    """Sides that passages from ``starts (k, d)`` feel, with the probability to reach each first.

    None if what passages do beyond them is less than ``FELT``, of the mean time if ``timed``.
    """
    grid = chain.grid
    sets = [absorbed(chain, level(grid.centres)) for level in levels]
    taken = np.any([one.inside for one in sets], axis=0)
    sides = _free_sides(chain, taken)
    if not sides:
        return {}
    every = [*sets, *walls(chain, sides, sets)]
    ended = Ending(chain, every)
    first = {
        side: float(grid.at(starts, ended.chance(len(sets) + k), order=1).max())
        for k, side in enumerate(sides)
    }
    share = sum(first.values())
    if timed and taken.any():
        before, whole = (grid.at(starts, one.mean, order=1) for one in (ended, Ending(chain, sets)))
        share = float((1 - before / whole).max())
    return first if share > FELT else {}


def left_before(chain: Chain, start: FloatArray, time: float) -> float:
    """Probability to reach a side of the box before ``time``."""
    sides = _free_sides(chain, np.zeros(chain.grid.size, dtype=bool))
    if not sides:
        return 0.0
    ended = Ending(chain, walls(chain, sides, []))
    factor = factorise(ended.matrix, 1.0 / time)
    kept = Evolution.of(factor, np.where(ended.inside, 0.0, 1.0), 1.0 / time)
    return 1.0 - float(kept.at(np.array([time]), chain.grid.weights_at(start))[0])


def _free_sides(chain: Chain, taken: BoolArray) -> list[Side]:
    """Sides that are neither in sets nor ends of the states."""
    return [
        side
        for side, cells in zip(chain.grid.sides, chain.grid.boundary(), strict=True)
        if not (taken[cells].all() or _is_wall(chain, side))
    ]


def too_small(sides: dict[Side, float], names: tuple[str, ...]) -> str:
    """Say that passages feel the sides of a box."""
    side = max(sides, key=lambda one: sides[one])
    return (
        f"the {side.name(names)} is reached before the set with probability {sides[side]:.2g}, and "
        "what happens beyond it counts: either the mean is infinite, or the box is too small. Give "
        f"a larger box=, or add another end, as in '{names[0]} > 1 or {names[0]} < -2'."
    )


def open_sides(chain: Chain, limit: float) -> list[Side]:
    """Sides whose outermost cells have more probability than ``limit``, and that are no walls."""
    found = []
    for side, cells in zip(chain.grid.sides, chain.grid.boundary(), strict=True):
        # As if there were so many cells: wide ones would hold more.
        held = chain.probability[cells].sum() * chain.grid.shape[side.coordinate] / USUAL
        if held > limit and not _is_wall(chain, side):
            found.append(side)
    return found


def _is_wall(chain: Chain, side: Side) -> bool:
    """Whether noise ends at a side: states end there too, if the drift does not lead out."""
    p, grid, generator = side.coordinate, chain.grid, chain.generator
    cells = grid.centres[grid.boundary()[2 * p + side.upper]].copy()
    across = float(np.abs(generator.diffusion(grid.centres)[:, p, p]).max())
    cells[:, p] = grid.high[p] if side.upper else grid.low[p]
    try:
        noise, drift = generator.diffusion(cells)[:, p, p], generator.drift(cells)[:, p]
    except LibraryError:
        return True
    outward = drift if side.upper else -drift
    return bool((noise <= WALL * across).all() and (outward <= 0).all())


def no_law(sides: list[Side], names: tuple[str, ...]) -> str:
    """Say that there is no stationary law."""
    where = " and the ".join(side.name(names) for side in sides)
    return (
        f"there is no stationary law: however large the box, probability gathers at the {where}. "
        "Either the process wanders off (a price, a random walk), or the fitted field does not "
        "confine beyond the data. Passage times from a state need none, nor do forecasts in a box=."
    )


def _lower_walls(generator: Generator, frame: Frame) -> FloatArray:
    """Zero for coordinates whose terms exist for positive states only, else minus infinity."""
    walls = np.full(generator.dimension, -np.inf)
    inner = np.abs(frame.centre) + 0.37 * frame.scale
    for p in range(generator.dimension):
        probe = np.stack([inner, inner])
        probe[1, p] *= -1
        if _is_defined(generator, probe[:1]) and not _is_defined(generator, probe[1:]):
            walls[p] = 0.0
    return walls


def _is_defined(generator: Generator, points: FloatArray) -> bool:
    try:
        values = (generator.drift(points), generator.diffusion(points))
    except LibraryError:
        return False
    finite = all(bool(np.isfinite(value).all()) for value in values)
    return finite and bool(tensor.is_semidefinite(values[1], 1e-9).all())


def _on_grid(generator: Generator, low: FloatArray, high: FloatArray, cells: int) -> Chain:
    with np.errstate(over="ignore", invalid="ignore"):
        return Chain.of(generator, Grid(low, high, (cells,) * len(low)))


def _closed(generator: Generator, low: FloatArray, high: FloatArray, walls: FloatArray) -> Chain:
    """Grow a box until hardly any probability is at its sides."""
    opened: list[Side] = []
    for growth in GROWTH:
        for cells in COARSE[len(low)]:
            try:
                chain = _on_grid(generator, low, high, cells)
            except ReadoutError:
                if opened:  # fields so far out are not finite, or as good as singular
                    raise ReadoutError(no_law(opened, generator.names)) from None
                raise
            opened = open_sides(chain, CLOSED)
            if not opened:
                return chain
            if chain.probability[np.any(chain.grid.boundary(), axis=0)].sum() > FULL:
                break
        low, high = _grow(low, high, opened, walls, growth)
    raise ReadoutError(no_law(opened, generator.names))


def _grow(
    low: FloatArray, high: FloatArray, sides: list[Side], walls: FloatArray, growth: float
) -> tuple[FloatArray, FloatArray]:
    width, low, high = high - low, low.copy(), high.copy()
    for side in sides:
        p = side.coordinate
        if side.upper:
            high[p] += (growth - 1) * width[p]
        else:
            low[p] = max(low[p] - (growth - 1) * width[p], walls[p])
    return low, high


def _tightened(chain: Chain, cells: int = 0) -> Chain:
    """Shrink a box while that takes away much of it; ``cells`` a side, by default as many."""
    for _ in range(MOST_TRIES):
        low, high = _tight(chain.grid, chain.probability)
        if ((high - low) > TIGHT * (chain.grid.high - chain.grid.low)).all():
            break
        chain = _on_grid(chain.generator, low, high, cells or chain.grid.shape[0])
    return chain


def _carried_far(chain: Chain) -> bool:
    """Whether drift carries a process much further along an edge than noise does."""
    edges = chain.edges
    share = chain.probability[edges.first] * edges.weight
    return bool(share @ np.abs(edges.force) > CARRIED * share.sum())


def _tight(grid: Grid, held: FloatArray, tail: float = TAIL) -> tuple[FloatArray, FloatArray]:
    """Corners of the box that leaves out ``tail`` at each side, and a cell more."""
    low, high = [], []
    for p, count in enumerate(grid.shape):
        marginal = np.bincount(grid.cells[:, p], held, count)
        first = int(np.searchsorted(np.cumsum(marginal), tail))
        last = count - int(np.searchsorted(np.cumsum(marginal[::-1]), tail))
        low.append(grid.low[p] + max(first - 1, 0) * grid.step[p])
        high.append(grid.low[p] + min(last + 1, count) * grid.step[p])
    return np.array(low), np.array(high)


def _refuse_far_from_data(
    what: str, grid: Grid, held: FloatArray, region: Frame, names: tuple[str, ...]
) -> None:
    apart = np.abs(grid.centres - region.centre) / region.scale
    for p, name in enumerate(names):
        outside = float(held[apart[:, p] > NEAR_DATA].sum())
        if outside > MOST_OUTSIDE:
            raise ReadoutError(
                f"{100 * outside:.0f} % of {what} would be with {name} further than {NEAR_DATA:g} "
                f"standard deviations from the data: either {name} wanders off and has no "
                "stationary law, or the data are too short to know it. Fit longer data, give a "
                "box= if you trust the equations there, or ask for the passage from a state to a "
                "set where the data were, which needs no stationary law."
            )
