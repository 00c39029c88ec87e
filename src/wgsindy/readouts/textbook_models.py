"""Parameters of models that have a name: kappa, theta, xi, rho; friction, temperature.

A model is known by the terms of its equations. Its parameters are functions of the coefficients,
so their intervals come from the same draws as those of everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from wgsindy.errors import ReadoutError
from wgsindy.model import Generator, linear_fields, tensor_fields
from wgsindy.readouts.chain import LEAST_POSITIVE
from wgsindy.readouts.grid_error import Value, drawn_generators, interval_factor

# Median of the square of a standard normal variable: ratios of coefficients have draws far out.
MEDIAN_SQUARE = 0.4549

Terms = Mapping[tuple[str, str], float]  # (field, term) -> coefficient
Formula = Callable[[Terms], dict[str, float]]


class NamedModel(NamedTuple):
    """A familiar model: its name and its parameters."""

    name: str
    parameters: dict[str, Value]


def named_model(
    generator: Generator, draws: int = 200, level: float = 0.95, random_state: int = 0
) -> NamedModel:
    """Recognise a model by its terms.

    Raises
    ------
    ReadoutError
        If the equations are those of none that is known here.

    Examples
    --------
    >>> from wgsindy import zoo
    >>> found = named_model(zoo.get("heston_logsv").generator)
    >>> found.name, sorted(found.parameters)
    ('Heston', ['Feller ratio', 'kappa', 'rho', 'theta', 'xi'])
    >>> round(float(found.parameters["rho"]), 3)
    -0.65
    """
    name, formula = _recognised(generator)
    value = formula(_terms(generator))
    rng = np.random.default_rng(random_state)
    drawn = [formula(_terms(one)) for one in drawn_generators(generator, draws, rng)]
    parameters = {}
    for key, number in value.items():
        low = high = np.nan
        if drawn:
            away = np.square([one[key] - number for one in drawn])
            half = interval_factor(level, len(drawn)) * float(
                np.sqrt(np.median(away) / MEDIAN_SQUARE)
            )
            low, high = number - half, number + half
        parameters[key] = Value(number, low, high, 0.0, level)
    return NamedModel(name, parameters)


def _terms(generator: Generator) -> Terms:
    """Every coefficient of every field, by the names of its field and term."""
    b = linear_fields(generator.basis, generator.drift_coefficients)
    a = tensor_fields(generator.basis, generator.tensor_field)
    names = generator.names
    found: dict[tuple[str, str], float] = {}
    for p, row in enumerate(b.coefficients):
        found |= {(f"b{p + 1}", term): c for term, c in zip(b.terms, row.tolist(), strict=True)}
    pairs = [(q, p) for p in range(len(names)) for q in range(p + 1)]
    for (q, p), row in zip(pairs, a.coefficients, strict=True):
        entry = f"a{q + 1}{p + 1}"
        found |= {(entry, term): c for term, c in zip(a.terms, row.tolist(), strict=True)}
    return found


def _recognised(generator: Generator) -> tuple[str, Formula]:
    written: dict[str, set[str]] = {}
    for found in generator.written():
        written.setdefault(found.target, set()).add(found.term)

    def only(field: str, *terms: str) -> bool:
        return written.get(field, set()) <= set(terms)

    def has(field: str, *terms: str) -> bool:
        return set(terms) <= written.get(field, set())

    names = generator.names
    if generator.dimension == 1:
        (x,) = names
        if only("b1", "1", x) and has("b1", x):
            if only("a11", "1"):
                return "Ornstein-Uhlenbeck (Vasicek)", partial(_vasicek, x=x)
            if only("a11", x):
                return "Cox-Ingersoll-Ross", partial(_cir, drift="b1", entry="a11", v=x)
    if generator.dimension == 2:
        x, v = names
        if only("b2", "1", v) and has("b2", v) and only("a22", v):
            for share in (v, f"{x}**2*{v}"):
                if has("a11", share) and only("a11", share):
                    cross = v if share == v else f"{x}*{v}"
                    return "Heston", partial(_heston, v=v, share=share, cross=cross)
        momentum = only("b1", v) and has("b1", v) and not written.get("a11")
        if momentum and has("b2", v) and only("a22", "1") and not written.get("a12"):
            return "Langevin", partial(_langevin, p=v)
        linear = all(only(f"b{p}", "1", x, v) for p in (1, 2))
        constant = all(only(entry, "1") for entry in ("a11", "a12", "a22"))
        if linear and constant and has("b1", x) and has("b2", v):
            return "Ornstein-Uhlenbeck", partial(_linear, names=names)
    raise ReadoutError(
        "these equations are none of Ornstein-Uhlenbeck, Cox-Ingersoll-Ross, Heston and Langevin; "
        "their coefficients are in .coefficients."
    )


def _vasicek(c: Terms, x: str) -> dict[str, float]:
    kappa = -c["b1", x]
    theta = c.get(("b1", "1"), 0.0) / kappa
    return {"kappa": kappa, "theta": theta, "sigma": _root(c["a11", "1"])}


def _cir(c: Terms, drift: str, entry: str, v: str) -> dict[str, float]:
    kappa, square = -c[drift, v], c[entry, v]
    pull = c.get((drift, "1"), 0.0)
    feller = 2 * pull / square  # at least 1: the boundary is never reached
    return {"kappa": kappa, "theta": pull / kappa, "xi": _root(square), "Feller ratio": feller}


def _heston(c: Terms, v: str, share: str, cross: str) -> dict[str, float]:
    product = max(c["a11", share] * c["a22", v], LEAST_POSITIVE)
    rho = c.get(("a12", cross), 0.0) / float(np.sqrt(product))
    return _cir(c, "b2", "a22", v) | {"rho": rho}


def _langevin(c: Terms, p: str) -> dict[str, float]:
    friction = -c["b2", p]
    return {"friction": friction, "temperature": c["a22", "1"] / (2 * friction)}


def _linear(c: Terms, names: tuple[str, ...]) -> dict[str, float]:
    fields = range(1, len(names) + 1)
    matrix = np.array([[c.get((f"b{p}", name), 0.0) for name in names] for p in fields])
    centre = -np.linalg.solve(matrix, [c.get((f"b{p}", "1"), 0.0) for p in fields])
    parameters = {f"kappa {p + 1}{q + 1}": -float(matrix[p, q]) for p in (0, 1) for q in (0, 1)}
    parameters |= {f"mean {name}": float(m) for name, m in zip(names, centre, strict=True)}
    first, second, shared = c["a11", "1"], c["a22", "1"], c.get(("a12", "1"), 0.0)
    rho = shared / float(np.sqrt(max(first * second, LEAST_POSITIVE)))
    return parameters | {"sigma 1": _root(first), "sigma 2": _root(second), "rho": rho}


def _root(variance: float) -> float:
    return float(np.sqrt(max(variance, 0.0)))
