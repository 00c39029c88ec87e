"""How long a fit will take, so that who waits knows what for."""

from __future__ import annotations

from wgsindy.data.dataset import Dataset
from wgsindy.estimate.fit import AUTO, START, Candidates
from wgsindy.terms.library import library


def work_ahead(label: str, data: Dataset, candidates: Candidates) -> str:
    """Say."""
    return ""
