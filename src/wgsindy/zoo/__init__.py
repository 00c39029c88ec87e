"""The zoo: the 29 systems of the paper's master table, and variants beside it.

>>> from wgsindy import zoo
>>> zoo.get("rotational_ou").generator.equations()
['b1 = -x - 2*y', 'b2 = 2*x - y', 'a11 = 1', 'a12 = 0', 'a22 = 1']
"""

from wgsindy.diagnostics import Limitation
from wgsindy.zoo.demo import DEMO_SYSTEM, demo_data, demo_text
from wgsindy.zoo.scores import (
    TruthScores,
    accurate,
    central_grid,
    composite_score,
    cosine,
    relative_error,
    scores_of,
)
from wgsindy.zoo.systems import FAMILIES, System
from wgsindy.zoo.systems import find_system as get
from wgsindy.zoo.systems import system_names as names

__all__ = [
    "DEMO_SYSTEM",
    "FAMILIES",
    "Limitation",
    "System",
    "TruthScores",
    "accurate",
    "central_grid",
    "composite_score",
    "cosine",
    "demo_data",
    "demo_text",
    "get",
    "names",
    "relative_error",
    "scores_of",
]
