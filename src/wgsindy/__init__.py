"""wgsindy: from trajectories to the stochastic differential equation behind them.

>>> import wgsindy as wg
>>> data = wg.zoo.get("rotational_ou").simulate(seed=0)
>>> gen = wg.WGSINDy(library="poly2").fit(data).generator_
>>> gen.drift([[1.0, 0.0]]).shape
(1, 2)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wgsindy import diagnostics, errors, recipes, zoo
    from wgsindy.data import Trajectories
    from wgsindy.estimator import WGSINDy
    from wgsindy.files import read, stream
    from wgsindy.model import Change, Generator
    from wgsindy.report import compare
    from wgsindy.terms import library
    from wgsindy.workflow import fit_file

__version__ = "0.1.0"
__all__ = [
    "Change",
    "Generator",
    "Trajectories",
    "WGSINDy",
    "compare",
    "diagnostics",
    "errors",
    "fit_file",
    "library",
    "read",
    "recipes",
    "stream",
    "zoo",
]

# Public names are loaded when first used: `import wgsindy` alone stays fast.
_HOMES = {
    "Change": "wgsindy.model.change_of_variables",
    "Generator": "wgsindy.model.generator",
    "Trajectories": "wgsindy.data.trajectories",
    "WGSINDy": "wgsindy.estimator",
    "compare": "wgsindy.report.comparison",
    "fit_file": "wgsindy.workflow",
    "library": "wgsindy.terms.candidates",
    "read": "wgsindy.files",
    "stream": "wgsindy.files.reading",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if name in __all__:
        return import_module(f"wgsindy.{name}")
    raise AttributeError(f"module 'wgsindy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
