"""Whether to believe a fit: facts about data, residuals and library, and what they add up to."""

from wgsindy.diagnostics.findings import Diagnostics, Finding, Limitation
from wgsindy.diagnostics.measurements import Measurements
from wgsindy.diagnostics.verdict import diagnose

__all__ = ["Diagnostics", "Finding", "Limitation", "Measurements", "diagnose"]
