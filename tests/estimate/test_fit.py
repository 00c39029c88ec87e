"""What a fit that fails says of its data, and when a second order is tried at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from processes import linear

from wgsindy.data import whole_number
from wgsindy.errors import DataError, NotEnoughDataError, RecipeError
from wgsindy.estimate import OrderEvidence, fit_dataset
from wgsindy.estimate import fit as fits
from wgsindy.estimate.fit import CLEAR, _failures_as_sentences, better_order
from wgsindy.passes import data_summary


def failed(error: Exception, outlier: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is said of a fit that ends with an error, of data with or without an outlier."""
    data = linear(0, steps=100)
    monkeypatch.setattr(fits, "outlier_sentence", lambda *_: outlier)
    with (
        pytest.raises(DataError) as raised,
        _failures_as_sentences(data, data_summary(data, standardise=True)),
    ):
        raise error
    assert type(raised.value) is (type(error) if isinstance(error, DataError) else DataError)
    return str(raised.value)


@pytest.mark.parametrize(
    ("error", "outlier", "said"),
    [
        (NotEnoughDataError("Too few."), "", "Too few."),
        (DataError("No."), "One is 1e9.", "No. Look at the data first: One is 1e9."),
        (DataError("No: One is 1e9."), "One is 1e9.", "No: One is 1e9."),
    ],
)
def test_an_outlier_is_named_once(
    error: Exception, outlier: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert failed(error, outlier, monkeypatch) == said


@pytest.mark.parametrize("outlier", ["", "One is 1e9."])
def test_equations_that_cannot_be_solved_have_a_way_out(
    outlier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = failed(np.linalg.LinAlgError("Singular matrix"), outlier, monkeypatch)
    assert said.startswith("the equations of the fit cannot be solved (Singular matrix): spread")
    assert said.endswith(outlier or "Use a smaller library, or other units.")


@pytest.mark.parametrize("outlier", ["", "One is 1e9."])
def test_numbers_out_of_range_are_expected_of_data_with_an_outlier_only(
    outlier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = linear(0, steps=100)
    monkeypatch.setattr(fits, "outlier_sentence", lambda *_: outlier)
    with (
        np.errstate(over="raise", invalid="raise"),
        _failures_as_sentences(data, data_summary(data, standardise=True)),
    ):
        assert np.geterr()["over"] == np.geterr()["invalid"] == ("ignore" if outlier else "raise")


@pytest.mark.parametrize(("evidence", "asked"), [(-CLEAR - 1, False), (-CLEAR + 1, True)])
def test_a_second_order_is_fitted_unless_a_pilot_is_clearly_of_first(
    evidence: float, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, seconds = fit_dataset(linear(0, 1), "poly1"), []
    monkeypatch.setattr(fits, "pilot_orders", lambda *_: OrderEvidence(evidence, 9))
    monkeypatch.setattr(fits, "_second", lambda *_: seconds.append(1))
    found = better_order(first)
    assert bool(seconds) == asked
    assert found.data is first.data
    assert found.orders == (OrderEvidence(-np.inf, 0) if asked else OrderEvidence(evidence, 9))


@pytest.mark.parametrize(("evidence", "order"), [(11.0, 2), (9.0, 1), (-11.0, 1)])
def test_the_order_that_the_data_prefer_clearly_is_taken(
    evidence: float, order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = linear(0, 1, steps=200)
    first, second = (fit_dataset(data, "poly1", order=one) for one in (1, 2))
    monkeypatch.setattr(fits, "pilot_orders", lambda *_: OrderEvidence(0.0, 9))
    monkeypatch.setattr(fits, "_second", lambda *_: second)
    monkeypatch.setattr(fits, "order_evidence", lambda *_: OrderEvidence(evidence, 9))
    found = better_order(first)
    assert found.data.order == order
    assert found.orders == OrderEvidence(evidence, 9)


def test_of_too_many_coordinates_no_order_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(fits, "pilot_orders")
    first = fit_dataset(linear(0, 4, steps=200), "poly1")
    assert better_order(first) is first


@pytest.mark.parametrize("value", [0, 3, np.int64(7)])
def test_whole_numbers_within_their_range_pass(value: Any) -> None:
    assert whole_number(value, "n", 0, RecipeError, most=7) == value


@pytest.mark.parametrize("value", [-1, 8, 3.0, "3", None])
def test_other_numbers_are_refused_with_their_range(value: Any) -> None:
    with pytest.raises(RecipeError, match="n must be a whole number from 0 to 7, got"):
        whole_number(value, "n", 0, RecipeError, most=7)


def test_bands_of_a_grown_library_are_wider_by_what_the_form_may_be() -> None:
    fit = fit_dataset(linear(0, 1), "poly1")
    spread = np.array([[[0.3, 0.1], [0.1, 0.2]]])

    class UndetectedNoise:
        def form_doubt(self) -> Any:
            return type("Form", (), {"spread": spread})

    found = fits._of_open_form(fit, UndetectedNoise())  # type: ignore[arg-type]
    sure, wide = fit.generator.uncertainty, found.generator.uncertainty
    assert sure is not None
    assert wide is not None
    np.testing.assert_array_equal(wide.form_spread, spread)
    assert sure.form_spread is None
    assert replace(wide, form_spread=None) == sure
