"""Formulas that are shown beside the written one: nearly as good, or simpler and not far behind."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy.estimate.evidence import Posterior
from wgsindy.estimate.likelihood.selection import EQUAL, STRONG, equally_good
from wgsindy.terms import library

BETWEEN = -(EQUAL + STRONG) / 2  # too far behind for an equal, not for a simpler one


def shown(terms: list[str], written: str, other: str, behind: float) -> list[tuple[str, ...]]:
    """What is shown of two formulas of one term, of which the other is so far behind."""
    basis = library(terms).bind(("x",))
    supports = np.array([[text == term for text in basis.terms] for term in (written, other)])
    weights = np.exp([0.0, behind])
    drift = Posterior(supports, weights / weights.sum(), supports * 1.0, np.zeros(2), 0.0)
    nothing = Posterior.certain(np.zeros(len(basis)))
    return [one.terms for one in equally_good([drift], [nothing], basis)]


@pytest.mark.parametrize(
    ("written", "other", "behind", "is_shown"),
    [
        ("x**2", "x", BETWEEN, True),
        ("x**2", "x", -STRONG - 0.1, False),
        ("x", "x**2", BETWEEN, False),
        ("x", "x**2", -EQUAL + 0.1, True),
        ("sqrt(x)", "x**2", BETWEEN, True),
        ("x**2", "sqrt(x)", BETWEEN, False),
    ],
)
def test_a_simpler_formula_is_shown_until_the_evidence_is_strong(
    written: str, other: str, behind: float, is_shown: bool
) -> None:
    found = shown(["1", "x", "x**2", "sqrt(x)"], written, other, behind)
    assert found == ([(other,)] if is_shown else [])


def test_the_best_is_shown_first_whatever_its_field() -> None:
    basis = library("poly1").bind(("x", "y"))
    supports = np.array([[False, True, False], [False, False, True]])

    def of(behind: float) -> Posterior:
        weights = np.exp([0.0, behind])
        return Posterior(supports, weights / weights.sum(), supports * 1.0, np.zeros(2), 0.0)

    nothing = Posterior.certain(np.zeros(len(basis)))
    found = equally_good([of(-0.9 * EQUAL), of(-0.1 * EQUAL)], [nothing] * 3, basis)
    assert [one.target for one in found] == ["b2", "b1"]
