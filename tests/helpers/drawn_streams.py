"""Streams of drawn trajectories, cut anyhow."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from wgsindy.data import Block, FloatArray, FunctionSource, Stream

QUICK = settings(max_examples=60, deadline=None, derandomize=True)
Paths = list[FloatArray]
EDGES = st.lists(st.integers(0, 60), max_size=8)
SIZE = st.integers(1, 12)


@st.composite
def trajectories(draw: st.DrawFn, shortest: int = 2) -> tuple[Paths, Paths]:
    """Draw trajectories and their uneven times."""
    lengths = draw(st.lists(st.integers(shortest, 9), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    paths = [rng.normal(size=(n, 2)) for n in lengths]
    return paths, [np.cumsum(rng.uniform(0.1, 2.0, n)) for n in lengths]


def blocks_of(paths: Paths, times: Paths | float, edges: list[int]) -> list[Block]:
    """Cut the samples of all trajectories at ``edges``; blocks hold several ids, or nothing."""
    states = np.concatenate(paths)
    owner = np.repeat(np.arange(len(paths)) + 7, [len(path) for path in paths])
    clock = times if isinstance(times, float) else np.concatenate(times)
    bounds = [0, *sorted(edge % (len(states) + 1) for edge in edges), len(states)]
    return [
        Block(states[a:b], clock if isinstance(clock, float) else clock[a:b], owner[a:b])
        for a, b in pairwise(bounds)
    ]


def streamed(blocks: list[Block], per_source: int = 10**9) -> Stream:
    """Stream the blocks from sources of so many."""
    groups = [blocks[k : k + per_source] for k in range(0, len(blocks), per_source)]
    return Stream([FunctionSource(lambda group=group: group) for group in groups])  # type: ignore[misc]
