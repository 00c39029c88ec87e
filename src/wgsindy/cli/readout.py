"""`wgsindy readout`: what follows from a model file, as numbers and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wgsindy.cli.console import (
    ModelArgument,
    force_option,
    refuse_existing,
    say,
    say_indented,
    stage,
)
from wgsindy.errors import ReadoutError

if TYPE_CHECKING:
    from wgsindy.readouts import Readouts

CurrentFlag = Annotated[bool, typer.Option("--current", help="Entropy production of the current.")]
RatesFlag = Annotated[bool, typer.Option("--rates", help="Relaxation rates, frequencies.")]
DensityFlag = Annotated[bool, typer.Option("--density", help="Mean, covariance, densest point.")]
NEARLY_ZERO = 1e-9  # of a deviation: what rounding leaves of zero
EscapeOption = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--escape", metavar="FROM TO", help='Time from a set or a state to a set: "x<0" "x>0".'
    ),
]
BoxOption = Annotated[str | None, typer.Option("--box", help="Box of the grid, like -2:2,-1:1.")]
CellsOption = Annotated[int | None, typer.Option("--cells", min=16, help="Grid cells per side.")]
DrawsOption = Annotated[int, typer.Option("--draws", min=0, help="Draws for intervals; 0: none.")]
PictureOption = Annotated[Path | None, typer.Option("--out", help="Draw a picture into this file.")]


def readout(
    model: ModelArgument,
    density: DensityFlag = False,
    current: CurrentFlag = False,
    rates: RatesFlag = False,
    escape: EscapeOption = None,
    box: BoxOption = None,
    cells: CellsOption = None,
    draws: DrawsOption = 50,
    out: PictureOption = None,
    force: Annotated[bool, force_option("picture")] = False,
) -> None:
    """Compute what follows from a fitted model: stationary density, current, rates, escape.

    Without options everything but escape. Intervals come from the errors of the fit, grid errors
    from a second grid.

    Example: `wgsindy demo && wgsindy readout demo-output/model.json --rates`
    """
    from wgsindy.model import Generator

    refuse_existing(out, force)
    generator = Generator.load(model)
    told = generator.readouts(box=_box(box), cells=cells, draws=draws)
    everything = not (density or current or rates or escape)
    if density or current or rates or everything or out is not None:
        _tell_grid(told)
    with stage("solving"):
        if density or everything:
            _tell_density(told)
        if current or everything:
            _tell_current(told)
        if rates or everything:
            _tell_rates(told)
        if everything:
            _tell_name(told)
        if escape is not None:
            _tell_escape(told, *escape)
        if out is not None:
            _draw(told, out)


def _tell_grid(told: Readouts) -> None:
    with stage("solving"):
        grid = told.grid
    sides = zip(told.generator.names, grid.low, grid.high, grid.shape, strict=True)
    where = ", ".join(f"{name} from {low:.4g} to {high:.4g} in {m}" for name, low, high, m in sides)
    say(f"On a grid of {where} cells.")


def _box(text: str | None) -> list[list[float]] | None:
    if text is None:
        return None
    try:
        return [[float(end) for end in side.split(":")] for side in text.split(",")]
    except ValueError:
        raise ReadoutError(
            f"--box needs low:high for each coordinate, like -2:2,-1:1; got {text!r}."
        ) from None


def _tell_density(told: Readouts) -> None:
    say("Stationary law")
    names, mean, spread = told.generator.names, told.mean, told.covariance
    for p, name in enumerate(names):
        low, high = mean.low[p], mean.high[p]
        shown = mean[p] if abs(mean[p]) > NEARLY_ZERO * spread[p, p] ** 0.5 else 0.0
        say_indented(f"mean {name} = {shown:.4g}{_between(low, high)}")
    for p, first in enumerate(names):
        for q, second in enumerate(names[: p + 1]):
            low, high = spread.low[p, q], spread.high[p, q]
            label = f"variance {first}" if p == q else f"covariance {second}, {first}"
            size = (spread[p, p] * spread[q, q]) ** 0.5
            shown = spread[p, q] if abs(spread[p, q]) > NEARLY_ZERO * size else 0.0
            say_indented(f"{label} = {shown:.4g}{_between(low, high)}")
    peak = told.grid.centres[told.solved.fine.probability.argmax()]
    place = ", ".join(f"{name} = {x:.3g}" for name, x in zip(names, peak, strict=True))
    say_indented(f"highest density at {place}")


def _between(low: float, high: float) -> str:
    return "" if low != low else f" (95 % interval {low:.4g} to {high:.4g})"


def _tell_current(told: Readouts) -> None:
    if told.generator.dimension == 1:
        return
    say("Current")
    try:
        say_indented(f"entropy production a unit of time {told.entropy_production!r}")
    except ReadoutError as error:
        say_indented(str(error))


def _tell_rates(told: Readouts) -> None:
    say("Relaxation")
    for rate, time in zip(told.rates, told.relaxation_times, strict=True):
        turning = abs(rate.frequency.value) > 1e-6 * rate.decay.value
        ending = f", turning by {rate.frequency!r}" if turning else ""
        if rate.frequency.value >= 0 or not turning:
            say_indented(f"rate {rate.decay!r}{ending}; time {time.value:.3g}")
    sets = told.metastable_sets(told.grid.centres)
    if sets.max() > 0:
        held = [float(told.solved.fine.probability[sets == k].sum()) for k in set(sets)]
        shares = ", ".join(f"{100 * share:.0f} %" for share in held)
        say_indented(f"{len(held)} metastable sets, with {shares} of the probability")


def _tell_name(told: Readouts) -> None:
    try:
        textbook_model = told.named
    except ReadoutError:
        return
    say(textbook_model.name)
    for name, value in textbook_model.parameters.items():
        say_indented(f"{name} = {value!r}")


def _tell_escape(told: Readouts, start: str, target: str) -> None:
    try:
        state = [float(part) for part in start.split(",")]
    except ValueError:
        passage = told.passage_time(start, target)
    else:
        passage = told.passage_time(state, target)
    say(f"Passage from {start} to {target}")
    say_indented(f"mean time {passage.mean!r}")
    say_indented(f"standard deviation {passage.variance.value**0.5:.3g}")


def _draw(told: Readouts, out: Path) -> None:
    from wgsindy.draw import page_style, save_picture
    from wgsindy.report import plot_readouts

    with page_style():
        save_picture(plot_readouts(told), out, dpi=150)
    say(f"Wrote {out}")
