"""Which terms each drift component and each tensor entry gets: costs, bonuses, order of search.

Selection happens in the physical coordinates, where a truth is sparse. A tensor that turns negative
beyond the data, or covaries more than it varies there (:class:`Extrapolation`), must be worth it:
close to the data many formulas agree, and a little further out most of those with a term too many
have a negative variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from wgsindy.data import BoolArray, FloatArray
from wgsindy.errors import LibraryError
from wgsindy.estimate.evidence import Penalty, Posterior, Problem, improved, search
from wgsindy.estimate.likelihood.normal_equations import NormalEquations
from wgsindy.estimate.likelihood.process import Process, blank_noiseless
from wgsindy.model import Alternative, field_names, tensor
from wgsindy.passes import DataSummary
from wgsindy.recipes import LikelihoodRecipe
from wgsindy.terms import Basis, round_number

NEGATIVE_COST = 5.0  # log-evidence for a variance that turns negative beyond the data
REACH = 2.0  # how far beyond the data a variance must stay positive
FAR_POINTS, FEW_POINTS = 7, 3  # grid points a coordinate for that check, of few and of many
MOST_POINTS = 729  # of the grid: beyond, it is a sample of itself
ROUNDED_SHARE = 1e-9
ENTRY_SWEEPS = 2
MOST_SWEEPS, SETTLED = 20, 1e-4  # over the components of the drift, until they agree
SHARED_BONUS = 2.0  # log-evidence off for a term that all other entries of the tensor have
EQUAL, MOST_EQUAL = 3.0, 5  # log-evidence behind the best formula of a field, and how many
STRONG = 4.0  # log-evidence (55 to 1) below which a simpler formula is shown beside it
SURE = 1e6  # log-evidence for or against a term whose presence is known


@dataclass(frozen=True)
class Extrapolation:
    """A box around the data, seen through the library; ``basis`` is in physical terms."""

    basis: Basis
    summary: DataSummary

    @cached_property
    def library(self) -> FloatArray:
        """Library ``(n, K)`` on a grid of the box, as far as it is defined there.

        A coordinate that is never negative is not asked for what it would do below its minimum.
        """
        points = FAR_POINTS if len(self.summary.low) <= 3 else FEW_POINTS
        origin = self.basis.origin
        lowest, highest = self.summary.low - origin, self.summary.high - origin
        for reach in (REACH, 1.0):
            axes = []
            for low, high in zip(lowest, highest, strict=True):
                far = reach * max(abs(low), abs(high))
                ends = (-far if low < 0 else low, far if high > 0 else high)
                axes.append(np.linspace(*ends, points))
            try:
                return self.basis.values(origin + _grid(axes))
            except LibraryError:  # a root or an exponential that ends between here and there
                continue
        return np.empty((0, len(self.basis)))

    def against_negative(self, coefficients: FloatArray) -> FloatArray:
        """Nats ``(M,)`` against variances ``(M, K)`` that turn negative."""
        values = coefficients @ self.library.T
        scale = np.abs(values).max(axis=1, initial=0.0)
        return NEGATIVE_COST * (values.min(axis=1, initial=0.0) < -ROUNDED_SHARE * scale)

    def against_indefinite(self, first: FloatArray, second: FloatArray) -> Penalty:
        """Nats against covariances that no noise with these two variances ``(K,)`` can have."""
        own = [variance @ self.library.T for variance in (first, second)]
        most = np.maximum(own[0], 0.0) * np.maximum(own[1], 0.0)

        def penalty(coefficients: FloatArray) -> FloatArray:
            square = (coefficients @ self.library.T) ** 2
            impossible = (square > (1 + ROUNDED_SHARE) * most).any(axis=1)
            return np.where(impossible, NEGATIVE_COST, 0.0)

        return penalty


def _grid(axes: list[FloatArray]) -> FloatArray:
    """Points ``(n, d)`` of the grid; of a large one each axis, and as many others at random."""
    sizes = [len(axis) for axis in axes]
    if prod(sizes) <= MOST_POINTS:
        return np.array(list(product(*axes)))
    middle = np.array([axis[len(axis) // 2] for axis in axes])
    along = [
        np.where(np.arange(len(axes)) == p, end, middle)
        for p in range(len(axes))
        for end in (axes[p][0], axes[p][-1])
    ]
    rng = np.random.default_rng(0)  # the same points for all that is compared on them
    others = [rng.choice(axis, MOST_POINTS) for axis in axes]
    return np.vstack([middle, *along, np.transpose(others)])


class ConditionalChoice(NamedTuple):
    """What can be told of one drift component, and which terms it has."""

    problem: Problem
    posterior: Posterior


@dataclass(frozen=True)
class TermSelection:
    """How terms are chosen; ``basis`` is in physical terms.

    ``given (d + E, K)``: the terms of each field, where they are known. Nothing is selected then.
    ``known (d + E, K)``: coefficients of fields that are not estimated, in units of the noise; NaN
    for all others. Terms beyond ``most_degree`` are not chosen, nor, with ``one_noise``, terms of
    the tensor that differ between states.
    """

    basis: Basis
    extrapolation: Extrapolation
    recipe: LikelihoodRecipe
    given: BoolArray | None
    known: FloatArray | None = None
    most_degree: float = np.inf
    one_noise: bool = False

    @cached_property
    def costs(self) -> FloatArray:
        """Log-evidence that each term must be worth, ``(K,)``.

        A term that is not there gains half a chi-squared number, half the square of a normal one.
        The cost is what the largest of K such numbers exceeds with probability ``false_alarm``.
        Degrees beyond the first cost extra.
        """
        tail = self.recipe.false_alarm / len(self.basis) / 2
        chance = 0.5 * NormalDist().inv_cdf(tail) ** 2
        costs = chance + self.recipe.degree_cost * np.maximum(self.basis.degrees - 1.0, 0.0)
        return np.where(self.basis.degrees > self.most_degree, SURE, costs)

    def _costs_of(self, field: int) -> FloatArray:
        """Costs ``(K,)`` of one of the ``d + E`` fields; those of known inputs have no terms."""
        d, inputs = len(self.basis.names), self.extrapolation.summary.inputs
        last = field if field < d else max(tensor.pairs(d)[field - d])
        if last >= d - inputs:
            return np.full(len(self.basis), SURE)
        if self.given is not None:
            return np.where(self.given[field], -SURE, SURE)
        differs = self.one_noise & (field >= d) & (self.basis.degrees > 0)
        return np.where(differs, SURE, self.costs)

    def _is_known(self, field: int) -> bool:
        return self.known is not None and not np.isnan(self.known[field]).any()

    def _certain(self, field: int) -> Posterior:
        assert self.known is not None
        return Posterior.certain(self.known[field])

    def drift(
        self, equations: NormalEquations, start: FloatArray, *, thorough: bool = False
    ) -> list[Posterior]:
        """Select the terms of each drift component conditional on the others (block Gauss-Seidel).

        Correlated noise makes the residuals of one component informative about the others.
        ``start (d, K)`` is what is known of them before, in working terms.
        """
        current = start.copy()
        for _ in range(MOST_SWEEPS if thorough and equations.coupled else 0):
            before = current.copy()
            self._sweep_drift(equations, current, exhaustive=False)
            if np.abs(current - before).max() <= SETTLED * np.abs(current).max(initial=0.0):
                break
        found = self._sweep_drift(equations, current, exhaustive=thorough)
        if self.given is not None or not equations.coupled:
            return found
        return self._reconsidered(equations, found, exhaustive=thorough)

    def _reconsidered(
        self, equations: NormalEquations, found: list[Posterior], *, exhaustive: bool
    ) -> list[Posterior]:
        """Choose again while the others follow, until no component wants other terms.

        Given the numbers of the others, a term that is missing here may stand in one of them, where
        the noise they share has taken it, and be missed by neither.
        """
        first = np.array([posterior.best for posterior in found])
        supports, later = first.copy(), list(found)
        problem, free = self._all_components(equations), self._free(first.shape)
        costs = np.array([self._costs_of(p) for p in range(len(found))])
        supports[free] = improved(problem.only(free.ravel()), costs[free], supports[free])
        for _ in range(MOST_SWEEPS):
            before = supports.copy()
            for p in range(len(found)):
                later[p] = self._beside(problem, supports, p, exhaustive=exhaustive).posterior
                supports[p] = later[p].best
            if (supports == before).all():
                break
        return found if (supports == first).all() else later

    def all_beside(
        self, equations: NormalEquations, found: list[Posterior]
    ) -> list[ConditionalChoice]:
        """Each component of what :meth:`drift` found, and how sure it is if the others follow."""
        supports = np.array([posterior.best for posterior in found])
        if equations.coupled:
            problem = self._all_components(equations)
            return [self._beside(problem, supports, p) for p in range(len(found))]
        alone = np.zeros(supports.shape)
        return [
            ConditionalChoice(equations.component(alone, p), found[p]) for p in range(len(found))
        ]

    def _all_components(self, equations: NormalEquations) -> Problem:
        """All drift components at once, as far as they are not known."""
        problem, free = equations.all_components(), self._free(equations.drift_cross.shape)
        if self.known is None:
            return problem
        known = np.where(free, 0.0, self.known[: len(free)]).ravel()
        return replace(problem, target=problem.target - problem.root @ (known * problem.norm))

    def _free(self, shape: tuple[int, ...]) -> BoolArray:
        """Which coefficients of the drift ``(d, K)`` are not known."""
        known = np.array([self._is_known(p) for p in range(shape[0])])
        return np.broadcast_to(~known[:, None], shape)

    def _beside(
        self, problem: Problem, supports: BoolArray, p: int, *, exhaustive: bool = True
    ) -> ConditionalChoice:
        """Drift component ``p``, to which others with these terms ``(d, K)`` are fitted anew."""
        own = np.zeros(supports.shape, dtype=bool)
        own[p] = True
        others = supports & self._free(supports.shape) & ~own
        alone = problem.beside(own.ravel(), others.ravel())
        if self._is_known(p):
            return ConditionalChoice(alone, self._certain(p))
        return ConditionalChoice(alone, search(alone, self._costs_of(p), exhaustive=exhaustive))

    def _sweep_drift(
        self, equations: NormalEquations, current: FloatArray, *, exhaustive: bool
    ) -> list[Posterior]:
        """Choose every component, given the others of ``current (d, K)``, which it replaces.

        Two components are replaced at once, so that their order does not matter. With more of them
        that may run away, and they are replaced one after the other.
        """
        known = current.copy() if len(current) <= 2 else current
        found = []
        for p in range(len(current)):
            if self._is_known(p):
                found.append(self._certain(p))
            else:
                problem = equations.component(known, p)
                found.append(search(problem, self._costs_of(p), exhaustive=exhaustive))
            current[p] = self._estimate(found[p]) @ equations.change
        return found

    def _estimate(self, posterior: Posterior) -> FloatArray:
        return posterior.mean if self.recipe.averaging else posterior.coefficients[0]

    def drift_field(self, found: list[Posterior]) -> FloatArray:
        """Coefficients ``(d, K)`` of what :meth:`drift` found, averaged if the recipe says so."""
        return np.array([self._estimate(posterior) for posterior in found])

    def entries(
        self, equations: NormalEquations, start: FloatArray, *, thorough: bool = False
    ) -> list[Posterior]:
        """Entry by entry; a term that the other entries have is cheaper the second time.

        ``start (E, K)`` is what is known of them before, in working terms.
        """
        d, current = equations.dimension, start.copy()
        pairs = tensor.pairs(d)
        inclusion = np.zeros((len(pairs), len(self.basis)))
        found: dict[int, Posterior] = {}
        # Variances first: they say which terms a covariance can be expected to have.
        variances = [e for e, (p, q) in enumerate(pairs) if p == q]
        covariances = [e for e, (p, q) in enumerate(pairs) if p != q]
        for sweep in range(ENTRY_SWEEPS if thorough else 1):
            for group in (variances, covariances):
                before = inclusion.copy()
                for e in group:
                    if self._is_known(d + e):
                        found[e] = self._certain(d + e)
                        continue
                    found[e] = search(
                        equations.entry(current, e),
                        self._costs_of(d + e) - self._shared_bonus(before, e),
                        self._penalty(found, *pairs[e]),
                        exhaustive=thorough and sweep == ENTRY_SWEEPS - 1,
                    )
                    inclusion[e] = found[e].inclusion
                    current[e] = found[e].coefficients[0] @ equations.change
        return [found[e] for e in range(len(pairs))]

    def _shared_bonus(self, inclusion: FloatArray, e: int) -> FloatArray:
        """Log-evidence off for terms ``(K,)`` that the other entries ``(E, K)`` have."""
        d = len(self.basis.names)
        others = [f for f in range(len(inclusion)) if f != e and not self._is_known(d + f)]
        shared = inclusion[others].sum(axis=0) / max(len(others), 1)
        # That noise has a mean level says nothing about its being shared.
        return np.where(self.basis.degrees == 0, 0.0, SHARED_BONUS * shared)

    def _penalty(self, found: dict[int, Posterior], p: int, q: int) -> Penalty:
        """Nats against what entry (p, q) cannot be, given the variances found so far."""
        if p == q:
            return self.extrapolation.against_negative
        own = [found[tensor.entry_number(i, i)].coefficients[0] for i in (p, q)]
        return self.extrapolation.against_indefinite(*own)


def same_terms(before: Sequence[Posterior], after: Sequence[Posterior]) -> bool:
    """Whether all fields have the terms that they had before."""
    return all((a.best == b.best).all() for a, b in zip(before, after, strict=True))


def best_entries(entries: list[Posterior], noiseless_level: FloatArray) -> FloatArray:
    """Coefficients ``(E, K)`` of the best supports; nothing where a coordinate has no noise."""
    fitted = np.array([posterior.coefficients[0] for posterior in entries])
    blank_noiseless(fitted, noiseless_level)
    return fitted


def equally_good(
    drift: list[Posterior], entries: list[Posterior], basis: Basis
) -> tuple[Alternative, ...]:
    """Sets of terms whose evidence is nearly that of the best of their field, best first.

    Simpler are polynomials of a lower degree, or any in the place of another kind of terms.
    """
    terms, near = np.array(basis.formulas), []
    size = np.where(np.arange(len(basis)) < len(basis.monomials), basis.degrees, np.inf)
    names = [name for group in field_names(len(drift)) for name in group]
    for name, posterior in zip(names, [*drift, *entries], strict=True):
        with np.errstate(divide="ignore"):
            behind = np.log(posterior.weights / posterior.weights[0])
        largest = np.where(posterior.supports, size, 0.0).max(axis=1)
        simpler = (behind > -STRONG) & (largest < largest[0])
        equal = np.flatnonzero(behind > -EQUAL)[1 : MOST_EQUAL + 1]
        for row in np.union1d(equal, np.flatnonzero(simpler)[:1]).tolist():
            chosen = tuple(terms[posterior.supports[row]].tolist())
            near.append(Alternative(name, chosen, float(behind[row])))
    return tuple(sorted(near, key=lambda one: -one.log_evidence))


GRIDS = ((0.04, 30), (0.01, 4))  # spreads between points to try, and points either way
NEWTON_STEPS = 8
ROUNDINGS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.005)  # spreads by which the origin may be rounded
CHANCE = 2.0  # log-evidence, a coordinate, below which a round number near the mean is as good
OTHER_TERMS = 4.0  # the same, where formulas have other terms there
SAME = 0.05  # log-evidence that a round number may cost: a third of a standard error


class Posed(NamedTuple):
    """Normal equations about a model, and how terms are chosen from them."""

    equations: NormalEquations
    model: Process
    selection: TermSelection

    def about(self, origin: FloatArray) -> Posed:
        """Express the equations in terms about another origin ``(d,)``."""
        old = self.model.basis
        work = Basis(old.names, old.monomials, old.others, old.frame, origin)
        basis = self.selection.basis.about(origin)
        box = Extrapolation(basis, self.selection.extrapolation.summary)
        return Posed(
            replace(self.equations, change=work.from_physical),
            replace(self.model, basis=work),
            replace(self.selection, basis=basis, extrapolation=box),
        )

    def chosen(self) -> list[Posterior]:
        """Posteriors of all fields, drift first."""
        drift = self.selection.drift(self.equations, self.model.drift)
        return [*drift, *self.selection.entries(self.equations, self.model.entries)]

    @property
    def supports(self) -> list[list[bool]]:
        """Terms of the best formulas."""
        return [one.best.tolist() for one in self.chosen()]

    @property
    def worth(self) -> float:
        """Log-evidence of the best formulas."""
        costs = self.selection.costs
        return sum(float(one.gain - one.best @ costs) for one in self.chosen())

    def at_rest(self) -> FloatArray:
        """Return a point ``(d,)`` within the data where the drift vanishes, by Newton's method."""
        model, inside = self.model, self.model.data_range
        x = inside.probe.mean(axis=0)
        for _ in range(NEWTON_STEPS):
            drift = model.basis.values(x[None])[0] @ model.drift.T
            jacobian = model.drift @ model.basis.gradients(x[None])[0]
            x = np.clip(x - np.linalg.lstsq(jacobian, drift)[0], inside.low, inside.high)
        return x


def about_sparsest(posed: Posed) -> Posed:
    """Measure the terms of coordinates that are far from zero from where they are fewest.

    A polynomial about one point is one about any other, with other coefficients. So the same normal
    equations tell, for every point, what the best formula about it is worth.
    """
    selection, origin = posed.selection, posed.selection.basis.origin
    far = np.flatnonzero(origin)
    if not (len(far) and selection.basis.is_closed) or selection.given is not None:
        return posed
    summary = selection.extrapolation.summary
    spread = summary.region.scale
    starts = [np.where(origin != 0, x, 0.0) for x in (summary.region.centre, posed.at_rest())]
    best, sparsest = max(
        ((posed.about(start).worth, start) for start in (origin, *starts)),
        key=lambda pair: pair[0],
    )
    for width, count in GRIDS:
        for p in far.tolist():
            middle = sparsest
            for k in range(-count, count + 1):
                tried = middle.copy()
                tried[p] += k * width * spread[p]
                worth = posed.about(tried).worth
                if worth > best:
                    best, sparsest = worth, tried
    same = posed.about(sparsest).supports == posed.supports
    gained = best - posed.about(origin).worth
    if gained < (CHANCE if same else OTHER_TERMS) * len(far):
        return posed
    for p in far.tolist():
        for tolerance in ROUNDINGS:
            rounded = sparsest.copy()
            rounded[p] = round_number(sparsest[p], tolerance * spread[p])
            if posed.about(rounded).worth > best - SAME or tolerance == ROUNDINGS[-1]:
                sparsest = rounded
                break
    return posed.about(sparsest)
