"""Tables for the terminal and for Markdown pages, from summarised rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from rich.box import SIMPLE_HEAD
from rich.table import Table

from wgsindy.bench.calibration import Calibration, Reliability
from wgsindy.bench.match import Curve
from wgsindy.bench.standings import Standing, Standings, Total
from wgsindy.bench.steps import StepRow
from wgsindy.bench.table import Overall, Row

HEADINGS = (
    *("System", "Drift", "paper", "floor", "Tensor", "paper", "floor"),
    *("cos12", "PSD", "FP", "support", "gates"),
)


def _number(value: float, digits: int = 3) -> str:
    return "-" if isnan(value) else f"{value:.{digits}f}"


def _cells(row: Row) -> list[str]:
    """Format one system; ``*`` marks a median above the paper's 95 % interval."""
    above = {key: "" if row.within_paper(key) else "*" for key in ("drift", "tensor")}
    gates = "pass" if row.passes else "fail"
    return [
        row.title,
        _number(row.drift) + above["drift"],
        _number(row.published("drift", "median")),
        _number(row.floor_drift),
        _number(row.tensor) + above["tensor"],
        _number(row.published("tensor", "median")),
        _number(row.floor_tensor, 4),
        _number(row.cosine),
        _number(min(row.psd, row.psd_far), 2),
        str(row.ledger.false_positives),
        f"{row.ledger.recovered}/{row.ledger.active}",
        gates if row.verdict == "pass" else f"{gates} ({row.verdict})",
    ]


def master_table(rows: Sequence[Row], title: str) -> Table:
    """Build the master table for a terminal."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="left" if number == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row), style="" if row.passes else "yellow")
    return table


def master_markdown(rows: Sequence[Row]) -> str:
    """Write the master table as Markdown."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---" + "|---:" * (len(HEADINGS) - 1) + "|"]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


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
        _number(standing.psd, 2),
        _number(standing.recall, 2),
        _number(standing.false_positives, 1),
        _number(standing.exact, 2),
    ]


def _peer_cells(system: str, standing: Standing) -> list[str]:
    return [
        system,
        standing.method,
        _number(standing.drift),
        _number(standing.tensor, 4),
        *_support_cells(standing),
        _number(standing.cold, 1),
        _number(standing.warm),
        str(standing.failed),
    ]


def _total_cells(total: Total, version: str) -> list[str]:
    standing = total.standing
    return [
        standing.method,
        version,
        _number(standing.drift),
        _number(standing.tensor, 4),
        _number(total.drift, 2),
        _number(total.tensor, 2),
        str(total.shared),
        *_support_cells(standing),
        _number(standing.cold, 1),
        _number(standing.warm),
        _number(total.cold, 1),
        _number(total.warm, 1),
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


def peers_tables(summary: Standings, title: str) -> list[Table]:
    """Build the tables of rivals for a terminal: by system, and in total."""
    rows, totals = _peer_blocks(summary)
    return [
        _plain_table(PEER_HEADINGS, rows, title, left=2),
        _plain_table(TOTAL_HEADINGS, totals, peers_caption(summary), left=2),
    ]


def _plain_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], title: str, left: int
) -> Table:
    """Build a table whose first ``left`` columns are words and the others figures."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number < left else "right", no_wrap=True)
    for number, row in enumerate(rows):
        ends = headings[0] == "System" and rows[number + 1 : number + 2] != []
        table.add_row(*row, end_section=ends and rows[number + 1][0] != row[0])
    return table


def peers_caption(summary: Standings) -> str:
    """Say what the columns that start with an x are relative to."""
    reference = summary.totals[0].reference
    return (
        f"Over all systems: medians; x: relative to {reference}, errors as geometric means over "
        "the cases that both finished"
    )


def peers_markdown(summary: Standings) -> str:
    """Write both tables and the failed fits as Markdown."""
    rows, totals = _peer_blocks(summary)
    parts = [
        _markdown(TOTAL_HEADINGS, totals, left=2),
        peers_caption(summary) + ".\n",
        _markdown(PEER_HEADINGS, rows, left=2),
    ]
    if summary.failures:
        parts.append("Failed fits:\n\n" + "".join(f"- {text}\n" for text in summary.failures))
    return "\n".join(parts)


def _markdown(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    rule = "|---" * left + "|---:" * (len(headings) - left) + "|"
    lines = ["| " + " | ".join(headings) + " |", rule]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def match_cells(curves: Sequence[Curve]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of the table of exact matches; a column a trajectory length."""
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
    return headings, [row + ["-"] * (len(headings) - len(row)) for row in rows]


def match_table(curves: Sequence[Curve], title: str) -> Table:
    """Build the table of exact matches for a terminal."""
    headings, rows = match_cells(curves)
    return _plain_table(headings, rows, title, left=2)


def match_markdown(curves: Sequence[Curve]) -> str:
    """Write the table of exact matches as Markdown."""
    headings, rows = match_cells(curves)
    return _markdown(headings, rows, left=2)


CALIBRATION_HEADINGS = (
    *("System", "coefficients", "covered", "rms deviation", "clustered"),
    *("after selection", "covered", "missed"),
)


def _calibration_cells(row: Calibration) -> list[str]:
    return [
        row.system,
        str(row.given.count),
        f"{row.given.share:.1%}",
        _number(row.given.deviation, 2),
        f"{row.clustered.share:.1%}",
        str(row.selected.count),
        f"{row.selected.share:.1%}",
        str(row.missed),
    ]


def calibration_table(rows: Sequence[Calibration], title: str) -> Table:
    """Build the table of coverages for a terminal."""
    return _plain_table(CALIBRATION_HEADINGS, [_calibration_cells(row) for row in rows], title, 1)


def calibration_markdown(rows: Sequence[Calibration], bins: Sequence[Reliability]) -> str:
    """Write coverages and inclusion probabilities as Markdown."""
    stated = [[f"{item.stated:.3f}", f"{item.present:.3f}", str(item.count)] for item in bins]
    return (
        _markdown(CALIBRATION_HEADINGS, [_calibration_cells(row) for row in rows], left=1)
        + "\n"
        + _markdown(("stated probability", "share present", "terms"), stated, left=0)
    )


STEP_HEADINGS = ("System", "sampled", "dt", "recipe", "drift bias", "rms", "tensor bias", "rms")


def _step_cells(row: StepRow) -> list[str]:
    return [
        row.system,
        row.kind,
        f"{row.dt:g}",
        row.recipe,
        _number(row.drift_bias, 4),
        _number(row.drift_error, 4),
        _number(row.tensor_bias, 4),
        _number(row.tensor_error, 4),
    ]


def steps_table(rows: Sequence[StepRow], title: str) -> Table:
    """Build the table of step biases for a terminal."""
    return _plain_table(STEP_HEADINGS, [_step_cells(row) for row in rows], title, 4)


def steps_markdown(rows: Sequence[StepRow]) -> str:
    """Write the step biases as Markdown."""
    return _markdown(STEP_HEADINGS, [_step_cells(row) for row in rows], left=4)
