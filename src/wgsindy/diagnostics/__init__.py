"""Whether to believe a fit: facts about data, residuals and library, and what they add up to."""

from wgsindy.diagnostics.findings import (
    Diagnostics,
    Finding,
    Limitation,
    Verdict,
    findings_list,
    weak_fields,
)
from wgsindy.diagnostics.measurements import Measurements
from wgsindy.diagnostics.residuals import standardised
from wgsindy.diagnostics.thresholds import (
    CLIPPED,
    ELSEWHERE,
    LARGE_ERROR,
    LEAST_SIGNAL,
    LOW_NOISE_SHARE,
    MEMORY,
    NOISE_CORRELATION,
    REPEATED,
    TAILS,
    TYPICAL,
    WRONG_VARIANCE,
)
from wgsindy.diagnostics.verdict import diagnose

__all__ = [
    "CLIPPED",
    "ELSEWHERE",
    "LARGE_ERROR",
    "LEAST_SIGNAL",
    "LOW_NOISE_SHARE",
    "MEMORY",
    "NOISE_CORRELATION",
    "REPEATED",
    "TAILS",
    "TYPICAL",
    "WRONG_VARIANCE",
    "Diagnostics",
    "Finding",
    "Limitation",
    "Measurements",
    "Verdict",
    "diagnose",
    "findings_list",
    "standardised",
    "weak_fields",
]
