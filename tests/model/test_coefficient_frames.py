"""Coefficients as a table and as data frames."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from wgsindy import WGSINDy, zoo
from wgsindy.errors import MissingPackageError
from wgsindy.model import Coefficient
from wgsindy.model.formulas import Coefficients


@pytest.fixture(scope="module")
def coefficients() -> Coefficients:
    data = zoo.get("rotational_ou").simulate(0, trajectories=4)
    return WGSINDy("poly1").fit(data).generator_.coefficients


def test_frames_have_a_row_for_each_term(coefficients: Coefficients) -> None:
    for frame in (coefficients.to_polars(), coefficients.to_pandas()):
        assert list(frame.columns) == list(Coefficient._fields)
        assert len(frame) == len(coefficients)
        np.testing.assert_array_equal(np.asarray(frame["value"]), [c.value for c in coefficients])
        assert list(frame["term"]) == [c.term for c in coefficients]


def test_without_pandas_a_sentence_says_what_to_use(
    coefficients: Coefficients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match="use to_polars"):
        coefficients.to_pandas()


def test_a_notebook_shows_a_table_and_no_markup_of_names() -> None:
    hostile = Coefficient("b1", "<b>x</b>", 1.0, float("nan"), 0.5, 1.5, 1.0)
    text = Coefficients([hostile])._repr_html_()
    assert text.count("<tr>") == 2
    assert "&lt;b&gt;x" in text
    assert "nan" not in text
