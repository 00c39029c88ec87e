"""Two fits side by side: their coefficients, their fields, and what data say of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wgsindy.data import Dataset, FloatArray
from wgsindy.draw import (
    FieldCurves,
    Picture,
    View,
    all_field_names,
    draw_picture,
    field_values,
    half_widths,
    line_picture,
)
from wgsindy.errors import DataError
from wgsindy.estimate import Fit, log_likelihood
from wgsindy.model import Generator, normal_quantile, rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPARED_PLACES = 500  # at which fields are compared
COMMON_REACH = 1.5  # standard deviations of the data on either side
COMPARED_POINTS, PANELS_ACROSS, MOST_COMPARED = 120, 3, 12  # of a curve, of a figure


class Pair(NamedTuple):
    """One term of one field in both fits; NaN where a fit does not have it."""

    target: str
    term: str
    first: float
    first_error: float
    second: float
    second_error: float

    @property
    def distance(self) -> float:
        """Difference in standard errors of both together; NaN if either has none."""
        return (self.second - self.first) / float(np.hypot(self.first_error, self.second_error))


class FieldDifference(NamedTuple):
    """How far one field of two fits differs where both have data."""

    field: str
    relative: float  # root mean square of the difference over that of both fields
    beyond: float  # share of places at which it is beyond both error bars; NaN without any


@dataclass(frozen=True)
class Comparison:
    """Two generators of the same coordinates.

    ``log_likelihood`` of a step under either, and the number of steps: of the data given, else of
    those that both were fitted to; None if there are none.
    """

    labels: tuple[str, str]
    generators: tuple[Generator, Generator]
    pairs: tuple[Pair, ...]
    fields: tuple[FieldDifference, ...]
    low: FloatArray  # (d,) corners of the box in which both have data
    high: FloatArray  # (d,)
    log_likelihood: tuple[float, float] | None = None
    steps: int = 0
    fitted: bool = False  # whether these are the data of the fits, on which every term gains

    @property
    def log_evidence(self) -> float:
        """By how much the data prefer the second fit: the difference of their log-likelihoods.

        On data that both were fitted to, each term costs log(steps) / 2, as in Schwarz's
        criterion. NaN without data.
        """
        if self.log_likelihood is None:
            return float("nan")
        gained = (self.log_likelihood[1] - self.log_likelihood[0]) * self.steps
        first, second = (len(one.coefficients) for one in self.generators)
        return gained - (second - first) * float(np.log(self.steps)) / 2 * self.fitted

    def __str__(self) -> str:
        first, second = self.labels
        wide = max(len(f"{one.target}  {one.term}") for one in self.pairs) if self.pairs else 10
        lines = [f"{'':{wide}}  {first:>22}  {second:>22}  difference / error"]
        for one in self.pairs:
            numbers = [
                _written(one.first, one.first_error),
                _written(one.second, one.second_error),
                "" if np.isnan(one.distance) else f"{one.distance:+.1f}",
            ]
            label = f"{one.target}  {one.term}"
            lines.append(f"{label:{wide}}  {numbers[0]:>22}  {numbers[1]:>22}  {numbers[2]:>18}")
        lines += ["", "Fields where both have data:"]
        for field in self.fields:
            beyond = "" if np.isnan(field.beyond) else f", beyond the errors at {field.beyond:.0%}"
            lines.append(f"  {field.field}: differ by {field.relative:.1%} of their size{beyond}")
        if self.log_likelihood is not None:
            better = second if self.log_evidence > 0 else first
            lines += [
                "",
                f"The data {'of both fits ' if self.fitted else ''}({self.steps} steps) prefer "
                f"{better}, by {abs(self.log_evidence):.1f} in log-evidence.",
            ]
        return "\n".join(lines)

    def plot(self) -> Figure:
        """Draw every field of both along the first coordinate it changes with, with 95 % bands."""
        import matplotlib.pyplot as plt

        names = all_field_names(len(self.low))[:MOST_COMPARED]
        columns = min(PANELS_ACROSS, len(names))
        rows = -(-len(names) // columns)
        figure, panels = plt.subplots(
            rows, columns, figsize=(3.6 * columns, 2.8 * rows), squeeze=False, layout="constrained"
        )
        for panel in panels.ravel()[len(names) :]:
            panel.axis("off")
        for number, panel in enumerate(panels.ravel()[: len(names)]):
            draw_picture(self._picture(number), panel)
        return figure

    def _picture(self, number: int) -> Picture:
        """Draw a field of both along the coordinate with which it changes most."""
        view, d = View(self.low, self.high, (self.low + self.high) / 2), len(self.low)
        curves = [
            [FieldCurves.along(one, view, p, COMPARED_POINTS) for one in self.generators]
            for p in range(d)
        ]
        p = int(np.argmax([max(np.ptp(one.values[number]) for one in both) for both in curves]))
        field, below = all_field_names(d)[number], self.generators[0].names[p]
        both = dict(zip(self.labels, curves[p], strict=True))
        return line_picture(both, field, below, title=f"${field[0]}_{{{field[1:]}}}$")


def _written(value: float, error: float) -> str:
    if np.isnan(value):
        return "-"
    return rounded(value, 4) if np.isnan(error) else f"{rounded(value, 4)} ± {rounded(error, 2)}"


def compare(
    first: Any, second: Any, *, data: Dataset | None = None, labels: Sequence[str] | None = None
) -> Comparison:
    """Compare two fits of the same coordinates.

    Parameters
    ----------
    first, second : fitted estimators, fits, generators, or paths of model files
    data : steps on which both are judged; best such that neither has seen. By default those of the
        fits, if they are the same
    labels : what to call them

    Raises
    ------
    DataError
        If they have other coordinates, or no range of data in common.

    Examples
    --------
    >>> import wgsindy as wg
    >>> system = wg.zoo.get("rotational_ou")
    >>> fits = [wg.WGSINDy("poly1").fit(system.simulate(seed, trajectories=4)) for seed in (0, 1)]
    >>> both = wg.compare(*fits)
    >>> [(one.target, one.term) for one in both.pairs][:2]
    [('b1', 'x'), ('b1', 'y')]
    >>> all(abs(one.distance) < 4 for one in both.pairs)
    True
    """
    generators = _generator(first), _generator(second)
    if generators[0].names != generators[1].names:
        raise DataError(
            f"the first is one of {list(generators[0].names)}, the second of "
            f"{list(generators[1].names)}: only fits of the same coordinates can be compared."
        )
    low, high = _common(generators)
    scores, fitted = None, data is None
    if data is None:
        data = _shared_data(first, second)
    if data is not None:
        if not isinstance(data, Dataset):
            raise DataError(f"data must be Trajectories, got {type(data).__name__}.")
        scores = log_likelihood(generators[0], data), log_likelihood(generators[1], data)
    named = tuple(labels) if isinstance(labels, Iterable) else labels or ("first", "second")
    if not isinstance(named, tuple) or len(named) != 2:
        raise DataError(f"two fits have two labels, got {labels!r}.")
    return Comparison(
        (named[0], named[1]),
        generators,
        tuple(_pairs(generators)),
        tuple(_differences(generators, low, high)),
        low,
        high,
        scores,
        0 if data is None else data.n_increments,
        fitted,
    )


def _shared_data(first: Any, second: Any) -> Dataset | None:
    """Return the data of two fits, if they are the same."""
    fits = [getattr(one, "fit_", getattr(one, "fit", one)) for one in (first, second)]
    if not all(isinstance(one, Fit) for one in fits):
        return None
    left, right = fits[0].data, fits[1].data
    same = left is right or (
        left.n_increments == right.n_increments
        and np.array_equal(left.lengths, right.lengths)
        and np.array_equal(fits[0].summary.region.centre, fits[1].summary.region.centre)
        and np.array_equal(fits[0].summary.region.scale, fits[1].summary.region.scale)
    )
    return left if same else None


def _generator(given: Any) -> Generator:
    """Find the generator of whatever a fit gives."""
    if isinstance(given, str | Path):
        return Generator.load(given)
    for name in ("generator_", "generator"):
        given = getattr(given, name, given)
    if not isinstance(given, Generator):
        raise DataError(
            f"a {type(given).__name__} has no generator; give a fitted WGSINDy, a fit, a Generator "
            "or the path of a model file."
        )
    return given


def _common(generators: tuple[Generator, Generator]) -> tuple[FloatArray, FloatArray]:
    """Corners ``(d,)`` of the box that the data of both fill; of a truth, which has none, all."""
    regions = [one.region for one in generators if one.region is not None]
    if not regions:
        raise DataError("neither of the two knows where its data were: one must be a fit.")
    low = np.max([region.centre - COMMON_REACH * region.scale for region in regions], axis=0)
    high = np.min([region.centre + COMMON_REACH * region.scale for region in regions], axis=0)
    if not (high > low).all():
        name = generators[0].names[int(np.argmin(high - low))]
        raise DataError(f"their data have no range of {name} in common.")
    return low, high


def _pairs(generators: tuple[Generator, Generator]) -> list[Pair]:
    """Match the written terms of both, field by field."""
    found = [{(one.target, one.term): one for one in side.written()} for side in generators]
    order, nan = all_field_names(generators[0].dimension), float("nan")
    keys = sorted({**found[0], **found[1]}, key=lambda key: order.index(key[0]))
    sides = [[side[key][2:4] if key in side else (nan, nan) for side in found] for key in keys]
    return [Pair(*key, *one, *other) for key, (one, other) in zip(keys, sides, strict=True)]


def _differences(
    generators: tuple[Generator, Generator], low: FloatArray, high: FloatArray
) -> list[FieldDifference]:
    """Compare the fields at places evenly strewn over the box, the same ones each time."""
    places = np.random.default_rng(0).uniform(low, high, (COMPARED_PLACES, len(low)))
    first, second = (field_values(one, places) for one in generators)
    # A truth has no error bars: those of the other decide.
    halves = [half_widths(one, places) for one in generators if one.uncertainty is not None]
    error = np.sqrt(np.sum(np.square(halves), axis=0)) / normal_quantile(0.95) if halves else None
    size = np.sqrt(np.mean((first**2 + second**2) / 2, axis=1))
    apart = np.sqrt(np.mean((second - first) ** 2, axis=1))
    found = []
    for number, name in enumerate(all_field_names(len(low))):
        relative = float(apart[number] / size[number]) if size[number] else 0.0
        beyond = float("nan")
        if error is not None:
            distance = np.abs(second - first)[number]
            beyond = float(np.mean(distance > normal_quantile(0.95) * error[number]))
        found.append(FieldDifference(name, relative, beyond))
    return found
