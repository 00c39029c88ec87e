"""What a fit costs: time against yardsticks of the same run, memory, growth, where time goes.

Ratios travel between machines; seconds do not.
"""

from wgsindy_evidence.speed.cases import EXPERIMENT, RIVALS, run_case, speed_cases

__all__ = ["EXPERIMENT", "RIVALS", "run_case", "speed_cases"]
