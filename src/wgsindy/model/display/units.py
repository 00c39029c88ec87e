"""Units of fields and coefficients, and fields called by the names of the states.

A drift has the unit of its state over time, a tensor entry that of two states over time, and a
coefficient that of its field over that of its term. What is not known is left out: with times in
days and states without units, a rate is in 1/d.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isnan
from typing import TYPE_CHECKING

from wgsindy.model import tensor
from wgsindy.model.formulas import field_names, join_terms
from wgsindy.terms import Expression, Node

if TYPE_CHECKING:
    from wgsindy.model.generator import Generator

UNKNOWN = "time"  # stands for its unit
FIELD = re.compile(r"\b([ab])(\d+)(?:,(\d+))?\b")
Powers = dict[str, Fraction]


@dataclass(frozen=True)
class Units:
    """Units of time and of the states ``names``, empty where they are not known."""

    names: tuple[str, ...]
    time: str = ""
    states: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.time or any(self.states))

    def field(self, target: str) -> str:
        """Return the unit of a field by its name, ``b1`` or ``a12``.

        >>> Units(("x", "y"), "d", ("um", "")).field("b1"), Units(("x",), "d", ("um",)).field("a11")
        ('um/d', 'um^2/d')
        """
        return _written(self._powers(target))

    def title(self, target: str) -> str:
        """Call a field by the names of its states, with its unit: a[x, y] (um K/s)."""
        return with_unit(named_fields(target, self.names), self.field(target))

    def labels(self, shown: Sequence[str] = ()) -> list[str]:
        """Write the names of the states, or what is ``shown`` in their place, with their units."""
        units = self.states or ("",) * len(self.names)
        return [*map(with_unit, shown or self.names, units)]

    def rotation(self, p: int, q: int) -> str:
        """Return the unit of a curl, if both states have the same."""
        return f"1/{self.time}" if self.time and self._state(p) == self._state(q) else ""

    def coefficient(self, target: str, term: str) -> str:
        """Return the unit of the coefficient of ``term`` in a field.

        >>> Units(("x", "y"), "s", ("um", "um")).coefficient("b1", "x**2*y")
        '1/(um^2 s)'
        """
        powers = self._powers(target)
        for name, power in _exponents(Expression.parse(term, self.names).root).items():
            for unit, own in self._state(self.names.index(name)).items():
                powers[unit] = powers.get(unit, Fraction(0)) - power * own
        return _written(powers)

    def _state(self, p: int) -> Powers:
        """Powers of the unit of a state; that of a velocity is one over another."""
        unit = self.states[p] if self.states else ""
        above, over, below = unit.partition("/")
        if over and above and below and below == self.time:
            return {above: Fraction(1), below: Fraction(-1)}
        return {unit: Fraction(1)} if unit else {}

    def _powers(self, target: str) -> Powers:
        drift, entries = field_names(len(self.names))
        if target in drift:
            own: tuple[int, ...] = (drift.index(target),)
        else:
            own = tensor.pairs(len(self.names))[entries.index(target)]
        powers: Powers = {self.time or UNKNOWN: Fraction(-1)} if self.known else {}
        for one in map(self._state, own):
            for unit, power in one.items():
                powers[unit] = powers.get(unit, Fraction(0)) + power
        return powers

    def sentence(self) -> str:
        """Say the unit of each drift and of each variance, and how a is related to D.

        >>> Units(("x",), "s", ("um",)).sentence()
        'Units: b[x] in um/s, a[x, x] in um^2/s. The diffusion coefficient D is a / 2.'
        """
        if not self.known:
            return "The diffusion coefficient D is a / 2."
        d = len(self.names)
        drift, entries = field_names(d)
        own = [*drift, *(entries[tensor.entry_number(p, p)] for p in range(d))]
        units = ", ".join(f"{named_fields(t, self.names)} in {self.field(t)}" for t in own)
        return f"Units: {units}. The diffusion coefficient D is a / 2."


def with_unit(label: str, unit: str) -> str:
    """Label an axis or a line of a table.

    >>> with_unit("time", "s"), with_unit("time", "")
    ('time (s)', 'time')
    """
    return f"{label} ({unit})" if unit else label


def _exponents(node: Node) -> Powers:
    """Powers of the states in a product; sines and logarithms have none."""
    match node.kind:
        case "variable":
            return {node.name: Fraction(1)}
        case "power":
            return _raised(node.children[0], Fraction(node.number))
        case "*":
            powers: Powers = {}
            for factor in node.children:
                for name, power in _exponents(factor).items():
                    powers[name] = powers.get(name, Fraction(0)) + power
            return powers
        case "+":  # x - 500000
            return _exponents(node.children[0])
    return _raised(node.children[0], Fraction(1, 2)) if node.name == "sqrt" else {}


def _raised(base: Node, exponent: Fraction) -> Powers:
    return {name: power * exponent for name, power in _exponents(base).items()}


def _written(powers: Powers) -> str:
    above = [_power(unit, p) for unit, p in powers.items() if p > 0]
    below = [_power(unit, -p) for unit, p in reversed(powers.items()) if p < 0]
    if not below:
        return " ".join(above)
    under = below[0] if len(below) == 1 else f"({' '.join(below)})"
    return f"{' '.join(above) or '1'}/{under}"


def _power(unit: str, power: Fraction) -> str:
    whole = f"({unit})" if power != 1 and re.search(r"[/ *^]", unit) else unit
    exponent = f"{power}" if power.denominator == 1 else f"({power})"
    return whole if power == 1 else f"{whole}^{exponent}"


def named_fields(text: str, names: Sequence[str], tensor_letter: str = "a") -> str:
    """Call fields by the names of the states, wherever a text has them.

    >>> named_fields("a12 = 0; b2 is not identified", ["Close", "VIX"])
    'a[Close, VIX] = 0; b[VIX] is not identified'
    """
    if any(FIELD.fullmatch(name) for name in names):
        return text  # a state of that name would be taken for a field
    drift, entries = field_names(len(names))
    called = dict(zip(drift, (f"b[{name}]" for name in names), strict=True))
    for entry, (p, q) in zip(entries, tensor.pairs(len(names)), strict=True):
        called[entry] = f"{tensor_letter}[{names[q]}, {names[p]}]"
    return FIELD.sub(lambda match: called.get(match.group(0), match.group(0)), text)


def named_equations(generator: Generator, diffusion: str = "a") -> list[str]:
    """Write each field by its name, with error bars and its unit; ``"D"`` is half of the tensor."""
    names, units, shown = generator.names, generator.units, generator.written()
    drift, entries = field_names(len(names), len(generator.inputs))
    lines = []
    for target in (*drift, *entries):
        scale = 0.5 if target in entries and diffusion == "D" else 1.0
        own = [found for found in shown if found.target == target]
        bars = [scale * found.std_error for found in own]
        known = bool(own) and not any(isnan(bar) for bar in bars)
        text = join_terms(
            [(scale * f.value, f.term) for f in own], names, 3, bars if known else None
        )
        unit = f"   [{units.field(target)}]" if units.known else ""
        lines.append(f"{named_fields(target, names, diffusion)} = {text}{unit}")
    return lines
