"""Measured data: ratios, coverage and verdicts of a group are those of its lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from invented_lines import changed, failed, lines_of

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours.measured import CELLS, GROUPS
from wgsindy_evidence.experiments.ours.unseen import SYSTEMS
from wgsindy_evidence.pages.ours.measured import GROUP_HEADINGS, build, over_floor
from wgsindy_evidence.scope import Scope

LINES = lines_of("measured", Scope(seeds=(1, 2, 3)))


def of_group(lines: list[Line], group: str) -> dict[str, str]:
    rows = build(lines).grids["measured"].rows
    (row,) = [row for row in rows if row[0] == group]
    return dict(zip(GROUP_HEADINGS[6:], row[6:], strict=True)) | {"drift": row[2], "tensor": row[4]}


def test_ratios_are_geometric_means_with_their_error() -> None:
    results: list[dict[str, Any]] = [
        {"drift": 0.2, "drift_floor": 0.1},
        {"drift": 0.8, "drift_floor": 0.1},
    ]
    ratio = over_floor(results, "drift")
    assert ratio.mean == pytest.approx(4.0)
    # Half the difference of the two logarithms.
    assert ratio.error == pytest.approx(4.0 * np.log(2))


def test_there_is_a_row_a_group_and_a_row_a_cell_and_system() -> None:
    grids = build(LINES).grids
    groups = [*GROUPS, "offset, floor without the origin"]
    assert [row[0] for row in grids["measured"].rows] == groups
    assert len(grids["measured-cells"].rows) == len(CELLS) * len(SYSTEMS)


def test_the_row_without_the_origin_is_over_the_other_floor() -> None:
    floors = {"drift": 0.6, "drift_floor": 0.1, "drift_shifted_floor": 0.2}
    lines = [changed(line, **floors) for line in LINES]
    assert of_group(lines, "offset")["drift"].startswith("6.0")
    other = of_group(lines, "offset, floor without the origin")
    assert other["drift"].startswith("3.0")


def test_wrong_are_fits_called_identified_whose_bands_leave_the_truth_out() -> None:
    lines = [changed(line, verdict="identified", covered=0.9) for line in LINES]
    of_coarse = [n for n, line in enumerate(lines) if line.case.settings["group"] == "coarse"]
    lines[of_coarse[0]] = changed(lines[of_coarse[0]], covered=0.7)
    lines[of_coarse[1]] = changed(lines[of_coarse[1]], covered=0.1, verdict="partly identified")
    lines[of_coarse[2]] = failed(lines[of_coarse[2]])
    cells = of_group(lines, "coarse")
    assert cells["identified"] == f"{len(of_coarse) - 2}"
    assert cells["of these wrong"].startswith("1 (")
    assert cells["failed"] == "1"
    assert of_group(lines, "noise")["of these wrong"].startswith("0 (")


def test_fits_at_an_offset_have_no_terms_to_count() -> None:
    cells = of_group(list(LINES), "offset")
    assert cells["drift terms exact"] == cells["tensor terms exact"] == "-"
    assert of_group(list(LINES), "fine")["drift terms exact"] != "-"
