"""Linear Ornstein-Uhlenbeck processes."""

from __future__ import annotations

from wgsindy.diagnostics import Limitation
from wgsindy.model import EulerMaruyama, ExactLinear
from wgsindy.zoo.system import Drift, System, Tensor, X, Y, correlated, diagonal


def ornstein_uhlenbeck(key: str, title: str, drift: Drift, diffusion: Tensor) -> System:
    """A linear process with exact transitions, observed 1,600 times from the origin."""
    return System(
        key=key,
        title=title,
        drift=drift,
        diffusion=diffusion,
        start=(0, 0),
        scheme=ExactLinear(),
        dt=0.01,
        steps=1600,
        library="poly2",
        verdict="pass",
    )


def indep_ou() -> System:
    """Two independent coordinates with unequal rates and noise."""
    return ornstein_uhlenbeck("indep_ou", "Independent OU", (-X, -2 * Y), diagonal(1, 0.49))


def correlated_ou() -> System:
    """Uncoupled drift, correlated noise: the coupling is in the tensor alone."""
    noise = correlated(1, 0.64, -0.48)
    return ornstein_uhlenbeck("correlated_ou", "Correlated OU", (-X, -1.5 * Y), noise)


def coupled_ou() -> System:
    """Coupled through a symmetric drift matrix: reversible."""
    drift = (-X + 0.5 * Y, 0.5 * X - Y)
    return ornstein_uhlenbeck("coupled_ou", "Coupled OU", drift, diagonal(1, 1))


def two_factor_vasicek() -> System:
    """Two interest rates that revert to their means and to each other, at the scale of rates."""
    k1, k2, m1, m2, c12, c21 = 1.1, 0.7, 0.03, 0.05, 0.25, -0.15
    s1, s2, rho = 0.018, 0.024, 0.35
    return System(
        key="two_factor_vasicek",
        title="Two-factor Vasicek",
        drift=(k1 * (m1 - X) + c12 * (Y - m2), k2 * (m2 - Y) + c21 * (X - m1)),
        diffusion=correlated(s1**2, s2**2, rho * s1 * s2),
        start=(m1, m2),
        scheme=EulerMaruyama((-0.12, -0.12), (0.18, 0.18)),
        dt=1 / 252,
        steps=1600,
        library="poly2",
        verdict="review",
        limitation=Limitation.LOW_SIGNAL,
    )
