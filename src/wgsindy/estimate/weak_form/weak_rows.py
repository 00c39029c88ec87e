"""From data, library and recipe to linear systems.

A :class:`WeakForm` owns the smoothers and knows how to project anything that can be computed
from a chunk onto weak rows: ``Pi @ columns``, added up per group of trajectories. Increments are
divided by the scale of their coordinate, so every target is in standardised units; with the
absolute floors of the paper's text they stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wgsindy.data import BoolArray, Chunk, Dataset, FloatArray, Frame, IntArray, Scratch, Spans
from wgsindy.errors import RecipeError
from wgsindy.estimate.weak_form.smoother import Smoother, build_smoother, taught_by
from wgsindy.model import tensor
from wgsindy.passes import SERIAL, DataSummary, Engine, SumPass, added, data_summary, reduce
from wgsindy.recipes import WeakFormRecipe
from wgsindy.terms import Basis, origin_of


@dataclass(frozen=True)
class Lag:
    """Sums over pairs of neighbouring increments."""

    pairs: int
    products: FloatArray  # (d, d)


class LagPass(SumPass[Lag]):
    """Sum products of neighbouring increments of one trajectory; never across two.

    Increments are divided by ``scale (d,)``.
    """

    def __init__(self, scale: FloatArray) -> None:
        self.scale = scale

    def empty(self) -> Lag:
        d = len(self.scale)
        return Lag(0, np.zeros((d, d)))

    def add(self, total: Lag, chunk: Chunk) -> Lag:
        assert chunk.following is not None
        kept = chunk.is_followed
        following = np.where(kept[:, None], chunk.following / self.scale, 0.0)
        found = Lag(int(kept.sum()), (chunk.increments / self.scale).T @ following)
        return added(total, found)


def lag_one_noise(data: Dataset, scale: FloatArray, *, engine: Engine = SERIAL) -> FloatArray:
    """Covariance of additive observation noise in units of ``scale (d,)``, ``(d, d)``.

    Independent noise on each sample makes neighbouring increments covary by minus its covariance.
    Positive semidefinite. The drift leaves its own trace: -(E[b b'] + E[a J']) dt^2, J its
    derivatives, is taken for noise.
    """
    lag = reduce(LagPass(scale), data, engine=engine, following=True)
    raw = -(lag.products + lag.products.T) / (2 * max(lag.pairs, 1))
    return tensor.clip(raw[None])[0]


# Of a chunk that one smoother serves, and of the library on it (n, K), make (n, C); both are best
# laid out column by column, which is how everything is computed.
Columns = Callable[[Chunk, FloatArray], FloatArray]

_scratch = Scratch()


@dataclass(frozen=True)
class ProjectionPass(SumPass[FloatArray]):
    """Sum ``Pi @ columns`` (or ``Pi^2 @ columns``) per group; total ``(G, J, C)``.

    It has no more of the :class:`WeakForm` than it needs, and no data: it may be sent elsewhere.
    """

    basis: Basis
    smoothers: tuple[Smoother, ...]
    fold: IntArray
    group: IntArray
    mean_dt: float
    columns: Columns
    shape: tuple[int, int, int]
    squared: bool

    def empty(self) -> FloatArray:
        return np.zeros(self.shape)

    def add(self, total: FloatArray, chunk: Chunk) -> FloatArray:
        for fold, piece in self._by_smoother(chunk):
            columns = self.columns(piece, self.basis.values(piece.states))
            rows = self.smoothers[fold].rows(piece, self.mean_dt)
            if self.squared:
                np.square(rows, out=rows)
            self._add_rows(total, rows, columns, self.group[piece.trajectory])
        return total

    def _by_smoother(self, chunk: Chunk) -> Iterator[tuple[int, Chunk]]:
        """Yield the samples that each smoother serves."""
        if len(self.smoothers) == 1:
            yield 0, chunk
            return
        smoother_of = self.fold[chunk.trajectory]
        for fold in np.unique(smoother_of).tolist():
            yield fold, chunk.at(smoother_of == fold)

    def _add_rows(
        self, total: FloatArray, rows: FloatArray, columns: FloatArray, group: IntArray
    ) -> None:
        for owner, part in Spans.of(group):
            total[owner, : len(rows)] += rows[:, part] @ columns[part]


@dataclass
class WeakForm:
    """Weak rows of a data set in a basis; see :func:`weak_form`.

    ``fold (R,)`` says which smoother serves each trajectory (all zero if one serves all),
    ``group (R,)`` to which block of rows it adds, ``row_folds (M,)`` in which cross-validation
    fold a row is.
    """

    data: Dataset
    basis: Basis
    recipe: WeakFormRecipe
    summary: DataSummary
    smoothers: tuple[Smoother, ...]
    fold: IntArray
    group: IntArray
    row_folds: IntArray
    engine: Engine = SERIAL

    @property
    def frame(self) -> Frame:
        """Standardised coordinates."""
        return self.summary.frame

    @property
    def units(self) -> FloatArray:
        """What increments are divided by, ``(d,)``: nothing where floors are absolute."""
        absolute = self.recipe.floors == "absolute"
        return np.ones(self.data.dimension) if absolute else self.frame.scale

    @property
    def crossed(self) -> bool:
        """Whether each smoother was taught by the trajectories that it does not serve."""
        return self.recipe.cross_fit and len(self.smoothers) > 1

    @cached_property
    def mean_dt(self) -> float:
        """Mean step of the data."""
        return self.data.mean_dt

    @property
    def n_groups(self) -> int:
        return int(self.group.max()) + 1

    @property
    def n_centres(self) -> int:
        return max(len(smoother.centres) for smoother in self.smoothers)

    def project(self, columns: Columns, width: int, *, squared: bool = False) -> FloatArray:
        """Return ``(M, width)`` weak rows of whatever ``columns(chunk, theta)`` gives."""
        step = ProjectionPass(
            basis=self.basis,
            smoothers=self.smoothers,
            fold=self.fold,
            group=self.group,
            mean_dt=self.mean_dt,
            columns=columns,
            shape=(self.n_groups, self.n_centres, width),
            squared=squared,
        )
        return reduce(step, self.data, engine=self.engine).reshape(-1, width)

    @cached_property
    def _first_pass(self) -> dict[str, FloatArray]:
        """Everything that does not depend on a fit, in one pass."""
        d, (left, right) = self.data.dimension, self.basis.products[0]
        scale = self.units

        def columns(chunk: Chunk, theta: FloatArray) -> FloatArray:
            rate = (chunk.increments.T / (scale[:, None] * chunk.dt)).T
            square = tensor.outer_entries(rate) * chunk.dt[:, None]
            found = _scratch.take("columns", sum(widths.values()), len(theta))
            others, products = np.split(found, [-len(left)])
            np.concatenate([theta.T, rate.T, square.T], out=others)
            factor = _scratch.take("factor", *products.shape)
            # Any mode but "raise" writes to its place at once.
            np.take(theta.T, left, axis=0, out=products, mode="clip")
            np.take(theta.T, right, axis=0, out=factor, mode="clip")
            products *= factor
            products *= chunk.dt
            return found.T

        widths = {"design": len(self.basis), "rate": d, "square": d * (d + 1) // 2}
        widths["products"] = len(left)
        rows = self.project(columns, sum(widths.values()))
        pieces = np.split(rows, np.cumsum(list(widths.values()))[:-1], axis=1)
        return dict(zip(widths, pieces, strict=True))

    @property
    def design(self) -> FloatArray:
        """``A = Pi Theta (M, K)``."""
        return self._first_pass["design"]

    @property
    def drift_targets(self) -> FloatArray:
        """``B = Pi (dX / dt) (M, d)``, in units of the targets."""
        return self._first_pass["rate"]

    @property
    def square_targets(self) -> FloatArray:
        """``Pi (dX dX' / dt) (M, E)``, in units of the targets."""
        return self._first_pass["square"]

    def drift_square(self, drift: FloatArray) -> FloatArray:
        """``Pi (b b' dt) (M, E)`` for drift coefficients ``(d, K)``.

        The rows of all products of two terms are known, so this needs no pass over the data.
        """
        products, index = self._first_pass["products"], self.basis.products[1]
        pairs = tensor.pairs(len(drift))
        combined = np.zeros((len(pairs), products.shape[1]))
        for e, (p, q) in enumerate(pairs):
            np.add.at(combined[e], index.ravel(), np.outer(drift[p], drift[q]).ravel())
        return products @ combined.T

    def noise_rows(self, covariance: FloatArray) -> FloatArray:
        """``Pi (2 Sigma / dt) (M, E)`` for an observation-noise covariance ``(d, d)``."""
        entries = 2 * tensor.entries_of(covariance[None])

        def columns(chunk: Chunk, theta: FloatArray) -> FloatArray:
            return entries / chunk.dt[:, None]

        return self.project(columns, entries.shape[1])

    def row_noise(self, entries: FloatArray, floor: float) -> FloatArray:
        """``V = Pi^2 (a / dt) (M, E)``: noise covariance of each weak drift row.

        ``entries (F, E, K)`` are first-pass tensor coefficients, one set per smoother.
        """
        d, fold_of = self.data.dimension, self.fold

        def columns(chunk: Chunk, theta: FloatArray) -> FloatArray:
            raw = theta @ entries[fold_of[chunk.trajectory[0]]].T  # one smoother serves them all
            field = tensor.clip(tensor.symmetric(raw, d), floor)
            return tensor.entries_of(field) / chunk.dt[:, None]

        return self.project(columns, entries.shape[1], squared=True)

    def factor_targets(
        self, entries: FloatArray, floor: float, order: Sequence[int] | None = None
    ) -> FloatArray:
        """``Pi l (M, E)``: Cholesky fields of the clipped tensor with coefficients ``(E, K)``.

        The factor takes the coordinates in ``order``, as they come unless given.
        """
        d = self.data.dimension
        taken = range(d) if order is None else order
        ordered = entries[[tensor.entry_number(taken[p], taken[q]) for p, q in tensor.pairs(d)]]

        def columns(chunk: Chunk, theta: FloatArray) -> FloatArray:
            field = tensor.clip(tensor.symmetric(theta @ ordered.T, d), floor)
            return tensor.entries_of(tensor.cholesky(field))

        return self.project(columns, len(entries))

    def without(self, fold: int) -> WeakForm:
        """Return the rows of the other folds' trajectories, by the smoother that they taught.

        Nothing in it depends on the data of the fold but the units.
        """
        others = np.flatnonzero(self.fold != fold)
        zeros = np.zeros(len(others), dtype=np.int64)
        _, folds = np.unique(self.fold[others], return_inverse=True)
        group = np.arange(len(others)) if self.n_groups == len(self.data) else folds
        owner = np.empty(int(group.max()) + 1, dtype=np.int64)
        owner[group] = folds
        smoother = self.smoothers[fold]
        return WeakForm(
            data=self.data.subset(others.tolist()),
            basis=self.basis,
            recipe=self.recipe,
            summary=self.summary,
            smoothers=(smoother,),
            fold=zeros,
            group=group,
            row_folds=np.repeat(owner, len(smoother.centres)),
            engine=self.engine,
        )

    @cached_property
    def observation_noise(self) -> FloatArray:
        """Covariance of additive observation noise from lag-one products, ``(d, d)``, PSD."""
        return lag_one_noise(self.data, self.units, engine=self.engine)

    @cached_property
    def condition_number(self) -> float:
        """Condition number of the design with unit columns."""
        norms = np.linalg.norm(self.design, axis=0)
        return float(np.linalg.cond(self.design / np.where(norms > 0, norms, 1.0)))


def weak_form(
    data: Dataset, basis: Basis, recipe: WeakFormRecipe, *, seed: int, engine: Engine = SERIAL
) -> WeakForm:
    """Build smoothers and bookkeeping; rows are computed when first asked for.

    Raises
    ------
    RecipeError
        If a smoother is to be taught by other trajectories and there are none.
    """
    if recipe.cross_fit and len(data) == 1:
        raise RecipeError(
            "cross_fit=True builds the smoother of a trajectory from the others, and there is 1 "
            "trajectory; give several, or leave cross_fit out."
        )
    summary = data_summary(data, standardise=recipe.standardise, engine=engine)
    basis = basis.about(origin_of(basis, summary.region))
    if basis.is_closed:
        basis = basis.in_frame(summary.frame)
    n_folds = min(recipe.folds, len(data))
    # Dealt out in order of mean position: folds are alike, whatever the order of the files.
    trajectory_fold = summary.rank % n_folds
    grouped = recipe.rows != "pooled" and len(data) > 1
    if recipe.cross_fit:
        fold = trajectory_fold
        smoothers = tuple(
            _smoother_without(data, trajectory_fold == f, recipe, seed, engine)
            for f in range(n_folds)
        )
    else:
        smoother = build_smoother(data, summary, recipe, seed, engine)
        fold, smoothers = _serving(data, smoother, engine, separate=recipe.rows == "separate")
    group = np.arange(len(data)) if grouped else fold
    n_centres = max(len(smoother.centres) for smoother in smoothers)
    if grouped or recipe.cross_fit:
        owner = np.empty(int(group.max()) + 1, dtype=np.int64)
        owner[group] = trajectory_fold
        row_folds = np.repeat(owner, n_centres)
    else:
        row_folds = np.arange(n_centres) * min(recipe.folds, n_centres) // n_centres
    return WeakForm(data, basis, recipe, summary, smoothers, fold, group, row_folds, engine)


def _serving(
    data: Dataset, smoother: Smoother, engine: Engine, *, separate: bool
) -> tuple[IntArray, tuple[Smoother, ...]]:
    """Which smoother serves each trajectory: one for all, or one each, of its own samples."""
    if not separate:
        return np.zeros(len(data), dtype=np.int64), (smoother,)
    own = [taught_by(data.subset([r]), smoother, data.mean_dt, engine) for r in range(len(data))]
    return np.arange(len(data)), tuple(own)


def _smoother_without(
    data: Dataset, held_out: BoolArray, recipe: WeakFormRecipe, seed: int, engine: Engine
) -> Smoother:
    others = data.subset(np.flatnonzero(~held_out).tolist())
    summary = data_summary(others, standardise=recipe.standardise, engine=engine)
    return build_smoother(others, summary, recipe, seed, engine)
