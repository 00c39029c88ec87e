"""The zoo: the 29 systems of the paper's master table, and variants beside it.

>>> from wgsindy import zoo
>>> zoo.get("rotational_ou").generator.equations()
['b1 = -x - 2*y', 'b2 = 2*x - y', 'a11 = 1', 'a12 = 0', 'a22 = 1']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wgsindy.diagnostics import Limitation
from wgsindy.errors import UnknownSystemError
from wgsindy.zoo import (
    bistable,
    financial,
    limit_cycles,
    limits,
    linear,
    multiplicative,
    rotational,
)
from wgsindy.zoo.system import System

# In the order of the paper's table; variants last.
FAMILIES: dict[str, tuple[Callable[..., System], ...]] = {
    "Linear Ornstein-Uhlenbeck": (
        linear.indep_ou,
        linear.correlated_ou,
        linear.coupled_ou,
        linear.two_factor_vasicek,
    ),
    "Rotational": (
        rotational.rotational_ou,
        rotational.spiral_sink_corr,
        rotational.nongradient_circulation,
    ),
    "Bistable and gradient": (
        bistable.double_well_transverse,
        bistable.gradient_potential,
        bistable.maier_stein,
        bistable.duffing,
        bistable.mueller_brown,
    ),
    "State-dependent diffusion": (
        multiplicative.diag_multiplicative,
        multiplicative.nondiag_cholesky,
        multiplicative.near_singular,
    ),
    "Financial": (
        financial.heston_logsv,
        financial.heston_sv,
        financial.cir_pair,
        financial.sabr,
        financial.gbm_2d,
    ),
    "Limit cycles": (
        limit_cycles.van_der_pol,
        limit_cycles.fitzhugh_nagumo,
        limit_cycles.stuart_landau,
        limit_cycles.brusselator,
    ),
    "Named limits": (
        limits.underdamped_langevin,
        limits.near_boundary_heston,
        limits.nonpoly_drift,
        limits.bad_coverage,
        limits.too_large_dt,
    ),
    "Spanning libraries": (bistable.mueller_brown_spanned, financial.sabr_spanned),
    "Variants": (
        limits.duffing_degenerate,
        limits.van_der_pol_degenerate,
        limits.partial_observation,
        limits.stalled_sensor,
    ),
}
_FACTORIES = {factory.__name__: factory for family in FAMILIES.values() for factory in family}


BESIDE_THE_TABLE = ("Spanning libraries", "Variants")


def names(*, spanned: bool = False, variants: bool = False) -> list[str]:
    """Names of the 29 systems of the table, in its order.

    On request also the two whose truth no library of the paper spans, with one that does
    (``spanned``), or everything (``variants``).
    """
    left_out = [] if variants else list(BESIDE_THE_TABLE[1:] if spanned else BESIDE_THE_TABLE)
    return [
        factory.__name__
        for family, factories in FAMILIES.items()
        if family not in left_out
        for factory in factories
    ]


def get(name: str, **parameters: Any) -> System:
    """Return a system by name; some take parameters, such as ``get("heston_logsv", rho=-0.3)``.

    Raises
    ------
    UnknownSystemError
        If there is no system of that name.
    """
    if name not in _FACTORIES:
        raise UnknownSystemError(
            f"there is no system {name!r}; choose one of {names(variants=True)}."
        )
    return _FACTORIES[name](**parameters)


__all__ = ["FAMILIES", "Limitation", "System", "get", "names"]
