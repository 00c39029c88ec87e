"""Blocks of samples: where they are cut, and what is left out between them."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy.data import Block, FunctionSource
from wgsindy.data.source import trajectory_blocks


@pytest.mark.parametrize("size", [3, 7, 40])
@pytest.mark.parametrize("with_times", [False, True])
def test_every_row_is_in_a_block_or_counted_as_missing(size: int, with_times: bool) -> None:
    states = np.arange(40.0)[:, None]
    lacking = np.isin(np.arange(40), [0, 5, 6, *range(12, 26), 38, 39])
    states[lacking] = np.nan
    times = 0.5 * np.arange(40)

    def blocks() -> list[Block]:
        places = [slice(k, k + size) for k in range(0, 40, size)]
        return [Block(states[one], times[one] if with_times else 0.5) for one in places]

    found = list(trajectory_blocks([FunctionSource(blocks)]))
    assert all(len(one.states) == len(one.clock) for one in found)
    kept = np.concatenate([one.states[:, 0] for one in found])
    np.testing.assert_array_equal(kept, np.flatnonzero(~lacking))
    clock = np.concatenate([one.clock for one in found])
    np.testing.assert_array_equal(clock, times[~lacking] if with_times else kept)
    assert sum(one.missing for one in found) == np.count_nonzero(lacking)
    assert (len(found[-1].states), found[-1].row, found[-1].missing) == (0, 40, 2)
    # Only the hole of 14 rows is too long to be crossed in one step.
    owner = np.concatenate([np.full(len(one.states), one.trajectory) for one in found])
    np.testing.assert_array_equal(owner, kept > 12)
