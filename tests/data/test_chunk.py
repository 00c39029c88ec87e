"""Rows of a chunk: which of them moved, and which belong to one trajectory."""

from __future__ import annotations

import numpy as np

from wgsindy.data import Chunk, Spans, Trajectories
from wgsindy.data.dataset import moved


def chunk_of(*paths: list[list[float]]) -> Chunk:
    (chunk,) = Trajectories([np.array(path) for path in paths], 0.1).chunks()
    return chunk


def test_a_row_moved_if_any_coordinate_did() -> None:
    chunk = chunk_of([[0, 0], [0, 1], [0, 1], [2, 1]], [[5, 5], [5, 5]])
    assert chunk.moved.tolist() == [True, False, True, False]


def test_moved_agrees_with_any_of_a_row_for_all_kinds_of_numbers() -> None:
    values = np.array([0.0, -0.0, 5e-324, np.inf, np.nan, -1.0])
    increments = np.stack(np.meshgrid(values, values, values), axis=-1).reshape(-1, 3)
    for d in (1, 2, 3):
        expected = increments[:, :d].any(axis=1)
        np.testing.assert_array_equal(moved(increments[:, :d]), expected)


def test_spans_are_the_rows_of_each_trajectory() -> None:
    spans = Spans.of(np.array([4, 4, 4, 7, 9, 9]))
    assert [(k, (rows.start, rows.stop)) for k, rows in spans] == [
        (4, (0, 3)),
        (7, (3, 4)),
        (9, (4, 6)),
    ]
    assert spans.joined.tolist() == [True, True, False, False, True]
    total, values = np.zeros((10, 2)), np.arange(12.0).reshape(2, 6)
    spans.add_to(total, values)
    np.testing.assert_array_equal(total[[4, 7, 9]], [[3, 21], [3, 9], [9, 21]])
    assert np.count_nonzero(total) == 6
    (sums,), halved = spans.paired(values)
    np.testing.assert_array_equal(sums, [[1, 9], [13, 21]])
    assert [(k, rows.start, rows.stop) for k, rows in halved] == [(4, 0, 1), (7, 1, 1), (9, 1, 2)]
