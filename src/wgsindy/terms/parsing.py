"""Formulas as trees, and how a tree is read from text: against a whitelist, never run as code."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.errors import LibraryError
from wgsindy.terms.derivatives import FUNCTIONS

MAX_LENGTH = 10_000
MAX_DEPTH = 50
MAX_EXPONENT = 100
LARGEST_WHOLE = 1e15  # beyond, not every whole number is a float

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}


@dataclass(frozen=True)
class Node:
    """One operation of a formula."""

    kind: str  # constant, variable, +, *, power or function
    children: tuple[Node, ...] = ()  # what it is applied to
    number: float = 0.0  # of a constant its value, of a power its exponent
    name: str = ""  # of a variable or a function


def constant(number: float) -> Node:
    """Return a number; one that is not finite raises OverflowError."""
    if not math.isfinite(float(number)):
        raise OverflowError("it contains a number beyond floating point")
    # Adding zero makes a negative zero a plain one: 1 / -0 would not be what its text says.
    return Node("constant", number=float(number) + 0.0)


def add(*terms: Node) -> Node:
    """Add terms; a sum of sums is one sum."""
    flat = [child for term in terms for child in (term.children if term.kind == "+" else [term])]
    return Node("+", tuple(flat))


def multiply(*factors: Node) -> Node:
    """Multiply factors; a product of products is one, with its numbers gathered in front."""
    flat = [child for f in factors for child in (f.children if f.kind == "*" else [f])]
    number = math.prod(f.number for f in flat if f.kind == "constant")
    rest = tuple(f for f in flat if f.kind != "constant")
    if not rest:
        return constant(number)
    if number != 1:
        rest = (constant(number), *rest)
    return rest[0] if len(rest) == 1 else Node("*", rest)


def power(base: Node, exponent: float) -> Node:
    """Raise to a constant power; a power of a positive number is a number.

    Powers of powers count together: SymPy would write ``((2*x)**100)**100`` out.
    """
    total = abs(exponent) * _largest_power(base)
    if not total <= MAX_EXPONENT:
        raise LibraryError(
            f"exponents go up to {MAX_EXPONENT}, powers of powers together, got {total:g}."
        )
    if base.kind == "constant" and base.number > 0:
        return constant(base.number**exponent)
    return Node("power", (base,), number=exponent)


def _largest_power(node: Node) -> float:
    """Largest product of exponents on the way from the top of a formula to one of its leaves."""
    inner = max((_largest_power(child) for child in node.children), default=1.0)
    return inner * max(abs(node.number), 1.0) if node.kind == "power" else inner


def parse(text: str, names: tuple[str, ...]) -> Node:
    """Read a formula in ``names``; ``^`` is accepted for ``**``.

    Raises
    ------
    LibraryError
        If the text is not a formula of the whitelisted functions and the given names.
    """
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        raise LibraryError(
            f"a term must be a formula of at most {MAX_LENGTH} characters, got {text!r:.80}."
        )
    return _parsed(text, names)


@lru_cache(maxsize=1024)  # libraries that are compared share most of their terms
def _parsed(text: str, names: tuple[str, ...]) -> Node:
    try:
        # Python's own operator ^ binds less tightly than +, and x*y^2 would become (x*y)**2.
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval")
        root = _read(tree.body, text, names)
    except LibraryError:
        raise
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise LibraryError(f"term {text!r:.80} is not a formula: {error}.") from None
    if _depth(root) > MAX_DEPTH:
        raise LibraryError(f"term {text!r:.80} is nested more than {MAX_DEPTH} levels deep.")
    _number_of(root, text)
    return root


def _number_of(node: Node, text: str) -> float | None:
    """Return the value of what has no state in it, else None; refuse a value that is not finite.

    SymPy keeps whole numbers exactly, and would write ``(10**300)**100`` out, digit by digit.
    """
    numbers = [_number_of(child, text) for child in node.children]
    if node.kind == "variable" or any(number is None for number in numbers):
        return None
    with np.errstate(all="ignore"):
        value = _applied(node, np.array(numbers, dtype=np.float64))
    if not math.isfinite(value):
        raise LibraryError(
            f"term {text!r:.80} contains a number that is no finite one, {value}; use numbers up "
            "to 1e308 in size, also between the steps of a calculation."
        )
    return value


def _applied(node: Node, numbers: FloatArray) -> float:
    match node.kind:
        case "constant":
            return node.number
        case "power":
            return float(numbers[0] ** node.number)
        case "+":
            return float(numbers.sum())
        case "*":
            return float(numbers.prod())
    named = {"min": "minimum", "max": "maximum"}.get(node.name, node.name)
    return float(getattr(np, named)(*numbers))


def _depth(node: Node) -> int:
    return 1 + max((_depth(child) for child in node.children), default=0)


def _read(node: ast.expr, text: str, names: tuple[str, ...]) -> Node:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as number):
            return constant(number)
        case ast.Name(id=name):
            if name not in names:
                raise LibraryError(
                    f"term {text!r} uses {name!r}, which is not a state; the states are "
                    f"{list(names)}."
                )
            return Node("variable", name=name)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return multiply(constant(-1.0), _read(inner, text, names))
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
            return add(left, right)
        case "-":
            return add(left, multiply(constant(-1.0), right))
        case "*":
            return multiply(left, right)
        case "/":
            if left.kind == right.kind == "constant" and right.number != 0:
                return constant(left.number / right.number)
            return multiply(left, power(right, -1.0))
    if right.kind != "constant":
        raise LibraryError(f"term {text!r:.80} has an exponent that is not a number.")
    return power(left, right.number)
