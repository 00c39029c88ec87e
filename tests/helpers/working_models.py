"""Working models of given formulas, in a frame and in units that are not one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from wgsindy.data import FloatArray, Frame
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.transition import DataRange, Transition
from wgsindy.model import tensor
from wgsindy.terms import library

Formula = dict[str, float]
Terms = str | Sequence[str]
FAR = 100.0  # further out than any state of these tests


def names_of(d: int) -> tuple[str, ...]:
    return ("x", "y", "z")[:d]


def model_of(
    drift: Sequence[Formula],
    entries: Sequence[Formula],
    *,
    terms: Terms = "poly2",
    is_chain: bool = False,
    noise: FloatArray | None = None,
    low: float = -FAR,
    high: float = FAR,
    longest_step: float = 0.1,
) -> Process:
    """A working model of physical formulas; ``noise (E,)`` is that of the sensor, physical too.

    All of the noise is taken for estimated where there is any. See :func:`asked` for the place.
    """
    d = len(drift)
    physical = library(terms).bind(names_of(d))
    frame = Frame(np.linspace(0.2, 0.5, d), np.linspace(0.7, 1.6, d))
    basis = physical.in_frame(frame) if physical.is_closed else physical
    units = np.linspace(0.5, 1.3, d)

    def coefficients(rows: Sequence[Formula]) -> FloatArray:
        assert all(term in physical.terms for row in rows for term in row)
        table = np.array([[row.get(term, 0.0) for term in physical.terms] for row in rows])
        return table @ basis.from_physical

    products = units_of_entries(units)
    sensor = np.zeros(len(products)) if noise is None else noise
    return Process(
        basis=basis,
        units=units,
        drift=coefficients(drift) / units[:, None],
        entries=coefficients(entries) / products[:, None],
        variance_floor=np.zeros(d),
        extra_variance=np.linspace(0.01, 0.02, d),
        floor_forced=np.zeros(d, dtype=bool),
        noiseless_level=np.zeros(d),
        observation_noise=sensor / products,
        rounding=np.zeros(d),
        noisy=np.full(len(products), bool(sensor.any())),
        data_range=DataRange(
            np.full(d, low),
            np.full(d, high),
            np.random.default_rng(0).uniform(max(low, -1.5), min(high, 1.5), size=(50, d)),
            longest_step,
            1000,
            units,
            Frame.identity(d),
        ),
        is_chain=is_chain,
    )


def asked(model: Process, x: FloatArray, longest_step: float) -> Process:
    """The model for data that are the states ``x (n, d)`` at steps of so much at most."""
    return replace(model, data_range=replace(model.data_range, probe=x, longest_step=longest_step))


def units_of_entries(units: FloatArray) -> FloatArray:
    return np.array([units[p] * units[q] for p, q in tensor.pairs(len(units))])


def linear_model(
    matrix: FloatArray,
    offset: FloatArray,
    field: FloatArray,
    *,
    terms: Terms = "poly2",
    noise: FloatArray | None = None,
    longest_step: float = 0.1,
) -> Process:
    """dX = (A X + c) dt + noise of the constant tensor ``field (d, d)``."""
    d = len(matrix)
    rows = [
        {"1": float(offset[p])} | {n: float(matrix[p, q]) for q, n in enumerate(names_of(d))}
        for p in range(d)
    ]
    entries = [{"1": float(field[p, q])} for p, q in tensor.pairs(d)]
    return model_of(rows, entries, terms=terms, noise=noise, longest_step=longest_step)


class Moments(NamedTuple):
    """A transition in physical units, sample first."""

    mean: FloatArray  # (n, d) displacement
    covariance: FloatArray  # (n, d, d)
    flow: FloatArray  # (n, d, d)
    response: FloatArray  # (n, d, d)


def physical_moments(path: Transition, units: FloatArray) -> Moments:
    """Undo the units of the noise."""
    square, turn = np.outer(units, units)[..., None], np.outer(units, 1 / units)[..., None]
    return Moments(
        path.mean.T * units,
        (path.covariance * square).transpose(2, 0, 1),
        (path.flow * turn).transpose(2, 0, 1),
        (path.response * turn).transpose(2, 0, 1),
    )
