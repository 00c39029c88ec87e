"""Pictures that test a fit: its residuals, and data simulated from it beside the observed ones."""

from __future__ import annotations

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.model import normal_quantile, percent, with_unit
from wgsindy.report.checks.residuals import Residuals
from wgsindy.report.checks.simulation import Envelope, SimulationCheck
from wgsindy.report.pictures.picture import (
    OBSERVED,
    REFERENCE,
    SIMULATED,
    Picture,
    Spec,
    axes,
    band,
    curve,
    histogram_bars,
    numbers,
    reference,
)

WIDEST = 5.0  # standard deviations of a histogram of residuals
BINS = 50
MOST_POINTS = 600  # of a drawn trajectory


def residual_pictures(residuals: Residuals, memory: FloatArray, p: int) -> list[Picture]:
    """Histogram, autocorrelation ``memory (lags + 1, d)`` and profiles of coordinate ``p``."""
    mean, size = _profile_pictures(residuals, p)
    return [_histogram(residuals, p), _memory(residuals, memory[:, p], p), mean, size]


def _histogram(residuals: Residuals, p: int) -> Picture:
    values, name = residuals.of(p), residuals.names[p]
    edges = np.linspace(-WIDEST, WIDEST, BINS + 1)
    heights = np.histogram(values, edges)[0] / (len(values) * np.diff(edges))
    x = np.linspace(-WIDEST, WIDEST, 121)
    beyond = int(np.sum(np.abs(values) > WIDEST))
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


def _memory(residuals: Residuals, memory: FloatArray, p: int) -> Picture:
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
            band(ends, np.full(2, -width), np.full(2, width), "95 % if independent", REFERENCE),
            {
                "type": "bar",
                "x": numbers(lags),
                "y": numbers(memory[1:]),
                "marker": {"color": OBSERVED},
                "width": 0.5,
                "name": "residuals",
                "hovertemplate": "%{x} steps: %{y:.3g}",
            },
        ],
        layout=axes("steps apart", "autocorrelation"),
    )


def _profile_pictures(residuals: Residuals, p: int) -> tuple[Picture, Picture]:
    """Mean and size of residuals along every coordinate, by rank so that all share an axis."""
    name, width = residuals.names[p], normal_quantile(0.95)
    profiles = [residuals.profile(p, along) for along in range(len(residuals.names))]
    count = float(profiles[0].counts.min())
    rank = (np.arange(len(profiles[0].counts)) + 0.5) * 100 / len(profiles[0].counts)
    ends = np.array([0.0, 100.0])
    below = f"{residuals.names[0]}, percentile" if len(profiles) == 1 else "percentile of the state"

    def picture(kind: str, title: str, centre: float, half: float, alt: str) -> Picture:
        strip = band(
            ends, np.full(2, centre - half), np.full(2, centre + half), "95 % if right", REFERENCE
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
        customdata=numbers(places),
        hovertemplate=hover,
    )


def simulation_pictures(check: SimulationCheck, p: int, unit: str) -> list[Picture]:
    """Density, autocorrelation and a trajectory of coordinate ``p``, observed and simulated.

    Times are in ``unit``.
    """
    name = check.names[p]
    density, memory = check.density(p), check.memory(p)
    return [
        _envelope_picture(
            f"density-{p}", f"Density of {name}", density, axes(name, "density"), check
        ),
        _envelope_picture(
            f"memory-{p}",
            f"Autocorrelation of {name}",
            memory,
            axes(with_unit("time apart", unit), "autocorrelation"),
            check,
        ),
        _trajectory_picture(check, p, unit),
    ]


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
            band(curves.places, curves.low, curves.high, "simulated", SIMULATED),
            curve(curves.places, curves.observed, "observed"),
        ],
        layout=layout,
    )


def _trajectory_picture(check: SimulationCheck, p: int, unit: str) -> Picture:
    name = check.names[p]
    shown = {"observed": check.observed[0], "simulated": check.simulated[0][0]}
    every = max(1, -(-len(check.observed[0]) // MOST_POINTS))
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
                line={"width": 1.2, "color": (OBSERVED, SIMULATED)[number]},
            )
            for number, (label, states) in enumerate(shown.items())
        ],
        layout=axes(with_unit("time", unit), name),
        wide=True,
        aspect=0.4,
    )
