"""Names that can stand in a formula."""

from __future__ import annotations

import pytest
from walks import frame

from wgsindy.errors import RenamedColumnsWarning
from wgsindy.files import read


def test_names_are_made_fit_for_formulas() -> None:
    alike = frame().rename(columns={"x": "a b", "y": "a-b"})
    with pytest.warns(RenamedColumnsWarning, match="a-b -> a_b_"):
        assert read(alike).data.names == ("a_b", "a_b_")
    odd = frame().rename(columns={"x": "Temp (°C)", "y": "2nd"})
    with pytest.warns(RenamedColumnsWarning, match=r"2nd -> x_2nd"):
        assert read(odd).data.names == ("Temp", "x_2nd")
