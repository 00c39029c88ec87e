"""Libraries beside the one of a fit, and whether the data would rather have one of them.

For a field, a library is worth what its best formula is worth: its log-evidence, the gain in
log-likelihood minus the cost of the terms. A term may be added, and it may take the place of
others: sin(y) instead of 1, y and y^2. The weights of the samples are those of the fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray
from wgsindy.errors import DataError, LibraryError
from wgsindy.estimate.filtering.noisy_samples import filtered
from wgsindy.estimate.likelihood.error_bars import OpenSupports
from wgsindy.estimate.likelihood.evidence import Problem, best_support, search
from wgsindy.estimate.likelihood.normal_equations import Coupling, NormalEquations, NormalPass
from wgsindy.estimate.likelihood.reweighting import Runner, chunk_size
from wgsindy.estimate.likelihood.stages import LikelihoodEstimate
from wgsindy.estimate.likelihood.term_selection import Extrapolation, TermSelection
from wgsindy.estimate.likelihood.working_model import WorkingModel
from wgsindy.estimate.result import Fit
from wgsindy.model import tensor
from wgsindy.model.equations import Alternative
from wgsindy.model.linear_form import field_names
from wgsindy.passes.summary import DataSummary
from wgsindy.recipes import LikelihoodRecipe
from wgsindy.terms.basis import Basis
from wgsindy.terms.library import Library, library
from wgsindy.terms.monomials import Monomials

# Log-evidence by which the data must prefer another library. Given that the fitted one is
# right, chance prefers a rival by so much once in exp(4) = 55 times.
PREFERRED = 4.0
# Share of the evidence for a degree more by which terms of another kind must be better still:
# where a fit is far off, so are its weights and the paths along which libraries are averaged.
FAR_OFF = 0.05
DEGREE = "every term up to degree"
# Degrees beyond that of a library that was grown, which its bands leave open, and the share of the
# cost of a term that these have there. Nobody said that the truth is such a polynomial. Chosen on
# seeds 100 to 102 of drifts that are none (exponentials, saturation, a pole, a bond), so that 95 %
# bands hold nine tenths of them.
FURTHER, FORM_SHARE = 2, 0.25
LEAST_SHARE = 100  # increments for each term, below which a larger library is not tried
MOST_TERMS = 60  # of a library to compare with; beyond, the search takes longer than the fit


class RivalLibrary(NamedTuple):
    """A larger library: what it adds, and the log-evidence by which some field prefers it.

    ``chosen`` has the formula of each field in which it takes a term that the fit did not have;
    ``polynomial`` if it adds a degree only.
    """

    name: str
    library: Library
    log_evidence: float
    chosen: dict[str, tuple[str, ...]]
    worth: dict[str, float]  # log-evidence of each of these, beside the formula of the fit
    polynomial: bool

    @property
    def is_preferred(self) -> bool:
        """Whether the evidence for it is more than chance."""
        return self.log_evidence > PREFERRED

    @property
    def standing(self) -> float:
        """Log-evidence by which it is ranked: a degree more is to be preferred among equals."""
        ahead = PREFERRED + FAR_OFF * self.log_evidence
        return self.log_evidence + ahead * self.polynomial

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """Its formulas, as others beside those of the fit."""
        return tuple(
            Alternative(name, terms, self.worth[name], self.name)
            for name, terms in self.chosen.items()
        )


class FormDoubt(NamedTuple):
    """What terms of further degrees would make of each drift component."""

    factors: FloatArray  # (d,) at least one: by how much bands grow if these are left open
    squares: FloatArray  # (d,) twice the log-likelihood that they and all others would add
    freedom: FloatArray  # (d,) how many of them there are: by chance, the squares are as many

    @classmethod
    def none(cls, dimension: int) -> FormDoubt:
        """No further terms, no doubt."""
        return cls(np.ones(dimension), np.zeros(dimension), np.zeros(dimension))


def rival_libraries(fit: Fit) -> list[RivalLibrary]:
    """Every larger library that is tried beside that of ``fit``, the most preferred first.

    A sine is close to a cubic: another kind of term must be better than a degree by as much as it
    must be better than nothing. A fit without a likelihood has no rivals.
    """
    if fit.rivals is not None:
        return list(fit.rivals)
    comparison = Comparison.of(fit)
    return [] if comparison is None else comparison.ranked()


@dataclass(frozen=True)
class Comparison:
    """A fit beside larger libraries, with the weights that it has."""

    fit: Fit
    estimate: LikelihoodEstimate
    recipe: LikelihoodRecipe
    open_form: bool = False  # whether further degrees are to be asked about as well

    @classmethod
    def of(cls, fit: Fit, *, open_form: bool = False) -> Comparison | None:
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
            try:
                log_evidence, chosen, worth = self._preference(self._bound(larger))
            except (LibraryError, DataError):
                yield None
            else:
                polynomial = name.startswith(DEGREE)
                yield RivalLibrary(name, larger, log_evidence, chosen, worth, polynomial)

    def form_doubt(self) -> FormDoubt:
        """Leave the form of the drift open: terms of further degrees take part.

        The factor is the root of a ratio of mean variances at the samples, in units of the noise.
        """
        sure, model = self.fit.generator.uncertainty, self.estimate.model
        doubt, terms = FormDoubt.none(len(model.units)), self._further
        whole = self._run.data is self.fit.data
        if sure is None or not terms or not whole or model.noiseless_level.any():
            return doubt
        larger = self._bound(library([*self.basis.terms, *terms]))
        points = self.fit.summary.probe
        theta, own = larger.values(points), self.basis.values(points)
        noise = tensor.fluctuation(self.fit.generator.diffusion(points))
        weights = np.divide(1.0, noise, out=np.zeros_like(noise), where=noise > 0)
        place = [larger.terms.index(term) for term in self.basis.terms]
        try:
            work, equations = self._system(larger)
            drift = self._model_in(work, larger).drift
            problems = [equations.component(drift, p) for p in range(len(drift))]
        except (LibraryError, DataError):  # further powers leave the range of numbers
            return doubt
        costs, every = self._costs(larger), np.ones(len(larger), dtype=bool)
        for p, (problem, unit) in enumerate(zip(problems, model.units, strict=True)):
            centre, chosen = np.zeros(len(larger)), np.zeros(len(larger), dtype=bool)
            centre[place] = self.fit.generator.drift_coefficients[p] / unit
            chosen[place] = sure.drift[p] != 0
            left = OpenSupports.of(problem, search(problem, costs), FORM_SHARE)
            wide = _total_variance(theta, left.spread(centre) * unit**2, weights[:, p])
            given = _total_variance(own, sure.drift_spread[p], weights[:, p])
            if wide > given > 0:
                doubt.factors[p] = np.sqrt(wide / given)
            doubt.squares[p] = 2 * (problem.gain(every) - problem.gain(chosen))
            doubt.freedom[p] = np.count_nonzero(~chosen)
        return doubt

    @cached_property
    def _further(self) -> list[str]:
        """Terms of further degrees, as many as can be afforded."""
        names, degree = self.basis.names, int(self.basis.degrees.max(initial=0))
        most = min(MOST_TERMS, self.fit.data.n_increments // LEAST_SHARE)
        for more in range(FURTHER, 0, -1):
            new = [t for t in _polynomial(degree + more, names) if t not in self.basis.terms]
            if new and len(self.basis) + len(new) <= most:
                return new
        return []

    def _bound(self, larger: Library) -> Basis:
        return larger.bind(self.basis.names).about(self.basis.origin)

    def _candidates(self) -> Iterator[tuple[str, list[str]]]:
        """Name further terms that are worth a try."""
        names, degree = self.basis.names, int(self.basis.degrees.max(initial=0))
        # Of a coordinate that is measured from amid its values there is no root.
        lows = list(zip(names, self.fit.summary.low, self.basis.origin, strict=True))
        positive = [name for name, low, origin in lows if low >= 0 and not origin]
        roots = [f"sqrt({name})" for name in positive]
        roots += [f"sqrt({a}*{b})" for k, a in enumerate(positive) for b in positive[k + 1 :]]
        # The drift of a distance, or of the root of a population, has one.
        reciprocals = [f"{name}**(-1)" for name, low, origin in lows if low > 0 and not origin]
        proposals = {
            f"{DEGREE} {degree + 1}": _polynomial(degree + 1, names),
            "sines and cosines": [f"{f}({name})" for name in names for f in ("sin", "cos")],
            "square roots": roots,
            "reciprocals": reciprocals,
        }
        for title, terms in proposals.items():
            new = [term for term in terms if term not in self.basis.terms]
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
            smaller = Problem(problem.root[:, own], problem.target, problem.norm[own])
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
        candidates += [self._further] * self.open_form
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

    def _model_in(self, work: Basis, larger: Basis) -> WorkingModel:
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
        self, equations: NormalEquations, model: WorkingModel
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


def _total_variance(theta: FloatArray, covariance: FloatArray, weights: FloatArray) -> float:
    """Sum the variance of a field over points ``theta (n, K)``, with ``weights (n,)``."""
    return float(np.einsum("n,nk,kl,nl->", weights, theta, covariance, theta, optimize=True))


def _polynomial(degree: int, names: Sequence[str]) -> list[str]:
    """Every monomial up to a degree, or none if there are too many to write down."""
    if comb(degree + len(names), degree) > MOST_TERMS:
        return []
    return list(library(f"poly{degree}").bind(names).terms)
