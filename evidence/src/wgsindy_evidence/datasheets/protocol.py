"""How a system is simulated and observed, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from wgsindy.model import EulerMaruyama, ExactLinear, ExactLognormal, KineticSplitting, Scheme
from wgsindy.terms import library
from wgsindy.zoo import System


def protocol(system: System) -> str:
    """How the system is observed, in a sentence."""
    start = ", ".join(f"{value:g}" for value in system.start)
    spread = f" with a spread of {system.start_spread:g}" if system.start_spread else ""
    named = isinstance(system.library, str)
    return (
        f"Protocol: {system.trajectories} trajectories of {system.steps} steps of length "
        f"{_step(system.dt)}, started at ({start}){spread}, simulated by "
        f"{_scheme(system.scheme, system.names)}, fitted with "
        f"{f'library `{system.library}`' if named else 'a library of formulas'} "
        f"({len(library(system.library).bind(system.names))} terms)."
    )


def _step(dt: float) -> str:
    short = f"{dt:g}"
    return short if float(short) == dt else f"1/{1 / dt:g}"


def _scheme(scheme: Scheme, names: Sequence[str]) -> str:
    if isinstance(scheme, ExactLinear):
        return "exact transitions of the linear equation"
    if isinstance(scheme, ExactLognormal):
        return "exact lognormal transitions"
    d = len(names)
    if isinstance(scheme, KineticSplitting):
        low, high = (-scheme.limit,) * d, (scheme.limit,) * d
        return "the BAOAB splitting" + _limits(low, high, names)
    assert isinstance(scheme, EulerMaruyama)
    low = scheme.lower or (-np.inf,) * d
    high = scheme.upper or (np.inf,) * d
    finer = f" with {scheme.substeps} substeps" if scheme.substeps > 1 else ""
    return f"Euler-Maruyama{finer}" + _limits(low, high, names)


def _limits(low: Sequence[float], high: Sequence[float], names: Sequence[str]) -> str:
    """Say to which range each coordinate is clipped, if any."""
    kept = [
        f"{name} in [{a:g}, {b:g}]" if isfinite(b) else f"{name} at least {a:g}"
        for name, a, b in zip(names, low, high, strict=True)
        if isfinite(a) or isfinite(b)
    ]
    return f" (which keeps {' and '.join(kept)})" if kept else ""
