"""A benchmark system: one declaration from which everything else is derived."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import sympy

from wgsindy.data import FloatArray, Trajectories
from wgsindy.diagnostics import Limitation
from wgsindy.model import EulerMaruyama, Generator, Scheme, simulate
from wgsindy.terms import library as library_of

Drift = tuple[Any, ...]
Tensor = tuple[tuple[Any, ...], ...]
Verdict = Literal["pass", "review", "limit", "variant"]

X, Y = sympy.symbols("x y", real=True)


@dataclass(frozen=True)
class System:
    """A known process with the protocol by which it is observed.

    Parameters
    ----------
    key, title : name in the registry and for people
    drift : SymPy expressions, one per coordinate
    diffusion : the full tensor, ``a = sigma sigma'``
    start : initial state of every trajectory
    dt, steps : sampling interval and number of increments of a trajectory
    library : the library that the benchmark fits it with: a name, or formulas
    verdict : the paper's: ``pass``, ``review``, ``limit``; ``variant`` if it is not in the table
    limitation : what limits its recovery; a system that passes may have one, if it limits something
        that the gates leave out (the price drift of the Heston models)
    scheme : how it is simulated
    scored : drift components that count in the drift error; all unless given
    start_spread : standard deviation of the initial state
    observe : what the observer sees of the paths, if not all of them
    projection : the generator of the observed coordinates, where ``observe`` hides some
    stream : the system whose random numbers it shares; its own key unless given
    """

    key: str
    title: str
    drift: Drift
    diffusion: Tensor
    start: tuple[float, ...]
    dt: float
    steps: int
    library: str | tuple[str, ...]
    verdict: Verdict
    limitation: Limitation = Limitation.NONE
    scheme: Scheme = field(default_factory=EulerMaruyama)
    names: tuple[str, ...] = ("x", "y")
    scored: tuple[int, ...] | None = None
    start_spread: float = 0.0
    observe: Callable[[Trajectories], Trajectories] | None = None
    projection: Generator | None = None
    trajectories: int = 16
    stream: str = ""

    @cached_property
    def generator(self) -> Generator:
        """The truth."""
        return Generator.from_sympy(self.names, self.drift, self.diffusion)

    @property
    def observed_generator(self) -> Generator:
        """The truth about what is observed: the Markov projection where coordinates are hidden.

        Its drift and tensor are the averages of the full ones, given the observed coordinates. It
        has the one-step moments of the data at each point, not their memory.
        """
        return self.generator if self.projection is None else self.projection

    @property
    def in_scope(self) -> bool:
        """Whether the paper declares the system recoverable."""
        return self.verdict == "pass"

    def true_coefficients(self) -> FloatArray | None:
        """The truth ``(d + E, K)`` in terms of the declared library; None if that does not span it.

        Drift components first, then the entries of the tensor.
        """
        terms = library_of(self.library).bind(self.names).terms
        truth = self.generator
        if not set(truth.basis.terms) <= set(terms):
            return None
        rows = np.concatenate([truth.drift_coefficients, truth.tensor_field.coefficients])
        out = np.zeros((len(rows), len(terms)))
        out[:, [terms.index(term) for term in truth.basis.terms]] = rows
        return out

    def simulate(
        self,
        seed: int,
        *,
        trajectories: int | None = None,
        steps: int | None = None,
        substeps: int = 1,
    ) -> Trajectories:
        """Simulate and observe; the same seed gives the same data, each system has its own.

        With ``substeps`` between two samples these are a process and no Euler chain; simulators
        that are exact, or nearly, have no use for it.
        """
        scheme = self.scheme
        if isinstance(scheme, EulerMaruyama) and substeps != 1:
            scheme = replace(scheme, substeps=substeps)
        rng = np.random.default_rng([seed, zlib.crc32((self.stream or self.key).encode())])
        n = self.trajectories if trajectories is None else trajectories
        start = np.tile(self.start, (n, 1))
        if self.start_spread:
            start = start + self.start_spread * rng.standard_normal(start.shape)
        data = simulate(
            self.generator,
            start,
            dt=self.dt,
            steps=self.steps if steps is None else steps,
            trajectories=n,
            random_state=rng,
            scheme=scheme,
        )
        return data if self.observe is None else self.observe(data)


def box(limit: float) -> EulerMaruyama:
    """Euler-Maruyama with both coordinates clipped to [-limit, limit]."""
    return EulerMaruyama((-limit, -limit), (limit, limit))


def diagonal(*entries: Any) -> Tensor:
    """Return a diagonal tensor."""
    return tuple(
        tuple(entry if p == q else sympy.Integer(0) for q in range(len(entries)))
        for p, entry in enumerate(entries)
    )


def correlated(first: Any, second: Any, cross: Any) -> Tensor:
    """Return a symmetric 2 x 2 tensor."""
    return ((first, cross), (cross, second))
