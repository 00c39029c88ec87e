"""Known processes: the table ``systems.toml``, read into values of one type."""

from __future__ import annotations

import re
import tomllib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from typing import Any, Literal

import numpy as np

from wgsindy.data import FloatArray, Trajectories, frozen
from wgsindy.diagnostics import Limitation
from wgsindy.errors import UnknownSystemError
from wgsindy.model import (
    EulerMaruyama,
    ExactLinear,
    ExactLognormal,
    Generator,
    KineticSplitting,
    Scheme,
    TensorField,
    simulate,
)
from wgsindy.terms import library as library_of
from wgsindy.terms import split_formulas

_ROWS: dict[str, dict[str, Any]] = tomllib.loads(
    (resources.files("wgsindy.zoo") / "systems.toml").read_text(encoding="utf-8")
)
_SCHEMES: dict[str, Callable[..., Scheme]] = {
    "Euler": EulerMaruyama,
    "linear": ExactLinear,
    "lognormal": ExactLognormal,
    "kinetic": KineticSplitting,
}
_BESIDE_THE_TABLE = ("Spanning libraries", "Variants")  # of the paper


@dataclass(frozen=True)
class System:
    """A known process with the protocol by which it is observed.

    Parameters
    ----------
    key, title : name in the table and for people
    drift : formulas, one per coordinate
    diffusion : formulas of the entries a11, a12, a22 of the tensor, ``a = sigma sigma'``
    start : initial state of every trajectory
    dt, steps : sampling interval and number of increments of a trajectory
    library : the library that the benchmark fits it with: a name, or formulas
    verdict : the paper's: ``pass``, ``review``, ``limit``; ``variant`` if it is not in the table
    limitation : what limits its recovery; a system that passes may have one, if it limits something
        that the gates leave out (the price drift of the Heston models)
    scheme : how it is simulated
    scored : drift components that count in the drift error; all unless given
    start_spread : standard deviation of the initial state
    observed : coordinates that the observer sees; all unless given
    projection : drift and tensor of the observed coordinates, where others are hidden
    stall : how often the sensor repeats its last value at the end of each trajectory
    stream : the system whose random numbers it shares; its own key unless given
    """

    key: str
    title: str
    drift: tuple[str, ...]
    diffusion: tuple[str, ...]
    start: tuple[float, ...]
    dt: float
    steps: int
    library: str | tuple[str, ...]
    verdict: Literal["pass", "review", "limit", "variant"]
    limitation: Limitation = Limitation.NONE
    scheme: Scheme = field(default_factory=EulerMaruyama)
    names: tuple[str, ...] = ("x", "y")
    scored: tuple[int, ...] | None = None
    start_spread: float = 0.0
    observed: tuple[str, ...] | None = None
    projection: Mapping[str, tuple[str, ...]] | None = None
    stall: int = 0
    trajectories: int = 16
    stream: str = ""

    @cached_property
    def generator(self) -> Generator:
        """The truth."""
        return _generator(self.names, self.drift, self.diffusion)

    @property
    def observed_generator(self) -> Generator:
        """The truth about what is observed: the Markov projection where coordinates are hidden.

        Its drift and tensor are the averages of the full ones, given the observed coordinates. It
        has the one-step moments of the data at each point, not their memory.
        """
        if self.observed is None or self.projection is None:
            return self.generator
        return _generator(self.observed, **self.projection)

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
        return self._seen_by_the_observer(data)

    def _seen_by_the_observer(self, data: Trajectories) -> Trajectories:
        if self.stall:
            paths = [np.vstack([path, np.repeat(path[-1:], self.stall, axis=0)]) for path in data]
            data = Trajectories(paths, data.mean_dt, names=data.names)
        return data if self.observed is None else data.select(list(self.observed))


def _generator(
    names: tuple[str, ...], drift: tuple[str, ...], diffusion: tuple[str, ...]
) -> Generator:
    basis, coefficients = split_formulas([*drift, *diffusion], names)
    entries = frozen(coefficients[len(names) :])
    field = TensorField("entries", entries, 0.0, frozen(np.ones(len(names))))
    return Generator(basis, frozen(coefficients[: len(names)]), field)


def _row(key: str) -> dict[str, Any]:
    """Return a row of the table, with the fields of the system that it is like."""
    row = dict(_ROWS[key])
    return (_row(row.pop("like")) if "like" in row else {}) | row


def _filled(value: Any, meanings: Mapping[str, float | str]) -> Any:
    """Put what letters stand for in place of them; lists become tuples."""
    if isinstance(value, dict):
        return {word: _filled(item, meanings) for word, item in value.items()}
    if isinstance(value, list):
        return tuple(_filled(item, meanings) for item in value)
    if not isinstance(value, str) or not meanings:
        return value
    if value in meanings:
        return meanings[value]
    letters = "|".join(meanings)
    return re.sub(rf"\b({letters})\b", lambda found: f"({meanings[found[0]]})", value)


FAMILIES: dict[str, tuple[str, ...]] = {
    family: tuple(key for key in _ROWS if _row(key)["family"] == family)
    for family in dict.fromkeys(_row(key)["family"] for key in _ROWS)
}


def system_names(*, spanned: bool = False, variants: bool = False) -> list[str]:
    """Names of the 29 systems of the table, in its order.

    On request also the two whose truth no library of the paper spans, with one that does
    (``spanned``), or everything (``variants``).
    """
    left_out = [] if variants else list(_BESIDE_THE_TABLE[1:] if spanned else _BESIDE_THE_TABLE)
    return [key for key in _ROWS if _row(key)["family"] not in left_out]


def find_system(name: str, **parameters: float) -> System:
    """Return a system by name; some take parameters, such as ``get("heston_logsv", rho=-0.3)``.

    Raises
    ------
    UnknownSystemError
        If there is no system of that name, or it has no such parameter.
    """
    if name not in _ROWS:
        raise UnknownSystemError(
            f"there is no system {name!r}; choose one of {system_names(variants=True)}."
        )
    row = _row(name)
    defaults = row.pop("where", {})
    if unknown := sorted(set(parameters) - set(defaults)):
        raise UnknownSystemError(
            f"{name} has no parameter {unknown[0]!r}; its parameters are {sorted(defaults)}."
        )
    fields = _filled(row, defaults | parameters)
    del fields["family"]
    scheme = fields.pop("scheme")
    limitation = Limitation[fields.pop("limitation", "NONE")]
    simulator = _SCHEMES[scheme.pop("kind")]
    return System(key=name, limitation=limitation, scheme=simulator(**scheme), **fields)
