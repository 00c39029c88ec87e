"""Formulas as trees: how a tree is made, read from text or SymPy, and evaluated.

Text is read against a whitelist, never run as code. SymPy is imported only where a formula goes to
it or comes from it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.errors import LibraryError
from wgsindy.terms.derivatives import FUNCTIONS

if TYPE_CHECKING:
    import sympy

# Limits of what is read, far beyond formulas of people: a hostile one takes a millisecond.
MAX_LENGTH, MAX_DEPTH = 10_000, 50  # letters, levels of brackets
MAX_EXPONENT = 100  # of powers of powers together: 10**100 is finite, and so are its neighbours
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


def sum_of(*terms: Node) -> Node:
    """Add terms; a sum of sums is one sum, and that of no terms is zero."""
    flat = [child for term in terms for child in (term.children if term.kind == "+" else [term])]
    if len(flat) < 2:
        return flat[0] if flat else constant(0.0)
    return Node("+", tuple(flat))


def product_of(*factors: Node) -> Node:
    """Multiply factors; a product of products is one, with its numbers gathered in front."""
    flat = [child for f in factors for child in (f.children if f.kind == "*" else [f])]
    number = math.prod(f.number for f in flat if f.kind == "constant")
    rest = tuple(f for f in flat if f.kind != "constant")
    if not rest:
        return constant(number)
    if number != 1:
        rest = (constant(number), *rest)
    return rest[0] if len(rest) == 1 else Node("*", rest)


def power_of(base: Node, exponent: float) -> Node:
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
    _refuse_numbers_beyond(root, text)
    return root


def _refuse_numbers_beyond(node: Node, text: str) -> bool:
    """Refuse what has no state in it and no finite value; return whether the node is such a number.

    SymPy keeps whole numbers exactly, and would write ``(10**300)**100`` out, digit by digit.
    """
    numbers = [_refuse_numbers_beyond(child, text) for child in node.children]
    if node.kind == "variable" or not all(numbers):
        return False
    with np.errstate(all="ignore"):
        value = float(evaluated(node, {}))
    if not math.isfinite(value):
        raise LibraryError(
            f"term {text!r:.80} contains a number that is no finite one, {value}; use numbers up "
            "to 1e308 in size, also between the steps of a calculation."
        )
    return True


def evaluated(node: Node, columns: Mapping[str, FloatArray]) -> Any:
    """Return the value of a tree, ``(n,)``, for ``columns`` of the states; a number has none."""
    match node.kind:
        case "constant":
            return node.number
        case "variable":
            return columns[node.name]
    values = [evaluated(child, columns) for child in node.children]
    match node.kind:
        case "power":
            whole = node.number in (2.0, 3.0)
            return np.power(values[0], int(node.number) if whole else node.number)
        case "+":
            return sum(values[1:], values[0])
        case "*":
            return reduce(np.multiply, values)
    return getattr(np, {"min": "minimum", "max": "maximum"}.get(node.name, node.name))(*values)


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
            return product_of(constant(-1.0), _read(inner, text, names))
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
            return sum_of(left, right)
        case "-":
            return sum_of(left, product_of(constant(-1.0), right))
        case "*":
            return product_of(left, right)
        case "/":
            if left.kind == right.kind == "constant" and right.number != 0:
                return constant(left.number / right.number)
            return product_of(left, power_of(right, -1.0))
    if right.kind != "constant":
        raise LibraryError(f"term {text!r:.80} has an exponent that is not a number.")
    return power_of(left, right.number)


def to_sympy(node: Node, symbols: dict[str, sympy.Symbol]) -> Any:
    """Return a tree as a SymPy expression in ``symbols``, one for each state name."""
    import sympy

    match node.kind:
        case "constant":
            # As in the text of a formula; of larger ones SymPy would keep hundreds of digits.
            whole = node.number.is_integer() and abs(node.number) < LARGEST_WHOLE
            return sympy.Integer(int(node.number)) if whole else sympy.Float(node.number)
        case "variable":
            return symbols[node.name]
    children = [to_sympy(child, symbols) for child in node.children]
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


def from_sympy(expression: Any, names: tuple[str, ...]) -> Node:
    """Return a SymPy expression as a tree; its symbols are matched to ``names`` by name.

    Raises
    ------
    LibraryError
        If there is a symbol or a function in it that no formula has.
    """
    import sympy

    if expression.is_Number or expression.is_NumberSymbol:
        return constant(float(expression))
    if isinstance(expression, sympy.UnevaluatedExpr):  # of x - 500000, SymPy has the number first
        parts = [from_sympy(part, names) for part in sympy.Add.make_args(expression.args[0])]
        return sum_of(*sorted(parts, key=lambda part: part.kind == "constant"))
    if expression.is_Symbol:
        if expression.name not in names:
            raise LibraryError(f"{expression.name!r} is not a state; the states are {list(names)}.")
        return Node("variable", name=expression.name)
    if isinstance(expression, sympy.Pow) and expression.exp.is_Number:
        base = from_sympy(expression.base, names)
        if expression.exp == sympy.Rational(1, 2):
            return Node("function", (base,), name="sqrt")
        return power_of(base, float(expression.exp))
    children = tuple(from_sympy(arg, names) for arg in expression.args)
    if isinstance(expression, sympy.Add | sympy.Mul):
        return (sum_of if isinstance(expression, sympy.Add) else product_of)(*children)
    name = {"Abs": "abs", "Min": "min", "Max": "max"}.get(
        type(expression).__name__, type(expression).__name__
    )
    if name in ("min", "max"):  # SymPy's take any number of arguments
        return reduce(lambda left, right: Node("function", (left, right), name=name), children)
    if name in FUNCTIONS:
        return Node("function", children, name=name)
    raise LibraryError(f"{expression} cannot be written with the functions {sorted(FUNCTIONS)}.")
