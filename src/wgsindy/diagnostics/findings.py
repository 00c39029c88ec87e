"""What can stand between data and their equation, the questions about it, and what is answered.

A question is a row of questions.toml, its answer is given by facts. A statistic is a size that
matters to a reader and, where chance has a part in it, the same in standard errors. Where many
groups, lags or coordinates are looked at together, the threshold is that of the largest of so many
normal numbers. Beside it stands the least size that matters, since with enough data every formula
is off by something. A diagnosis has the findings, and what a notebook shows of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, reduce
from math import isfinite
from operator import attrgetter
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
from markupsafe import Markup

from wgsindy.data import BoolArray, FloatArray
from wgsindy.diagnostics import thresholds
from wgsindy.diagnostics.measurements import Measurements
from wgsindy.diagnostics.thresholds import WRONG_VARIANCE
from wgsindy.draw import ACCENT, LETTERS
from wgsindy.model import fragment

Verdict = Literal["identified", "partly identified", "not identified", "not assessed"]


class Limitation(StrEnum):
    """What stands between the data and a full recovery; empty where nothing does."""

    NONE = ""
    LOW_SIGNAL = "low drift signal-to-noise"
    NEAR_SINGULAR = "near-singular tensor"
    BOUNDARY = "boundary concentration"
    MISSING_TERMS = "missing library terms"
    HIDDEN = "hidden coordinate"
    ORDER = "first or second order"
    COVERAGE = "insufficient coverage"
    LARGE_STEP = "step too large"
    SIMULATED = "Euler steps of a simulation"
    DEGENERATE = "degenerate diffusion"
    STALLED = "stalled sensor"
    INTERPOLATED = "interpolated samples"
    COPIED = "samples counted twice"
    ROUNDED = "too few digits"
    SMOOTHED = "smoothed samples"
    NOISE = "observation noise"
    JUMPS = "jumps or outliers"
    DISAGREEMENT = "trajectories disagree"
    BOUNDED = "bounded steps"
    CHANGING = "changes with time"
    DELAYED = "dependence on the past"
    BURSTS = "noise that comes in bursts"
    INDEPENDENT = "samples without memory"
    CLOCK = "a column that counts"
    DETERMINISTIC = "no noise"
    EXTRAPOLATED = "extrapolated field"
    LONG_FORMULA = "no short formula"
    SEVERAL = "several formulas"
    UNCERTAIN = "large error bars"
    UNEVEN_CLOCK = "time that does not count"


class Finding(NamedTuple):
    """One thing a diagnosis found.

    ``fields`` that it concerns, such as ``("b1",)``; ``sentence`` what was measured, ``advice``
    what to do. ``handled`` if the fit has allowed for it, so that the verdict need not.
    """

    limitation: Limitation
    fields: tuple[str, ...]
    sentence: str
    advice: str
    handled: bool = False


def weak_fields(found: Iterable[Finding]) -> frozenset[str]:
    """Drift components that do not stand out of the noise, by their names."""
    names = (Limitation.LOW_SIGNAL, Limitation.INDEPENDENT)
    weak = (one for one in found if one.limitation in names and not one.handled)
    return frozenset(name for one in weak for name in one.fields)


@dataclass(frozen=True)
class Diagnostics:
    """Facts about a fit, and what they add up to.

    Samples and library: ``condition_number`` of the design with unit columns; ``repeated_samples``
    that equal the one before them exactly; ``largest_increment`` over the typical one, worst
    coordinate; ``horizon``, the time that tells of the drift at the worst covered twentieth of the
    samples; ``shift`` of the mean state between the halves of the trajectories, in standard
    deviations.

    Residuals, each for every coordinate: ``residual_variance``, 1 if the tensor is right;
    ``excess_kurtosis``; ``lag_one``, the correlation of neighbours; ``memory``, by how much sums
    over many steps vary more than their number says; ``thinning``, the relative change of the
    drift if every other sample is left out; ``noise_level``, the mean of a_pp, and ``low_noise``,
    the share of samples where the coordinate has almost none; ``observation_noise``, the variance
    that the fit allows for. Shares of samples: ``singular``, where noise is nearly confined
    to fewer directions, ``long_steps``, where a step covers much of the way back to rest.
    ``holdout`` is the largest relative change of the size of the drift when one trajectory is left
    out.

    The sharp recipe adds: ``drift_signal``, by how many standard errors the strongest single drift
    term of each component stands out; ``drift_error``, the expected relative error of each;
    ``noiseless`` coordinates; ``clipped_fraction`` of samples at which the fitted tensor has a
    negative eigenvalue, which is set to zero; ``rival``, the library that the data prefer most to
    the fitted one, and ``rival_log_evidence``, by how much.

    ``findings`` say what these facts mean, the limiting one first; ``verdict`` whether the data
    determine all drift components, some or none.
    """

    n_increments: int
    n_rows: int
    n_terms: int
    condition_number: float
    repeated_samples: int
    largest_increment: float
    horizon: float
    shift: float
    residual_variance: tuple[float, ...]
    excess_kurtosis: tuple[float, ...]
    lag_one: tuple[float, ...]
    memory: tuple[float, ...]
    thinning: tuple[float, ...]
    noise_level: tuple[float, ...]
    low_noise: tuple[float, ...]
    observation_noise: tuple[float, ...]
    singular: float
    long_steps: float
    holdout: float
    drift_signal: tuple[float, ...] = ()
    drift_error: tuple[float, ...] = ()
    noiseless: tuple[str, ...] = ()
    clipped_fraction: float = 0.0
    rival: str = ""
    rival_log_evidence: float = 0.0
    verdict: Verdict = "not assessed"
    findings: tuple[Finding, ...] = ()

    @property
    def limitation(self) -> Limitation:
        """What limits the recovery most."""
        return self.findings[0].limitation if self.findings else Limitation.NONE

    @property
    def reasons(self) -> tuple[str, ...]:
        """What was found, in sentences."""
        return tuple(finding.sentence for finding in self.findings)

    @property
    def summary(self) -> str:
        """The verdict and what limits it most, in one sentence."""
        if self.verdict == "not assessed":
            return (
                "The generator was not assessed: this recipe gives no error bars, so whether the "
                "data determine it is not known. Fit with recipe='sharp'."
            )
        limiting = [finding for finding in self.findings if not finding.handled]
        if limiting:
            first = limiting[0]
            where = f" ({', '.join(first.fields)})" if first.fields else ""
            return f"The generator is {self.verdict}; what limits it: {first.limitation}{where}."
        names = list(dict.fromkeys(str(finding.limitation) for finding in self.findings))
        names = [name for name in names if name != Limitation.ORDER]  # an answer, not a limit
        if not names:
            return f"The generator is {self.verdict}: nothing was found that limits it."
        if Limitation.SEVERAL not in names:
            return f"The generator is {self.verdict}, with allowance for {', '.join(names)}."
        names.remove(str(Limitation.SEVERAL))
        rest = f", with allowance for {', '.join(names)}" if names else ""
        return (
            f"The generator is {self.verdict} as a field{rest}; its formula is one of several that "
            "explain the data equally well."
        )

    def _repr_html_(self) -> str:
        return diagnostics_html(self)

    def _repr_latex_(self) -> str:
        return diagnostics_latex(self)


ROW, LEFT, WIDTH = 20, 40, 220  # pixels: a coordinate, the names, the scale from 0 to 2 [drawing]


def diagnostics_html(found: Diagnostics) -> str:
    """Return the verdict, a line a finding, and the residual variances as a picture."""
    return fragment(found.summary, findings_list(found), _picture(found), note=_size(found))


def findings_list(found: Diagnostics) -> Markup:
    """Write every finding with its advice."""
    line = Markup("<li><strong>{}</strong>: {} <small>{}</small></li>")
    lines = [line.format(one.limitation, one.sentence, one.advice) for one in found.findings]
    return Markup("<ul>{}</ul>").format(Markup("").join(lines)) if lines else Markup("")


def diagnostics_latex(found: Diagnostics) -> str:
    """Return the summary as LaTeX."""
    text = found.summary.replace("\\", " ").replace("%", r"\%").replace("_", r"\_")
    return rf"$\text{{{text}}}$"


def _size(found: Diagnostics) -> str:
    return f"{found.n_increments} steps, {found.n_terms} candidate terms a field"


def _picture(found: Diagnostics) -> Markup:
    """Draw the residual variance of each coordinate on a scale from 0 to 2; 1 is right."""
    height = ROW * len(found.residual_variance)
    low, high = (LEFT + WIDTH * edge / 2 for edge in (1 - WRONG_VARIANCE, 1 + WRONG_VARIANCE))
    marks = [
        Markup("<rect x='{}' y='0' width='{}' height='{}' fill='{}' fill-opacity='0.18'/>").format(
            f"{low:.0f}", f"{high - low:.0f}", height, ACCENT
        )
    ]
    for p, value in enumerate(found.residual_variance):
        middle = ROW * p + ROW / 2
        marks.append(Markup("<text x='4' y='{}'>{}</text>").format(middle + 4, f"{p + 1}"))
        if isfinite(value):
            place = LEFT + WIDTH * min(max(value, 0.0), 2.0) / 2
            marks.append(
                Markup("<circle cx='{}' cy='{}' r='4' fill='{}'/>").format(
                    f"{place:.1f}", middle, ACCENT
                )
            )
    drawing = Markup(
        "<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{w}' height='{h}' "
        "viewBox='0 0 {w} {h}'><title>Residual variance of each coordinate</title>"
        f"<g {LETTERS}>{{marks}}</g></svg>"
    ).format(w=LEFT + WIDTH + 8, h=height, marks=Markup("").join(marks))
    caption = (
        "Residual variance of each coordinate, from 0 to 2: 1 (in the band) if the tensor fits."
    )
    return Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(drawing, caption)


Statistic = Callable[[Measurements], Any]


def chance(tests: int, alarm: float = thresholds.FALSE_ALARM) -> float:
    """Standard errors that the largest of so many tests exceeds at the rate of a false alarm."""
    return NormalDist().inv_cdf(1 - alarm / tests)


def of_its_size(share: float) -> str:
    """Say how large something is beside the drift, of which there may be next to nothing."""
    return "more than all of its size" if share > 1 else f"{share:.0%} of its size"


@dataclass(frozen=True)
class Numbers:
    """What a statistic measured: one number or, component first, many ``(d, ...)``."""

    size: Any  # what matters to a reader
    errors: FloatArray | None = None  # the same in standard errors
    tests: int = 1  # how many numbers it is the largest of, if it is by chance
    told: Mapping[str, Any] | Callable[[Answer], Mapping[str, Any]] | None = None  # for the words
    axes: tuple[Sequence[Any], ...] = ()  # what the axes after the component are

    def tells(self, it: Answer) -> Mapping[str, Any]:
        """What the words need beside the answer."""
        return (self.told(it) if callable(self.told) else self.told) or {}


@dataclass(frozen=True)
class Threshold:
    """A size that a number must be ``above`` or ``below``, beyond so many standard ``errors``.

    These are counted from what chance makes of all numbers that are compared, at the rate of a
    false ``alarm``; where that is none, from zero.
    """

    above: float = 0.0
    below: float | None = None
    alarm: float = 0.0
    errors: float = 0.0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Threshold:
        """Numbers, or names of thresholds."""
        return cls(**{key: getattr(thresholds, str(value), value) for key, value in row.items()})

    def passed(self, numbers: Numbers) -> BoolArray:
        """Which of the numbers are beyond it, in the shape of these."""
        size = np.asarray(numbers.size)
        beyond = np.asarray(size > self.above if self.below is None else size < self.below)
        if numbers.errors is None:
            return beyond
        by_chance = chance(numbers.tests, self.alarm) if self.alarm else 0.0
        return beyond & (numbers.errors > by_chance + self.errors)


@dataclass(frozen=True)
class Answer:
    """Facts of which something is to be said, and where their numbers are beyond a threshold."""

    facts: Measurements
    numbers: tuple[Numbers, ...]
    passed: tuple[BoolArray, ...]  # of each, which are beyond its threshold

    @cached_property
    def clear(self) -> BoolArray:
        """Where any of the numbers is beyond its threshold."""
        return reduce(np.logical_or, self.passed)

    @cached_property
    def chosen(self) -> BoolArray:
        """Coordinates that there is something to say of, ``(d,)``; all if it is one number."""
        chosen = np.zeros(self.facts.data.dimension, dtype=bool)
        by_component = self.clear.reshape(*self.clear.shape[:1], -1).any(axis=-1)
        chosen[: by_component.size if by_component.ndim else None] = by_component
        return chosen

    @property
    def names(self) -> str:
        """Names of these coordinates."""
        return self.facts.named(self.chosen)

    @cached_property
    def place(self) -> tuple[int, ...]:
        """Where the clearest number is: by its standard errors or, without these, by its size."""
        first = self.numbers[0]
        by = first.size if first.errors is None else first.errors
        place = np.unravel_index(np.argmax(np.where(self.clear, by, -np.inf)), self.clear.shape)
        return tuple(int(index) for index in place)

    @property
    def name(self) -> str:
        """Name of the coordinate of the clearest number."""
        return self.facts.data.names[self.place[0]]

    @property
    def along(self) -> tuple[Any, ...]:
        """What the clearest number is about beside its coordinate."""
        return tuple(axis[k] for axis, k in zip(self.numbers[0].axes, self.place[1:], strict=True))

    @property
    def size(self) -> float:
        """The clearest number."""
        return float(np.asarray(self.numbers[0].size)[self.place])

    @property
    def errors(self) -> float:
        """The clearest number in standard errors."""
        return float(np.asarray(self.numbers[0].errors)[self.place])

    @property
    def share(self) -> str:
        """The clearest number as a share of the drift."""
        return of_its_size(self.size)

    @property
    def largest(self) -> float:
        """Largest number of the coordinates that are named."""
        return float(np.max(self.numbers[0].size[self.chosen]))

    @property
    def largest_errors(self) -> float:
        """The same of their standard errors."""
        return float(np.max(np.asarray(self.numbers[0].errors)[self.chosen]))

    @property
    def largest_share(self) -> str:
        """Largest number as a share of the drift."""
        return of_its_size(self.largest)


@dataclass(frozen=True)
class Question:
    """A row of the verdict; questions.toml says what each column is."""

    asks: str
    limitation: Limitation
    name: str  # of the statistic
    statistic: Statistic
    words: str
    advice: str
    thresholds: tuple[Threshold, ...] = (Threshold(),)
    fields: tuple[str, ...] = ()
    clearest: bool = False
    handled: bool = False
    each: bool = False
    instead: bool = False

    @classmethod
    def of(cls, row: Mapping[str, Any], statistics: Mapping[str, Statistic]) -> Question:
        """Read a row, with the function that its statistic is."""
        name = row["statistic"]
        fact = attrgetter(name[6:]) if name.startswith("facts.") else None
        return cls(
            **{
                **row,
                "limitation": Limitation(row["limitation"]),
                "name": name,
                "statistic": fact or statistics[name],
                "thresholds": tuple(map(Threshold.of, row.get("thresholds", [{}]))),
                "fields": tuple(row.get("fields", ())),
            }
        )

    def answer(self, facts: Measurements, coordinate: int | None = None) -> Finding | None:
        """Ask it, of all coordinates or of one alone."""
        measured = self.statistic(facts)
        if measured is None:
            return None
        parts = measured if isinstance(measured, tuple) else (measured,)
        numbers = tuple(one if isinstance(one, Numbers) else Numbers(one) for one in parts)
        passed = [limit.passed(one) for limit, one in zip(self.thresholds, numbers, strict=True)]
        if coordinate is not None:
            passed = [one & (np.arange(len(one)) == coordinate) for one in passed]
        it = Answer(facts, numbers, tuple(passed))
        if not it.clear.any():
            return None
        told = numbers[0].tells(it)
        if not told.get("asked", True):
            return None
        words, advice = (
            text.format(it=it, facts=facts, **told) for text in (self.words, self.advice)
        )
        handled = bool(told.get("handled", self.handled))
        return Finding(self.limitation, self._fields(it, told), words, advice, handled)

    def _fields(self, it: Answer, told: Mapping[str, Any]) -> tuple[str, ...]:
        """Fields that an answer concerns."""
        if "fields" in told:
            return tuple(told["fields"])
        chosen = it.chosen
        if self.clearest:
            chosen = np.arange(len(chosen)) == it.place[0]
        return tuple(name for kind in self.fields for name in getattr(it.facts, kind)(chosen))
