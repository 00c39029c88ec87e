"""Times: timestamps, counts since 1970, units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from walks import DT, N, frame, text

from wgsindy.errors import DataError
from wgsindy.files import read


def stamped(times: Any) -> pd.DataFrame:
    return frame().drop(columns="t").assign(time=times)


@pytest.mark.parametrize(
    ("times", "options", "dt"),
    [
        (pd.date_range("2024-02-28", periods=N, freq="D"), {"unit": "days"}, 1.0),
        (pd.date_range("2024-02-28", periods=N, freq="D").astype(str), {}, 1.0),
        (pd.date_range("2024-02-28", periods=N, freq="h", tz="Asia/Tokyo"), {"unit": "h"}, 1.0),
        (pd.date_range("2024-02-28", periods=N, freq="h").strftime("%d.%m.%y %H"),
         {"time_format": "%d.%m.%y %H", "unit": "h"}, 1.0),
        (1_700_000_000 + 5 * np.arange(N), {}, 5.0),
        (1_700_000_000 + 0.5 * np.arange(N), {}, 0.5),
        (1_700_000_000_000 + 5 * np.arange(N), {}, 0.005),
        (1_700_000_000_000_000 + 5 * np.arange(N), {"unit": "ms"}, 0.005),
        (1_700_000_000_000_000_000 + 5 * np.arange(N), {"unit": "us"}, 0.005),
        (5.0 * np.arange(N), {"unit": "s", "time_unit": "ms"}, 0.005),
        ((5 * np.arange(N)).astype(np.uint16), {}, 5.0),
        ([f"2024-03-31T{9 + k // 60 + k % 3:02}:{k % 60:02}:00+0{k % 3}:00" for k in range(N)],
         {"unit": "min"}, 1.0),
    ],
)  # fmt: skip
def test_timestamps_and_epochs_become_steps(times: Any, options: dict[str, Any], dt: float) -> None:
    data = read(stamped(times), **options).data
    np.testing.assert_allclose(data.steps(0), dt, rtol=1e-12)


def test_the_unit_in_a_header_is_used() -> None:
    for name in ("time (ms)", "t_ms", "Time [ms]", "elapsed ms"):
        data = read(frame().rename(columns={"t": name}), unit="s").data
        assert data.mean_dt == pytest.approx(DT / 1000)


def test_the_unit_under_a_header_is_used(tmp_path: Path) -> None:
    lines = [f"{5 * k},{k * 5 % 7}" for k in range(40)]
    path = text(tmp_path, "\n".join(["t,x", "ms,mm", *lines]))
    assert read(path, unit="s").data.mean_dt == pytest.approx(0.005)


def test_a_day_and_a_time_of_day_are_joined(tmp_path: Path) -> None:
    lines = [f"2024-01-01;12:00:{k:02d};{k * 5 % 7},5" for k in range(60)]
    data = read(text(tmp_path, "\n".join(["Date;Time;x", *lines]))).data
    assert (data.names, data.mean_dt) == (("x",), 1.0)


def test_a_clock_that_cannot_be_read_is_refused() -> None:
    times = [f"day {k // 24}, hour {k % 24}" for k in range(N)]
    with pytest.raises(DataError, match=r"such as 'day 0, hour 0', are not in ISO 8601; pass"):
        read(stamped(times), time="time")
