"""A trajectory of any length on disk, a block at a time: dX = A X dt + S dW in two dimensions."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from wgsindy_evidence.errors import CampaignError

DT = 0.01
DRIFT = np.array([[-1.0, 1.0], [-1.0, -1.0]])
TENSOR = np.array([[1.0, 0.3], [0.3, 0.5]])  # S S'
BLOCK = 2**20
BYTES = 16  # a sample


def write_trajectory(path: Path, samples: int, seed: int = 0, noise: float = 0.0) -> None:
    """Write ``(samples, 2)`` float64 as NPY, by exact transitions.

    In the eigenbasis of the drift they are two scalar recursions. ``noise`` on every sample is a
    share of the stationary standard deviation of its coordinate.

    Raises
    ------
    CampaignError
        If the disk is too small.
    """
    from scipy.linalg import expm, solve_continuous_lyapunov
    from scipy.signal import lfilter

    _require_space(path.parent, samples * BYTES)
    step = expm(DRIFT * DT)
    stationary = solve_continuous_lyapunov(DRIFT, -TENSOR)
    root = np.linalg.cholesky(stationary - step @ stationary @ step.T)
    values, vectors = np.linalg.eig(step)
    size = noise * np.sqrt(np.diag(stationary))
    rng = np.random.default_rng(seed)
    state = np.zeros(2, dtype=complex)
    array = np.lib.format.open_memmap(path, "w+", np.float64, (samples, 2))
    for first in range(0, samples, BLOCK):
        n = min(BLOCK, samples - first)
        kicks = rng.normal(size=(n, 2)) @ root.T @ np.linalg.inv(vectors).T
        modes = np.empty((n, 2), dtype=complex)
        for m in range(2):
            start = [values[m] * state[m]]
            modes[:, m], _ = lfilter([1.0], [1.0, -values[m]], kicks[:, m], zi=start)
        state = modes[-1]
        array[first : first + n] = (modes @ vectors.T).real
        if noise:
            array[first : first + n] += size * rng.normal(size=(n, 2))
    array.flush()


def _require_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < 1.1 * needed:
        raise CampaignError(
            f"a file of {needed / 1e9:.1f} GB does not fit into {folder}, which has "
            f"{free / 1e9:.1f} GB left; set TMPDIR to a larger disk, or use --quick."
        )
