"""Small errors in a module: one at a time, as a program that makes them.

What is changed: comparisons, sums and products, ``and`` and ``or``, ``not``, numbers, True and
False, ``break``. What is not: text, annotations, sentences of errors, assertions (so is the
``strict`` of a zip), which line of the caller a warning names (``stacklevel``), the one in
``reshape(-1)``, where any negative number means the same, and constants of a module, which are
choices (tolerances, sizes of chunks) that goldens and statistics pin, not logic.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SWAPS: dict[type[ast.AST], Any] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip

UNCHANGED = ("strict", "stacklevel")  # arguments


@dataclass(frozen=True)
class Mutant:
    """One error: where it and its statement are, what the line was, the whole module with it."""

    line: int
    statement: int
    before: str
    after: str
    source: str


def count(source: str) -> int:
    """How many mutants a module has."""
    return sum(1 for _ in _sites(ast.parse(source)))


def mutant(source: str, number: int) -> Mutant:
    """Make one of them.

    >>> code = "def f(x):\\n    return x + 1 if x > 0 else -x"
    >>> [mutant(code, k).after for k in range(count(code))]  # doctest: +NORMALIZE_WHITESPACE
    ['return x + 1 if x <= 0 else -x', 'return x + 1 if x > 1 else -x',
     'return x - 1 if x > 0 else -x', 'return x + 2 if x > 0 else -x',
     'return x + 1 if x > 0 else +x']
    """
    tree = ast.parse(source)
    statement, node = next(itertools.islice(_sites(tree), number, None))
    line, before = getattr(node, "lineno", statement.lineno), ast.unparse(statement).splitlines()
    _mutate(node, statement)
    after = ast.unparse(statement).splitlines()
    first = next(k for k in range(len(before)) if before[k] != after[k])
    return Mutant(
        line, statement.lineno, before[first].strip(), after[first].strip(), ast.unparse(tree)
    )


def _sites(tree: ast.Module) -> Iterator[tuple[ast.stmt, ast.AST]]:
    """Yield all nodes that can be changed, each with its statement, always in the same order."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                yield from _of_statement(statement)


def _of_statement(statement: ast.stmt) -> Iterator[tuple[ast.stmt, ast.AST]]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Raise | ast.Assert):
        return  # inner functions are found on their own
    inner = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr) and child is not getattr(statement, "annotation", None):
            yield from ((statement, node) for node in _of_expression(child))
        elif type(child) in SWAPS:  # of += and its like
            yield statement, statement
        elif isinstance(child, ast.match_case | ast.ExceptHandler):
            inner += child.body
    if isinstance(statement, ast.Break):
        yield statement, statement
    for one in inner:
        yield from _of_statement(one)


def _of_expression(expression: ast.expr) -> Iterator[ast.AST]:
    if isinstance(expression, ast.JoinedStr):
        return
    if _can_be_changed(expression):
        yield expression
    for child in ast.iter_child_nodes(expression):
        if _is_left_open(expression, child):
            yield child
        elif isinstance(child, ast.expr):
            yield from _of_expression(child)
        elif isinstance(child, ast.keyword) and child.arg not in UNCHANGED:
            yield from _of_expression(child.value)
        elif isinstance(child, ast.comprehension):
            for part in (child.iter, *child.ifs):
                yield from _of_expression(part)


def _is_left_open(call: ast.expr, argument: ast.AST) -> bool:
    """Whether this is a length that NumPy finds out, as in ``x.reshape(2, -1)``."""
    named = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "reshape"
    return named and isinstance(argument, ast.UnaryOp)


def _can_be_changed(node: ast.expr) -> bool:
    match node:
        case ast.Compare(ops=[first, *_]):
            return type(first) in SWAPS
        case ast.BinOp(op=operator):
            return type(operator) in SWAPS
        case ast.BoolOp() | ast.UnaryOp(op=ast.USub() | ast.Not()):
            return True
        case ast.Constant(value=value):
            return isinstance(value, int | float)
    return False


def _mutate(node: ast.AST, statement: ast.stmt) -> None:
    """Change a node in place."""
    match node:
        case ast.Compare(ops=[first, *_]):
            node.ops[0] = SWAPS[type(first)]()
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator):
            node.op = SWAPS[type(operator)]()
        case ast.BoolOp():
            node.op = SWAPS[type(node.op)]()
        case ast.UnaryOp(op=ast.USub()):
            node.op = ast.UAdd()
        case ast.UnaryOp():
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        case ast.Constant(value=bool() as value):
            node.value = not value
        case ast.Constant(value=int() as value):
            node.value = value + 1
        case ast.Constant(value=float() as value):
            node.value = 2 * value if value else 1.0
        case ast.Break():
            statement.__class__ = ast.Continue
