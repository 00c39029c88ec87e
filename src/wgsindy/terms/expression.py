"""Formulas in the state names.

A formula is a small tree. Walks over it give values (NumPy arrays), values with exact first and
second derivatives (:class:`Jet`), its text, its degree, or the powers of a monomial.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from wgsindy.data import FloatArray, IntArray
from wgsindy.terms.derivatives import FUNCTIONS, Jet
from wgsindy.terms.parsing import (
    LARGEST_WHOLE,
    Node,
    constant,
    evaluated,
    from_sympy,
    parse,
    product_of,
    sum_of,
    to_sympy,
)

if TYPE_CHECKING:
    import sympy


def _number_text(number: float) -> str:
    return repr(int(number) if number.is_integer() and abs(number) < LARGEST_WHOLE else number)


@dataclass(frozen=True)
class Notation:
    """How a language writes what differs between languages; by default as :class:`Expression`."""

    names: Mapping[str, str] = field(default_factory=dict)  # of states and functions, if others
    number: Callable[[float], str] = _number_text
    power: str = "{base}**{exponent}"

    def called(self, name: str) -> str:
        """Return the name of a state or of a function."""
        return self.names.get(name, name)


FORMULA = Notation()


@dataclass(frozen=True)
class Expression:
    """A formula in the state names.

    Examples
    --------
    >>> f = Expression.parse("x*y**2 - sin(x)", ("x", "y"))
    >>> f.value(np.array([[0.0, 1.0], [2.0, 3.0]])).round(3).tolist()
    [0.0, 17.091]
    >>> f.jet(np.array([[2.0, 3.0]])).gradient.round(3).tolist()
    [[9.416, 12.0]]
    """

    root: Node
    names: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, names: Sequence[str]) -> Expression:
        """Read a formula; ``^`` is accepted for ``**``.

        Raises
        ------
        LibraryError
            If the text is not a formula of the whitelisted functions and the given names.
        """
        return cls(parse(text, tuple(names)), tuple(names))

    @classmethod
    def from_sympy(cls, expression: sympy.Expr, names: Sequence[str]) -> Expression:
        """Convert a SymPy expression; its symbols are matched to ``names`` by name."""
        return cls(from_sympy(expression, tuple(names)), tuple(names))

    @cached_property
    def text(self) -> str:
        """The formula as text that :meth:`parse` reads back exactly."""
        return _text(self.root)

    def written(self, notation: Notation) -> str:
        """Write the formula in another language.

        >>> c = Notation(names={"abs": "fabs"}, power="pow({base}, {exponent})")
        >>> Expression.parse("abs(x) - 2*x**3", ("x",)).written(c)
        'fabs(x) - 2*pow(x, 3)'
        """
        return _text(self.root, notation)

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names that occur in the formula."""
        return frozenset(_variables(self.root))

    @cached_property
    def degree(self) -> float:
        """How complicated the formula is: the degree of a monomial, and its like elsewhere."""
        return _degree(self.root)

    @cached_property
    def powers(self) -> tuple[int, ...] | None:
        """Powers of the states if the formula is a bare monomial, else None."""
        return _powers(self.root, self.names)

    def value(self, states: FloatArray) -> FloatArray:
        """Evaluate at ``states (n, d)``; returns ``(n,)``."""
        columns = dict(zip(self.names, states.T, strict=True))
        result = evaluated(self.root, columns)
        return np.broadcast_to(np.asarray(result, dtype=np.float64), (len(states),))

    def jet(self, states: FloatArray) -> Jet:
        """Evaluate with exact gradient and Hessian at ``states (n, d)``."""
        n, d = states.shape
        own, jet = self.own_jet(states)
        if len(own) == d:
            return jet
        gradient, hessian = np.zeros((d, n)).T, np.zeros((d, d, n)).transpose(2, 0, 1)
        gradient[:, own] = jet.gradient
        hessian[:, own[:, None], own] = jet.hessian
        return Jet(jet.value, gradient, hessian)

    def own_jet(self, states: FloatArray) -> tuple[IntArray, Jet]:
        """Return the coordinates that occur, and the jet along these: the others are zero."""
        own = np.flatnonzero([name in self.variables for name in self.names])
        n, d = len(states), len(own)
        # Samples of one derivative are neighbours in memory, and stay so in all that is computed
        # from these: many times faster than a step of d numbers from one to the next.
        slopes, flat = np.repeat(np.eye(d), n, axis=1).reshape(d, d, n), np.zeros((d, d, n))
        jets = {
            self.names[i]: Jet(states[:, i], slopes[row].T, flat.transpose(2, 0, 1))
            for row, i in enumerate(own)
        }
        return own, _jet(self.root, jets, n, d)

    def about(self, origin: FloatArray) -> Expression:
        """Put ``x - origin`` in place of each state; where ``origin (d,)`` is 0, ``x`` stays.

        >>> Expression.parse("x**2*sin(y)", ("x", "y")).about(np.array([0.0, 300.0])).text
        'x**2*sin(y - 300)'
        """
        moved = {
            name: sum_of(Node("variable", name=name), constant(-place))
            for name, place in zip(self.names, origin.tolist(), strict=True)
            if place
        }
        return Expression(_replaced(self.root, moved), self.names)

    def summands(self) -> list[tuple[float, Expression]]:
        """Split a sum into coefficients and terms; products are not multiplied out.

        >>> [(c, f.text) for c, f in Expression.parse("3 - 2*x*y", ("x", "y")).summands()]
        [(3.0, '1'), (-2.0, 'x*y')]
        """
        parts = self.root.children if self.root.kind == "+" else (self.root,)
        split = [_split_coefficient(part) for part in parts]
        return [(number, Expression(term, self.names)) for number, term in split if number != 0]

    def to_sympy(self) -> sympy.Expr:
        """Convert to SymPy, with one real symbol per state name."""
        import sympy

        return to_sympy(self.root, {name: sympy.Symbol(name, real=True) for name in self.names})


def _split_coefficient(node: Node) -> tuple[float, Node]:
    if node.kind == "constant":
        return node.number, constant(1.0)
    if node.kind == "*" and node.children[0].kind == "constant":
        return node.children[0].number, product_of(*node.children[1:])
    return 1.0, node


def _variables(node: Node) -> Iterator[str]:
    if node.kind == "variable":
        yield node.name
    for child in node.children:
        yield from _variables(child)


def _replaced(node: Node, variables: dict[str, Node]) -> Node:
    if node.kind == "variable":
        return variables.get(node.name, node)
    return replace(node, children=tuple(_replaced(child, variables) for child in node.children))


def _jet(node: Node, jets: dict[str, Jet], n: int, d: int) -> Jet:
    match node.kind:
        case "constant":
            flat = np.zeros((d, d, n)).transpose(2, 0, 1)
            return Jet(np.full(n, node.number), np.zeros((d, n)).T, flat)
        case "variable":
            return jets[node.name]
    children = [_jet(child, jets, n, d) for child in node.children]
    first = children[0]
    match node.kind:
        case "power":
            return first.power(node.number)
        case "+":
            for child in children[1:]:
                first = first + child
            return first
        case "*":
            for child in children[1:]:
                first = first * child
            return first
    if node.name in ("min", "max"):
        less = first.value <= children[1].value
        return first.where(less if node.name == "min" else ~less, children[1])
    return first.chain(*FUNCTIONS[node.name](first.value))


def _text(node: Node, notation: Notation = FORMULA, *, inside: bool = False) -> str:
    """Write a formula; ``inside`` a product or a power, sums need brackets."""
    match node.kind:
        case "constant":
            text = notation.number(node.number)
            return f"({text})" if inside and node.number < 0 else text
        case "variable":
            return notation.called(node.name)
        case "power":
            base = _text(node.children[0], notation, inside=True)
            if node.children[0].kind in ("*", "power"):
                base = f"({base})"
            exponent = _number_text(node.number)
            exponent = f"({exponent})" if node.number < 0 else exponent
            return notation.power.format(base=base, exponent=exponent)
        case "+":
            first, *others = node.children
            text = _text(first, notation, inside=True)
            text += "".join(_added(other, notation) for other in others)
            return f"({text})" if inside else text
        case "*":
            return "*".join(_text(child, notation, inside=True) for child in node.children)
    arguments = ", ".join(_text(child, notation) for child in node.children)
    return f"{notation.called(node.name)}({arguments})"


def _added(node: Node, notation: Notation) -> str:
    """Write a term after others; what begins with a negative number is subtracted."""
    number = node.children[0] if node.kind == "*" else node
    if number.kind == "constant" and number.number < 0:
        return f" - {_text(product_of(constant(-1.0), node), notation, inside=True)}"
    return f" + {_text(node, notation, inside=True)}"


def _degree(node: Node) -> float:
    """Degree of a formula: of a product the sum, of a sum the largest, of a function at least 1."""
    inner = [_degree(child) for child in node.children]
    match node.kind:
        case "constant":
            return 0.0
        case "variable":
            return 1.0
        case "power":
            return abs(node.number) * inner[0]
        case "*":
            return sum(inner)
        case "+":
            return max(inner)
    return inner[0] / 2 if node.name == "sqrt" else max(1.0, *inner)


def _powers(node: Node, names: tuple[str, ...]) -> tuple[int, ...] | None:
    """Return the powers if the formula is a bare monomial, else None."""
    match node.kind:
        case "constant":
            return (0,) * len(names) if node.number == 1 else None
        case "variable":
            return tuple(int(name == node.name) for name in names)
        case "power":
            inner = _powers(node.children[0], names)
            if inner is None or node.number < 0 or not node.number.is_integer():
                return None
            return tuple(int(node.number) * power for power in inner)
        case "*":
            rows = [_powers(child, names) for child in node.children]
            if any(row is None for row in rows):
                return None
            return tuple(int(total) for total in np.sum(np.array(rows, dtype=np.int64), axis=0))
    return None
