"""Numbers inside of a fit and of its diagnosis; most of them no sentence shows if all is well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.diagnostics import Measurements, verdict
from wgsindy.estimate import Fit
from wgsindy.estimator import WGSINDy

# Modules whose sums are kept with what follows from them, and names under which they are stored.
RESIDUALS = {f"wgsindy.diagnostics.{name}" for name in ("residuals", "groups", "past_scores")}
STORED_AS = {"groups": "probes", "past": "echoes", "past_scores": "listener"}
SMALL = 12  # numbers of an array that is kept as it is
DEEPEST = 4


def inner_numbers(estimator: WGSINDy) -> dict[str, Any]:
    """What the estimator hands over to the diagnostics, and what these measure; they are made."""
    kept: list[Measurements] = []

    def measurements(fit: Fit) -> Measurements:
        kept.append(Measurements(fit))
        return kept[-1]

    with patch.object(verdict, "Measurements", measurements):
        assert estimator.diagnostics_ is not None
    assert len(kept[-1].expected_shape) == 2  # which is asked for only if tails are odd
    fit, measured = estimator.fit_, vars(kept[-1])
    asked = {
        STORED_AS.get(name, name): value
        for name, value in measured.items()
        if name[0] != "_" and name != "fit"
    }
    handed = {"form": fit.form, "orders": fit.orders, "likelihood": fit.likelihood}
    with np.errstate(all="ignore"):
        return {name: _plain(value, DEEPEST) for name, value in (asked | handed).items()}


def _plain(value: Any, depth: int) -> Any:
    """Numbers and text as they are, arrays by a few numbers, what is made of them part by part."""
    if isinstance(value, str | bool | int | float | None):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return _few(np.asarray(value, dtype=np.float64)) if value.dtype.kind in "biuf" else None
    if isinstance(value, Mapping):
        parts: Any = value.items()
    elif hasattr(value, "_asdict"):
        parts = value._asdict().items()
    elif isinstance(value, list | tuple):
        parts = ((str(place), inner) for place, inner in enumerate(value))
    elif is_dataclass(value):
        parts = ((STORED_AS.get(name, name), getattr(value, name)) for name in _names(type(value)))
    else:
        return None
    return {name: _plain(inner, depth - 1) for name, inner in parts} if depth else None


def _names(kind: type) -> list[str]:
    """Fields of a class and, of those that only hold sums, what follows from them."""
    follow = kind.__module__ in RESIDUALS
    properties = [name for name, one in vars(kind).items() if follow and isinstance(one, property)]
    return [*(field.name for field in fields(kind)), *properties]


def _few(values: FloatArray) -> FloatArray:
    """An array if it is small, or else its largest number and a sum that depends on each."""
    if values.size <= SMALL:
        return values
    flat = np.nan_to_num(values.ravel(), posinf=0.0, neginf=0.0)
    return np.array([np.abs(flat).max(), flat @ np.cos(np.arange(flat.size)) / np.sqrt(flat.size)])
