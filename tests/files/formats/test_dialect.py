"""Dialects of text."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from walks import text

from wgsindy.errors import (
    EncodingGuessWarning,
    MissingValuesWarning,
    UnreadableFieldsWarning,
    WgsindyWarning,
)
from wgsindy.files import read

HEADER = "t,x\n"
GOOD = "".join(f"{k / 10},{k * 5 % 7}\n" for k in range(40))


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (
            HEADER + GOOD + "4.0,oops\n" + "4.1,3\n4.2,4\n",
            UnreadableFieldsWarning,
            "such as 'oops'",
        ),
        (HEADER + GOOD + "4.0", UnreadableFieldsWarning, "1 row with too few or too many"),
        (("µ," + HEADER[2:] + GOOD).replace("µ", "Zeit").encode(), None, ""),
        (("t,\xb5\n" + GOOD).encode("latin-1"), EncodingGuessWarning, "1 file not in UTF-8"),
        ("\ufefft,x\n" + GOOD, None, ""),
        (("t,x\n" + GOOD).replace("\n", "\r\n").encode("utf-16"), None, ""),
        ("a logger\nserial: 7\n\n" + HEADER + GOOD, None, ""),
        ("".join(f"Channel {k}; 0.5; 1; 2\n" for k in range(60)) + HEADER + GOOD, None, ""),
        ("# t,x\n" + GOOD, None, ""),
        ("t,x\ns,mm\n" + GOOD, None, ""),
        ("t,x\n" + GOOD.replace(",", ", ").replace("\n", ",\n"), None, ""),
        ('"t","x"\n' + GOOD.replace(",", ',"').replace("\n", '"\n'), None, ""),
        (HEADER.replace(",", " ") + GOOD.replace(",", "   "), None, ""),
        (HEADER.replace(",", "|") + GOOD.replace(",", "|"), None, ""),
        (HEADER + "# pause\n" + GOOD, None, ""),
    ],
)
def test_dialects_of_text(
    tmp_path: Path, content: str | bytes, kind: type[WgsindyWarning] | None, message: str
) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        data = read(text(tmp_path, content)).data
    named = [w for w in seen if w.category is not MissingValuesWarning]
    assert [w.category for w in named] == ([kind] if kind else [])
    assert message in "".join(str(w.message) for w in named)
    np.testing.assert_array_equal(data[0][:40, 0], [k * 5 % 7 for k in range(40)])
    np.testing.assert_allclose(data.steps(0)[:39], 0.1)
