"""What the data and the linear systems of a fit looked like."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wgsindy.errors import OutlierWarning, RepeatedSamplesWarning
from wgsindy.findings import Axis, Finding, Verdict
from wgsindy.sharp import SharpFit
from wgsindy.survey import Cloud
from wgsindy.trajectories import Trajectories
from wgsindy.weakform import WeakForm

# The largest of a million Gaussian increments is 5 typical ones, of a strongly state-dependent
# diffusion 10; a single wrong sample among many thousands stands out by more.
OUTLIER_RATIO = 20.0


@dataclass(frozen=True)
class Diagnostics:
    """Facts about a fit, and what they add up to.

    ``condition_number`` of the design with unit columns; ``repeated_samples`` that equal the one
    before them exactly; ``largest_increment`` over the typical one, worst coordinate. The sharp
    recipe adds: ``drift_signal``, by how many standard errors the strongest single drift term of
    each component stands out; ``noiseless`` coordinates; ``clipped_fraction`` of samples at which
    the fitted tensor has a negative eigenvalue, which is set to zero; ``verdict``, whether the
    data determine all drift components, some or none; ``findings``, the limiting one first.
    """

    n_increments: int
    n_rows: int
    n_terms: int
    condition_number: float
    repeated_samples: int
    largest_increment: float
    drift_signal: tuple[float, ...] = ()
    noiseless: tuple[str, ...] = ()
    clipped_fraction: float = 0.0
    verdict: Verdict = "not assessed"
    findings: tuple[Finding, ...] = ()

    @property
    def axis(self) -> Axis:
        """What limits the recovery most."""
        return self.findings[0].axis if self.findings else Axis.NONE

    @property
    def reasons(self) -> tuple[str, ...]:
        """What was found, in sentences."""
        return tuple(finding.sentence for finding in self.findings)

    @property
    def summary(self) -> str:
        """The verdict and the limiting axis in one sentence."""
        if not self.findings:
            return f"The generator is {self.verdict}."
        return f"The generator is {self.verdict}; limiting axis: {self.axis}."

    @classmethod
    def of_rows(cls, weak: WeakForm) -> Diagnostics:
        """Collect the facts of a fit of weak rows."""
        return cls(
            n_increments=weak.data.n_increments,
            n_rows=len(weak.design),
            n_terms=len(weak.basis),
            condition_number=weak.condition_number,
            repeated_samples=weak.cloud.repeated,
            largest_increment=float(weak.cloud.worst.max()),
        )

    @classmethod
    def of_samples(cls, data: Trajectories, cloud: Cloud, fit: SharpFit) -> Diagnostics:
        """Collect the facts of a fit of single increments and judge them."""
        missing = [p for p, row in enumerate(fit.uncertainty.drift) if not row.any()]
        noiseless = tuple(name for name, quiet in zip(data.names, fit.quiet, strict=True) if quiet)
        findings = [_not_identified(data, fit, p) for p in missing]
        findings += [
            Finding(
                Axis.DEGENERATE,
                (),
                f"{name} has no noise of its own: its residuals are what the other coordinates and "
                "the drift leave within a step, so its row of the tensor is set to zero.",
                "Read its equation as an exact one.",
                mended=True,
            )
            for name in noiseless
        ]
        verdict: Verdict = "partly identified" if missing else "identified"
        return cls(
            n_increments=data.n_increments,
            n_rows=data.n_increments - cloud.repeated,
            n_terms=fit.drift.shape[1],
            condition_number=fit.condition,
            repeated_samples=cloud.repeated,
            largest_increment=float(cloud.worst.max()),
            drift_signal=tuple(fit.signals.tolist()),
            noiseless=noiseless,
            clipped_fraction=fit.clipped,
            verdict="not identified" if len(missing) == data.dimension else verdict,
            findings=tuple(findings),
        )


def _not_identified(data: Trajectories, fit: SharpFit, p: int) -> Finding:
    signal, needed = float(fit.signals[p]), float(np.sqrt(2 * fit.term_cost))
    longer = (needed / max(signal, 0.1)) ** 2
    return Finding(
        Axis.LOW_SIGNAL,
        (f"b{p + 1}",),
        f"the drift of {data.names[p]} is not identified: within {data.total_time:.3g} units of "
        f"time its strongest term stands {signal:.1f} standard errors out of the noise, and "
        f"{needed:.1f} are needed. It may be zero.",
        f"Observe for longer: a drift of that size would show in about {max(longer, 1.5):.0f} "
        "times the observed time.",
    )


def warn_of_samples(cloud: Cloud, names: Sequence[str], *, dropped: bool = False) -> None:
    """Warn of repeated samples and of outliers, which both bias the tensor."""
    consequence = (
        "they are left out of the fit."
        if dropped
        else "they count as steps without noise and pull the tensor down. Drop them if they are "
        "not real."
    )
    if cloud.repeated:
        warnings.warn(
            f"{cloud.repeated} samples repeat the one before them exactly (a stalled sensor, "
            f"padding or a state stuck at a limit); {consequence}",
            RepeatedSamplesWarning,
            stacklevel=3,
        )
    worst = int(np.argmax(cloud.worst))
    if cloud.worst[worst] > OUTLIER_RATIO:
        warnings.warn(
            f"the largest increment of {names[worst]} is {cloud.worst[worst]:.3g} times the "
            "typical one: an outlier, a jump or a gap in the record. Split or clean the "
            "trajectory there.",
            OutlierWarning,
            stacklevel=3,
        )
