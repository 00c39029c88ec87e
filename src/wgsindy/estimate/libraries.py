"""Libraries beside the one of a fit, and whether the data would rather have one of them.

For a field, a library is worth what its best formula is worth: its log-evidence, the gain in
log-likelihood minus the cost of the terms. A term may be added, and it may take the place of
others: sin(y) instead of 1, y and y^2. The weights of the samples are those of the fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from wgsindy.data import BoolArray, FloatArray, zeros
from wgsindy.errors import DataError, LibraryError
from wgsindy.estimate.evidence import Problem, best_support
from wgsindy.estimate.likelihood.filtered_samples import filtered
from wgsindy.estimate.likelihood.fit_likelihood import LikelihoodEstimate
from wgsindy.estimate.likelihood.normal_equations import (
    Coupling,
    NormalEquations,
    NormalPass,
    Runner,
    chunk_size,
)
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.selection import Extrapolation, TermSelection
from wgsindy.estimate.result import Fit
from wgsindy.model import Alternative, field_names, tensor
from wgsindy.passes import DataSummary
from wgsindy.recipes import LikelihoodRecipe
from wgsindy.terms import Basis, Library, Monomials, library

# Log-evidence by which the data must prefer another library. Given that the fitted one is
# right, chance prefers a rival by so much once in exp(4) = 55 times.
PREFERRED = 4.0
# Share of the evidence for a degree more by which terms of another kind must be better still:
# where a fit is far off, so are its weights and the paths along which libraries are averaged.
FAR_OFF = 0.05
DEGREE = "every term up to degree"
# Degrees that the bands of a library that was grown leave open: two more than it has, and those up
# to the fifth, if these are not too many terms. Nobody said that the truth is such a polynomial.
FURTHER, FURTHEST, MOST_FURTHER = 2, 5, 40
# Deviations to the upper limit of what its drift may miss: one truth in five misses more. Chosen on
# seeds 100 to 109 of drifts that are no polynomials (saturation, kinks, bumps, exponentials): where
# such a fit is called identified, 95 % bands hold 95 % of the drift.
LIMIT = NormalDist().inv_cdf(0.8)
LEAST_SHARE = 100  # increments for each term, below which a larger library is not tried
MOST_TERMS = 60  # of a library to compare with; beyond, the search takes longer than the fit


class RivalLibrary(NamedTuple):
    """A larger library: what it adds, and the log-evidence by which some field prefers it.

    ``chosen`` has the formula of each field in which it takes a term that the fit did not have;
    ``degrees`` that it adds, none if its terms are of another kind.
    """

    name: str
    library: Library
    log_evidence: float
    chosen: dict[str, tuple[str, ...]]
    worth: dict[str, float]  # log-evidence of each of these, beside the formula of the fit
    degrees: int

    @property
    def is_preferred(self) -> bool:
        """Whether the evidence for it is more than chance."""
        return self.log_evidence > PREFERRED

    @property
    def standing(self) -> float:
        """Log-evidence by which it is ranked: among equals a degree is preferred, then two."""
        ahead = PREFERRED + FAR_OFF * self.log_evidence
        return self.log_evidence + (ahead / self.degrees if self.degrees else 0.0)

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """Its formulas, as others beside those of the fit."""
        return tuple(
            Alternative(name, terms, self.worth[name], self.name)
            for name, terms in self.chosen.items()
        )


class FormDoubt(NamedTuple):
    """What terms of further degrees would make of each drift component."""

    spread: FloatArray  # (d, K, K) covariances of coefficients, worth what may be missing
    squares: FloatArray  # (d,) twice the log-likelihood that they and all others would add
    freedom: FloatArray  # (d,) how many of them there are: by chance, the squares are as many

    @classmethod
    def none(cls, d: int, k: int) -> FormDoubt:
        """No further terms, no doubt."""
        return cls(*zeros((d, k, k), (d,), (d,)))


def rival_libraries(fit: Fit) -> list[RivalLibrary]:
    """Every larger library that is tried beside that of ``fit``, the most preferred first.

    A sine is close to a cubic: another kind of term must be better than a degree by as much as it
    must be better than nothing. A fit without a likelihood has no rivals.
    """
    if fit.rivals is not None:
        return list(fit.rivals)
    comparison = LibraryComparison.of(fit)
    return [] if comparison is None else comparison.ranked()


@dataclass(frozen=True)
class LibraryComparison:
    """A fit beside larger libraries, with the weights that it has."""

    fit: Fit
    estimate: LikelihoodEstimate
    recipe: LikelihoodRecipe
    open_form: bool = False  # whether further degrees are to be asked about as well

    @classmethod
    def of(cls, fit: Fit, *, open_form: bool = False) -> LibraryComparison | None:
        """Compare a fit; nothing if it has no likelihood."""
        if fit.likelihood is None or not isinstance(fit.recipe, LikelihoodRecipe):
            return None
        return cls(fit, fit.likelihood, fit.recipe, open_form)

    @property
    def basis(self) -> Basis:
        return self.fit.generator.basis

    def ranked(self) -> list[RivalLibrary]:
        """Every larger library that exists at all states, the most preferred first."""
        found = [rival for rival in self.rivals() if rival is not None]
        return sorted(found, key=lambda one: (not one.is_preferred, -one.standing))

    def rivals(self) -> Iterator[RivalLibrary | None]:
        """Yield what each larger library is worth; nothing if it does not exist at some state."""
        for name, terms in self._candidates():
            larger = library([*self.basis.terms, *terms])
            bound = self._bound(larger)
            try:
                log_evidence, chosen, worth = self._preference(bound)
            except (LibraryError, DataError):
                yield None
            else:
                more = _degree(bound) - _degree(self.basis) if name.startswith(DEGREE) else 0
                yield RivalLibrary(name, larger, log_evidence, chosen, worth, more)

    def form_doubt(self) -> FormDoubt:
        """Leave the form of the drift open: it may miss what terms of further degrees have."""
        sure, model = self.fit.generator.uncertainty, self.estimate.model
        doubt, (_, terms) = FormDoubt.none(len(model.units), len(self.basis)), self._further
        whole = self._run.data is self.fit.data
        if sure is None or not terms or not whole or model.noiseless_level.any():
            return doubt
        larger = self._bound(library([*self.basis.terms, *terms]))
        place = [larger.terms.index(term) for term in self.basis.terms]
        try:
            work, equations = self._system(larger)
            drift = self._model_in(work, larger).drift
            problems = [equations.component(drift, p) for p in range(len(drift))]
        except (LibraryError, DataError):  # further powers leave the range of numbers
            return doubt
        every = np.ones(len(larger), dtype=bool)
        for p, (problem, unit) in enumerate(zip(problems, model.units, strict=True)):
            if model.positions is not None and model.positions[p]:
                continue  # x' = v has no other form
            chosen = np.zeros(len(larger), dtype=bool)
            chosen[place] = sure.drift[p] != 0
            doubt.squares[p] = 2 * (problem.gain(every) - problem.gain(chosen))
            doubt.freedom[p] = np.count_nonzero(~chosen)
            own = problem.only(place)
            apart = problem.solve(every) * problem.norm
            apart[place] -= self.fit.generator.drift_coefficients[p] / unit * own.norm
            missed = _upper_limit(float(np.sum((problem.root @ apart) ** 2)), doubt.freedom[p])
            shape = own.covariance(every[place]) * unit**2  # worth one square a term
            doubt.spread[p] = missed * shape / len(place)
        return doubt

    @cached_property
    def _further(self) -> tuple[int, list[str]]:
        """As many further degrees as can be afforded: the highest, and their terms."""
        most = min(MOST_FURTHER, self.fit.data.n_increments // LEAST_SHARE)
        own = _degree(self.basis)
        for degree in range(max(own + FURTHER, FURTHEST), own, -1):
            new = self._new(_polynomial(degree, self.basis.names))
            if new and len(self.basis) + len(new) <= most:
                return degree, new
        return own, []

    def _new(self, terms: Sequence[str]) -> list[str]:
        return [term for term in terms if term not in self.basis.terms]

    def _bound(self, larger: Library) -> Basis:
        return larger.bind(self.basis.names).about(self.basis.origin)

    def _candidates(self) -> Iterator[tuple[str, list[str]]]:
        """Name further terms that are worth a try."""
        names, degree = self.basis.names, _degree(self.basis) + 1
        # Of a coordinate that is measured from amid its values there is no root.
        lows = list(zip(names, self.fit.summary.low, self.basis.origin, strict=True))
        positive = [name for name, low, origin in lows if low >= 0 and not origin]
        roots = [f"sqrt({name})" for name in positive]
        roots += [f"sqrt({a}*{b})" for k, a in enumerate(positive) for b in positive[k + 1 :]]
        # The drift of a distance, or of the root of a population, has one.
        reciprocals = [f"{name}**(-1)" for name, low, origin in lows if low > 0 and not origin]
        proposals = {
            f"{DEGREE} {degree}": _polynomial(degree, names),
            "sines and cosines": [f"{f}({name})" for name in names for f in ("sin", "cos")],
            "square roots": roots,
            "reciprocals": reciprocals,
        }
        if self.open_form:  # an odd field, such as x - x^5, is no better off with one degree more
            furthest, terms = self._further
            proposals[f"{DEGREE} {furthest}"] = terms
        for title, terms in proposals.items():
            new = self._new(terms)
            if new and len(self.basis) + len(new) <= MOST_TERMS:
                yield title, new

    def _preference(
        self, larger: Basis
    ) -> tuple[float, dict[str, tuple[str, ...]], dict[str, float]]:
        """Log-evidence in favour of ``larger``, its formulas where they are new, their worth."""
        work, equations = self._system(larger)
        model, costs = self._model_in(work, larger), self._costs(larger)
        own, closed = np.isin(larger.terms, self.basis.terms), larger.is_closed
        log_evidence, chosen, worths = 0.0, {}, {}
        for name, problem in self._problems(equations, model):
            fitted = self._fitted(name, larger)
            best, gain = best_support(problem, costs, fitted)
            if not (best & ~own).any():
                continue
            # Not by a cost of the others: with enough data any cost is worth paying.
            smaller = problem.only(own)
            bound, smaller_gain = best_support(smaller, costs[own], fitted[own])
            saved = float(bound @ costs[own] - best @ costs)
            worth = gain - smaller_gain + saved
            if worth > 0:
                # One root in the place of two terms is shorter. That alone is no reason to call
                # the two terms wrong, so the first term that is saved does not count.
                shorter = 0.0 if closed else float(np.clip(saved, 0.0, costs.min()))
                log_evidence = max(log_evidence, worth - shorter)
                chosen[name] = tuple(np.array(larger.formulas)[best].tolist())
                worths[name] = worth
        return log_evidence, chosen, worths

    def _fitted(self, name: str, larger: Basis) -> BoolArray:
        """Terms ``(K,)`` of a larger basis that a field has in the fit."""
        drift, entries = field_names(len(self.estimate.model.units))
        own = self.fit.generator.written_coefficients[[*drift, *entries].index(name)]
        return np.isin(larger.terms, np.array(self.basis.terms)[own != 0])

    def _system(self, larger: Basis) -> tuple[Basis, NormalEquations]:
        """Return the terms in which sums are made, and the sums."""
        work, joint = self._work(larger), self._joint
        known = joint is not None and set(larger.terms) <= set(joint.terms)
        equations = joint.of(larger) if joint is not None and known else self._equations(larger)
        return work, replace(equations, change=work.from_physical)

    def _costs(self, larger: Basis) -> FloatArray:
        beyond = Extrapolation(larger, self.fit.summary)
        return TermSelection(larger, beyond, self.recipe, None).costs

    @cached_property
    def _joint(self) -> _Joint | None:
        """Sums for the terms of all candidates, from one pass: those of each are a part of them.

        Nothing if a library cannot be moved into the frame of the data on its own, or if a term
        does not exist at some state: then each has a pass of its own.
        """
        names = self.basis.names
        candidates = [terms for _, terms in self._candidates()]
        candidates += [self._further[1]] * self.open_form
        libraries = [library([*self.basis.terms, *terms]) for terms in candidates]
        if not all(one.bind(names).monomials.is_closed for one in libraries):
            return None
        union = library([term for one in libraries for term in one.bind(names).terms])
        try:
            return _Joint(union.bind(names).terms, self._equations(self._bound(union)))
        except (LibraryError, DataError):
            return None

    def _work(self, larger: Basis) -> Basis:
        """Return the terms in which sums are accurate: monomials about the middle of the data."""
        return _HalfFramed.of(larger, self.fit.summary) if larger.monomials.is_closed else larger

    @cached_property
    def _run(self) -> Runner:
        """Over all samples; a pilot will do for the filter, which is slow in a large library."""
        run = Runner(self.fit.data, self.fit.engine, 0)
        return run.on_pilot() if self.estimate.model.observation_noise.any() else run

    def _equations(self, larger: Basis) -> NormalEquations:
        model = self._model_in(self._work(larger), larger)
        size = chunk_size(len(larger.names), len(larger), is_chain=model.is_chain)
        run = replace(self._run, chunk_size=size)
        if model.observation_noise.any():
            return filtered(model, run).equations(model)
        return NormalEquations.of(run(NormalPass(model)), model.basis.from_physical)

    def _model_in(self, work: Basis, larger: Basis) -> Process:
        """Return the last working model, expressed in more terms."""
        model = self.estimate.model
        place = [larger.terms.index(term) for term in self.basis.terms]

        def expressed(coefficients: FloatArray) -> FloatArray:
            wide = np.zeros((len(coefficients), len(larger)))
            wide[:, place] = coefficients @ self.estimate.model.basis.to_physical
            return wide @ work.from_physical

        return replace(
            model, basis=work, drift=expressed(model.drift), entries=expressed(model.entries)
        )

    def _problems(
        self, equations: NormalEquations, model: Process
    ) -> Iterator[tuple[str, Problem]]:
        """Each field that has noise to be measured against; without any, each drift component."""
        noiseless = model.noiseless_level > 0
        drift, entries = field_names(len(noiseless))
        for p, name in enumerate(drift):
            if not noiseless[p] or noiseless.all():
                yield name, equations.component(model.drift, p)
        for e, (p, q) in enumerate(tensor.pairs(len(noiseless))):
            if not (noiseless[p] or noiseless[q]):
                yield entries[e], equations.entry(model.entries, e)


@dataclass(frozen=True)
class _Joint:
    """Normal equations of many terms."""

    terms: tuple[str, ...]
    whole: NormalEquations

    def of(self, smaller: Basis) -> NormalEquations:
        """Return those of some of the terms."""
        rows = [self.terms.index(term) for term in smaller.terms]
        whole, coupling = self.whole, self.whole.coupling
        return replace(
            whole,
            drift_gram=whole.drift_gram[:, rows][:, :, rows],
            drift_cross=whole.drift_cross[:, rows],
            entry_gram=whole.entry_gram[:, rows][:, :, rows],
            entry_cross=whole.entry_cross[:, rows],
            coupling=coupling
            and Coupling(coupling.gram[:, rows][..., rows], coupling.cross[:, rows]),
        )


class _HalfFramed(Basis):
    """Monomials in a frame; all other terms as they are, since these have no form in it."""

    @classmethod
    def of(cls, basis: Basis, summary: DataSummary) -> _HalfFramed:
        return cls(basis.names, basis.monomials, basis.others, summary.region, basis.origin)

    @cached_property
    def parts(self) -> tuple[Basis, Basis]:
        none = Monomials(np.empty((0, len(self.names)), dtype=np.int64))
        return (
            Basis(self.names, self.monomials, (), self.frame, self.origin),
            Basis(self.names, none, self.others, origin=self.origin),
        )

    def values(self, x: FloatArray) -> FloatArray:
        return np.concatenate([part.values(x).T for part in self.parts]).T

    def gradients(self, x: FloatArray) -> FloatArray:
        return np.concatenate([part.gradients(x) for part in self.parts], axis=1)

    def derivatives(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        first, second = zip(*(part.derivatives(x) for part in self.parts), strict=True)
        return np.concatenate(first, axis=1), np.concatenate(second, axis=1)

    @cached_property
    def to_physical(self) -> FloatArray:
        return np.asarray(np.linalg.inv(self.from_physical), dtype=np.float64)

    @cached_property
    def from_physical(self) -> FloatArray:
        change = np.eye(len(self))
        count = len(self.monomials)
        change[:count, :count] = self.parts[0].from_physical
        return change


def _upper_limit(squares: float, freedom: float) -> float:
    """Noncentrality from which chi-squared numbers are larger than ``squares`` but seldom.

    Their mean is m, that and the freedom f, and their variance 4 m - 2 f: squares = m - LIMIT root.
    A lucky number makes nobody surer: one that is smaller than the freedom counts as that.
    """
    beyond = max(squares - freedom, 0.0)
    return beyond + 2 * LIMIT**2 + LIMIT * sqrt(4 * beyond + 2 * freedom + 4 * LIMIT**2)


def _degree(basis: Basis) -> int:
    return int(basis.degrees.max(initial=0))


def _polynomial(degree: int, names: Sequence[str]) -> list[str]:
    """Every monomial up to a degree, or none if there are too many to write down."""
    if comb(degree + len(names), degree) > MOST_TERMS:
        return []
    return list(library(f"poly{degree}").bind(names).terms)
