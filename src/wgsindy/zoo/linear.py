"""Linear Ornstein-Uhlenbeck processes."""

from __future__ import annotations

from wgsindy.diagnostics.findings import Limitation
from wgsindy.model.simulate import EulerMaruyama, ExactLinear
from wgsindy.zoo.system import Drift, System, Tensor, X, Y, correlated, diagonal


def ornstein_uhlenbeck(
    key: str, title: str, drift: Drift, diffusion: Tensor, context: str
) -> System:
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
        context=context,
    )


def indep_ou() -> System:
    """Two independent coordinates with unequal rates and noise."""
    return ornstein_uhlenbeck(
        "indep_ou",
        "Independent OU",
        (-X, -2 * Y),
        diagonal(1, 0.49),
        context=(
            "Two particles in separate harmonic traps, each shaken by its own heat bath: the "
            "process of Uhlenbeck and Ornstein (1930), taken twice. The second coordinate "
            "relaxes twice as fast and has half the noise power, so that one scale cannot "
            "serve both. Nothing joins the two. A good recovery finds the rates 1 and 2 and "
            "leaves out every coupling, in the drift and in the tensor; whatever it adds is a "
            "false discovery."
        ),
    )


def correlated_ou() -> System:
    """Uncoupled drift, correlated noise: the coupling is in the tensor alone."""
    noise = correlated(1, 0.64, -0.48)
    return ornstein_uhlenbeck(
        "correlated_ou",
        "Correlated OU",
        (-X, -1.5 * Y),
        noise,
        context=(
            "Two quantities return to their means on their own, but the same disturbances "
            "reach both, more often than not with opposite sign. Two sensors in one "
            "fluctuating field behave like this. The drift has no cross term, so the link "
            "shows only in products of simultaneous increments; the cloud of samples is tilted "
            "as well, which tempts a regression to explain it by coupled forces. A good "
            "recovery has a12 = -0.48, a shock correlation of -0.6, beside a diagonal drift."
        ),
    )


def coupled_ou() -> System:
    """Coupled through a symmetric drift matrix: reversible."""
    drift = (-X + 0.5 * Y, 0.5 * X - Y)
    return ornstein_uhlenbeck(
        "coupled_ou",
        "Coupled OU",
        drift,
        diagonal(1, 1),
        context=(
            "Two overdamped beads in traps of their own, joined by a spring. The matrix of "
            "forces is symmetric, so there is a potential and no net circulation. The sum of "
            "the coordinates relaxes at rate 0.5 and their difference at 1.5; a path holds "
            "only eight relaxation times of the slow one, whose rate carries most of the "
            "error. A good recovery has two equal couplings, no curl, and noise without "
            "correlation."
        ),
    )


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
        context=(
            "Vasicek (1977) let the short rate of interest return to its mean; here two rates "
            "do, and each also answers to the other's deviation. States of a few per cent make "
            "tensor entries of a few ten-thousandths, which absolute thresholds mistake for "
            "nothing. The drift is the harder part: a hundred years of daily data leave a "
            "standard error of 0.1 to 0.2 per year on each rate, and the couplings are 0.25 "
            "and -0.15. A good recovery has the noise correlation 0.35 and says which "
            "couplings the data leave open."
        ),
        limitation=Limitation.LOW_SIGNAL,
    )
