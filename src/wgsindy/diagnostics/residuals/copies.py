"""Are samples counted twice? Windows that overlap, copied files, resampled trajectories.

Stretches of samples become numbers that look random, and the smallest ones of all are kept: a
sample of the stretches that any two parts of the data choose alike. A stretch that stands in two
places is then seen twice, wherever these are.
"""

from __future__ import annotations

import numpy as np

from wgsindy.data import Chunk, HashArray, scrambled

STRETCH = 16  # samples: with digits as fine as a step, chance repeats none of so many
KEPT = 2048  # stretches; the error of a share of one in twenty is half a percent


def none() -> HashArray:
    """No stretches at all."""
    return np.empty(0, dtype=np.uint64)


def smallest(one: HashArray, other: HashArray) -> HashArray:
    """Keep the smallest of two sets of stretches."""
    return np.sort(np.concatenate([one, other]))[:KEPT]


def stretches(chunk: Chunk) -> HashArray:
    """Numbers of the stretches of a chunk whose samples are not mostly at rest."""
    if len(chunk.states) < STRETCH:
        return none()
    number = np.zeros(len(chunk.states), dtype=np.uint64)
    for column in np.ascontiguousarray(chunk.states.T + 0.0).view(np.uint64):  # no minus zero
        number = scrambled(number + column)
    length = 1
    while length < STRETCH:
        first, second = scrambled(number[:-length]), number[length:]  # in this order
        number, length = first + second, 2 * length
    moved = np.append(0, np.cumsum((chunk.increments != 0).any(axis=1)))
    moving = (moved[STRETCH:] - moved[:-STRETCH]) > STRETCH // 2
    whole = chunk.trajectory[STRETCH - 1 :] == chunk.trajectory[: 1 - STRETCH]
    return number[moving & whole]


def repeated(kept: HashArray) -> float:
    """Share of the stretches that stand in several places."""
    if not len(kept):
        return 0.0
    count = np.unique(kept, return_counts=True)[1]
    return float(count[count > 1].sum() / len(kept))
