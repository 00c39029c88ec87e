"""Formulas in the state names: parsed against a whitelist, never evaluated as code.

A formula is a small tree. The same walk over it gives values (NumPy arrays), values with exact
first and second derivatives (:class:`Jet`), a SymPy expression, or its text again.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.errors import LibraryError
from wgsindy.terms.derivatives import FUNCTIONS, Jet

if TYPE_CHECKING:
    import sympy

MAX_LENGTH = 10_000
MAX_DEPTH = 50
MAX_EXPONENT = 100

VALUES: dict[str, Callable[[Any], Any]] = {name: getattr(np, name) for name in FUNCTIONS}


@dataclass(frozen=True)
class Node:
    """One operation of a formula: ``constant``, ``variable``, ``+``, ``*``, ``power``, ..."""

    kind: str
    children: tuple[Node, ...] = ()
    number: float = 0.0
    name: str = ""


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
        if not isinstance(text, str) or len(text) > MAX_LENGTH:
            raise LibraryError(
                f"a term must be a formula of at most {MAX_LENGTH} characters, got {text!r:.80}."
            )
        try:
            # As Python's operator ^ would bind less tightly than +.
            tree = ast.parse(text.strip().replace("^", "**"), mode="eval")
            root = _read(tree.body, text, tuple(names))
        except LibraryError:
            raise
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            raise LibraryError(f"term {text!r:.80} is not a formula: {error}.") from None
        if _depth(root) > MAX_DEPTH:
            raise LibraryError(f"term {text!r:.80} is nested more than {MAX_DEPTH} levels deep.")
        return cls(root, tuple(names))

    @classmethod
    def from_sympy(cls, expression: sympy.Expr, names: Sequence[str]) -> Expression:
        """Convert a SymPy expression; its symbols are matched to ``names`` by name."""
        return cls(_from_sympy(expression, tuple(names)), tuple(names))

    @cached_property
    def text(self) -> str:
        """The formula as text that :meth:`parse` reads back exactly."""
        return _text(self.root)

    @property
    def variables(self) -> frozenset[str]:
        """Names that occur in the formula."""
        return frozenset(_variables(self.root))

    def value(self, states: FloatArray) -> FloatArray:
        """Evaluate at ``states (n, d)``; returns ``(n,)``."""
        columns = dict(zip(self.names, states.T, strict=True))
        result = _value(self.root, columns)
        return np.broadcast_to(np.asarray(result, dtype=np.float64), (len(states),))

    def jet(self, states: FloatArray) -> Jet:
        """Evaluate with exact gradient and Hessian at ``states (n, d)``."""
        n, d = states.shape
        jets = {
            name: Jet(states[:, i], np.tile(np.eye(d)[i], (n, 1)), np.zeros((n, d, d)))
            for i, name in enumerate(self.names)
        }
        return _jet(self.root, jets, n, d)

    def to_sympy(self) -> sympy.Expr:
        """Convert to SymPy, with one real symbol per state name."""
        import sympy

        return _to_sympy(self.root, {name: sympy.Symbol(name, real=True) for name in self.names})


_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}


def _constant(number: float) -> Node:
    if not math.isfinite(float(number)):
        raise OverflowError("it contains a number beyond floating point")
    # Adding zero makes a negative zero a plain one: 1 / -0 would not be what its text says.
    return Node("constant", number=float(number) + 0.0)


def _sum(*terms: Node) -> Node:
    """Add terms; a sum of sums is one sum."""
    flat = [child for term in terms for child in (term.children if term.kind == "+" else [term])]
    return Node("+", tuple(flat))


def _product(*factors: Node) -> Node:
    """Multiply factors; a product of products is one, with its numbers gathered in front."""
    flat = [child for f in factors for child in (f.children if f.kind == "*" else [f])]
    number = math.prod(f.number for f in flat if f.kind == "constant")
    rest = tuple(f for f in flat if f.kind != "constant")
    if not rest:
        return _constant(number)
    if number != 1:
        rest = (_constant(number), *rest)
    return rest[0] if len(rest) == 1 else Node("*", rest)


def _power(base: Node, exponent: float) -> Node:
    if not abs(exponent) <= MAX_EXPONENT:
        raise LibraryError(f"exponents go up to {MAX_EXPONENT}, got {exponent:g}.")
    if base.kind == "constant" and base.number > 0:
        return _constant(base.number**exponent)
    return Node("power", (base,), number=exponent)


def _variables(node: Node) -> Iterator[str]:
    if node.kind == "variable":
        yield node.name
    for child in node.children:
        yield from _variables(child)


def _depth(node: Node) -> int:
    return 1 + max((_depth(child) for child in node.children), default=0)


def _read(node: ast.expr, text: str, names: tuple[str, ...]) -> Node:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as number):
            return _constant(number)
        case ast.Name(id=name):
            if name not in names:
                raise LibraryError(
                    f"term {text!r} uses {name!r}, which is not a state; the states are "
                    f"{list(names)}."
                )
            return Node("variable", name=name)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _product(_constant(-1.0), _read(inner, text, names))
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _read(inner, text, names)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            first, second = _read(left, text, names), _read(right, text, names)
            return _binary(_OPERATORS[type(operator)], first, second, text)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            children = tuple(_read(arg, text, names) for arg in args)
            if (name in FUNCTIONS and len(args) == 1) or (
                name in ("min", "max") and len(args) == 2
            ):
                return Node("function", children, name=name)
            raise LibraryError(
                f"term {text!r} calls {name!r} with {len(args)} arguments; the functions are "
                f"{sorted(FUNCTIONS)} of one argument, min and max of two."
            )
    raise LibraryError(
        f"term {text!r:.80} contains {ast.unparse(node)!r:.40}, which has no place in a formula; "
        "use numbers, state names, + - * / ** and functions."
    )


def _binary(operator: str, left: Node, right: Node, text: str) -> Node:
    match operator:
        case "+":
            return _sum(left, right)
        case "-":
            return _sum(left, _product(_constant(-1.0), right))
        case "*":
            return _product(left, right)
        case "/":
            if left.kind == right.kind == "constant" and right.number != 0:
                return _constant(left.number / right.number)
            return _product(left, _power(right, -1.0))
    if right.kind != "constant":
        raise LibraryError(f"term {text!r:.80} has an exponent that is not a number.")
    return _power(left, right.number)


def _value(node: Node, columns: dict[str, FloatArray]) -> Any:
    match node.kind:
        case "constant":
            return node.number
        case "variable":
            return columns[node.name]
        case "power":
            base = _value(node.children[0], columns)
            return np.power(base, int(node.number) if node.number in (2.0, 3.0) else node.number)
    values = [_value(child, columns) for child in node.children]
    match node.kind:
        case "+":
            return sum(values[1:], values[0])
        case "*":
            result = values[0]
            for factor in values[1:]:
                result = result * factor
            return result
    if node.name in ("min", "max"):
        return (np.minimum if node.name == "min" else np.maximum)(*values)
    return VALUES[node.name](values[0])


def _jet(node: Node, jets: dict[str, Jet], n: int, d: int) -> Jet:
    match node.kind:
        case "constant":
            return Jet(np.full(n, node.number), np.zeros((n, d)), np.zeros((n, d, d)))
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


def _text(node: Node, *, inside: bool = False) -> str:
    """Write a formula; ``inside`` a product or a power, sums need brackets."""
    match node.kind:
        case "constant":
            text = _number_text(node.number)
            return f"({text})" if inside and node.number < 0 else text
        case "variable":
            return node.name
        case "power":
            base = _text(node.children[0], inside=True)
            if node.children[0].kind in ("*", "power"):
                base = f"({base})"
            exponent = _number_text(node.number)
            return f"{base}**({exponent})" if node.number < 0 else f"{base}**{exponent}"
        case "+":
            text = " + ".join(_text(child, inside=True) for child in node.children)
            return f"({text})" if inside else text
        case "*":
            return "*".join(_text(child, inside=True) for child in node.children)
    return f"{node.name}({', '.join(_text(child) for child in node.children)})"


def _number_text(number: float) -> str:
    return repr(int(number) if number.is_integer() and abs(number) < 1e15 else number)


def _to_sympy(node: Node, symbols: dict[str, sympy.Symbol]) -> Any:
    import sympy

    match node.kind:
        case "constant":
            return (
                sympy.Integer(int(node.number))
                if node.number.is_integer()
                else sympy.Float(node.number)
            )
        case "variable":
            return symbols[node.name]
    children = [_to_sympy(child, symbols) for child in node.children]
    match node.kind:
        case "power":
            twice = 2 * node.number
            exact = sympy.Rational(int(twice), 2) if twice.is_integer() else node.number
            return children[0] ** exact
        case "+":
            return sympy.Add(*children)
        case "*":
            return sympy.Mul(*children)
    names = {"abs": "Abs", "min": "Min", "max": "Max"}
    return getattr(sympy, names.get(node.name, node.name))(*children)


def _from_sympy(expression: Any, names: tuple[str, ...]) -> Node:
    import sympy

    if expression.is_Number or expression.is_NumberSymbol:
        return _constant(float(expression))
    if expression.is_Symbol:
        if expression.name not in names:
            raise LibraryError(f"{expression.name!r} is not a state; the states are {list(names)}.")
        return Node("variable", name=expression.name)
    if isinstance(expression, sympy.Pow) and expression.exp.is_Number:
        base = _from_sympy(expression.base, names)
        if expression.exp == sympy.Rational(1, 2):
            return Node("function", (base,), name="sqrt")
        return _power(base, float(expression.exp))
    children = tuple(_from_sympy(arg, names) for arg in expression.args)
    if isinstance(expression, sympy.Add | sympy.Mul):
        return (_sum if isinstance(expression, sympy.Add) else _product)(*children)
    name = {"Abs": "abs", "Min": "min", "Max": "max"}.get(
        type(expression).__name__, type(expression).__name__
    )
    if name in ("min", "max"):  # SymPy's take any number of arguments
        return reduce(lambda left, right: Node("function", (left, right), name=name), children)
    if name in FUNCTIONS:
        return Node("function", children, name=name)
    raise LibraryError(f"{expression} cannot be written with the functions {sorted(FUNCTIONS)}.")
