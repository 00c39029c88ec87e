"""Polarisation of a fish school: observation noise, and what thinning leaves.

    python examples/fish_school.py --out DIR

The data come with the package ``pydaddy`` (GPL; ``pip install --no-deps pydaddy==1.0.0``); they are
read from there and never copied. No network is used.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

import wgsindy as wg
from figures import draw_thinning
from fish_checks import isotropic_law, noise_by_polarisation, simulated, with_noise
from wgsindy.data import FloatArray
from wgsindy.diagnostics import Measurements
from wgsindy.estimate.weak_form import lag_one_noise
from wgsindy.files import Reading
from wgsindy.report import residual_series, write_report

STEP = 0.12  # seconds; what pydaddy.load_sample_dataset states
THINNING = (1, 2, 4, 8, 16)
CHOSEN = 8
# Samples taken as they are: what a fit that knows of no observation noise makes of them.
AS_THEY_ARE = replace(wg.recipes.SHARP, name="noise ignored", noise_correction=False)
RADIUS = 0.5  # |m| at which fields are compared


def load() -> Reading[wg.Trajectories]:
    """Read the file where it was installed; over rows without a value the step is longer.

    The package itself is not imported: that takes seconds, needs ``pkg_resources`` and silences
    warnings of the whole process.
    """
    try:
        path = distribution("pydaddy").locate_file("pydaddy/data/fish_data/ectropus.csv")
    except PackageNotFoundError:
        raise SystemExit(
            "the data come with pydaddy: pip install --no-deps pydaddy==1.0.0"
        ) from None
    return wg.read(str(path), dt=STEP, names=("mx", "my"))


def thinned(data: wg.Trajectories, every: int, start: int = 0) -> wg.Trajectories:
    """Keep one sample in so many; pieces that shrink to one are dropped."""
    paths = [path[start::every] for path in data]
    kept = [path for path in paths if len(path) > 1]
    return wg.Trajectories(kept, dt=STEP * every, names=data.names)


@dataclass(frozen=True)
class Look:
    """One fit: drift rate -b.m/|m|^2, tensor along m and across it."""

    data: wg.Trajectories
    est: wg.WGSINDy
    rate: float
    along: float
    across: float

    @cached_property
    def lags(self) -> FloatArray:
        """Correlations of residuals with those before, ``(31,)``, mean over both coordinates."""
        level = Measurements(self.est.fit_).noise_level
        return residual_series(self.est.generator_, self.data, level).autocorrelation().mean(axis=1)

    @property
    def clipped(self) -> float:
        """Share of samples at which there is no tensor."""
        found = self.est.fit_.likelihood
        return 0.0 if found is None else found.clipped

    def line(self, every: int) -> str:
        """A row of the table."""
        return (
            f"{every:>5} {every * STEP:>6.2f} {name_of(self.est.recipe):<13} {self.rate:>7.3f} "
            f"{self.along:>7.3f} {self.across:>7.3f} {self.lags[1]:>7.2f} {self.lags[2]:>7.2f} "
            f"{self.clipped:>7.0%}"
        )


def name_of(recipe: str | wg.recipes.Recipe) -> str:
    """Return what to call it in a table."""
    return recipe if isinstance(recipe, str) else recipe.name


def look(
    data: wg.Trajectories, recipe: str | wg.recipes.Recipe = "sharp", library: str = "poly2"
) -> Look:
    """Fit and read off what is compared, as means over directions of m."""
    est = wg.WGSINDy(library=library, recipe=recipe).fit(data)
    angle = np.arange(16) * np.pi / 8
    m = np.column_stack([np.cos(angle), np.sin(angle)])
    b, a = est.generator_.drift(RADIUS * m), est.generator_.diffusion(RADIUS * m)
    along = np.einsum("ni,nij,nj->n", m, a, m)
    return Look(
        data,
        est,
        -float(np.einsum("ni,ni->n", b, m).mean()) / RADIUS,
        float(along.mean()),
        float((np.trace(a, axis1=1, axis2=2) - along).mean()),
    )


def table(ignored: Look, looks: dict[int, Look]) -> list[str]:
    """One row a thinning, and one in which noise is ignored."""
    return [
        f"{'':>12} {'':<13} {'drift':>7} {f'tensor at |m| = {RADIUS}':>15} {'residuals, lag':>15}",
        f"every {'s':>6} {'recipe':<13} {'rate':>7} {'along':>7} {'across':>7} {'1':>7} {'2':>7} "
        "clipped",
        ignored.line(1),
        *(found.line(every) for every, found in looks.items()),
    ]


def noise(data: wg.Trajectories) -> tuple[float, list[str]]:
    """Mean variance of the observation noise, and how it depends on the state."""
    mean = float(np.trace(lag_one_noise(data, np.ones(2)))) / 2
    return mean, [
        f"Observation noise: variance {mean:.4f} on average, but",
        *(
            f"  |m| near {m:.2f}: {variance:.4f} = {variance / shape:.3f} (1 - |m|^2)"
            for m, shape, variance in noise_by_polarisation(data)
        ),
    ]


def control(generator: wg.Generator, variance: float) -> list[str]:
    """Simulate the fit with noise of either law, to see what the filter brings back."""
    lines = ["Control: the thinned fit simulated at the native step, with noise of that variance"]
    x = simulated(generator, STEP)
    for name, of_state in (("the same everywhere", False), ("as 1 - |m|^2", True)):
        data = with_noise(x, STEP, variance, of_state=of_state)
        for recipe in (AS_THEY_ARE, "sharp"):
            found = look(data, recipe)
            lines.append(
                f"  {name:<20} {name_of(recipe):<13} drift rate {found.rate:>6.3f}, tensor along m "
                f"{found.along:.3f}, clipped {found.clipped:.0%}"
            )
    return lines


def fits(looks: dict[str, Look]) -> list[str]:
    """Verdicts, findings and equations."""
    lines: list[str] = []
    for name, found in looks.items():
        diagnosis = found.est.diagnostics_
        lines += ["", f"{name}: {diagnosis.summary}"]
        lines += [f"- {finding.sentence} {finding.advice}" for finding in diagnosis.findings]
        lines += found.est.generator_.equations(errors=True, digits=2)
    return lines


def laws(chosen: Look) -> list[str]:
    """Whether a direction is special, and whether the drift is linear."""
    alpha, c, rows = isotropic_law(chosen.est.generator_)
    cubic = look(chosen.data, library="poly3").est.generator_.equations(errors=True, digits=2)
    return [
        f"Is a direction special? alpha = {alpha:.3f}, c = {c:.3f} predict; the fit has",
        *(f"  {name:<10} {predicted:>7.3f} {value:>7.3f}" for name, predicted, value in rows),
        "With cubic terms on offer (poly3) the drift is",
        *(f"  {equation}" for equation in cubic[:2]),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, print, draw, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("examples-output"))
    out: Path = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    reading = load()
    notes = [note.sentence for note in reading.notes]
    looks = {every: look(thinned(reading.data, every)) for every in THINNING}
    ignored, chosen = look(reading.data, AS_THEY_ARE), looks[CHOSEN]
    variance, lines = noise(reading.data)
    print(*notes, f"{reading.data.n_increments} increments", "", sep="\n")
    print(*table(ignored, looks), "", *lines, "", sep="\n")
    print(*control(chosen.est.generator_, variance), sep="\n")
    named = {"noise ignored": ignored, "native": looks[1], f"every {CHOSEN}th": chosen}
    print(*fits(named), "", *laws(chosen), sep="\n")
    draw_thinning(
        out / "fish-school.png",
        {STEP * k: (found.along, found.across) for k, found in ({**looks, 1: ignored}).items()},
        {STEP: ignored.lags, STEP * 4: looks[4].lags, STEP * CHOSEN: chosen.lags},
        (chosen.est.generator_, chosen.data),
    )
    for name, found in (("native", looks[1]), ("thinned", chosen)):
        write_report(
            out / f"fish-school-{name}-report.html",
            found.est.generator_,
            found.data,
            found.est.diagnostics_,
            title=f"Polarisation of a fish school, {name}: steps of {found.data.mean_dt:.2f} s",
            command="python examples/fish_school.py",
            notes=notes,
        )


if __name__ == "__main__":
    main()
