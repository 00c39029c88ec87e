"""One figure of what a generator tells: density with its current, relaxation, autocorrelation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.errors import ReadoutError
from wgsindy.model import with_unit
from wgsindy.readouts import Readouts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARROWS, POINTS = 19, 200
WEAK = 0.03  # of the largest current: arrows below it are not drawn
LATER = 5.0  # relaxation times that the autocorrelation is shown for


def plot_readouts(told: Readouts, states: FloatArray | None = None) -> Figure:
    """Draw a process of one or two coordinates; ``states (n, d)`` of data are drawn under it.

    Raises
    ------
    ReadoutError
        If there are more coordinates, or no stationary law.
    """
    from matplotlib.figure import Figure

    names = told.generator.names
    if len(names) > 2:
        raise ReadoutError(f"figures show 1 or 2 coordinates, these are {len(names)}.")
    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    law, memory = figure.subplots(1, 2)
    if len(names) == 1:
        _draw_line(law, told, states)
    else:
        _draw_plane(law, told, states)
    _draw_memory(memory, told)
    return figure


def _draw_line(axes: Axes, told: Readouts, states: FloatArray | None) -> None:
    name = told.generator.names[0]
    x = np.linspace(told.grid.low[0], told.grid.high[0], POINTS)
    found = told.marginal(name, x)
    if states is not None:
        axes.hist(states[:, 0], 40, density=True, color="0.85", label="samples")
    if np.isfinite(found.low).all() and np.isfinite(found.high).all():
        axes.fill_between(x, found.low, found.high, color="C0", alpha=0.25, label="95 % band")
    axes.plot(x, found.values, color="C0", label="stationary density")
    label = told.generator.units.labels()[0]
    axes.set(xlabel=label, ylabel="density", title="Stationary density")
    axes.legend()


def _draw_plane(axes: Axes, told: Readouts, states: FloatArray | None) -> None:
    grid = told.grid
    density = told.density(grid.centres).values.reshape(grid.shape)
    extent = (grid.low[0], grid.high[0], grid.low[1], grid.high[1])
    axes.imshow(density.T, origin="lower", extent=extent, aspect="auto", cmap="Blues")
    if states is not None:
        axes.plot(*states[:: max(1, len(states) // 1500)].T, ".", ms=1, color="0.4", alpha=0.4)
    sides = [np.linspace(grid.low[p], grid.high[p], ARROWS + 2)[1:-1] for p in (0, 1)]
    places = np.stack([side.ravel() for side in np.meshgrid(*sides)], axis=1)
    flow = told.current(places).values / (grid.high - grid.low)
    strength = np.linalg.norm(flow, axis=1)
    drawn = strength > max(WEAK * strength.max(), 1e-9 * told.solved.fine.crossing)
    if drawn.any():
        # Roots of the lengths: the current spans many orders of magnitude.
        shown = flow[drawn] / np.sqrt(strength[drawn])[:, None]
        axes.quiver(*places[drawn].T, *shown.T, color="C3", width=0.005, angles="uv")
    first, second = told.generator.units.labels()
    axes.set(xlabel=first, ylabel=second, title="Stationary density and current")


def _draw_memory(axes: Axes, told: Readouts) -> None:
    times = np.linspace(0.0, LATER * told.relaxation_times[0].value, 81)
    for p, name in enumerate(told.generator.names):
        found = told.autocorrelation(times, name)
        if np.isfinite(found.low).all() and np.isfinite(found.high).all():
            axes.fill_between(times, found.low, found.high, color=f"C{p}", alpha=0.2)
        axes.plot(times, found.values, color=f"C{p}", label=name)
    axes.axhline(0.0, color="0.7", lw=0.8)
    axes.axvline(told.relaxation_times[0].value, color="0.5", ls=":", label="1 / gap")
    time = with_unit("time", told.generator.units.time)
    axes.set(xlabel=time, ylabel="autocorrelation", title="Memory", ylim=(-1.05, 1.05))
    axes.legend()
