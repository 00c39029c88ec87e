"""Small random walks as arrays, frames and files, for tests of reading."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from wgsindy.data import FloatArray

N, DT = 200, 0.01
TIMES = np.arange(N) * DT


def walk(seed: int = 0, n: int = N, d: int = 2) -> FloatArray:
    return np.cumsum(np.random.default_rng(seed).normal(0.0, 0.1, (n, d)), axis=0)


def frame(seed: int = 0) -> pd.DataFrame:
    x = walk(seed)
    return pd.DataFrame({"t": TIMES, "x": x[:, 0], "y": x[:, 1]})


def text(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "data.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
