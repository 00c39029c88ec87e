"""One fit: a dataset, candidate terms and a recipe in, a :class:`Fit` out; only assembles stages.

Both estimators end here, and so does ``library="auto"``, which grows a library by evidence.

:class:`wgsindy.WGSINDy` is this behind scikit-learn's interface. Commands call it directly, since
loading scikit-learn takes longer than a fit of their data.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from wgsindy import recipes
from wgsindy.data import BoolArray, Dataset, Trajectories, frozen, whole_number
from wgsindy.errors import DataError, RecipeError, RoundedSamplesWarning, WgsindyError
from wgsindy.estimate.libraries import LEAST_SHARE, LibraryComparison, RivalLibrary
from wgsindy.estimate.likelihood.fit_likelihood import recover_by_likelihood
from wgsindy.estimate.orders import (
    Order,
    OrderEvidence,
    as_positions,
    can_be_positions,
    checked_order,
    order_evidence,
    with_velocity_terms,
)
from wgsindy.estimate.result import (
    FEWEST_INCREMENTS,
    Fit,
    check_error_bars,
    check_inputs,
    check_length,
    check_seen,
    check_terms,
    described,
)
from wgsindy.model import Generator, Observation, TensorField, entries_of
from wgsindy.passes import (
    SERIAL,
    DataSummary,
    Engine,
    data_summary,
    outlier_sentence,
    screened_summary,
    segments_of,
    warn_of_samples,
)
from wgsindy.recipes import SHARP, LikelihoodRecipe, Recipe, WeakFormRecipe
from wgsindy.terms import Library, library

START, NEXT = "poly2", "poly3"  # the latter if the former cannot be fitted
MOST_GROWTHS = 6
WIDEST_GRID = 1.5  # deviations of a step; at 2 the tensor is off by a percent, at 3 by six
FEW_MISSING = 0.01  # share of samples that lack a value, up to which these are left out
AUTO = "auto"
# Stretches and their steps on which first and second order are compared first, by which terms, and
# the log-evidence that settles it.
PILOTS, PILOT, LINES, CLEAR = 24, 250, "poly1", 100.0
Candidates = str | Sequence[str] | Library


def fit_dataset(
    data: Dataset,
    candidates: Candidates = AUTO,
    recipe: str | Recipe = "sharp",
    *,
    order: Order = 1,
    random_state: int = 0,
    engine: Engine = SERIAL,
) -> Fit:
    """Fit a generator; ``candidates``, ``recipe`` and ``order`` as in :class:`wgsindy.WGSINDy`.

    Raises
    ------
    LibraryError, RecipeError, NotEnoughDataError
        Each with the offending value and a way out.
    """
    whole_number(random_state, "random_state", 0, RecipeError, most=2**32 - 1)
    recipe = recipes.get(recipe)
    order = checked_order(order, recipe)
    check_inputs(data, recipe, order)
    if isinstance(recipe, WeakFormRecipe):
        if isinstance(data, Trajectories):
            data = data.complete()
        terms, name, _ = _chosen(candidates, data, engine)
        check_terms(data, len(terms.bind(data.names)))
        return fit_weak_form(
            data, terms, recipe, name=name, random_state=random_state, engine=engine
        )
    if isinstance(data, Trajectories):
        check_seen(data)
        data = data.complete() if data.partly_seen < FEW_MISSING or data.inputs else data
    data, summary = screened_summary(data, standardise=True, engine=engine)
    if recipe.noise_correction is not False:
        data, summary = _within_digits(data, summary, engine)
    warn_of_samples(summary, data.names, dropped=True)
    with _failures_as_sentences(data, summary):
        if order == 2:
            return fit_positions(data, summary, candidates, recipe, engine=engine)
        first = _fit_screened(data, summary, candidates, recipe, engine)
        return first if order == 1 else better_order(first, candidates)


@contextmanager
def _failures_as_sentences(data: Dataset, summary: DataSummary) -> Iterator[None]:
    """Say of a fit that failed what is unusual about its data."""
    outlier = outlier_sentence(summary, data.names)
    # What such a sample drives out of range, sums tell.
    quietly = np.errstate(over="ignore", invalid="ignore") if outlier else nullcontext()
    try:
        with quietly:
            yield
    except np.linalg.LinAlgError as error:
        spread = ", ".join(
            f"{name} {scale:.3g}"
            for name, scale in zip(data.names, summary.region.scale, strict=True)
        )
        raise DataError(
            f"the equations of the fit cannot be solved ({error}): spread of {spread}, mean step "
            f"{data.mean_dt:.3g}. {outlier or 'Use a smaller library, or other units.'}"
        ) from error
    except DataError as error:
        if not outlier or outlier in str(error):
            raise
        raise type(error)(f"{error} Look at the data first: {outlier}") from error


def better_order(first: Fit, candidates: Candidates = AUTO) -> Fit:
    """Return a fit of second order if the data prefer it to the ``first``, else that.

    Straight lines decide at some stretches of the data, if they do so clearly.
    """
    if not can_be_positions(first.data):
        return first
    found = pilot_orders(first)
    if found.log_evidence < -CLEAR:
        return replace(first, orders=found)
    second = _second(first, candidates)
    found = order_evidence(first, second)
    better = second if second is not None and found.preferred == 2 else first
    return replace(better, orders=found)


def pilot_orders(fit: Fit, terms: Candidates = LINES) -> OrderEvidence:
    """First against second order at some stretches of the data, by straight lines unless said.

    However large the data are, this takes seconds.
    """
    assert isinstance(fit.recipe, LikelihoodRecipe)
    few = segments_of(fit.data, PILOTS, PILOT, engine=fit.engine)
    summary = data_summary(few, standardise=True)
    first = fit_likelihood(few, library(terms), fit.recipe, summary, name="")
    return order_evidence(first, _second(first, terms))


def _second(first: Fit, candidates: Candidates) -> Fit | None:
    """Fit the same data as positions whose velocities are hidden; nothing if that cannot be."""
    assert isinstance(first.recipe, LikelihoodRecipe)
    data, summary = first.data, first.summary
    try:
        return fit_positions(data, summary, candidates, first.recipe, engine=first.engine)
    except (WgsindyError, np.linalg.LinAlgError):
        return None


def fit_positions(
    data: Dataset,
    summary: DataSummary,
    candidates: Candidates,
    recipe: LikelihoodRecipe,
    *,
    engine: Engine = SERIAL,
) -> Fit:
    """Fit force and tensor to positions; velocities are hidden coordinates."""
    return _fit_screened(*as_positions(data, summary, engine=engine), candidates, recipe, engine)


def _fit_screened(
    data: Dataset,
    summary: DataSummary,
    candidates: Candidates,
    recipe: LikelihoodRecipe,
    engine: Engine,
) -> Fit:
    terms, name, fit = _chosen(candidates, data, engine, summary)
    if data.order == 2:
        terms = with_velocity_terms(terms, data.names)
    check_terms(data, len(terms.bind(data.names)))
    check_length(data)
    if fit is None or fit.recipe != recipe:  # else growing the library has made it
        fit = fit_likelihood(data, terms, recipe, summary, name=name, engine=engine)
    if _is_auto(candidates) and fit.form is None:
        fit = _of_open_form(fit)
    check_error_bars(fit)
    return fit


def _within_digits(
    data: Dataset, summary: DataSummary, engine: Engine
) -> tuple[Dataset, DataSummary]:
    """Thin data whose steps are finer than the digits that they were written with.

    Rounding is noise of its own at each sample only if steps are not much smaller than the grid:
    below, neighbours are rounded alike.
    """
    quantum, dt = summary.quantum, data.mean_dt
    square = summary.variation * summary.frame.scale**2 * dt  # of an increment, as written
    with np.errstate(divide="ignore", invalid="ignore"):
        # On a wide grid, an increment is one width with probability 0.8 deviation / width.
        crossing = (square / (0.8 * quantum)) ** 2
        rounded_alone = square - quantum**2 / 6
        true = np.where(rounded_alone > 0.1 * quantum**2, rounded_alone, crossing)
        wide = np.where(quantum > 0, quantum**2 / np.minimum(true, crossing), 0.0)
    every = int(np.ceil(wide.max() / WIDEST_GRID**2))
    if every <= 1 or data.n_increments < every * FEWEST_INCREMENTS:
        return data, summary
    warnings.warn(
        f"steps of {dt:.3g} are finer than the digits of the samples: a grid of "
        f"{quantum[np.argmax(wide)]:.3g} is {np.sqrt(wide.max()):.1f} times as wide as a step. "
        f"Every {every}th sample is fitted; more digits would tell more.",
        RoundedSamplesWarning,
        stacklevel=3,
    )
    thinned = data.thinned(every)
    return thinned, replace(
        data_summary(thinned, standardise=True, engine=engine),
        stalled=summary.stalled,
        straight=summary.straight,
        every=every,
    )


def _is_auto(candidates: Candidates) -> bool:
    return isinstance(candidates, str) and candidates == AUTO


def _chosen(
    candidates: Candidates, data: Dataset, engine: Engine, summary: DataSummary | None = None
) -> tuple[Library, str, Fit | None]:
    """Return the library, what to call it, and a fit of it if there is one already."""
    if _is_auto(candidates):
        check_length(data)
        return grow_library(data, summary, engine=engine)
    name = candidates if isinstance(candidates, str) else "formulas"
    return library(candidates), name, None


def fit_likelihood(
    data: Dataset,
    library: Library,
    recipe: LikelihoodRecipe,
    summary: DataSummary,
    *,
    name: str,
    given: BoolArray | None = None,
    engine: Engine = SERIAL,
) -> Fit:
    """Fit every increment on its own; ``name`` is what to call the library.

    ``given (d + E, K)``: the terms of each field, if they are not to be chosen.
    """
    basis = library.bind(data.names, summary.region)
    found = recover_by_likelihood(data, basis, summary, recipe, engine=engine, given=given)
    basis = basis.about(found.model.basis.origin)
    field = TensorField("clipped", found.entries, 0.0, frozen(np.ones(data.dimension)))
    observation = Observation(
        "chain" if found.model.is_chain else "process",
        found.observation_noise if found.observation_noise.any() else None,
        frozen(found.model.rounding * found.model.units**2),
        data.order,
        data.inputs,
    )
    return Fit(
        data,
        summary,
        library,
        recipe,
        Generator(
            basis,
            found.drift,
            field,
            described(data, recipe, name),
            summary.region,
            found.uncertainty,
            found.alternatives,
            observation,
        ),
        rows=data.n_increments,
        condition=found.condition,
        likelihood=found,
        engine=engine,
    )


def fit_weak_form(
    data: Dataset,
    library: Library,
    recipe: WeakFormRecipe,
    *,
    name: str,
    random_state: int = 0,
    engine: Engine = SERIAL,
) -> Fit:
    """Fit the weak rows of all trajectories, as the paper does; ``name`` is the library's."""
    # Loaded when asked for: most fits are by the likelihood.
    from wgsindy.estimate.weak_form import recover_by_weak_form, weak_form

    basis = library.bind(data.names)
    weak = weak_form(data, basis, recipe, seed=random_state, engine=engine)
    check_length(data)
    warn_of_samples(weak.summary, data.names)
    drift, field = recover_by_weak_form(weak)
    observation = Observation()
    if recipe.noise_correction:
        noise = weak.observation_noise * np.outer(weak.units, weak.units)
        observation = Observation(noise=frozen(entries_of(noise[None])[0]))
    return Fit(
        data,
        weak.summary,
        library,
        recipe,
        Generator(
            weak.basis,
            drift,
            field,
            described(data, recipe, name),
            weak.summary.region,
            observation=observation,
        ),
        rows=len(weak.design),
        condition=weak.condition_number,
        engine=engine,
    )


class Grown(NamedTuple):
    """A library, how it was grown, and its fit by ``sharp``, if that was the last thing done."""

    library: Library
    name: str
    fit: Fit | None = None


def grow_library(
    data: Dataset, summary: DataSummary | None = None, *, engine: Engine = SERIAL
) -> Grown:
    """Grow a library until no larger one is preferred.

    Each round fits by the sharp recipe and asks whether some field is better off by more than
    chance with one degree more or two, with sines and cosines, or, of positive states, with square
    roots or reciprocals.

    Examples
    --------
    >>> from wgsindy import zoo
    >>> data = zoo.get("duffing").simulate(seed=0, trajectories=4)
    >>> grow_library(data).name
    'poly3'
    """
    first, after = (Grown(library(name), name) for name in (START, NEXT))
    grown, last, others = first, None, [after] if _is_affordable(after.library, data) else []
    if summary is None:
        data, summary = screened_summary(data, standardise=True, engine=engine)
    for _ in range(MOST_GROWTHS):
        if not _is_affordable(grown.library, data):
            break  # nothing larger can be afforded either, so there is nothing to compare
        try:
            fit = fit_likelihood(
                data, grown.library, SHARP, summary, name=grown.name, engine=engine
            )
        except WgsindyError:
            if not others:
                # The last that could be fitted, whose verdict says what the data would prefer; if
                # there is none, whoever fits with this library gets the sentence.
                return last or first
            grown, *others = others
            continue
        comparison = LibraryComparison.of(fit, open_form=True)
        assert comparison is not None
        rivals = comparison.ranked()
        preferred = [r for r in rivals if r.is_preferred and _is_affordable(r.library, data)]
        fit = _beside(fit, rivals)
        if not preferred:
            return grown._replace(fit=_of_open_form(fit, comparison))
        last = grown._replace(fit=fit)
        grown, *others = [_larger(grown, rival, data.names) for rival in preferred]
    return grown


def _beside(fit: Fit, rivals: list[RivalLibrary]) -> Fit:
    """Keep the libraries that were looked at, and their formulas among the alternatives."""
    found = [*fit.generator.alternatives, *(one for r in rivals for one in r.alternatives)]
    found.sort(key=lambda one: -one.log_evidence)
    generator = replace(fit.generator, alternatives=tuple(found))
    return replace(fit, rivals=tuple(rivals), generator=generator)


def _of_open_form(fit: Fit, comparison: LibraryComparison | None = None) -> Fit:
    """Widen the bands of the drift: that it is a formula of this library, nobody said."""
    sure = fit.generator.uncertainty
    comparison = comparison or LibraryComparison.of(fit, open_form=True)
    assert sure is not None
    assert comparison is not None
    doubt = comparison.form_doubt()
    wide = replace(sure, form_spread=frozen(doubt.spread))
    return replace(fit, generator=replace(fit.generator, uncertainty=wide), form=doubt)


def _is_affordable(candidates: Library, data: Dataset) -> bool:
    return len(candidates.bind(data.names)) * LEAST_SHARE <= data.n_increments


def _larger(grown: Grown, rival: RivalLibrary, names: Sequence[str]) -> Grown:
    basis = rival.library.bind(names)
    if basis.is_closed:
        return Grown(rival.library, f"poly{int(basis.degrees.max())}")
    return Grown(rival.library, f"{grown.name} + {rival.name}")
