"""Generators that the data allow as well: draws from the errors of a fit.

Drift coefficients are drawn from their spread over supports of similar evidence, so terms that may
be there take part by how likely they are; components are tied by their joint covariance. Errors of
tensor entries are tied as those of a sample covariance: cov(a_pq, a_rs) ~ a_pr a_qs + a_ps a_qr.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wgsindy.data import FloatArray, frozen
from wgsindy.model import Generator, Uncertainty, tensor


def drawn_generators(generator: Generator, count: int, rng: np.random.Generator) -> list[Generator]:
    """Draw ``count`` generators, in pairs about the fitted one; none without error bars."""
    sure = generator.uncertainty
    if sure is None:
        return []
    drift_root = _root(_drift_covariance(sure))
    entry_roots = np.array([_root(block) for block in sure.entry_covariance])
    ties = _root(_entry_correlation(generator))
    shape, entries = generator.drift_coefficients.shape, generator.tensor_field.coefficients
    drawn: list[Generator] = []
    while len(drawn) < count:
        of_drift = (drift_root @ rng.standard_normal(drift_root.shape[0])).reshape(shape)
        tied = ties @ rng.standard_normal(entries.shape)
        of_entries = np.einsum("ekl,el->ek", entry_roots, tied)
        drawn += [_moved(generator, sign * of_drift, sign * of_entries) for sign in (1.0, -1.0)]
    return drawn[:count]


def _moved(generator: Generator, drift: FloatArray, entries: FloatArray) -> Generator:
    field = generator.tensor_field
    moved = replace(
        field,
        coefficients=frozen(field.coefficients + entries),
        form="clipped" if field.form == "entries" else field.form,
    )
    drift = frozen(generator.drift_coefficients + drift)
    return replace(generator, drift_coefficients=drift, tensor_field=moved, uncertainty=None)


def _drift_covariance(sure: Uncertainty) -> FloatArray:
    """Covariance ``(d K, d K)``: the spread of each component, tied by the joint covariance."""
    joint = sure.drift_covariance.copy()
    for p, spread in enumerate(sure.drift_spread):
        joint[p, :, p] = spread
    size = sure.drift.size
    return joint.reshape(size, size)


def _entry_correlation(generator: Generator) -> FloatArray:
    """Correlations ``(E, E)`` between errors of tensor entries, at the centre of the data."""
    centre = generator.basis.origin if generator.region is None else generator.region.centre
    a, pairs = generator.diffusion(centre[None])[0], tensor.pairs(generator.dimension)
    covariance = np.array(
        [[a[p, r] * a[q, s] + a[p, s] * a[q, r] for r, s in pairs] for p, q in pairs]
    )
    found = tensor.correlation(covariance[None])[0]
    np.fill_diagonal(found, 1.0)
    return found


def _root(covariance: FloatArray) -> FloatArray:
    """Symmetric root of a covariance; what is negative by rounding counts as zero."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    unit = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(unit, unit))
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(unit[:, None] * root)
