"""Linear forms: the processes are what they say, and the form is looked for where it may stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

from wgsindy.model import Alternative, Generator
from wgsindy_evidence.experiments.judged.linear_forms import (
    ABSENT,
    AUTO,
    DT,
    EQUAL,
    PROCESSES,
    WRITTEN,
    linear_case,
    linear_cases,
    names_of,
    run_case,
    samples,
    standing,
)
from wgsindy_evidence.experiments.ours.gallery_data.kind import SMALL, Size
from wgsindy_evidence.scope import Scope

X = sympy.Symbol("x", real=True)
BIRTHS = PROCESSES["birth_death"]


def written(drift: sympy.Expr, tensor: sympy.Expr, *others: Alternative) -> Generator:
    return replace(Generator.from_sympy(("x",), [drift], [[tensor]]), alternatives=others)


@pytest.mark.parametrize(
    ("drift", "others", "how"),
    [
        (50 - X, (), WRITTEN),
        (25 - X**2 / 100, (), ABSENT),
        (50 - X - X**2 / 100, (), ABSENT),  # one term too many is another form
        (25 - X**2 / 100, (Alternative("b1", ("x", "1"), -1.0),), EQUAL),
        (25 - X**2 / 100, (Alternative("a11", ("1", "x"), -1.0),), ABSENT),  # of another field
        (25 - X**2 / 100, (Alternative("b1", ("1", "sqrt(x)"), 1.0),), ABSENT),
    ],
)
def test_the_drift_must_have_the_true_terms(
    drift: sympy.Expr, others: tuple[Alternative, ...], how: str
) -> None:
    assert standing(written(drift, 50 + X, *others), BIRTHS.truth, "b1") == how


@pytest.mark.parametrize(
    ("tensor", "others", "how"),
    [
        (50 + X, (), WRITTEN),
        (sympy.Integer(100), (), WRITTEN),  # all that few data tell of it
        (X**2, (), ABSENT),
        (sympy.sqrt(X), (Alternative("a11", ("x",), -3.0),), EQUAL),
        (sympy.sqrt(X), (Alternative("a11", ("1", "x**2"), -3.0),), ABSENT),
    ],
)
def test_the_tensor_may_have_any_of_the_linear_terms(
    tensor: sympy.Expr, others: tuple[Alternative, ...], how: str
) -> None:
    assert standing(written(50 - X, tensor, *others), BIRTHS.truth, "a11") == how


def test_fields_that_are_zero_are_not_asked_about() -> None:
    assert names_of(BIRTHS) == ["b1", "a11"]
    assert names_of(PROCESSES["gene_expression"]) == ["b1", "b2", "a11", "a22"]


def test_copies_are_as_many_as_they_should_be() -> None:
    # Means, and variances that are Poissonian; of proteins, 5 / 1.5 more for the bursts of mRNA.
    births, genes = (samples(process, Size(40, 400), 3) for process in PROCESSES.values())
    assert births.mean_dt == DT
    np.testing.assert_allclose(births.states.mean(axis=0), [50], rtol=0.05)
    np.testing.assert_allclose(births.states.var(axis=0), [50], rtol=0.15)
    np.testing.assert_allclose(genes.states.mean(axis=0), [20, 200], rtol=0.05)
    expected = [20, 200 * (1 + 5 / 1.5)]
    np.testing.assert_allclose(genes.states.var(axis=0), expected, rtol=0.2)


def test_cases_are_both_processes_sizes_and_libraries() -> None:
    cases = linear_cases(Scope())
    assert len(set(cases)) == len(cases) == 2 * 2 * 2 * 10
    assert {case.settings["library"] for case in cases} == {"auto", "poly1"}


def test_a_line_says_how_every_field_stands() -> None:
    found = run_case(linear_case("birth_death", AUTO, SMALL, 100))
    assert found["linear"] == {"b1": WRITTEN, "a11": WRITTEN}
    assert found["verdict"] == "identified"
    assert 0 <= found["covered"] <= 1
