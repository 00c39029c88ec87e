"""Tensors of SymPy expressions, for experiments that make their own systems."""

from __future__ import annotations

from typing import Any

import sympy

Drift = tuple[Any, ...]
Tensor = tuple[tuple[Any, ...], ...]


def diagonal(*entries: Any) -> Tensor:
    """Return a diagonal tensor."""
    return tuple(
        tuple(entry if p == q else sympy.Integer(0) for q in range(len(entries)))
        for p, entry in enumerate(entries)
    )


def correlated(first: Any, second: Any, cross: Any) -> Tensor:
    """Return a symmetric 2 x 2 tensor."""
    return ((first, cross), (cross, second))
