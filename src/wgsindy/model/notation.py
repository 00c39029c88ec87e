"""How numbers, units, fields and sums of terms are written, wherever people read them.

Files that programs read (models, tables of coefficients) have every digit; these functions are
for equations, tables, reports and figures.

A drift has the unit of its state over time, a tensor entry that of two states over time, and a
coefficient that of its field over that of its term. What is not known is left out: with times in
days and states without units, a rate is in 1/d.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite, isnan, log10
from typing import TYPE_CHECKING

from wgsindy.model import tensor
from wgsindy.terms import Expression, Node

if TYPE_CHECKING:
    from wgsindy.model.generator import Generator

MINUS = "\N{MINUS SIGN}"
NO_NUMBER = "-"  # stands where there is no number
MOST_DECIMALS = 6
MOST_DIGITS = 12


def rounded(value: float, digits: int = 3) -> str:
    """Write a number to some digits, without zeros at its end.

    >>> rounded(0.98765), rounded(2.0), rounded(12345.6)
    ('0.988', '2', '1.23e+04')
    """
    return f"{value:.{digits}g}"


def padded(value: float, digits: int = 4) -> str:
    """Write a number to some digits, with the zeros that say how well it is known.

    >>> padded(0.02, 2), padded(3.0), padded(-125.0, 3)
    ('0.020', '3.000', '-125')
    """
    return f"{value:#.{digits}g}".rstrip(".")


def in_full(value: float) -> str:
    """Write three digits, and numbers of a few thousand in full.

    >>> in_full(0.98765), in_full(10000.0), in_full(2.5e9)
    ('0.988', '10000', '2.5e+09')
    """
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e6 else rounded(value)


def fixed(value: float, decimals: int = 3) -> str:
    """Write a number to some decimals, or a dash where there is none.

    >>> fixed(0.98765), fixed(float("nan"))
    ('0.988', '-')
    """
    return NO_NUMBER if isnan(value) else f"{value:.{decimals}f}"


def percent(share: float, decimals: int = 0) -> str:
    """Write a share, or a dash where there is none.

    >>> percent(0.125, 1), percent(float("nan"))
    ('12.5 %', '-')
    """
    return NO_NUMBER if isnan(share) else f"{fixed(100 * share, decimals)} %"


def probability(value: float) -> str:
    """Write a probability; one that rounding would call certain is more than 0.999.

    >>> probability(0.5), probability(0.99999), probability(0.0)
    ('0.500', '> 0.999', '< 0.001')
    """
    return "> 0.999" if value > 0.999 else "< 0.001" if value < 0.001 else fixed(value)


def with_error(value: float, error: float) -> tuple[str, str]:
    """Write an error to two digits, or one if the rest are zeros, and its value to the same place.

    >>> with_error(0.98664, 0.020416), with_error(1234.5, 61.2), with_error(2e-9, 3e-10)
    (('0.987', '0.020'), ('1234', '61'), ('2.0e-09', '3e-10'))
    >>> with_error(27.0, 0.18), with_error(1.0, 0.0001), with_error(1234567.8, 5.1)
    (('27.00', '0.18'), ('1.0000', '0.0001'), ('1.2345678e+06', '5.1'))
    """
    if not (error > 0 and isfinite(error)):
        return rounded(value, 4), rounded(error, 2)
    round_number = f"{error:.2e}"[1:4] == ".00"
    decimals = (0 if round_number else 1) - floor(log10(float(f"{error:.1e}")))
    if decimals <= MOST_DECIMALS and abs(value) < 10**MOST_DECIMALS:
        return fixed(value, max(0, decimals)), fixed(error, max(0, decimals))
    size = floor(log10(abs(value))) if value else 0
    return f"{value:.{min(max(0, size + decimals), MOST_DIGITS)}e}", rounded(error, 2)


def typographic(text: str) -> str:
    """Give the numbers of a text minus signs instead of hyphens."""
    return text.replace("-", MINUS)


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


def field_names(dimension: int, inputs: int = 0) -> tuple[list[str], list[str]]:
    """Names of the drift components and of the tensor entries: b1, b2, a11, a12, a22.

    Without those of the last ``inputs``, which have no equation.

    >>> field_names(2)
    (['b1', 'b2'], ['a11', 'a12', 'a22'])
    """
    comma = "," if dimension > 9 else ""
    states = dimension - inputs
    drift = [f"b{p + 1}" for p in range(states)]
    return drift, [f"a{q + 1}{comma}{p + 1}" for p, q in tensor.pairs(states)]


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


def join_terms(
    terms: Sequence[tuple[float, str]],
    names: Sequence[str],
    digits: int,
    errors: Sequence[float] | None = None,
) -> str:
    """Write a sum of coefficient and term pairs in states ``names``, with errors if given.

    >>> join_terms([(1.0, "1"), (-0.51234, "x*y")], ("x", "y"), digits=3)
    '1 - 0.512*x*y'
    >>> join_terms([(1.0, "1"), (-0.51234, "x*y")], ("x", "y"), 3, errors=[0.012, 0.3])
    '(1.000 ± 0.012) - (0.5 ± 0.3)*x*y'
    """
    text = ""
    for position, (value, term) in enumerate(terms):
        is_sum = Expression.parse(term, names).root.kind == "+"
        name = f"({term})" if is_sum else term
        number = rounded(abs(value), digits)
        if errors is not None and errors[position] != 0:  # else it is known
            number = "({} ± {})".format(*with_error(abs(value), errors[position]))
        factor = number if name == "1" else name if number == "1" else f"{number}*{name}"
        sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
        text += sign + factor
    return text or "0"


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
