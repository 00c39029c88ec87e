"""Models of prices, rates and volatility."""

from __future__ import annotations

from dataclasses import replace

import sympy

from wgsindy.diagnostics import Limitation
from wgsindy.model import EulerMaruyama, ExactLognormal
from wgsindy.terms import library
from wgsindy.zoo.system import System, correlated

INF = float("inf")
TRADING_DAY = 1 / 252
FLOOR = 1e-10

S, V, P, Q = sympy.symbols("s v x y", real=True)


def heston_logsv(
    rho: float = -0.65, kappa: float = 2.0, theta: float = 0.04, xi: float = 0.3
) -> System:
    """Log-price and variance of the Heston model; the leverage effect is rho."""
    mu = 0.05
    return System(
        key="heston_logsv",
        title="Log-Heston",
        names=("x", "v"),
        drift=(mu - V / 2, kappa * (theta - V)),
        diffusion=correlated(V, xi**2 * V, rho * xi * V),
        start=(0, theta),
        scheme=EulerMaruyama((-INF, FLOOR), (INF, INF)),
        dt=TRADING_DAY,
        steps=2600,
        library="poly2",
        verdict="pass",
        scored=(1,),
        limitation=Limitation.LOW_SIGNAL,
    )


def heston_sv(rho: float = -0.65) -> System:
    """The Heston model in the raw price."""
    mu, kappa, theta, xi = 0.05, 2.0, 0.04, 0.3
    return System(
        key="heston_sv",
        title="Heston (S, V)",
        names=("s", "v"),
        drift=(mu * S, kappa * (theta - V)),
        diffusion=correlated(S**2 * V, xi**2 * V, rho * xi * S * V),
        start=(100, theta),
        scheme=EulerMaruyama((FLOOR, FLOOR), (INF, INF)),
        dt=TRADING_DAY,
        steps=2600,
        library="poly3",
        verdict="pass",
        scored=(1,),
        limitation=Limitation.LOW_SIGNAL,
    )


def cir_pair() -> System:
    """Two square-root processes with correlated noise."""
    kappa, theta, xi, rho = 2.0, 0.04, 0.3, -0.65
    return System(
        key="cir_pair",
        title="CIR pair",
        drift=(kappa * (theta - P), kappa * (theta - Q)),
        diffusion=correlated(xi**2 * P, xi**2 * Q, rho * xi**2 * sympy.sqrt(P * Q)),
        start=(theta, theta),
        scheme=EulerMaruyama((FLOOR, FLOOR), (INF, INF)),
        dt=TRADING_DAY,
        steps=2600,
        library="sqrt",
        verdict="pass",
    )


def sabr() -> System:
    """Forward and volatility of the SABR model: no drift, fractional powers in the tensor."""
    beta, nu, rho = sympy.Rational(1, 2), 0.45, -0.55
    forward, vol = sympy.symbols("f v", real=True)
    return System(
        key="sabr",
        title="SABR",
        names=("f", "v"),
        drift=(0, 0),
        diffusion=correlated(
            vol**2 * forward ** (2 * beta), nu**2 * vol**2, rho * nu * vol**2 * forward**beta
        ),
        start=(1, 0.25),
        scheme=EulerMaruyama((1e-8, 1e-8), (5, 2)),
        dt=TRADING_DAY,
        steps=1600,
        library="sqrt",
        verdict="limit",
        limitation=Limitation.MISSING_TERMS,
    )


def sabr_spanned() -> System:
    """The same data with products of roots and powers in the library."""
    system = sabr()
    plain = library("sqrt").bind(system.names).terms
    return replace(
        system,
        key="sabr_spanned",
        title="SABR, products of roots",
        library=(*plain, "f*v**2", "sqrt(f)*v**2"),
        verdict="variant",
        stream="sabr",
        limitation=Limitation.NONE,
    )


def gbm_2d() -> System:
    """Two correlated geometric Brownian motions."""
    mu, s1, s2, rho = (0.04, 0.02), 0.22, 0.30, 0.45
    return System(
        key="gbm_2d",
        title="Correlated 2D GBM",
        drift=(mu[0] * P, mu[1] * Q),
        diffusion=correlated(s1**2 * P**2, s2**2 * Q**2, rho * s1 * s2 * P * Q),
        start=(1, 1.2),
        scheme=ExactLognormal(),
        dt=TRADING_DAY,
        steps=1600,
        library="poly2",
        verdict="review",
        limitation=Limitation.LOW_SIGNAL,
    )
