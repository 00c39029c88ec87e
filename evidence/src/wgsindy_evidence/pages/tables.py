"""Tables of master table, rivals, matches, calibration and steps, from summarised rows."""

from __future__ import annotations

from collections.abc import Sequence

from wgsindy_evidence.experiments.ours.calibration import Calibration, Reliability
from wgsindy_evidence.experiments.ours.steps import StepRow
from wgsindy_evidence.experiments.paper.table import Overall, Row
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.peers.match import Curve
from wgsindy_evidence.peers.standings import Standing, Standings, Total

HEADINGS = (
    *("System", "Drift", "paper", "floor", "Tensor", "paper", "floor"),
    *("cos12", "PSD", "FP", "support", "gates"),
)


def _cells(row: Row) -> list[str]:
    """Format one system; ``*`` marks a median above the paper's 95 % interval."""
    above = {key: "" if row.within_paper(key) else "*" for key in ("drift", "tensor")}
    gates = "pass" if row.passes else "fail"
    return [
        row.title,
        number(row.drift) + above["drift"],
        number(row.published("drift", "median")),
        number(row.floor_drift),
        number(row.tensor) + above["tensor"],
        number(row.published("tensor", "median")),
        number(row.floor_tensor, 4),
        number(row.cosine),
        number(min(row.psd, row.psd_far), 2),
        str(row.ledger.false_positives),
        f"{row.ledger.recovered}/{row.ledger.active}",
        gates if row.verdict == "pass" else f"{gates} ({row.verdict})",
    ]


def master_grid(rows: Sequence[Row], title: str) -> Grid:
    """The master table."""
    return Grid(title, HEADINGS, [_cells(row) for row in rows])


def overall_sentences(summary: Overall) -> list[str]:
    """Say what the rows add up to."""
    sentences = [
        f"In scope: {summary.passed} of {summary.systems} systems hold the gates on medians; "
        f"of all rows of the paper's table, {summary.held} of {summary.rows}.",
        f"Median drift error {summary.drift:.4f} (floor {summary.floor_drift:.4f}, ratio "
        f"{summary.drift / summary.floor_drift:.3f}), tensor error {summary.tensor:.4f} (floor "
        f"{summary.floor_tensor:.4f}, ratio {summary.tensor / summary.floor_tensor:.3f}), "
        f"a12 cosine {summary.cosine:.4f}.",
        f"Geometric mean of error over floor: drift {summary.ratio_drift:.3f}, tensor "
        f"{summary.ratio_tensor:.3f} in scope; drift {summary.spanned_ratio_drift:.3f}, tensor "
        f"{summary.spanned_ratio_tensor:.3f} over all rows but Müller-Brown and SABR.",
    ]
    terms = summary.terms
    if terms.present:
        sentences.append(
            f"Terms: {terms.found} of {terms.present} true ones found "
            f"({terms.found / terms.present:.1%}), {terms.false} of {terms.absent} others taken "
            f"for one ({terms.false / terms.absent:.2%})."
        )
    return sentences


PEER_HEADINGS = (
    *("System", "Method", "Drift", "Tensor", "PSD", "recall", "false", "exact"),
    *("cold s", "warm s", "failed"),
)
TOTAL_HEADINGS = (
    *("Method", "Version", "Drift", "Tensor", "x drift", "x tensor", "shared", "PSD"),
    *("recall", "false", "exact", "cold s", "warm s", "x cold", "x warm", "failed"),
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
    headings = ["System", "Method", *(f"length {number + 1}" for number in range(longest))]
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


CALIBRATION_HEADINGS = (
    *("System", "coefficients", "covered", "rms deviation", "clustered"),
    *("after selection", "covered", "missed"),
)


def _calibration_cells(row: Calibration) -> list[str]:
    return [
        row.system,
        str(row.given.count),
        f"{row.given.share:.1%}",
        number(row.given.deviation, 2),
        f"{row.clustered.share:.1%}",
        str(row.selected.count),
        f"{row.selected.share:.1%}",
        str(row.missed),
    ]


def calibration_grid(rows: Sequence[Calibration], title: str) -> Grid:
    """The table of coverages."""
    return Grid(title, CALIBRATION_HEADINGS, [_calibration_cells(row) for row in rows])


def reliability_grid(bins: Sequence[Reliability]) -> Grid:
    """Stated inclusion probabilities beside how often terms are there."""
    stated = [[f"{item.stated:.3f}", f"{item.present:.3f}", str(item.count)] for item in bins]
    headings = ("stated probability", "share present", "terms")
    return Grid("Inclusion probabilities", headings, stated, left=0)


STEP_HEADINGS = ("System", "sampled", "dt", "recipe", "drift bias", "rms", "tensor bias", "rms")


def _step_cells(row: StepRow) -> list[str]:
    return [
        row.system,
        row.kind,
        f"{row.dt:g}",
        row.recipe,
        number(row.drift_bias, 4),
        number(row.drift_error, 4),
        number(row.tensor_bias, 4),
        number(row.tensor_error, 4),
    ]


def steps_grid(rows: Sequence[StepRow], title: str) -> Grid:
    """The table of step biases."""
    return Grid(title, STEP_HEADINGS, [_step_cells(row) for row in rows], left=4)
