"""What is read off a generator at the states of the data: leverage, curl, validity of the tensor.

One number each, the median over the states, and a band where the fit has error bars. The variance
of a leverage follows from those of the three entries by the delta method. Errors of two entries are
taken to be correlated as the products of residuals that they are fitted to, by Isserlis' formula

    Cov(e_p e_q, e_r e_s) = a_pr a_qs + a_ps a_qr ,

which is exact where the entries have the same terms. For a constant tensor it gives the textbook
variance (1 - rho^2)^2 / n of a correlation.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.model import tensor
from wgsindy.model.generator import Generator
from wgsindy.model.notation import percent, rounded
from wgsindy.model.uncertainty import Uncertainty, normal_quantile

MOST_STATES = 2000  # evenly taken: a median needs no more
LEVEL = 0.95


class ReadOut(NamedTuple):
    """One quantity: its name, the median over the states, and a band; NaN where there is none."""

    name: str
    value: float
    low: float
    high: float
    share: bool = False  # written in percent
    unit: str = ""

    @property
    def text(self) -> str:
        """Write the value and, if there is one, the band.

        >>> ReadOut("leverage", -0.5987, -0.6134, -0.584).text
        '-0.599 (-0.613 to -0.584)'
        >>> ReadOut("leverage", 0.0, 0.0, 0.0).text
        '0 (no term was selected)'
        """
        if self[1:4] == (0.0, 0.0, 0.0) and not self.share:
            return "0 (no term was selected)"
        value, low, high = (percent(v) if self.share else rounded(v) for v in self[1:4])
        band = "" if np.isnan(self.low) or low == high else f" ({low} to {high})"
        return f"{value}{band} {self.unit}".rstrip()


def readouts(generator: Generator, states: FloatArray) -> list[ReadOut]:
    """Leverage and curl of each pair of coordinates, and the share of states that are valid.

    ``states (n, d)`` are those of the data; of many, some are taken. The last one is the share at
    which the formula of the tensor is positive semidefinite by itself, before anything is clipped;
    its band is what the error bars of the entries leave open. A recipe without error bars gives
    no bands.

    Examples
    --------
    >>> import sympy
    >>> x, y = sympy.symbols("x y")
    >>> truth = Generator.from_sympy(("x", "y"), [-x - 2*y, 2*x - y], [[1, 0.5], [0.5, 1]])
    >>> [f"{found.name}: {found.text}" for found in readouts(truth, np.zeros((3, 2)))][:2]
    ['leverage of x and y: 0.5', 'curl of x and y: 2']
    """
    taken = states[:: max(1, len(states) // MOST_STATES)]
    pairs = list(combinations(range(generator.dimension - len(generator.inputs)), 2))
    correlations, rotations = generator.correlation(taken), generator.rotation(taken)
    sure, theta = generator.uncertainty, generator.basis.values(taken)
    found = []
    for p, q in pairs:
        error = None if sure is None else _leverage_error(generator, sure, theta, (p, q))
        found.append(_typical("leverage", generator, (p, q), correlations[:, p, q], error, 1.0))
    for p, q in pairs:
        error = None if sure is None else _curl_error(sure, generator.basis.gradients(taken), p, q)
        turning = _typical("curl", generator, (p, q), rotations[:, q, p], error, np.inf)
        found.append(turning._replace(unit=generator.units.rotation(p, q)))
    return [*found, _valid(generator, theta)]


def _typical(
    name: str,
    generator: Generator,
    pair: tuple[int, int],
    values: FloatArray,
    error: FloatArray | None,
    most: float,
) -> ReadOut:
    """Medians over the states of the value ``(n,)`` and of the ends of its interval."""
    first, second = (generator.names[p] for p in pair)
    title = f"{name} of {first} and {second}"
    if error is None:
        return ReadOut(title, float(np.median(values)), np.nan, np.nan)
    half = normal_quantile(LEVEL) * error
    low, high = (np.clip(values + sign * half, -most, most) for sign in (-1, 1))
    middle, least, largest = (float(np.median(item)) for item in (values, low, high))
    return ReadOut(title, middle, least, largest)


def _leverage_error(
    generator: Generator, sure: Uncertainty, theta: FloatArray, pair: tuple[int, int]
) -> FloatArray:
    """Standard error ``(n,)`` of a_pq / sqrt(a_pp a_qq); zero where a variance is zero."""
    p, q = pair
    shown = [tensor.entry_number(*entry) for entry in ((p, p), (p, q), (q, q))]
    field = tensor.clip(
        tensor.symmetric(theta @ generator.tensor_field.coefficients.T, len(sure.drift))
    )
    first, both, second = field[:, p, p], field[:, p, q], field[:, q, q]
    possible = (first > 0) & (second > 0)
    first, second = np.where(possible, first, 1.0), np.where(possible, second, 1.0)
    root = np.sqrt(first * second)
    slope = np.stack([-both / (2 * first * root), 1 / root, -both / (2 * second * root)])
    error = np.stack([_spread(theta, sure.entry_covariance[e]) for e in shown])
    covariance = np.array(
        [
            [2 * first**2, 2 * first * both, 2 * both**2],
            [2 * first * both, first * second + both**2, 2 * second * both],
            [2 * both**2, 2 * second * both, 2 * second**2],
        ]
    )
    size = np.sqrt(np.einsum("iin->in", covariance))
    scaled = slope * error / size
    variance = np.einsum("in,ijn,jn->n", scaled, covariance, scaled)
    return np.where(possible, np.sqrt(np.maximum(variance, 0.0)), 0.0)


def _curl_error(sure: Uncertainty, gradients: FloatArray, p: int, q: int) -> FloatArray:
    """Standard error ``(n,)`` of (d_p b_q - d_q b_p) / 2; ``gradients (n, K, d)`` of the terms."""
    along, across = gradients[:, :, p], gradients[:, :, q]
    own = sure.field_spread
    variance = _spread(along, own[q]) ** 2 + _spread(across, own[p]) ** 2
    variance -= 2 * np.einsum("nk,kl,nl->n", along, sure.drift_covariance[q, :, p], across)
    return np.sqrt(np.maximum(variance, 0.0)) / 2


def _spread(rows: FloatArray, covariance: FloatArray) -> FloatArray:
    """Standard deviation ``(n,)`` of rows ``(n, K)`` times coefficients of this covariance."""
    return np.sqrt(np.maximum(np.einsum("nk,kl,nl->n", rows, covariance, rows), 0.0))


def _valid(generator: Generator, theta: FloatArray) -> ReadOut:
    """Share of states at which the formula of the tensor is positive semidefinite."""
    name, field = "positive semidefinite before clipping", generator.tensor_field
    if field.form == "factor":
        return ReadOut(name, 1.0, np.nan, np.nan, share=True)
    entries = theta @ field.coefficients.T
    share = float(_semidefinite(entries, generator.dimension))
    if generator.uncertainty is None:
        return ReadOut(name, share, np.nan, np.nan, share=True)
    half = generator.uncertainty.half_widths(theta, LEVEL)[1]
    low, high = (
        float(_semidefinite(moved, generator.dimension))
        for moved in _moved(entries, half, generator.dimension)
    )
    return ReadOut(name, share, low, high, share=True)


def _moved(entries: FloatArray, half: FloatArray, dimension: int) -> Iterator[FloatArray]:
    """Entries at the ends of their intervals that are worst, then best, for semidefiniteness."""
    diagonal = np.array([p == q for p, q in tensor.pairs(dimension)])
    away = np.where(entries < 0, -half, half)
    yield entries + np.where(diagonal, -half, away)
    nearer = np.where(np.abs(entries) > half, entries - away, 0.0)
    yield np.where(diagonal, entries + half, nearer)


def _semidefinite(entries: FloatArray, dimension: int) -> np.float64:
    return tensor.is_semidefinite(tensor.symmetric(entries, dimension)).mean()
