"""A fit beside its data: simulated again by its equations, and what it leaves of each increment.

Of a quantity of the data, the least and the largest value among 19 simulated data sets with the
same starts and lengths enclose the observed one with probability 18 / 20 if the equations are right
(Monte Carlo test). Residuals are in units of the noise that the fit states: if drift and tensor are
right, independent standard normal numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data import Dataset, FloatArray, IntArray, Trajectories
from wgsindy.diagnostics import Diagnostics, standardised
from wgsindy.draw import (
    SERIES,
    STRIP,
    Colour,
    Picture,
    Spec,
    axes,
    axis_labels,
    band,
    coordinate_number,
    curve,
    draw_picture,
    histogram_bars,
    reference,
)
from wgsindy.errors import DataError, SimulationError
from wgsindy.estimate import Predictor
from wgsindy.model import Diffusion, EulerMaruyama, Generator, normal_quantile, percent, with_unit
from wgsindy.passes import data_summary
from wgsindy.report.plot_sample import PlotSample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REPLICAS = 19
# Steps are simulated one after the other, segments at once: long trajectories are cut, and start
# again where the data were.
LONGEST_SEGMENT = 4000
MOST_REPLICA_STEPS = 40_000
SIMILAR_STEP = 0.01  # trajectories whose mean step differs by more cannot share lags
RUNAWAY = 1e6  # standard deviations of the data: no longer the same process
DENSITY_BINS = 40
TRAJECTORY_POINTS = 600  # of a drawn trajectory
LAG_POINTS = 60
DECAYED = 0.1  # autocorrelation at which a process has forgotten most
HORIZON = 5.0  # how far lags go, in times until then
Segments = list[FloatArray]
Curve = Callable[[Segments], FloatArray]


def autocorrelation(series: Sequence[FloatArray], lags: int) -> FloatArray:
    """Correlations ``(lags + 1, d)`` of values a number of steps apart; NaN marks missing ones.

    The mean is that of all series together: one that stays away from it is slow, not wide. NaN
    where no two values are that far apart, or nothing varies.

    >>> import numpy as np
    >>> autocorrelation([np.array([[1.0], [-1.0], [1.0], [-1.0]])], 2).ravel().round(6).tolist()
    [1.0, -1.0, 1.0]
    """
    everything = np.concatenate(series)
    finite = np.isfinite(everything)
    mean = np.where(finite, everything, 0.0).sum(axis=0) / np.maximum(finite.sum(axis=0), 1)
    products = np.zeros((lags + 1, len(mean)))
    pairs = np.zeros_like(products)
    # Series of one length are transformed at once, which takes a fraction of the time.
    for length in {len(one) for one in series}:
        alike = np.stack([one for one in series if len(one) == length], axis=1)
        there, most = np.isfinite(alike), min(lags + 1, length)
        products[:most] += _lagged_products(np.where(there, alike - mean, 0.0), most)
        if there.all():
            pairs[:most] += alike.shape[1] * (length - np.arange(most))[:, None]
        else:
            pairs[:most] += np.round(_lagged_products(there.astype(np.float64), most))
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = products / pairs
        return np.asarray(covariance / covariance[0])


def _lagged_products(values: FloatArray, lags: int) -> FloatArray:
    """Sums of ``v[n] v[n + lag]`` over the series of ``values (n, R, d)``; ``(lags, d)``."""
    size = 1 << (2 * len(values) - 1).bit_length()
    spectrum = np.fft.rfft(values, size, axis=0)
    return np.asarray(np.fft.irfft((np.abs(spectrum) ** 2).sum(axis=1), size, axis=0)[:lags])


class Envelope(NamedTuple):
    """A curve of the data at ``places (n,)``, and the range of it over simulated data sets."""

    places: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def inside(self) -> float:
        """Share of the observed curve inside the range."""
        return float(np.mean((self.low <= self.observed) & (self.observed <= self.high)))


@dataclass(frozen=True)
class SimulationCheck:
    """Observed segments of the data beside simulated ones."""

    names: tuple[str, ...]
    dt: float
    observed: Segments
    simulated: tuple[
        Segments, ...
    ]  # data sets with the starts and lengths of the observed segments
    share: float  # of the data that the segments are

    def density(self, p: int) -> Envelope:
        """Marginal density of coordinate ``p``."""
        values = np.concatenate(self.observed)[:, p]
        low, high = np.percentile(values, (0.1, 99.9))
        margin = 0.1 * (high - low) or 1.0
        edges = np.linspace(low - margin, high + margin, DENSITY_BINS + 1)

        def heights(segments: Segments) -> FloatArray:
            states = np.concatenate(segments)[:, p]
            return np.histogram(states, edges)[0] / (len(states) * np.diff(edges))

        return self._envelope((edges[1:] + edges[:-1]) / 2, heights)

    def memory(self, p: int) -> Envelope:
        """Autocorrelation of coordinate ``p`` against the time between."""
        column = self._column(self.observed, p)
        longest = max(2, max(map(len, column)) // 2)
        whole = autocorrelation(column, longest)[:, 0]
        decayed = np.flatnonzero(np.abs(whole) < DECAYED)
        most = min(longest, int(HORIZON * decayed[0]) + 1) if len(decayed) else longest
        lags = np.unique(np.linspace(0, most, LAG_POINTS).astype(int))
        return self._envelope(
            lags * self.dt,
            lambda segments: autocorrelation(self._column(segments, p), most)[lags, 0],
        )

    @staticmethod
    def _column(segments: Segments, p: int) -> Segments:
        return [segment[:, p : p + 1] for segment in segments]

    def _envelope(self, places: FloatArray, curve: Curve) -> Envelope:
        curves = np.array([curve(segments) for segments in self.simulated])
        return Envelope(places, curve(self.observed), curves.min(axis=0), curves.max(axis=0))


@dataclass(frozen=True)
class UntilTheirEnds:
    """Euler-Maruyama for paths of ``lengths (R,)`` samples; one that has ended stays where it is.

    Data may end where the process leaves for good: what it would do afterwards says nothing.
    """

    lengths: IntArray

    def __call__(
        self, process: Diffusion, start: FloatArray, dt: float, steps: int, rng: np.random.Generator
    ) -> FloatArray:
        paths, step = np.empty((len(start), steps + 1, start.shape[1])), EulerMaruyama()
        paths[:, 0] = start
        for n in range(steps):
            paths[:, n + 1] = paths[:, n]
            going = self.lengths > n + 1
            paths[going, n + 1] = step(process, paths[going, n], dt, 1, rng)[:, 1]
        return paths


def check_by_simulation(
    generator: Generator, data: Trajectories, random_state: int
) -> SimulationCheck:
    """Simulate data sets like ``data``.

    Raises
    ------
    WgsindyError
        If a trajectory runs away, becomes infinite or leaves the states for which the
        library is defined.
    """
    segments, dt = comparable_segments(data)
    steps = max(map(len, segments)) - 1
    starts = np.tile([segment[0] for segment in segments], (REPLICAS, 1))
    lengths = [len(segment) for segment in segments] * REPLICAS
    again = generator.simulate(
        starts,
        dt=dt,
        steps=steps,
        trajectories=len(starts),
        random_state=random_state,
        scheme=UntilTheirEnds(np.array(lengths)),
    )
    _check_for_runaways(again, data)
    cut = [states[:length] for states, length in zip(again, lengths, strict=True)]
    sets = tuple(cut[i : i + len(segments)] for i in range(0, len(cut), len(segments)))
    share = sum(len(segment) - 1 for segment in segments) / data.n_increments
    return SimulationCheck(data.names, dt, segments, sets, min(share, 1.0))


def _check_for_runaways(simulated: Trajectories, data: Trajectories) -> None:
    spread = data.states.std(axis=0)
    away = np.abs(simulated.states - data.states.mean(axis=0)).max(axis=0) > RUNAWAY * spread
    if (away & (spread > 0)).any():
        name = data.names[int(np.argmax(away & (spread > 0)))]
        raise SimulationError(
            f"a simulated trajectory of {name} ran {RUNAWAY:.0e} standard deviations away from the "
            "data: the drift pushes outwards beyond the fitted region."
        )


def comparable_segments(data: Trajectories) -> tuple[Segments, float]:
    """Segments with the same step; evenly thinned if there are too many."""
    means = np.array([data.steps(index).mean() for index in range(len(data))])
    dt = float(np.sort(means)[len(means) // 2])  # of a trajectory, not between two
    alike = np.flatnonzero(np.abs(means - dt) <= SIMILAR_STEP * dt)
    segments = [segment for index in alike for segment in _cut(data[int(index)])]
    wanted = max(1, len(segments) * MOST_REPLICA_STEPS // max(sum(map(len, segments)), 1))
    if wanted < len(segments):
        segments = [segments[i] for i in np.linspace(0, len(segments) - 1, wanted).astype(int)]
    return segments, dt


def _cut(states: FloatArray) -> Sequence[FloatArray]:
    count = -(-(len(states) - 1) // LONGEST_SEGMENT)
    ends = np.linspace(0, len(states) - 1, count + 1).astype(int)
    return [states[a : b + 1] for a, b in pairwise(ends)]


def simulation_pictures(check: SimulationCheck, p: int, unit: str) -> list[Picture]:
    """Density, autocorrelation and a trajectory of coordinate ``p``, observed and simulated.

    Times are in ``unit``.
    """
    return [
        density_picture(check, p),
        memory_picture(check, p, unit),
        _trajectory_picture(check, p, unit),
    ]


def density_picture(check: SimulationCheck, p: int) -> Picture:
    """Marginal density of coordinate ``p``."""
    name = check.names[p]
    title, layout = f"Density of {name}", axes(name, "density")
    return _envelope_picture(f"density-{p}", title, check.density(p), layout, check)


def memory_picture(check: SimulationCheck, p: int, unit: str) -> Picture:
    """Autocorrelation of coordinate ``p``."""
    title = f"Autocorrelation of {check.names[p]}"
    layout = axes(with_unit("time apart", unit), "autocorrelation")
    return _envelope_picture(f"memory-{p}", title, check.memory(p), layout, check)


def _envelope_picture(
    name: str, title: str, curves: Envelope, layout: Spec, check: SimulationCheck
) -> Picture:
    count = len(check.simulated)
    return Picture(
        name=f"simulated-{name}",
        title=title,
        alt=(
            f"{title} of the data beside the range over {count} simulated data sets; "
            f"{percent(curves.inside)} of the observed curve lies inside."
        ),
        caption=(
            f"{percent(curves.inside)} of the observed curve lies inside the range of {count} "
            "simulated data sets; 90 % is what right equations give on average."
        ),
        traces=[
            band(curves.places, curves.low, curves.high, "simulated", Colour.SIMULATED),
            curve(curves.places, curves.observed, "observed"),
        ],
        layout=layout,
    )


def _trajectory_picture(check: SimulationCheck, p: int, unit: str) -> Picture:
    name = check.names[p]
    shown = {"observed": check.observed[0], "simulated": check.simulated[0][0]}
    every = max(1, -(-len(check.observed[0]) // TRAJECTORY_POINTS))
    return Picture(
        name=f"simulated-trajectory-{p}",
        title=f"First trajectory of {name}",
        alt=f"The first trajectory of {name} and a simulated one from the same start.",
        caption="Same start, other noise: they should look alike, not coincide.",
        traces=[
            curve(
                np.arange(0, len(states), every) * check.dt,
                states[::every, p],
                label,
                number,
                line={"width": 1.2, "color": SERIES[number]},
            )
            for number, (label, states) in enumerate(shown.items())
        ],
        layout=axes(with_unit("time", unit), name),
        wide=True,
        aspect=STRIP,
    )


def plot_simulated(
    generator: Generator,
    data: Dataset,
    coordinate: str | None = None,
    *,
    what: str = "density",
    random_state: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw density or autocorrelation of the data beside their range over 19 simulated data sets.

    Raises
    ------
    DataError
        If there is no such coordinate, or ``what`` is not one of the two.
    SimulationError
        If the simulations diverge.
    """
    p = coordinate_number(generator, coordinate)
    if what not in ("density", "autocorrelation"):
        raise DataError(f"what can be compared is 'density' or 'autocorrelation', got {what!r}.")
    check = check_by_simulation(generator, PlotSample.of(data).segments, random_state)
    density = what == "density"
    picture = (
        density_picture(check, p) if density else memory_picture(check, p, generator.units.time)
    )
    drawn = draw_picture(picture, ax, axis_labels(generator))
    inside = (check.density(p) if density else check.memory(p)).inside
    drawn.set_title(f"{percent(inside)} of the observed curve inside")
    return drawn


SHOWN_LAGS = 30
PROFILE_BINS = 15  # of equally many samples along a coordinate
WIDEST_RESIDUAL, HISTOGRAM_BINS = 5.0, 50  # standard deviations of a histogram to either side


class Moment(NamedTuple):
    """A statistic of residuals and the interval that holds it in 95 of 100 right fits."""

    name: str
    value: float
    low: float
    high: float

    @property
    def expected(self) -> bool:
        """Whether it lies inside."""
        return self.low <= self.value <= self.high


class Profile(NamedTuple):
    """Residuals along a coordinate, in ``B`` bins of equally many."""

    places: FloatArray  # (B,) mean states
    mean: FloatArray  # (B,) mean residuals
    size: FloatArray  # (B,) root mean squares
    counts: IntArray  # (B,) numbers of residuals


@dataclass(frozen=True)
class ResidualSeries:
    """Standardised residuals of steps."""

    names: tuple[str, ...]
    states: FloatArray  # (n, d) from which the steps started
    values: FloatArray  # (n, d) residuals, NaN where the fit states almost no noise
    trajectory: IntArray  # (n,) number of the trajectory of each step
    share: float = 1.0  # of all steps that these are

    def of(self, p: int) -> FloatArray:
        """Residuals of coordinate ``p`` where it has noise."""
        column = self.values[:, p]
        return column[np.isfinite(column)]

    def autocorrelation(self) -> FloatArray:
        """``(lags + 1, d)``."""
        ends = np.flatnonzero(np.diff(self.trajectory)) + 1
        series = np.split(self.values, ends)
        return autocorrelation(series, min(SHOWN_LAGS, max(map(len, series)) - 1))

    def moments(self, p: int, diagnostics: Diagnostics) -> list[Moment]:
        """Mean, size, shape and correlation of neighbours of the residuals of ``p``.

        What the diagnostics measure is taken from there.
        """
        values = self.of(p)
        own = normal_quantile(0.95) / np.sqrt(len(values))
        whole = own * np.sqrt(self.share)  # the diagnostics have seen all steps
        centred = values - values.mean()
        # Sampling variances of normal data: 1, 2, 6, 24 and 1 over n.
        found = (
            ("mean", values.mean(), 0.0, own),
            ("variance", diagnostics.residual_variance[p], 1.0, whole * np.sqrt(2)),
            ("skewness", np.mean(centred**3) / centred.std() ** 3, 0.0, own * np.sqrt(6)),
            ("excess kurtosis", diagnostics.excess_kurtosis[p], 0.0, whole * np.sqrt(24)),
            ("correlation of neighbours", diagnostics.lag_one[p], 0.0, whole),
        )
        return [
            Moment(name, float(value), centre - width, centre + width)
            for name, value, centre, width in found
        ]

    def profile(self, p: int, along: int) -> Profile:
        """Residuals of coordinate ``p`` against coordinate ``along``."""
        there = np.isfinite(self.values[:, p])
        order = np.argsort(self.states[there, along], kind="stable")
        places, values = self.states[there, along][order], self.values[there, p][order]
        bins = [rows for rows in np.array_split(np.arange(len(order)), PROFILE_BINS) if len(rows)]
        return Profile(
            np.array([places[rows].mean() for rows in bins]),
            np.array([values[rows].mean() for rows in bins]),
            np.array([np.sqrt(np.mean(values[rows] ** 2)) for rows in bins]),
            np.array([len(rows) for rows in bins]),
        )


def residual_series(
    generator: Generator, data: Trajectories, noise_level: ArrayLike, *, share: float = 1.0
) -> ResidualSeries:
    """Standardise every increment of ``data`` by what ``generator`` says of it.

    As the diagnostics do: those are left out where the coordinate has almost none of the mean
    ``noise_level (d,)``. ``data`` are that ``share`` of what the diagnostics saw.
    """
    level, found = np.asarray(noise_level), []
    predictor = Predictor.of(generator, data_summary(data, standardise=False))
    for chunk in data.chunks():
        predicted = predictor(chunk)
        values = standardised(predicted, chunk.dt, level)
        found.append((predicted.states, values, chunk.trajectory))
    states, values, owner = (np.concatenate(column) for column in zip(*found, strict=True))
    return ResidualSeries(data.names, states, values, owner, share)


def residual_pictures(residuals: ResidualSeries, memory: FloatArray, p: int) -> list[Picture]:
    """Histogram, autocorrelation ``memory (lags + 1, d)`` and profiles of coordinate ``p``."""
    mean, size = _profile_pictures(residuals, p)
    return [_histogram(residuals, p), _memory(residuals, memory[:, p], p), mean, size]


def _histogram(residuals: ResidualSeries, p: int) -> Picture:
    values, name = residuals.of(p), residuals.names[p]
    edges = np.linspace(-WIDEST_RESIDUAL, WIDEST_RESIDUAL, HISTOGRAM_BINS + 1)
    heights = np.histogram(values, edges)[0] / (len(values) * np.diff(edges))
    x = np.linspace(-WIDEST_RESIDUAL, WIDEST_RESIDUAL, 121)
    beyond = int(np.sum(np.abs(values) > WIDEST_RESIDUAL))
    return Picture(
        name=f"residual-histogram-{p}",
        title=f"Residuals of {name}",
        alt=(
            f"Histogram of {len(values)} standardised residuals of {name} against the normal "
            f"density; {beyond} lie beyond 5 standard deviations."
        ),
        caption=f"{beyond} of {len(values)} lie beyond the edges of the picture.",
        traces=[
            histogram_bars(edges, heights, "residuals"),
            reference(x, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), "normal"),
        ],
        layout=axes("standardised residual", "density"),
    )


def _memory(residuals: ResidualSeries, memory: FloatArray, p: int) -> Picture:
    name, lags = residuals.names[p], np.arange(1, len(memory))
    width = normal_quantile(0.95) / np.sqrt(len(residuals.of(p)))
    outside = int(np.sum(np.abs(memory[1:]) > width))
    ends = np.array([0.5, len(memory) - 0.5])
    return Picture(
        name=f"residual-memory-{p}",
        title=f"Memory of the residuals of {name}",
        alt=(
            f"Autocorrelation of the residuals of {name} over {len(lags)} steps; {outside} values "
            "lie outside of the 95 % band of independent ones."
        ),
        caption=f"{outside} of {len(lags)} outside the band; by chance about {len(lags) / 20:.1f}.",
        traces=[
            band(
                ends, np.full(2, -width), np.full(2, width), "95 % if independent", Colour.REFERENCE
            ),
            {
                "type": "bar",
                "x": lags,
                "y": memory[1:],
                "marker": {"color": Colour.OBSERVED},
                "width": 0.5,
                "name": "residuals",
                "hovertemplate": "%{x} steps: %{y:.3g}",
            },
        ],
        layout=axes("steps apart", "autocorrelation"),
    )


def _profile_pictures(residuals: ResidualSeries, p: int) -> tuple[Picture, Picture]:
    """Mean and size of residuals along every coordinate, by rank so that all share an axis."""
    name, width = residuals.names[p], normal_quantile(0.95)
    profiles = [residuals.profile(p, along) for along in range(len(residuals.names))]
    count = float(profiles[0].counts.min())
    rank = (np.arange(len(profiles[0].counts)) + 0.5) * 100 / len(profiles[0].counts)
    ends = np.array([0.0, 100.0])
    below = f"{residuals.names[0]}, percentile" if len(profiles) == 1 else "percentile of the state"

    def picture(kind: str, title: str, centre: float, half: float, alt: str) -> Picture:
        strip = band(
            ends,
            np.full(2, centre - half),
            np.full(2, centre + half),
            "95 % if right",
            Colour.REFERENCE,
        )
        return Picture(
            name=f"residual-{kind}-{p}",
            title=title,
            alt=alt,
            traces=[
                strip,
                *(
                    _dotted(rank, getattr(profile, kind), profile.places, along, number)
                    for number, (along, profile) in enumerate(
                        zip(residuals.names, profiles, strict=True)
                    )
                ),
            ],
            layout=axes(below, f"{title.split(' of ')[0].lower()}"),
            columns=("mean of the coordinate",),
        )

    return (
        picture(
            "mean",
            f"Mean of the residuals of {name} along the state",
            0.0,
            width / np.sqrt(count),
            f"Mean residual of {name} in bins along each coordinate: a slope or a bend is drift "
            "that the equations miss.",
        ),
        picture(
            "size",
            f"Size of the residuals of {name} along the state",
            1.0,
            width / np.sqrt(2 * count),
            f"Root mean square residual of {name} in bins along each coordinate: away from one "
            "the equations state too little or too much noise.",
        ),
    )


def _dotted(x: FloatArray, y: FloatArray, places: FloatArray, along: str, number: int) -> Spec:
    hover = f"{along} = %{{customdata:.3g}}: %{{y:.3g}}<extra></extra>"
    return curve(
        x,
        y,
        f"along {along}",
        number,
        mode="lines+markers",
        customdata=places,
        hovertemplate=hover,
    )


def plot_residuals(
    generator: Generator,
    data: Dataset,
    diagnostics: Diagnostics,
    coordinate: str | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the standardised residuals of a coordinate beside the normal density they should have.

    Raises
    ------
    DataError
        If there is no such coordinate, or the fit states no noise for it.
    """
    p, sample = coordinate_number(generator, coordinate), PlotSample.of(data)
    left = residual_series(generator, sample.segments, diagnostics.noise_level, share=sample.share)
    if len(left.of(p)) < 2:
        raise DataError(f"the fit states no noise for {generator.names[p]}: it has no residuals.")
    return draw_picture(_histogram(left, p), ax)
