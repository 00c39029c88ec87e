"""Sums over data: where they run, and the first of them."""

from wgsindy.passes.dask_cluster import as_engine, connected
from wgsindy.passes.engine import (
    SERIAL,
    Engine,
    Pass,
    PassPair,
    SumPass,
    Total,
    added,
    merged_by,
    reduce,
    reporting_progress,
)
from wgsindy.passes.summary import (
    OUTLIER_RATIO,
    DataSummary,
    SegmentPass,
    data_summary,
    joined_segments,
    outlier_sentence,
    screened_summary,
    segments_of,
    warn_of_samples,
)

__all__ = [
    "OUTLIER_RATIO",
    "SERIAL",
    "DataSummary",
    "Engine",
    "Pass",
    "PassPair",
    "SegmentPass",
    "SumPass",
    "Total",
    "added",
    "as_engine",
    "connected",
    "data_summary",
    "joined_segments",
    "merged_by",
    "outlier_sentence",
    "reduce",
    "reporting_progress",
    "screened_summary",
    "segments_of",
    "warn_of_samples",
]
