"""Whether to believe a fit: facts about data, residuals and library, and what they add up to."""

from wgsindy.diagnostics.checks import ELSEWHERE, LARGE_ERROR, MEMORY, TAILS
from wgsindy.diagnostics.findings import (
    Diagnostics,
    Finding,
    Limitation,
    Verdict,
    findings_list,
    weak_fields,
)
from wgsindy.diagnostics.formula_checks import CLIPPED, WRONG_VARIANCE
from wgsindy.diagnostics.measurements import Measurements
from wgsindy.diagnostics.probe_checks import LEAST_SIGNAL, TYPICAL
from wgsindy.diagnostics.residuals import standardised
from wgsindy.diagnostics.sample_checks import LOW_NOISE_SHARE, NOISE_CORRELATION, REPEATED
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
