"""What can stand between data and their equation, and the result of a diagnosis that says so.

With what a notebook shows of it: the verdict, what was found, a small picture.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Literal, NamedTuple

from markupsafe import Markup

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
