"""Rivals on identical trajectories: standings, and how much data finds exactly the right terms."""

from __future__ import annotations

from collections.abc import Sequence

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.pages.curves import plot_match
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.tables import match_grid, peers_grids
from wgsindy_evidence.peers import match
from wgsindy_evidence.peers.standings import summarise


def build_peers(lines: Sequence[Line]) -> Content:
    """Totals relative to the recipe ``sharp``, and a row a system and method."""
    summary = summarise(lines)
    totals, rows = peers_grids(summary, "Rivals by system")
    failures = "".join(f"- {text}\n" for text in summary.failures) or "No fit failed."
    return Content(
        {"peers": totals, "peers-systems": rows},
        sentences={"peers": totals.title + ".", "peers-failures": failures.rstrip()},
    )


def build_match(lines: Sequence[Line]) -> Content:
    """Shares of exact matches."""
    curves = match.summarise(lines)
    return Content(
        {"match": match_grid(curves, "Share of exact matches of the drift's terms")},
        {"match": plot_match(curves)},
    )
