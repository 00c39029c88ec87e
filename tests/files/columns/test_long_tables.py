"""Long tables."""

from __future__ import annotations

import pandas as pd
import pytest
from walks import frame

from wgsindy.errors import DataError
from wgsindy.files import read


def test_a_long_table_that_contradicts_itself_is_refused() -> None:
    long = frame().melt(id_vars="t")
    with pytest.raises(DataError, match="two different states at one time, 1 time in all"):
        read(pd.concat([long, long.iloc[[7]].assign(value=9.0)]))
    with pytest.raises(DataError, match="two different states at one time"):
        read(pd.concat([long, long.iloc[[7]]]))  # half a row of copies is no copy of a row
