"""Systems that are not in the zoo, so that no choice of the package was ever made on them.

Each is a continuous process: it is simulated by Euler steps that are much finer than the samples,
and nothing is clipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from wgsindy.data import FloatArray
from wgsindy.model import Generator, tensor
from wgsindy_evidence.experiments.tensors import Drift, Tensor, correlated, diagonal

X, Y, Z = sympy.symbols("x y z", real=True)
# The longest substep. A chain of Euler steps h is a process whose drift is off by h |J| / 2: 0.3 %
# for the systems below, a tenth of what the data can tell.
FINEST = 0.0025
FEWEST_SUBSTEPS = 5


@dataclass(frozen=True)
class Process:
    """A known process: drift, full tensor ``a = sigma sigma'``, a start, and a library for it.

    ``settling`` is how long it takes to forget the start. Where the formula of a tensor in one
    dimension is negative, there is no noise.
    """

    key: str
    title: str
    drift: Drift
    diffusion: Tensor
    library: str
    start: tuple[float, ...]
    settling: float = 10.0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return ("x", "y", "z")[: len(self.drift)]

    @cached_property
    def truth(self) -> Generator:
        """The generator."""
        return Generator.from_sympy(self.names, self.drift, self.diffusion)

    @cached_property
    def shifted(self) -> Generator:
        """The same process with one added to each coordinate: lower powers come in."""
        moved = {symbol: symbol - 1 for symbol in (X, Y, Z)}
        drift = [sympy.expand(sympy.sympify(term).subs(moved)) for term in self.drift]
        diffusion = [
            [sympy.expand(sympy.sympify(entry).subs(moved)) for entry in row]
            for row in self.diffusion
        ]
        return Generator.from_sympy(self.names, drift, diffusion)


SYSTEMS: dict[str, Process] = {
    process.key: process
    for process in (
        Process("ou", "Ornstein-Uhlenbeck", (-X,), ((1,),), "poly2", (0.0,)),
        Process("double_well", "double well", (X - X**3,), ((0.5,),), "poly3", (1.0,)),
        Process(
            "multiplicative",
            "multiplicative noise",
            (-X,),
            ((0.2 + 0.3 * X**2,),),
            "poly2",
            (0.0,),
        ),
        Process(
            "rotation",
            "rotation",
            (-0.5 * X - 2 * Y, 2 * X - 0.5 * Y),
            diagonal(0.6, 0.3),
            "poly2",
            (0.0, 0.0),
        ),
        Process(
            "oscillator",
            "Rayleigh oscillator",
            (Y, -X + Y - Y**3),
            diagonal(0.1, 0.2),
            "poly3",
            (1.0, 0.0),
        ),
        Process(
            "two_wells",
            "two wells, correlated noise",
            (X - X**3, X - Y),
            correlated(0.5, 0.4, 0.2),
            "poly3",
            (1.0, 1.0),
        ),
        Process(
            "cycle",
            "three coordinates in a cycle",
            (-X - Y, X - Y - Z, Y - 0.5 * Z),
            ((0.5, 0.2, 0), (0.2, 0.4, 0), (0, 0, 0.3)),
            "poly2",
            (0.0, 0.0, 0.0),
        ),
    )
}


def substeps_of(dt: float, finest: float = FINEST) -> int:
    """Substeps of a step: at least five, and none longer than ``finest``."""
    return max(FEWEST_SUBSTEPS, int(np.ceil(dt / finest - 1e-9)))


def fine_path(
    process: Process,
    *,
    dt: float,
    steps: int,
    substeps: int,
    trajectories: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Simulate from the settled state; every substep, ``(R, steps * substeps + 1, d)``."""
    h = dt / substeps
    burn_in = int(np.ceil(process.settling / h))
    drift, noise = _drift_rows(process.truth), _noise_rows(process.truth)
    x = np.tile(np.array(process.start)[:, None], (1, trajectories))
    path = np.empty((steps * substeps + 1, *x.shape))
    path[0] = x
    shocks = np.sqrt(h) * rng.standard_normal((burn_in + steps * substeps, *x.shape))
    for n, shock in enumerate(shocks, start=1 - burn_in):
        x = x + h * drift(x) + noise(x, shock)
        if n >= 0:
            path[n] = x
    return np.ascontiguousarray(path.transpose(2, 0, 1))


def _drift_rows(truth: Generator) -> Callable[[FloatArray], FloatArray]:
    """Return b as a function of states ``(d, R)``: compiled, since steps come one by one."""
    symbols, drift, _ = truth.to_sympy()
    compiled = [_compiled(symbols, term) for term in drift]
    return lambda x: np.array([component(*x) for component in compiled])


def _noise_rows(truth: Generator) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """Return L(x) dW for states and shocks ``(d, R)``, with L L' = a."""
    symbols, _, diffusion = truth.to_sympy()
    d = len(symbols)
    if not diffusion.free_symbols:
        factor = tensor.cholesky(np.array(diffusion.tolist(), dtype=np.float64)[None])[0]
        return lambda x, shock: factor @ shock
    if d == 1:
        variance = _compiled(symbols, diffusion[0, 0])
        return lambda x, shock: np.sqrt(np.maximum(variance(*x), 0.0)) * shock
    entries = [[_compiled(symbols, diffusion[p, q]) for q in range(d)] for p in range(d)]

    def scaled(x: FloatArray, shock: FloatArray) -> FloatArray:
        field = np.array([[entry(*x) for entry in row] for row in entries]).transpose(2, 0, 1)
        return np.einsum("rpq,qr->pr", tensor.cholesky(field), shock)

    return scaled


def _compiled(symbols: Any, term: Any) -> Callable[..., FloatArray]:
    value = sympy.lambdify(symbols, sympy.horner(term), "numpy")
    return value if term.free_symbols else lambda *x: np.full_like(x[0], float(term))
