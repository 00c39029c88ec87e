"""Columns of numbers that are no states; weekdays; angles; replicates; units in headers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from walks import DT, N, frame, text, walk

from wgsindy.errors import DataError, GapWarning, GuessedColumnWarning
from wgsindy.files import read


def test_qualities_are_left_out_of_tracks_only() -> None:
    spots = frame().assign(mass=np.arange(N) ** 0.5, particle=np.arange(N) // 50)
    assert read(spots).data.names == ("x", "y")
    assert read(frame().assign(mass=np.arange(N) ** 0.5)).data.names == ("x", "y", "mass")


def test_counters_ids_and_other_clocks_are_no_states() -> None:
    table = frame().assign(shot=np.arange(7, N + 7), spot_id=np.arange(N) ** 2, frame=range(N))
    assert read(table).data.names == ("x", "y")
    # T is a temperature here: it goes up and down.
    assert read(frame().assign(T=walk()[:, 0] * 2)).data.names == ("x", "y", "T")


def test_of_prices_the_close_is_the_state() -> None:
    prices = {name: np.exp(walk()[:, 0]) for name in ("Open", "High", "Low", "Close")}
    table = frame().drop(columns=["x", "y"]).assign(**prices, Volume=range(N, 0, -1))
    assert read(table).data.names == ("Close",)
    assert read(table.assign(vix=walk()[:, 1])).data.names == ("Close", "vix")


def test_words_that_tell_times_apart_number_trajectories() -> None:
    two = pd.concat([frame().assign(who="a"), (frame() * [1, 2, 2]).assign(who="b")])
    assert len(read(two).data) == 2


def test_weekdays_are_trading_days_unless_the_calendar_is_asked_for() -> None:
    table = frame().drop(columns="t").assign(Date=pd.bdate_range("2024-01-01", periods=N))
    found = read(table)
    assert found.time_unit == "year"
    np.testing.assert_allclose(found.data.steps(0), 1 / 252)
    calendar = read(table, clock="calendar")
    assert calendar.time_unit == "d"
    assert sorted(set(calendar.data.steps(0).round(6).tolist())) == [1.0, 3.0]
    rows = read(table, clock="rows")
    assert set(rows.data.steps(0).tolist()) == {1.0}
    with pytest.raises(DataError, match="clock='lunar' is not known"):
        read(table, clock="lunar")


def test_two_weeks_without_a_market_stay_a_gap() -> None:
    dates = pd.bdate_range("2024-01-01", periods=N + 10).delete(range(50, 60))
    table = frame().drop(columns="t").assign(Date=dates)
    with pytest.warns(GapWarning, match="1 gap in time"):
        assert len(read(table, unit="d").data) == 2


def turning(turn: float) -> pd.DataFrame:
    angle = np.cumsum(0.05 + 0.1 * np.random.default_rng(0).normal(size=N * 4)) * turn / (2 * np.pi)
    return pd.DataFrame({"t": np.arange(4 * N) * DT, "heading": angle % turn})


def test_angles_are_found_by_their_jumps() -> None:
    for turn in (2 * np.pi, 360.0):
        with pytest.warns(GuessedColumnWarning, match="'heading' is an angle"):
            found = read(turning(turn))
        assert (found.angles, found.units) == (("heading",), {"heading": "rad"})
        assert np.abs(np.diff(found.data.states[:, 0])).max() < 1.0
    assert read(frame()).angles == ()


def test_an_angle_may_be_named() -> None:
    assert read(frame(), angle="x").angles == ("x",)
    with pytest.raises(DataError, match="angle='z' is not a state; the states are 'x', 'y'"):
        read(frame(), angle="z")


def test_columns_may_be_replicates() -> None:
    found = read(frame(), replicates=True).data
    assert (len(found), found.names) == (2, ("x",))
    np.testing.assert_array_equal(found[1][:, 0], walk()[:, 1])
    assert read(frame(), replicates=True, names=["u"]).data.names == ("u",)
    with pytest.raises(DataError, match="column 'run' tells trajectories apart already"):
        read(frame().assign(run=np.arange(N) // 50), replicates=True)


def test_headers_give_units(tmp_path: Path) -> None:
    found = read(frame().rename(columns={"x": "x [um]", "y": "speed (m/s)", "t": "t [ms]"}))
    assert found.data.names == ("x", "speed")
    assert (found.units, found.time_unit) == ({"x": "um", "speed": "m/s"}, "ms")
    rows = [f"{k * DT},{a},{b}" for k, (a, b) in enumerate(walk())]
    below = read(text(tmp_path, "\n".join(["t,x,y", "s,mm,mm", *rows])))
    assert below.units == {"x": "mm", "y": "mm"}


def test_columns_may_be_named_without_their_units() -> None:
    table = frame().rename(columns={"x": "x [um]", "y": "y (m/s)", "t": "t [ms]"})
    found = read(table, states=["y"], time="t")
    assert found.data.names == ("y",)
    assert np.array_equal(found.data.states[:, 0], table["y (m/s)"].to_numpy())
    # A name that two columns would have is none of them.
    twice = table.assign(**{"x [px]": 1.0})
    with pytest.raises(DataError, match="no column 'x'"):
        read(twice, states=["x"])


def test_a_clock_that_cannot_be_read_gives_way_to_dt() -> None:
    shots = frame().assign(t=[f"shot {k} of the morning" for k in range(N)])
    with pytest.warns(GuessedColumnWarning, match="Since dt=0.5 is given, rows are counted"):
        assert read(shots, dt=0.5, time="t").data.mean_dt == 0.5


def test_logarithms_take_names_of_any_shape() -> None:
    table = np.exp(frame()[["x"]]).rename(columns={"x": "Adj Close"}).assign(t=np.arange(N) * DT)
    with pytest.warns(UserWarning, match="Adj Close -> Adj_Close"):
        assert read(table, log="Adj Close").data.names == ("log_Adj_Close",)
