"""From what was measured to the facts, the findings and the verdict."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.diagnostics import statistics
from wgsindy.diagnostics.findings import Diagnostics, Finding, Question, Verdict, weak_fields
from wgsindy.diagnostics.measurements import Measurements
from wgsindy.diagnostics.thresholds import LEAST_SIGNAL
from wgsindy.estimate import Fit
from wgsindy.model import field_names


@cache
def questions() -> tuple[tuple[Question, ...], ...]:
    """Rows of questions.toml; those that are asked instead of each other stand together."""
    table = (resources.files("wgsindy.diagnostics") / "questions.toml").read_text(encoding="utf-8")
    together: list[list[Question]] = []
    for row in tomllib.loads(table)["question"]:
        question = Question.of(row, vars(statistics))
        together = together if question.instead else [*together, []]
        together[-1].append(question)
    return tuple(map(tuple, together))


def answers(together: Iterable[Question], facts: Measurements) -> Iterator[Finding]:
    """Answer of the first that has one; of each coordinate if that is asked."""
    each = any(question.each for question in together)
    for coordinate in range(facts.data.dimension) if each else (None,):
        spoken = (question.answer(facts, coordinate) for question in together)
        finding = next((one for one in spoken if one is not None), None)
        if finding is not None:
            yield finding


def findings(facts: Measurements) -> tuple[Finding, ...]:
    """Every finding, the limiting one first: what the fit has allowed for comes last."""
    found = (finding for together in questions() for finding in answers(together, facts))
    return tuple(sorted(found, key=lambda finding: finding.handled))


def diagnose(fit: Fit) -> Diagnostics:
    """Collect the facts about a fit and judge them."""
    fit = fit.completed
    seen = Measurements(fit)
    found, left = findings(seen), seen.residuals
    samples = max(left.samples, 1)
    estimate = fit.likelihood
    return Diagnostics(
        n_increments=seen.data.n_increments,
        n_rows=fit.rows,
        n_terms=len(seen.generator.basis),
        condition_number=fit.condition,
        repeated_samples=seen.summary.repeated,
        largest_increment=float(seen.summary.worst.max()),
        horizon=seen.horizon,
        shift=seen.shift,
        residual_variance=_plain(left.variance),
        excess_kurtosis=_plain(left.kurtosis),
        lag_one=_plain(left.lag_one),
        memory=_plain(left.memory()[0]),
        thinning=_plain(left.thinning),
        noise_level=_plain(seen.noise_level),
        low_noise=_plain(left.low_noise / samples),
        observation_noise=_plain(seen.observation_noise),
        singular=left.singular / samples,
        long_steps=left.long_steps / samples,
        drift_signal=() if estimate is None else _plain(estimate.signals),
        drift_error=_plain(seen.drift_error),
        noiseless=()
        if estimate is None
        else tuple(
            np.array(fit.data.names)[: seen.n_states][estimate.noiseless[: seen.n_states]].tolist()
        ),
        clipped_fraction=0.0 if estimate is None else estimate.clipped,
        rival="" if seen.rival is None else seen.rival.name,
        rival_log_evidence=0.0 if seen.rival is None else seen.rival.log_evidence,
        holdout=_largest(left.holdout[:, left.signal > LEAST_SIGNAL]),
        verdict="not assessed" if estimate is None else _verdict(found, seen.n_states),
        findings=found,
    )


def _verdict(found: tuple[Finding, ...], dimension: int) -> Verdict:
    if weak_fields(found) >= set(field_names(dimension)[0]):
        return "not identified"
    return "identified" if all(finding.handled for finding in found) else "partly identified"


def _plain(values: FloatArray) -> tuple[float, ...]:
    return tuple(np.asarray(values, dtype=np.float64).tolist())


def _largest(values: FloatArray) -> float:
    return float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))
