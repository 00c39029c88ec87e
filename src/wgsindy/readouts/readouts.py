"""``Readouts``: everything that follows from a generator, computed when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data import (
    Dataset,
    FloatArray,
    Frame,
    IntArray,
    real_number,
    real_numbers,
    whole_number,
)
from wgsindy.errors import ReadoutError
from wgsindy.passes import data_summary
from wgsindy.readouts import long_run, state_space
from wgsindy.readouts.chain import Chain, Grid, factorise, shape_of
from wgsindy.readouts.grid_error import (
    Field,
    Forecast,
    Oscillation,
    PassageTime,
    Rate,
    Split,
    TwoGrids,
    Value,
    matched,
)
from wgsindy.readouts.long_run import (
    OVERLAP,
    ComplexArray,
    Ending,
    Evolution,
    Level,
    Modes,
    Region,
    level_of,
    metastable_sets,
    modes,
    moments_after,
    observed,
    point_of,
    targets,
)
from wgsindy.readouts.textbook_models import NamedModel, named_model
from wgsindy.terms import Expression

if TYPE_CHECKING:
    from wgsindy.model import Generator

COMPUTED_RATES = 6  # the slowest: a page shows four of them
BESIDE = 2  # a pair more in draws, where another may come before the slowest of these
NO_TIME = 1e-200  # a time of zero: its logarithm is that of the least number that is taken
TURNING = 1e-6  # an angular frequency above it is one: errors of eigenvalues are below


class Readouts:
    """What a generator tells; see :meth:`wgsindy.Generator.readouts`.

    Everything is computed on a grid of ``cells`` a side of a ``box`` when it is asked for, and
    again on half as many cells, which gives grid errors. Intervals are those of ``draws``
    generators from the errors of the fit.

    Examples
    --------
    >>> from wgsindy import zoo
    >>> told = zoo.get("rotational_ou").generator.readouts(cells=64)
    >>> told.gap
    1.00 (grid 0.0049)
    >>> round(float(told.entropy_production), 2)
    8.0
    """

    def __init__(
        self,
        generator: Generator,
        data: Dataset | None = None,
        box: Any = None,
        cells: int | Sequence[int] | None = None,
        *,
        draws: int = 50,
        level: float = 0.95,
        random_state: int = 0,
    ) -> None:
        if not isinstance(data, Dataset | None):
            raise ReadoutError(f"data must be Trajectories, got {type(data).__name__}.")
        whole_number(draws, "draws", 0, ReadoutError)
        whole_number(random_state, "random_state", 0, ReadoutError)
        self.generator = generator
        self._data, self._box, self._cells = data, box, cells
        self._draws, self._level, self._seed = draws, level, random_state
        if not 0 < real_number(level, "level", ReadoutError) < 1:
            raise ReadoutError(f"the level of an interval is a probability, got {level!r}.")

    @property
    def region(self) -> Frame | None:
        """Mean and spread of the data, if they are known."""
        if self._data is not None:
            return data_summary(self._data, standardise=True).frame
        return self.generator.region

    @cached_property
    def grid(self) -> Grid:
        """The cells on which everything is computed."""
        self._refuse_inputs()
        if self._box is None:
            return self._cut_into_cells(*state_space.find_box(self.generator, self.region))
        return self._cut_into_cells(*state_space.given_box(self._box, self.generator.names))

    def _cut_into_cells(self, low: FloatArray, high: FloatArray) -> Grid:
        return Grid(low, high, shape_of(self._cells, self.generator.dimension))

    def _refuse_inputs(self) -> None:
        if self.generator.inputs:
            raise ReadoutError(
                f"this process is driven by {', '.join(self.generator.inputs)}: what it does in "
                "the long run is what that does."
            )

    @cached_property
    def solved(self) -> TwoGrids:
        """The chains behind everything, for whoever wants to compute something else."""
        # A box that was found closed on a fine grid is not given up because a coarse one leaks.
        cut = state_space.LOOSE_CUT if self._box is None else state_space.CUT
        return replace(self._on_two_grids(self.grid), cut=cut)

    def _on_two_grids(self, grid: Grid) -> TwoGrids:
        return TwoGrids(self.generator, grid, self._draws, self._level, self._seed)

    def _points(self, points: ArrayLike) -> FloatArray:
        return self.generator._points(points)

    def _within(self, points: ArrayLike) -> FloatArray:
        """Points ``(n, d)`` in the box: beyond it nothing is known."""
        x = self._points(points)
        for point in x[~self.grid.inside(x)]:
            point_of(point, self.grid)
        return x

    # The stationary law

    def density(self, points: ArrayLike) -> Field:
        """Stationary density at points ``(n, d)``; zero outside of the box."""
        x = self._points(points)

        def log_density(chain: Chain) -> FloatArray:
            grid = chain.grid
            return np.exp(grid.at(x, np.log(chain.density)))

        found = self.solved.field(log_density, "log")
        kept = self.grid.inside(x) | np.isnan(x).any(axis=1)
        return found.mapped(lambda part: np.where(kept, part, 0.0))

    def marginal(self, name: str, values: ArrayLike) -> Field:
        """Stationary density of one coordinate at ``values (n,)``, whatever the others are."""
        names = self.generator.names
        if name not in names:
            raise ReadoutError(f"there is no coordinate {name!r}; choose one of {list(names)}.")
        p, places = names.index(name), _finite(values, "values")

        def density(chain: Chain) -> FloatArray:
            grid = chain.grid
            held = np.bincount(grid.cells[:, p], chain.probability, grid.shape[p])
            centres = grid.low[p] + (np.arange(grid.shape[p]) + 0.5) * grid.step[p]
            return np.interp(places, centres, held / grid.step[p], left=0.0, right=0.0)

        return self.solved.field(density, "positive")

    def potential(self, points: ArrayLike) -> Field:
        """-log of the stationary density, zero where it is largest, at points ``(n, d)``.

        For b = -grad V and isotropic noise of variance s^2 it is 2 V / s^2.
        """
        x = self._within(points)

        def depth(chain: Chain) -> FloatArray:
            height = -np.log(chain.density)
            return chain.grid.at(x, height - height.min())

        return self.solved.field(depth)

    def current(self, points: ArrayLike) -> Field:
        """Stationary current J ``(n, d)`` of probability at points ``(n, d)``; zero off the box."""
        x = self._points(points)
        inside = self.grid.inside(x)[:, None]
        return self.solved.field(lambda chain: inside * chain.grid.at(x, long_run.current(chain)))

    def split(self, points: ArrayLike) -> Split:
        """The drift at points ``(n, d)`` as a conservative and a rotational part."""
        x = self._within(points)

        def velocity(chain: Chain) -> FloatArray:
            flow = long_run.current(chain) / chain.density[:, None]
            return chain.grid.at(x, flow, order=1)

        def rest(chain: Chain) -> FloatArray:
            return chain.generator.drift(x) - velocity(chain)

        return Split(self.solved.field(rest), self.solved.field(velocity))

    @cached_property
    def entropy_production(self) -> Value:
        """Entropy produced a unit of time, in units of Boltzmann's constant; zero if reversible.

        Raises
        ------
        ReadoutError
            If noise is missing in some direction: then it needs to know which coordinates are
            momenta, and this formula does not hold.
        """
        if self.solved.fine.is_upwind:
            raise ReadoutError(
                "entropy production is defined for a tensor of full rank; here noise is missing "
                "in some direction, or too small for this grid: give more cells=."
            )
        produced = self.solved.field(
            lambda chain: np.array(long_run.entropy_production(chain)), "positive"
        )
        return produced.entry(0, self._level)

    @cached_property
    def mean(self) -> Field:
        """Stationary mean ``(d,)``."""
        return self.solved.field(lambda chain: long_run.moments(chain)[0])

    @cached_property
    def covariance(self) -> Field:
        """Stationary covariance ``(d, d)``."""
        return self.solved.field(lambda chain: long_run.moments(chain)[1])

    @cached_property
    def named(self) -> NamedModel:
        """The familiar model that these equations are, with its parameters.

        Raises
        ------
        ReadoutError
            If they are none that is known here.
        """
        return named_model(self.generator, level=self._level, random_state=self._seed)

    # Relaxation

    @cached_property
    def _modes(self) -> Modes:
        self.solved.refuse_cut()
        return modes(self.solved.fine, COMPUTED_RATES)

    def _eigenvalues(self, chain: Chain) -> ComplexArray:
        """Rates of any chain, in the order of those of the fitted generator."""
        if chain is self.solved.fine:
            return self._modes.values
        found = modes(chain, COMPUTED_RATES + BESIDE).values
        return found[matched(list(found), list(self._modes.values))]

    @cached_property
    def rates(self) -> tuple[Rate, ...]:
        """The slowest eigenvalues, complex where the process turns; the slowest first."""
        cache: dict[int, ComplexArray] = {}

        def of(chain: Chain) -> ComplexArray:
            if id(chain) not in cache:
                cache[id(chain)] = self._eigenvalues(chain)
            return cache[id(chain)]

        decay = self.solved.field(lambda chain: -of(chain).real, "log")
        turn = self.solved.field(lambda chain: of(chain).imag)
        return tuple(
            Rate(decay.entry(k, self._level), turn.entry(k, self._level))
            for k in range(len(self._modes.values))
        )

    @property
    def gap(self) -> Value:
        """Decay of the slowest mode: the rate at which the process forgets where it was."""
        return self.rates[0].decay

    @property
    def relaxation_times(self) -> tuple[Value, ...]:
        """1 / decay of each of the rates."""
        return tuple(rate.decay.inverse() for rate in self.rates)

    def modes(self, points: ArrayLike) -> ComplexArray:
        """Eigenfunctions ``(n, k)`` of the rates at points ``(n, d)``, of unit variance."""
        found, grid = self._modes.functions, self.grid
        x = self._within(points)
        return np.asarray(grid.at(x, found.real) + 1j * grid.at(x, found.imag))

    def metastable_sets(self, points: ArrayLike) -> IntArray:
        """Number of the metastable set of each of the points ``(n, d)``; all 0 if there is one."""
        sets = metastable_sets(self._modes).astype(np.float64)
        nearest = self.grid.at(self._within(points), sets, order=0)
        return np.rint(nearest).astype(np.int64)

    @property
    def oscillation(self) -> Oscillation:
        """Frequency and quality of the slowest mode that turns.

        Raises
        ------
        ReadoutError
            If none of the rates is complex.
        """
        turning = [k for k, rate in enumerate(self.rates) if rate.frequency.value > TURNING]
        if not turning:
            raise ReadoutError("nothing turns: all of the slowest rates are real.")
        k = turning[0]

        def of(chain: Chain) -> FloatArray:
            value = self._eigenvalues(chain)[k]
            return np.array([abs(value.imag) / (2 * np.pi), abs(value.imag / (2 * value.real))])

        found = self.solved.field(of, "log")
        return Oscillation(found.entry(0, self._level), found.entry(1, self._level))

    def autocorrelation(self, times: ArrayLike, of: str | None = None) -> Field:
        """Correlation ``(k,)`` of a quantity with itself after ``times (k,)``; 1 at zero.

        ``of`` is a formula of the states; by default the first of them.
        """
        after = _finite(times, "times", least=0.0)
        later = after[after > 0]
        shift = 1.0 / float(np.median(later)) if len(later) else self.solved.fine.crossing

        def correlation(chain: Chain) -> FloatArray:
            moved, seen = observed(chain, self._formula(of))
            found = Evolution.of(factorise(chain.rates, shift), moved, shift).at(after, seen)
            return np.asarray(found / (seen @ moved))

        return self.solved.field(correlation)

    def power_spectrum(self, frequencies: ArrayLike, of: str | None = None) -> Field:
        """Two-sided power spectrum ``(k,)`` at ``frequencies (k,)`` in turns a unit of time.

        The transform of the autocovariance of ``of``, a formula of the states (by default the
        first of them): its integral over all frequencies, of both signs, is the variance.
        """
        angular = 2 * np.pi * _finite(frequencies, "frequencies")
        shift = max(float(np.median(np.abs(angular))), self.solved.fine.crossing)

        def spectrum(chain: Chain) -> FloatArray:
            moved, seen = observed(chain, self._formula(of))
            return Evolution.of(factorise(chain.rates, shift), moved, shift).spectrum(angular, seen)

        return self.solved.field(spectrum, "log")

    def _formula(self, of: str | None) -> Expression:
        names = self.generator.names
        return Expression.parse(names[0] if of is None else of, names)

    # Passage

    def passage_time(self, start: ArrayLike | str, target: Region) -> PassageTime:
        """Time until ``target`` is reached from ``start``, with its variance.

        ``target`` is a set, such as ``"x > 0"``; ``start`` is a state ``(d,)``, or a set, over
        which the stationary law is averaged.
        """
        level = level_of(target, self.generator.names)
        if isinstance(start, str):
            solved, starts = self.solved, np.empty((0, self.generator.dimension))
        else:
            starts = self._points(np.atleast_1d(np.asarray(start))[None])
            if level(starts)[0] <= 0:
                return PassageTime(Value(0.0), Value(0.0))
            solved = self._passages([level], starts, timed=True)

        def times(chain: Chain) -> FloatArray:
            found = Ending(chain, targets(chain, [level], starts))
            weights = self._start(start, chain)
            mean = weights @ found.mean
            return np.array([mean, weights @ (found.variance + found.mean**2) - mean**2])

        found = solved.field(times, "log")
        if found.values[0] < NO_TIME:
            raise ReadoutError(f"{start!r} lies in {target!r}: that passage takes no time.")
        return PassageTime(found.entry(0, self._level), found.entry(1, self._level))

    def _passages(self, levels: list[Level], starts: FloatArray, timed: bool) -> TwoGrids:
        """Chains for passages into sets: those of the stationary law if it reaches them."""
        self._refuse_inputs()
        reached = False
        with suppress(ReadoutError):
            self.solved.refuse_cut()
            reached = all(bool((level(self.grid.centres) < 0).any()) for level in levels)
        if reached or self._box is not None:
            self._within(starts)
        if reached:
            return self.solved

        def check(chain: Chain) -> None:
            felt = state_space.felt_sides(chain, levels, starts, timed)
            if felt:
                raise ReadoutError(state_space.too_small(felt, self.generator.names))

        if self._box is not None:
            return replace(self.solved, check=check)
        box = state_space.closing_box(self.generator, self.region, levels, starts, timed)
        return replace(self._on_two_grids(self._cut_into_cells(*box)), check=check)

    def _start(self, start: ArrayLike | str, chain: Chain) -> FloatArray:
        """Weights ``(n,)`` of the cells at which a passage starts."""
        if not isinstance(start, str):
            return chain.grid.weights_at(point_of(start, chain.grid))
        inside = level_of(start, self.generator.names)(chain.grid.centres) < 0
        if not inside.any():
            raise ReadoutError(f"no cell of the box is in the set {start!r}.")
        weights = np.where(inside, chain.probability, 0.0)
        return np.asarray(weights / weights.sum())

    def committor(self, first: Region, second: Region, points: ArrayLike) -> Field:
        """Probability ``(n,)`` to reach ``second`` before ``first`` from points ``(n, d)``."""
        x, names = self._points(points), self.generator.names
        levels = [level_of(first, names), level_of(second, names)]
        held = [level(x) <= 0 for level in levels]
        if (held[0] & held[1]).any():
            raise ReadoutError(OVERLAP)
        free = ~(held[0] | held[1])
        if not free.any():
            there = held[1].astype(np.float64)
            return Field(there, there, there, np.zeros(len(x)))
        starts = x[free]
        solved = self._passages(levels, starts, timed=False)

        def chance(chain: Chain) -> FloatArray:
            sets = targets(chain, levels, starts)
            found = held[1].astype(np.float64)
            found[free] = chain.grid.at(x[free], Ending(chain, sets).chance(1), order=1)
            return found

        return solved.field(chance).limited(0.0, 1.0)

    # Forecasts

    def forecast(self, x0: ArrayLike, t: float) -> Forecast:
        """Mean ``(d,)`` and covariance ``(d, d)`` of the state at time ``t`` after ``x0``."""
        if not 0 < real_number(t, "t", ReadoutError) < np.inf:
            raise ReadoutError(f"a forecast is for a time after now, got t = {t!r}.")

        start = point_of(x0, self.grid)

        def law(chain: Chain) -> FloatArray:
            return np.vstack(moments_after(chain, start, t))

        def check(chain: Chain) -> None:
            gone = state_space.left_before(chain, start, t)
            if gone > state_space.FELT:
                raise ReadoutError(
                    f"the box is left before t = {t:g} with probability {gone:.2g}, and what "
                    "happens beyond it is not known; give a larger box=, or simulate."
                )

        solved = replace(self.solved, check=check)
        with suppress(ReadoutError):
            self.solved.refuse_cut()
            solved = self.solved
        found = solved.field(law, stationary=False)
        return Forecast(found.mapped(lambda part: part[0]), found.mapped(lambda part: part[1:]))


def _finite(values: ArrayLike, name: str, least: float = -np.inf) -> FloatArray:
    """Return arguments ``(k,)`` that are finite numbers from ``least`` on, at least one."""
    found = np.atleast_1d(real_numbers(values, name, ReadoutError))
    if not found.size or not (np.isfinite(found) & (found >= least)).all():
        bound = " from 0 on" if least == 0 else ""
        raise ReadoutError(f"{name} must be finite numbers{bound}, got {values!r:.80}.")
    return found
