"""Which tests a developer waits for between two edits, and which only the last check runs.

`make quick` leaves out what is slow or long, `make test` what is long; `.ci/run` runs everything.
Here are whole rooms and modules; a single slow test has its mark where it stands.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Matrices of tests are small, and every core has a worker: threads of BLAS only wait for each
# other, a test of a tenth of a second for ten. Said before NumPy is loaded, also to programs that
# tests start.
for library in ("OPENBLAS", "OMP"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

ROOT = Path(__file__).parent
# Whole rooms and modules, by the beginning of their paths.
LONG = (
    "evidence/",
    "tests/breaks/",
    "tests/cli/test_cli.py",
    "tests/docs/",
    "tests/golden/",
    "tests/passes/test_dask_cluster.py",
    "tests/readouts/test_witnesses.py",
    "tests/report/test_report_page.py",
    "tests/statistical/",
)
SLOW = (
    "src/",
    "tests/cli/",
    "tests/data/test_stream.py",
    "tests/diagnostics/test_new_questions.py",
    "tests/diagnostics/test_probes.py",
    "tests/estimate/filtering/test_filter.py",
    "tests/estimate/filtering/test_starts.py",
    "tests/estimate/likelihood/test_likelihood_stages.py",
    "tests/estimate/likelihood/test_noiseless.py",
    "tests/estimate/test_bad_input.py",
    "tests/estimate/test_fits_far_from_zero.py",
    "tests/estimate/test_grow_library.py",
    "tests/estimate/test_invariance.py",
    "tests/estimate/test_large_fits.py",
    "tests/estimate/test_orders.py",
    "tests/estimate/test_rival_libraries.py",
    "tests/estimate/weak_form/test_as_written.py",
    "tests/estimator/",
    "tests/faults/",
    "tests/files/streaming/",
    "tests/files/test_messy_files.py",
    "tests/files/test_stream_tables.py",
    "tests/fuzz/",
    "tests/house/test_cold_start.py",
    "tests/passes/test_segments.py",
    "tests/properties/",
    "tests/readouts/",
    "tests/report/",
    "tests/zoo/",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave modules unread whose tests would all be left out: reading all takes 10 s a worker."""
    asked, place = config.option.markexpr, collection_path.relative_to(ROOT).as_posix()
    left_out = (
        ("not slow" in asked and place.startswith(SLOW))
        or ("not long" in asked and place.startswith(LONG))
        or (asked == "long" and collection_path.is_file() and not place.startswith(LONG))
    )
    return True if left_out else None  # None: others may still say so


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by where they are."""
    for item in items:
        place = item.path.relative_to(ROOT).as_posix()
        if place.startswith(LONG):
            item.add_marker(pytest.mark.long)
        if place.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
