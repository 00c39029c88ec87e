"""Statistics of the questions, in the order of questions.toml: what each measures, and tells.

Arrays have the component first, ``(d, ...)``. What a statistic ``tells`` stands in the words of its
row; ``fields`` and ``handled`` among it take the place of what the row has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wgsindy.data import BoolArray, FloatArray
from wgsindy.diagnostics import thresholds as limits
from wgsindy.diagnostics.findings import Answer, Numbers, chance, of_its_size
from wgsindy.diagnostics.groups import DELAYS, Deviation, beyond_chance
from wgsindy.diagnostics.measurements import Measurements
from wgsindy.diagnostics.past_scores import MEANS, RATE_WINDOWS, SPELLS, WINDOWS
from wgsindy.diagnostics.residuals import BLOCKS
from wgsindy.model import field_names

Told = dict[str, Any]


def share_of_drift(facts: Measurements, excess: FloatArray) -> FloatArray:
    """Root of a sum of squares beyond chance, ``(d, ...)``, over the whole of each drift."""
    whole = np.maximum(facts.residuals.signal, 1.0)
    return np.sqrt(np.maximum(excess, 0.0)) / whole.reshape(-1, *(1,) * (excess.ndim - 1))


def _errors(facts: Measurements, errors: FloatArray) -> FloatArray:
    """Standard ``errors (d, ...)`` of coordinates with noise of their own; of others, zero."""
    return np.where(facts.noiseless.reshape(-1, *(1,) * (errors.ndim - 1)), 0.0, errors)


def _of_drift(facts: Measurements, found: Deviation, tests: int, told: Any = None) -> Numbers:
    """Deviations ``(d, ...)`` as shares of the drift."""
    size = share_of_drift(facts, found.excess)
    return Numbers(size, _errors(facts, found.errors), tests, told)


def _of_noise(facts: Measurements, found: Deviation, tests: int, told: Any = None) -> Numbers:
    """Deviations ``(d, ...)`` as relative changes of the tensor: a square has a variance of two."""
    size = np.sqrt(2 * np.maximum(found.excess, 0.0) / max(facts.residuals.samples, 1))
    return Numbers(size, _errors(facts, found.errors), tests, told)


def repeats(facts: Measurements) -> tuple[Numbers, bool]:
    """Share of samples that repeat the one before them: a likelihood counts those it leaves out."""
    summary, left_out = facts.summary, facts.summary.stalled > 0
    number = summary.stalled if facts.fit.likelihood is not None else summary.repeated
    share = number / (facts.data.n_increments + summary.stalled)
    told = {
        "number": number,
        "outcome": "; they are left out of the fit" * left_out,
        "handled": left_out and share <= limits.SPOILT,
    }
    return Numbers(share, told=told), left_out


def straight(facts: Measurements) -> Numbers:
    """Share of the samples on straight lines between others, which were left out."""
    share = facts.summary.straight / (facts.data.n_increments + facts.summary.straight)
    return Numbers(share, told={"handled": share <= limits.SPOILT})


def _step(facts: Measurements) -> FloatArray:
    """The deviation of a step, ``(d,)``."""
    return np.sqrt(facts.noise_level * facts.data.mean_dt)


def duplicates(facts: Measurements) -> float | None:
    """Share of the stretches of samples that stand in several places."""
    # Data without noise come back to where they were, and few digits do so by chance.
    fine = ~facts.noiseless & (2 * facts.summary.quantum < _step(facts))
    return facts.residuals.copied if fine.any() else None


def coarse_digits(facts: Measurements) -> Numbers:
    """Whether the grid of the digits is wider than a step, ``(d,)``."""
    grid, step = facts.summary.quantum, _step(facts)

    def told(it: Answer) -> Told:
        return {"grid": grid[it.chosen].max(), "step": step[it.chosen].min()}

    return Numbers((grid > step) & ~facts.noiseless, told=told)


def filtered_noise(facts: Measurements) -> Numbers | None:
    """Variance of the noise that a filter follows, ``(d,)``."""
    estimate, noise = facts.fit.likelihood, facts.observation_noise
    if estimate is None:
        return None

    def told(it: Answer) -> Told:
        sizes = []  # standard deviations, with their errors where they are estimated
        # If one coordinate has noise, the filter allows all of them to have some.
        sure = it.chosen & (noise > limits.SURE_NOISE * estimate.noise_error)
        for p in np.flatnonzero(sure if sure.any() else it.chosen).tolist():
            deviation = float(np.sqrt(noise[p]))
            error = float(estimate.noise_error[p]) / (2 * deviation)
            how_sure = f" +- {error:.1g}" if error else ", that of rounding,"
            sizes.append(f"standard deviation {deviation:.3g}{how_sure} in {facts.data.names[p]}")
        return {"sizes": ", ".join(sizes)}

    return Numbers(noise, told=told)


def unfollowed(facts: Measurements) -> BoolArray | None:
    """Whether there was noise that no filter could follow, ``(d,)``."""
    return None if facts.fit.likelihood is None else facts.fit.likelihood.unfollowed


def neighbours(facts: Measurements) -> Numbers:
    """Correlation of neighbouring residuals, ``(d,)``; errors of what is below zero."""
    lag_one, correction = facts.residuals.lag_one, facts.fit.recipe.noise_correction
    is_sharp = facts.fit.likelihood is not None
    subtracted = not is_sharp and correction is True
    cause = "the observation adds noise of its own, which inflates the tensor"
    cause += ", and the fit subtracts it" * subtracted
    advice = "Fit with recipe='sharp', which follows such noise, or k"
    if is_sharp and correction is not False:
        cause, advice = "the noise of the samples is not the same everywhere, or not normal", "K"

    def told(it: Answer) -> Told:
        worst = float(lag_one[it.chosen].min())
        return {"worst": worst, "cause": cause, "advice": advice, "handled": subtracted}

    return Numbers(lag_one, -facts.residuals.lag_one_errors, told=told)


def noise_by_place(facts: Measurements) -> Numbers:
    """How the correlation of neighbours changes along each state, ``(d, d)``."""
    groups = facts.residuals.groups
    slopes = groups.neighbours_by_place().T
    errors = _errors(facts, np.abs(slopes))

    def told(it: Answer) -> Told:
        return {"end": "large" if slopes[it.place] < 0 else "small"}

    size = errors / np.sqrt(max(groups.lag_count[0], 1.0))
    return Numbers(size, errors, told=told, axes=(facts.data.names,))


def other_steps(facts: Measurements) -> Numbers | None:
    """Fields that are others with fewer samples, where noise was filtered."""
    change = facts.step_change
    if change is None:
        return None
    return Numbers(len(change.fields), told={"change": change, "fields": change.fields})


def without_noise(facts: Measurements) -> BoolArray | None:
    """Coordinates without noise of their own, ``(d,)``, if others have some."""
    if facts.noiseless.all() or facts.data.hidden_velocities:  # positions have none of their own
        return None
    return facts.noiseless[: facts.n_states]


def singular(facts: Measurements) -> Numbers:
    """Share of the samples where noise is nearly confined to fewer directions."""
    residuals = facts.residuals
    copies = residuals.doubled > limits.TYPICAL * residuals.samples
    handled = facts.fit.likelihood is not None and not copies
    return Numbers(residuals.singular / max(residuals.samples, 1), told={"handled": handled})


def at_boundary(facts: Measurements) -> tuple[Numbers, FloatArray]:
    """Shares of samples where noise vanishes, and of those on an edge, ``(d,)`` each."""
    residuals = facts.residuals
    samples, noisy = max(residuals.samples, 1), residuals.count > 0
    low = np.where(noisy, residuals.low_noise / samples, 0.0)
    # Every trajectory may start at the same state.
    edge = np.maximum(residuals.at_edge.max(axis=0) - len(facts.data), 0) / samples
    edge = np.where(noisy, edge, 0.0)

    def told(it: Answer) -> Told:
        worst = int(np.argmax(np.where(it.clear, np.maximum(low, edge), 0.0)))
        return {"worst": facts.data.names[worst], "low": low[worst], "edge": edge[worst]}

    return Numbers(low, told=told), edge


def visits(facts: Measurements) -> Numbers:
    """How often trajectories came near the end of the states that they are at most, ``(d,)``."""
    low, high = facts.residuals.visits
    ends = np.where(high > low, facts.summary.high, facts.summary.low)
    return Numbers(
        np.maximum(low, high) * (facts.residuals.count > 0),
        told=lambda it: {"end": float(ends[it.place])},
    )


def guesses(facts: Measurements) -> Numbers | None:
    """Error of the drift in the box about the data, where most terms were left out, ``(d,)``."""
    known, residuals = facts.known_drift, facts.residuals
    # Noise along one direction leaves the corners of every box empty, and has a finding of its own.
    # So do inputs that switch. Bands that are wide there say it themselves.
    confined = residuals.singular > limits.TYPICAL * residuals.samples
    if known is None or confined or facts.data.inputs:
        return None
    ratio = known.box / known.data
    asked = (known.data < limits.KNOWN_AT_DATA) & (known.bands < limits.CLAIMED_IN_BOX)
    limiting = asked & (known.box > limits.GUESSED) & (ratio > limits.GUESSED_RATIO)
    told = {"terms": len(facts.generator.basis), "handled": not limiting.any()}
    return Numbers(np.where(asked & (ratio > limits.NOTED_RATIO), known.box, 0.0), told=told)


def long_steps(facts: Measurements) -> Numbers | None:
    """Share of the samples at which a chain does much of what it ever does within one step."""
    thinning = facts.residuals.thinning
    changes = np.abs(thinning[np.isfinite(thinning)])
    change = f"; leaving out every other sample changes it by {changes.max(initial=0.0):.0%}"
    share = facts.residuals.long_steps / max(facts.residuals.samples, 1)
    told = {"change": change * bool(len(changes))}
    return Numbers(share, told=told) if facts.is_chain else None


def predicted(facts: Measurements) -> Numbers:
    """Largest share of the variance of the next state that a sample predicts."""
    share = facts.residuals.groups.predicted.max()
    return Numbers(share, told={"share": max(share, 0)})


def counting(facts: Measurements) -> BoolArray | None:
    """Coordinates that grow at a constant rate without noise, ``(d,)``."""
    spread = facts.generator.uncertainty
    if spread is None:
        return None
    constant = (spread.drift != 0) <= (facts.generator.basis.degrees == 0)
    return np.asarray((facts.noiseless & constant.all(axis=1))[: facts.n_states])


def rival(facts: Measurements) -> Numbers | None:
    """Whether the data prefer a larger library."""
    larger = facts.rival
    if larger is None:
        return None
    formulas = "; ".join(f"{name}: {', '.join(terms)}" for name, terms in larger.chosen.items())
    told = {"rival": larger, "formulas": formulas, "fields": tuple(larger.chosen)}
    return Numbers(larger.is_preferred, told=told)


def wrong_tensor(facts: Measurements) -> tuple[Any, ...]:
    """How far residuals vary from what the tensor says, ``(d,)`` each, and how often it is none."""
    residuals, estimate = facts.residuals, facts.fit.likelihood
    # What other coordinates leave of those without noise is no noise of their own.
    noisy = ~facts.noiseless
    missing = (residuals.count == 0) & noisy & (estimate is not None)
    clipped = 0.0 if estimate is None else estimate.clipped
    variance = np.where(noisy, np.abs(residuals.variance - 1.0), 0.0)

    def told(it: Answer) -> Told:
        wrong = np.logical_or.reduce(it.passed[:3])
        exploded = residuals.balance < limits.EXPLODED
        ratios = np.where(exploded, residuals.balance, residuals.variance)
        worst = ratios[np.argmax(np.abs(np.log(np.where(ratios > 0, ratios, 1.0))))]
        faults = [f"residuals vary {worst:.2g} times as much as it says"] * bool(wrong.any())
        faults += [f"at {clipped:.0%} of the samples its formula is not positive"] * (clipped > 0)
        return {"faults": ", and ".join(faults), "fields": facts.variances(wrong)}

    balance = np.where(noisy, residuals.balance, np.inf)
    return Numbers(variance, told=told), balance, missing, clipped


def drift_by_place(facts: Measurements) -> Numbers:
    """Means of residuals by bins of each coordinate, ``(d, d)``."""
    found = Deviation(*(values.T for values in facts.residuals.groups.places()))
    return _of_drift(facts, found, 2 * facts.data.dimension**2)


def tensor_by_place(facts: Measurements) -> Numbers:
    """Variances of residuals by bins of each coordinate, ``(d, d)``."""
    found = Deviation(*(values.T for values in facts.residuals.groups.place_variances()))
    return _of_noise(facts, found, 2 * facts.data.dimension**2)


def further_degrees(facts: Measurements) -> Numbers | None:
    """What terms of further degrees explain together, ``(d,)``."""
    form = facts.fit.form
    if form is None:
        return None
    found = beyond_chance(form.squares, form.freedom)
    return Numbers(share_of_drift(facts, found.excess), found.errors, facts.data.dimension)


def equals(facts: Measurements) -> Numbers:
    """How many formulas explain the data as well as the written ones."""
    drift = field_names(facts.data.dimension)[0]
    found = [
        one
        for one in facts.generator.alternatives
        if one.target in drift and not one.library and one.log_evidence > -limits.EQUAL_EVIDENCE
    ]
    for larger in facts.rivals:
        if not larger.is_preferred:
            found += [one for one in larger.alternatives if one.log_evidence > limits.BETTER]
    formulas = [f"{one.formula}" + f" (with {one.library})" * bool(one.library) for one in found]
    more = f", and {len(found) - 3} more" * (len(found) > 3)
    told = {"fields": tuple(dict.fromkeys(one.target for one in found))}
    return Numbers(len(found), told=told | {"formulas": "; ".join(formulas[:3]) + more})


def _formulas(facts: Measurements) -> FloatArray | None:
    """Coefficients of all formulas, ``(d + E, K)``, where there are error bars."""
    spread = facts.generator.uncertainty
    tensor_terms = facts.generator.tensor_field.coefficients
    return None if spread is None else np.concatenate([spread.drift, tensor_terms])


def formula_lengths(facts: Measurements) -> Numbers | None:
    """Terms of the longest formula."""
    formulas = _formulas(facts)
    if formulas is None:
        return None
    terms, names = (formulas != 0).sum(axis=1), np.concatenate(field_names(facts.data.dimension))
    long = tuple(names[terms > limits.LONGEST_FORMULA].tolist())
    return Numbers(terms.max(), told={"long": ", ".join(long), "fields": long})


def cancelling(facts: Measurements) -> Numbers | None:
    """Size of the largest term over that of its field.

    850 sin(x) - 850 x is a cubic and a fifth power, and no sine. Constants do not count, nor do
    powers: those of a distance from elsewhere cancel, too.
    """
    formulas, basis = _formulas(facts), facts.generator.basis
    first = len(basis.monomials)
    if formulas is None or first == len(basis):
        return None
    theta, names = basis.values(facts.points), np.concatenate(field_names(facts.data.dimension))
    fields = (theta @ formulas.T).std(axis=0)
    terms = (theta[:, first:] * formulas[:, None, first:]).std(axis=1)
    size = np.divide(terms.max(axis=1), fields, out=np.zeros_like(fields), where=fields > 0)
    term = basis.formulas[first + int(np.argmax(terms[np.argmax(size)]))]
    wrong = tuple(names[size > limits.CANCELLING].tolist())
    return Numbers(size.max(), told={"term": term, "wrong": ", ".join(wrong), "fields": wrong})


def residual_memory(facts: Measurements) -> Numbers:
    """Excess variance of sums of residuals, ``(d,)``."""
    excess, errors = facts.residuals.memory()

    def told(it: Answer) -> Told:
        ratio, neighbours = 1 + it.size, facts.residuals.lag_one[it.place]
        inertia = advice = ""
        orders = facts.orders  # takes a fit of positions: asked for here, where there is a memory
        if orders is not None and orders.preferred == 2:
            inertia = f" As positions of something with inertia, {orders.sentence}"
            advice = "Fit with --order 2 (order=2), which takes the states for positions. Else: "
        return {"ratio": ratio, "neighbours": neighbours, "inertia": inertia, "positions": advice}

    return Numbers(excess, errors, excess.size * len(BLOCKS), told)


def short_memory(facts: Measurements) -> Numbers:
    """The same, if the clearest one is that of a few steps."""
    residuals, lasting = facts.residuals, residual_memory(facts)

    def told(it: Answer) -> Told:
        smoothed = residuals.lag_one[it.place] > limits.SMOOTHED
        return {**lasting.tells(it), "asked": smoothed and residuals.memory_is_short[it.place]}

    return Numbers(lasting.size, lasting.errors, lasting.tests, told)


def order(facts: Measurements) -> Numbers | None:
    """Whether first or second order was asked for."""
    orders = facts.fit.orders
    if orders is None:
        return None
    every = tuple(field_names(facts.data.dimension)[0])
    sentence = orders.sentence[0].upper() + orders.sentence[1:]
    return Numbers(1, told={"sentence": sentence, "fields": () if orders.preferred else every})


def correlations(facts: Measurements) -> tuple[Numbers, Numbers]:
    """Residuals with earlier ones, ``(d, L, d)``: now, lag, then; and all lags together."""
    groups, d = facts.residuals.groups, facts.data.dimension
    found = groups.correlations.swapaxes(0, 1)
    errors = np.abs(found) * np.sqrt(groups.lag_count)[:, None]
    together = groups.together()
    size = np.sqrt(np.maximum(together.excess, 0.0) / np.maximum(groups.lag_count[0], 1.0))

    def told(it: Answer) -> Told:
        return {"found": found[it.place], "together": together.errors[it.place[0], it.place[2]]}

    return (
        Numbers(np.abs(found), errors, 2 * found.size, told, (DELAYS, facts.data.names)),
        # Many correlations, each too small to be clear, may be so together.
        Numbers(size[:, None], together.errors[:, None], d * d),
    )


def _scores(
    facts: Measurements, errors: FloatArray, tests: int, *axes: Sequence[Any]
) -> Numbers | None:
    """Slopes along signs of the past, ``(d, ...)`` in standard errors, as shares of the drift.

    Not asked where the fit knows of something unseen: that lasts, and is allowed for.
    """
    if facts.data.hidden_velocities or facts.data.partly_seen > 0:
        return None
    size = share_of_drift(facts, errors**2 - 1)
    return Numbers(size, _errors(facts, errors), tests, axes=axes)


def lasting(facts: Measurements) -> Numbers | None:
    """Sums of earlier residuals, ``(d, d, W)``, each too little for any one of them to show."""
    errors = np.abs(facts.residuals.past.of_residuals(facts.past_scores.fitted))
    return _scores(facts, errors, 2 * errors.size, facts.data.names, WINDOWS)


def two_rates(facts: Measurements) -> Numbers | None:
    """What is taken back soon and goes on later, ``(d, V)``: a fast and a slow process in one."""
    errors = facts.residuals.past.of_rates(facts.past_scores.fitted)
    return _scores(facts, errors, errors.size, RATE_WINDOWS)


def returning(facts: Measurements) -> Numbers | None:
    """States that go back to where they were on average, more than the drift says, ``(d, M)``."""
    errors = facts.residuals.past.of_means(facts.past_scores.fitted)
    return _scores(facts, errors, errors.size, MEANS)


def wandering(facts: Measurements) -> Numbers | None:
    """Coefficients that are above their mean for a while, and then below, ``(d, K, S)``."""
    scores = facts.past_scores
    fitted = scores.fitted & ~facts.noiseless[:, None]
    if not fitted.any():
        return None
    # One that wanders lasts: what it was tells of what it will be, never of the opposite.
    errors = facts.residuals.past.of_terms(scores.fitted) * fitted[:, :, None]
    terms = [facts.generator.basis.formulas[k] for k in scores.terms]
    return _scores(facts, errors, int(fitted.sum()) * len(SPELLS), terms, SPELLS)


def _odd_moments(facts: Measurements) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sizes of skewness and kurtosis that neither chance nor a right fit has, ``(d,)`` each.

    The smaller of what they are and of what they are beyond the expected one; zero if that is no
    more than chance. And whether tails are heavier than expected.
    """
    residuals = facts.residuals
    count, needed = np.maximum(residuals.count, 1.0), chance(4 * facts.data.dimension)
    # Fourth powers lean to one side: the second term is Cornish and Fisher's.
    heavier = needed + np.sqrt(216.0 / count) * (needed**2 - 1) / 6
    by_chance = np.stack([needed * np.sqrt(6.0 / count), heavier * np.sqrt(24.0 / count)])
    moments = np.stack([residuals.skewness, residuals.kurtosis])
    matters = np.array([[limits.LEANING], [limits.TAILS]])
    if not ((np.abs(moments) > by_chance) & (np.abs(moments) > matters)).any():
        nothing = np.zeros_like(count)  # and no need to simulate what is expected
        return nothing, nothing, nothing
    beyond = moments - facts.expected_shape
    odd = (np.abs(moments) > by_chance) & (np.abs(beyond) > by_chance)
    skewness, kurtosis = np.where(odd, np.minimum(np.abs(moments), np.abs(beyond)), 0.0)
    return skewness, kurtosis, np.minimum(beyond[1], moments[1]) > 0


def heavy_tails(facts: Measurements) -> Numbers:
    """Excess kurtosis of tails that are heavier than those of a right fit, ``(d,)``."""
    _, kurtosis, heavier = _odd_moments(facts)
    worst = facts.residuals.kurtosis
    odd = np.where(heavier, kurtosis, 0.0)
    return Numbers(odd, told=lambda it: {"worst": worst[it.chosen].max()})


def light_tails(facts: Measurements) -> Numbers:
    """Size of an excess kurtosis below zero, ``(d,)``."""
    kurtosis = facts.residuals.kurtosis
    odd = np.where(kurtosis < 0, _odd_moments(facts)[1], 0.0)
    return Numbers(odd, told=lambda it: {"worst": kurtosis[it.chosen].min()})


def leaning(facts: Measurements) -> Numbers:
    """Size of the skewness, ``(d,)``, of coordinates whose tails are not heavy."""

    def told(it: Answer) -> Told:
        skewness = facts.residuals.skewness[it.chosen]
        return {"worst": skewness[np.argmax(np.abs(skewness))]}

    heavy = heavy_tails(facts).size > limits.TAILS
    return Numbers(np.where(heavy, 0.0, _odd_moments(facts)[0]), told=told)


def by_pace(facts: Measurements) -> Numbers:
    """Variances of residuals by the length of the step, ``(d,)``."""
    return _of_noise(facts, facts.residuals.pace_variances(), facts.data.dimension)


def bursts(facts: Measurements) -> Numbers:
    """Correlation of squared residuals with earlier ones, ``(d, L)``."""
    groups = facts.residuals.groups
    size = groups.burstiness(facts.residuals.kurtosis).T
    errors = size * np.sqrt(groups.lag_count)
    return Numbers(size, errors, size.size, axes=(DELAYS,))


def _line(facts: Measurements, row: int) -> tuple[Deviation, int, Any]:
    """The clearest line in a spectrum, of how many, and what is told of it."""
    line = facts.stretches.line(facts.residuals.stretches[row])

    def told(it: Answer) -> Told:
        steps = line.period[it.place]
        return {"steps": steps, "period": steps * facts.data.mean_dt}

    return Deviation(line.errors, line.excess), 2 * facts.data.dimension * line.frequencies, told


def drift_spectrum(facts: Measurements) -> Numbers:
    """The clearest line in the spectrum of residuals, ``(d,)``."""
    return _of_drift(facts, *_line(facts, 0))


def noise_spectrum(facts: Measurements) -> Numbers:
    """The clearest line in that of their squares, ``(d,)``."""
    return _of_noise(facts, *_line(facts, 1))


def _clearest_direction(found: Deviation) -> Deviation:
    """Of slopes along several directions, ``(d, D)``, the clearest; ``(d,)``."""
    return Deviation(found.errors.max(axis=1), found.excess.max(axis=1))


def in_time(facts: Measurements) -> tuple[Numbers, Numbers]:
    """How far drift and noise of parts of the trajectories are from those of all, ``(d,)``."""
    groups, tests = facts.residuals.groups, facts.data.dimension * (facts.data.dimension + 3)

    def told(it: Answer) -> Told:
        (drifting, louder), (drift, noise) = it.passed, (one.size for one in it.numbers)
        faults = [f"its drift by {of_its_size(drift[drifting].max())}"] if drifting.any() else []
        faults += [f"its noise by {noise[louder].max():.0%}"] if louder.any() else []
        fields = (*facts.drifts(drifting), *facts.variances(louder))
        return {"faults": " and ".join(faults), "fields": fields}

    drift = _of_drift(facts, _clearest_direction(groups.times()), tests, told)
    return drift, _of_noise(facts, groups.time_variances(), tests)


def odd_trajectory(facts: Measurements) -> tuple[Numbers, Numbers] | None:
    """How far each trajectory is from the drift and from the noise of all, ``(d, R)``."""
    if len(facts.data) < limits.FEWEST_TRAJECTORIES:
        return None
    residuals, known = facts.residuals, facts.residuals.signal > limits.LEAST_SIGNAL
    variance, errors = residuals.odd_noise
    drift = (np.abs(np.nan_to_num(residuals.odd_drift)) * known).T
    noise, size = np.abs(np.nan_to_num(errors)).T, np.abs(variance - 1.0).T

    def told(_: Answer) -> Told:
        large = noise * (size > limits.ODD_NOISE)
        number = int(np.argmax((drift if drift.max() > large.max() else large).max(axis=0)))
        change = float(np.nanmax(np.abs(residuals.holdout[number][known]), initial=0.0))
        most, ratios = drift[:, number].max(), variance[number][large[:, number] > 0]
        faults = [f"its increments are {most:.1f} standard errors from the drift"]
        faults *= bool(most > limits.STANDARD_ERRORS)
        for ratio in ratios[:1]:
            faults.append(f"its residuals vary {ratio:.2g} times as much as the tensor says")
        told = {"number": number, "of": len(facts.data), "change": change}
        return told | {"faults": ", ".join(faults)}

    return Numbers(1.0, drift, told=told), Numbers(size, noise)


def kinds(facts: Measurements) -> Numbers | None:
    """How far the drifts of trajectories are from each other, all of them together, ``(d,)``."""
    found, d = _clearest_direction(facts.residuals.groups.kinds()), facts.data.dimension
    few = len(facts.data) < limits.FEWEST_TRAJECTORIES
    return None if few else _of_drift(facts, found, d * (d + 2))


def _empty(facts: Measurements) -> BoolArray:
    """Drifts without a term, ``(d,)``."""
    assert facts.fit.likelihood is not None
    return ~np.any(facts.fit.likelihood.uncertainty.drift, axis=1)[: facts.n_states]


def lacking(facts: Measurements) -> Numbers | None:
    """How much more the strongest term must stand out where there is none, ``(d,)``."""
    estimate = facts.fit.likelihood
    if estimate is None:
        return None
    needed, signals = float(np.sqrt(2 * estimate.term_cost)), estimate.signals[: facts.n_states]

    def told(it: Answer) -> Told:
        signal = float(signals[it.place])
        longer = max((needed / max(signal, 0.1)) ** 2, 1.5)
        return {"signal": signal, "needed": needed, "longer": longer}

    return Numbers(np.where(_empty(facts), needed - signals, 0.0), told=told)


def hardly_there(facts: Measurements) -> tuple[Any, ...] | None:
    """Drifts without a term, errors of the others, what the whole of each is worth, ``(d,)``."""
    if facts.fit.likelihood is None:
        return None
    whole = facts.residuals.signal[: facts.n_states]
    empty = Numbers(_empty(facts), told=lambda it: {"whole": whole[it.place]})
    return empty, facts.drift_error[: facts.n_states], whole
