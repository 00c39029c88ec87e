"""Rivals on identical trajectories: standings, and how much data finds exactly the right terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.peers import match
from wgsindy_evidence.peers.match import Curve
from wgsindy_evidence.peers.standings import Standing, Standings, Total, summarise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PEER_HEADINGS = (
    *("System", "Method", "Drift", "Tensor", "PSD", "recall", "false", "exact"),
    *("cold s", "warm s", "failed"),
)
TOTAL_HEADINGS = (
    *("Method", "Version", "Drift", "Tensor", "x drift", "x tensor", "shared", "PSD"),
    *("recall", "false", "exact", "cold s", "warm s", "x cold", "x warm", "failed"),
)
STRONGEST = "sfi"
MARKERS = "os^Dv"
COLUMNS = 2
DODGE = 1.06  # factor between the times of neighbouring methods: equal shares stay visible


def build_peers(lines: Sequence[Line]) -> Content:
    """Totals relative to the recipe ``sharp-euler``, and a row a system and method."""
    summary = summarise(lines)
    totals, rows = peers_grids(summary, "Rivals by system")
    failures = "".join(f"- {text}\n" for text in summary.failures) or "No fit failed."
    return Content(
        {"peers": totals, "peers-systems": rows},
        sentences={
            "peers": totals.title + ".",
            "peers-failures": failures.rstrip(),
            "peers-short": in_short(summary),
        },
    )


def in_short(summary: Standings) -> str:
    """The strongest rival on fine, clean steps, in one sentence."""
    found = [total for total in summary.totals if total.standing.method == STRONGEST]
    if not found:
        return ""
    (total,) = found
    return (
        "- **Beside its strongest rival on fine, clean steps**, StochasticForceInference "
        f"{summary.versions.get(STRONGEST, '')} with its linear estimators and PASTIS: its "
        f"drift error is {total.drift:.2f} times ours, its tensor error {total.tensor:.2f} times "
        f"ours, and it takes {total.warm:.0f} times as long ({len(summary.rows)} systems, "
        f"{total.shared} data sets; "
        "`wgsindy bench peers`)."
    )


def build_match(lines: Sequence[Line]) -> Content:
    """Shares of exact matches."""
    curves = match.summarise(lines)
    return Content(
        {"match": match_grid(curves, "Share of exact matches of the drift's terms")},
        {"match": plot_match(curves)},
    )


def _support_cells(standing: Standing) -> list[str]:
    return [
        number(standing.psd, 2),
        number(standing.recall, 2),
        number(standing.false_positives, 1),
        number(standing.exact, 2),
    ]


def _peer_cells(system: str, standing: Standing) -> list[str]:
    return [
        system,
        standing.method,
        number(standing.drift),
        number(standing.tensor, 4),
        *_support_cells(standing),
        number(standing.cold, 1),
        number(standing.warm),
        str(standing.failed),
    ]


def _total_cells(total: Total, version: str) -> list[str]:
    standing = total.standing
    return [
        standing.method,
        version,
        number(standing.drift),
        number(standing.tensor, 4),
        number(total.drift, 2),
        number(total.tensor, 2),
        str(total.shared),
        *_support_cells(standing),
        number(standing.cold, 1),
        number(standing.warm),
        number(total.cold, 1),
        number(total.warm, 1),
        f"{standing.failed} of {standing.n + standing.failed}",
    ]


def _peer_blocks(summary: Standings) -> tuple[list[list[str]], list[list[str]]]:
    """Cells of the rows of systems, and of the totals."""
    rows = [_peer_cells(row.system, standing) for row in summary.rows for standing in row.standings]
    totals = [
        _total_cells(total, summary.versions.get(total.standing.method, "-"))
        for total in summary.totals
    ]
    return rows, totals


def peers_grids(summary: Standings, title: str) -> tuple[Grid, Grid]:
    """The tables of rivals: in total, and by system."""
    rows, totals = _peer_blocks(summary)
    return (
        Grid(peers_caption(summary), TOTAL_HEADINGS, totals, left=2),
        Grid(title, PEER_HEADINGS, rows, left=2),
    )


def peers_caption(summary: Standings) -> str:
    """Say what the columns that start with an x are relative to."""
    reference = summary.totals[0].reference
    return (
        f"Over all systems: medians; x: relative to {reference}, errors as geometric means over "
        "the cases that both finished"
    )


def peers_markdown(summary: Standings) -> str:
    """Write both tables and the failed fits as Markdown."""
    totals, rows = peers_grids(summary, "")
    parts = [totals.markdown(), totals.title + ".\n", rows.markdown()]
    if summary.failures:
        parts.append("Failed fits:\n\n" + "".join(f"- {text}\n" for text in summary.failures))
    return "\n".join(parts)


def match_grid(curves: Sequence[Curve], title: str) -> Grid:
    """The table of exact matches; a column a trajectory length."""
    longest = max(len(curve.times) for curve in curves)
    headings = ["System", "Method", *(f"length {place + 1}" for place in range(longest))]
    rows = [
        [
            curve.title,
            curve.method,
            *(
                f"{share:.2f} (T={time:g})"
                for time, share in zip(curve.times, curve.shares, strict=True)
            ),
        ]
        for curve in curves
    ]
    filled = [row + ["-"] * (len(headings) - len(row)) for row in rows]
    return Grid(title, headings, filled, left=2)


def plot_match(curves: Sequence[Curve]) -> Figure:
    """Draw the share of exact matches against the observed time, one panel a system."""
    from matplotlib.figure import Figure

    systems = list(dict.fromkeys(curve.system for curve in curves))
    rows = -(-len(systems) // COLUMNS)
    figure = Figure(figsize=(7.2, 0.6 + 2.4 * rows), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False)
    for axes in panels.ravel()[len(systems) :]:
        axes.remove()
    for axes, system in zip(panels.ravel(), systems, strict=False):
        plot_shares([curve for curve in curves if curve.system == system], axes)
    for axes in panels[:, 0]:
        axes.set_ylabel("share of exact matches")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    return figure


def plot_shares(curves: Sequence[Curve], axes: Axes) -> Axes:
    """Draw the curves of one system; bars are the binomial standard error."""
    for place, curve in enumerate(curves):
        shares, n = np.array(curve.shares), np.array(curve.n)
        # One imaginary hit and miss each: at a share of 0 or 1 the plain error bar would vanish.
        smooth = (shares * n + 1) / (n + 2)
        error = np.sqrt(smooth * (1 - smooth) / (n + 2))
        bars = np.minimum(error, [shares, 1 - shares])
        axes.errorbar(
            np.array(curve.times) * DODGE ** (place - (len(curves) - 1) / 2),
            shares,
            bars,
            color=f"C{place}",
            marker=MARKERS[place % len(MARKERS)],
            markersize=5,
            capsize=2,
            label=curve.method,
        )
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_ylim(-0.05, 1.08)
    axes.set_xlabel("total observed time")
    axes.set_title(curves[0].title, fontsize=10)
    return axes
