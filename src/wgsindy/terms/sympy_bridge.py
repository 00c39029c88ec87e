"""Formulas to and from SymPy, which is imported only when one of these is called."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from wgsindy.errors import LibraryError
from wgsindy.terms.derivatives import FUNCTIONS
from wgsindy.terms.parsing import LARGEST_WHOLE, Node, add, constant, multiply, power

if TYPE_CHECKING:
    import sympy


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
        return add(*sorted(parts, key=lambda part: part.kind == "constant"))
    if expression.is_Symbol:
        if expression.name not in names:
            raise LibraryError(f"{expression.name!r} is not a state; the states are {list(names)}.")
        return Node("variable", name=expression.name)
    if isinstance(expression, sympy.Pow) and expression.exp.is_Number:
        base = from_sympy(expression.base, names)
        if expression.exp == sympy.Rational(1, 2):
            return Node("function", (base,), name="sqrt")
        return power(base, float(expression.exp))
    children = tuple(from_sympy(arg, names) for arg in expression.args)
    if isinstance(expression, sympy.Add | sympy.Mul):
        return (add if isinstance(expression, sympy.Add) else multiply)(*children)
    name = {"Abs": "abs", "Min": "min", "Max": "max"}.get(
        type(expression).__name__, type(expression).__name__
    )
    if name in ("min", "max"):  # SymPy's take any number of arguments
        return reduce(lambda left, right: Node("function", (left, right), name=name), children)
    if name in FUNCTIONS:
        return Node("function", children, name=name)
    raise LibraryError(f"{expression} cannot be written with the functions {sorted(FUNCTIONS)}.")
