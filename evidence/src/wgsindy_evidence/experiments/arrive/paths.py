"""Fine paths of processes; fields are compiled in one piece, since steps come one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy

from wgsindy.data import FloatArray
from wgsindy.model import tensor
from wgsindy_evidence.experiments.ours.unseen import Process

BLOCK = 4096  # steps whose shocks are drawn together
Field = Callable[[FloatArray], FloatArray]
Noise = Callable[[FloatArray, FloatArray], FloatArray]


def euler_path(
    process: Process, starts: FloatArray, h: float, settling: int, steps: int, seed: Sequence[int]
) -> FloatArray:
    """States ``(R, steps + 1, d)``, ``settling`` Euler steps after starts ``(R, d)``."""
    drift, noise = compiled(process)
    rng, x = np.random.default_rng(seed), starts.T.copy()
    path = np.empty((len(starts), steps + 1, len(x)))
    done = -settling
    while done < steps:
        for shock in np.sqrt(h) * rng.standard_normal((min(BLOCK, steps - done), *x.shape)):
            if done >= 0:
                path[:, done] = x.T
            x = x + h * drift(x) + noise(x, shock)
            done += 1
    path[:, steps] = x.T
    return path


def compiled(process: Process) -> tuple[Field, Noise]:
    """Return b(x) and L(x) dW, L L' = a, for states and shocks ``(d, R)``.

    A tensor that depends on the state must be diagonal.
    """
    symbols, drift, diffusion = process.truth.to_sympy()
    d = len(symbols)
    force = sympy.lambdify(symbols, list(drift), "numpy", cse=True)

    def pushed(x: FloatArray) -> FloatArray:
        return _rows(force(*x), x)

    if not diffusion.free_symbols:
        factor = tensor.cholesky(np.array(diffusion.tolist(), dtype=np.float64)[None])[0]
        return pushed, lambda x, shock: factor @ shock
    assert diffusion.is_diagonal(), "a tensor that depends on the state is to be diagonal"
    variance = sympy.lambdify(symbols, [diffusion[p, p] for p in range(d)], "numpy", cse=True)

    def scaled(x: FloatArray, shock: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(np.maximum(_rows(variance(*x), x), 0.0)) * shock)

    return pushed, scaled


def _rows(values: Sequence[Any], x: FloatArray) -> FloatArray:
    """Components ``(d, R)`` of which some may be the same number for all."""
    return np.array([np.broadcast_to(value, x[0].shape) for value in values])


def heun_path(
    drift: Field, scale: float, starts: FloatArray, h: float, steps: int, seed: Sequence[int]
) -> FloatArray:
    """Paths ``(R, steps + 1, d)`` of dX = f(X) dt + scale X o dW (Stratonovich), by Heun steps."""
    rng, x = np.random.default_rng(seed), starts.T.copy()
    path = np.empty((len(starts), steps + 1, len(x)))
    path[:, 0] = starts
    for n in range(steps):
        shock = np.sqrt(h) * rng.standard_normal(x.shape)
        force = drift(x)
        tried = x + h * force + scale * x * shock
        x = x + h / 2 * (force + drift(tried)) + scale / 2 * (x + tried) * shock
        path[:, n + 1] = x.T
    return path
