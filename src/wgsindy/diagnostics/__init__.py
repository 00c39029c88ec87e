"""Whether to believe a fit: facts about data, residuals and library, and what they add up to."""

from wgsindy.diagnostics.examination import Examination
from wgsindy.diagnostics.facts import Diagnostics
from wgsindy.diagnostics.judgement import diagnose
from wgsindy.diagnostics.samples import OUTLIER_RATIO, warn_of_samples

__all__ = ["OUTLIER_RATIO", "Diagnostics", "Examination", "diagnose", "warn_of_samples"]
