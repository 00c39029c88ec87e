"""Write a long Ornstein-Uhlenbeck path to NPY, a block at a time: dX = A X dt + S dW, d = 2.

python benchmarks/write_ou.py 10000000 /tmp/ou.npy
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.linalg import expm, solve_continuous_lyapunov
from scipy.signal import lfilter

DT = 0.01
DRIFT = np.array([[-1.0, 1.0], [-1.0, -1.0]])
NOISE = np.array([[1.0, 0.3], [0.3, 0.5]])  # S S'
BLOCK = 2**20


def write(path: Path, samples: int, seed: int = 0) -> None:
    """Write exact transitions; in the eigenbasis of the drift they are two scalar recursions."""
    step = expm(DRIFT * DT)
    stationary = solve_continuous_lyapunov(DRIFT, -NOISE)
    root = np.linalg.cholesky(stationary - step @ stationary @ step.T)
    values, vectors = np.linalg.eig(step)
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
    array.flush()


if __name__ == "__main__":
    write(Path(sys.argv[2]), int(float(sys.argv[1])))
