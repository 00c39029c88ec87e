"""``read``: its arguments."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from walks import frame

from wgsindy.errors import DataError
from wgsindy.files import ReadingOptions, read, stream
from wgsindy.files.options import StreamOptions


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"states": ["q"]}, r"no column 'q'; its columns are 't', 'x', 'y'"),
        ({"states": ["x", "x"]}, "each state is needed once"),
        ({"states": ["t"], "time": "t"}, "both a state and the time"),
        ({"time": "x", "trajectory": "x"}, "both time and trajectory"),
        ({"names": ["a"]}, r"2 states .* need 2 names, got \['a'\]"),
        ({"log": ["q"]}, "log='q' is not a state"),
        ({"log": ["x"]}, r"log_x of a state that is not positive: .* at row"),
        ({"unit": "fortnight"}, "unit='fortnight' is not a unit of time"),
        ({"unit": "s"}, "nothing says in what unit .* pass time_unit"),
        ({"dt": -1.0}, "dt must be > 0, got -1.0"),
        ({"dt": "fast"}, "dt must be real numbers, got 'fast'"),
        ({"gap": 0.0}, "gap must be > 0, got 0.0"),
        ({"variable": "x"}, "needs both variable and value"),
    ],
)
def test_a_wrong_argument_is_a_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        read(frame(), **options)


def test_an_unknown_option_is_named_with_those_there_are() -> None:
    with pytest.raises(
        TypeError, match=r"read\(\) got .* 'stats'; its options are 'states', 'time'"
    ):
        read(frame(), stats=["x"])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"stream\(\) got .* 'gap'; its options are .*'names'\."):
        stream(frame(), gap=1.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"read\(\) takes options by keyword, got \('x',\)"):
        read(frame(), "x")  # type: ignore[call-arg]


def test_the_signature_is_that_of_the_options() -> None:
    for function, options in ((read, ReadingOptions), (stream, StreamOptions)):
        source, *asked = inspect.signature(function).parameters.values()
        assert source.name == "source"
        assert asked == list(inspect.signature(options).parameters.values())
