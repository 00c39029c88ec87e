"""``read``: columns and their roles, times, repairs and refusals, each with its note."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from wgsindy.data.arrays import FloatArray
from wgsindy.errors import (
    ConstantColumnWarning,
    DataError,
    DuplicateRowsWarning,
    EncodingGuessWarning,
    GapWarning,
    GuessedColumnWarning,
    MissingValuesWarning,
    MixedUnitsWarning,
    NotEnoughDataError,
    OutlierWarning,
    ReadingWarning,
    RenamedColumnsWarning,
    RepeatedSamplesWarning,
    ShortPiecesWarning,
    TimeRestartsWarning,
    UnreadableFieldsWarning,
    UnsortedTimesWarning,
    WgsindyError,
    WgsindyWarning,
)
from wgsindy.files import Reading, read
from wgsindy.files.cleaning.gaps import longest_usual_step
from wgsindy.files.cleaning.suspicious import _changes_of_scale

N, DT = 200, 0.01
TIMES = np.arange(N) * DT


def walk(seed: int = 0, n: int = N, d: int = 2) -> FloatArray:
    return np.cumsum(np.random.default_rng(seed).normal(0.0, 0.1, (n, d)), axis=0)


def frame(seed: int = 0) -> pd.DataFrame:
    x = walk(seed)
    return pd.DataFrame({"t": TIMES, "x": x[:, 0], "y": x[:, 1]})


def counts(reading: Reading, kind: str) -> list[int]:
    return [note.count for note in reading.notes if note.kind == kind]


def text(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "data.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# Sources


@pytest.mark.parametrize(
    "convert",
    [
        lambda f: f,
        pl.from_pandas,
        lambda f: pl.from_pandas(f).lazy(),
        lambda f: pa.Table.from_pandas(f),
        lambda f: f.set_index("t"),
        lambda f: f.assign(t=pd.to_datetime(1.7e9 + f.t, unit="s")).set_index("t"),
        lambda f: f.set_index(pd.to_datetime(1.7e9 + f.t, unit="s").to_numpy())[["x", "y"]],
        lambda f: {name: f[name].to_numpy() for name in f},
        lambda f: f.assign(day=["Monday"] * len(f)),
        lambda f: f.melt(id_vars="t"),
        lambda f: f.melt(id_vars="t").sort_values("t", kind="stable"),
        lambda f: f.to_records(index=False),
        lambda f: [f],
    ],
)
def test_every_kind_of_frame_gives_the_same_data(convert: Callable[[pd.DataFrame], Any]) -> None:
    data = read(convert(frame())).data
    assert (len(data), data.names) == (1, ("x", "y"))
    np.testing.assert_array_equal(data.states, walk())
    np.testing.assert_allclose(data.steps(0), DT, atol=2e-6)  # timestamps end at microseconds


def test_arrays_are_read_like_trajectories() -> None:
    for source in (walk(), [walk()], walk()[None], {"states": walk(), "dt": np.array(DT)}):
        data = read(source, dt=None if isinstance(source, dict) else DT).data
        np.testing.assert_array_equal(data[0], walk())
        assert data.mean_dt == pytest.approx(DT)
    assert len(read([walk(0), walk(1, 50)], dt=DT).data) == 2
    assert read(walk()[:, 0], dt=DT).data.dimension == 1
    beside = read({"time": TIMES, "positions": np.stack([walk(0), walk(1)])}).data
    assert (len(beside), beside.names) == (2, ("x", "y"))


def test_one_file_a_trajectory_in_natural_order(tmp_path: Path) -> None:
    for k in (1, 2, 10):
        frame(k).to_csv(tmp_path / f"run{k}.csv", index=False)
    data = read(str(tmp_path / "run*.csv")).data
    for k, path in zip((1, 2, 10), data, strict=True):
        np.testing.assert_array_equal(path, walk(k))
    pair = read([tmp_path / "run10.csv", tmp_path / "run1.csv"]).data
    np.testing.assert_array_equal(pair[0], walk(10))


def test_files_with_different_columns_are_refused(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "a.csv", index=False)
    frame().rename(columns={"y": "z"}).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(DataError, match=r"b\.csv has no column 'y'; its columns are 't', 'x', 'z'"):
        read(tmp_path / "*.csv")


# Roles of columns


def test_columns_are_chosen_by_name_and_by_position() -> None:
    assert read(frame(), states="y").data.names == ("y",)
    assert read(frame(), states=["y", "x"]).data.names == ("y", "x")
    by_position = read(np.column_stack([walk(), TIMES]), time=2, states=[1]).data
    np.testing.assert_array_equal(by_position[0], walk()[:, 1:])
    assert by_position.mean_dt == pytest.approx(DT)
    assert read(frame(), names=("u", "v")).data.names == ("u", "v")


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
        ({"dt": "fast"}, "dt must be a number, got 'fast'"),
        ({"gap": 0.0}, "gap must be > 0, got 0.0"),
        ({"variable": "x"}, "needs both variable and value"),
    ],
)
def test_a_wrong_argument_is_a_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        read(frame(), **options)


def test_row_numbers_and_text_are_no_states(tmp_path: Path) -> None:
    frame().assign(note="ok").to_csv(tmp_path / "a.csv")  # pandas adds a column of row numbers
    assert read(tmp_path / "a.csv").data.names == ("x", "y")
    with pytest.raises(DataError, match=r"column 'note' .* holds text \(such as 'ok'\)"):
        read(tmp_path / "a.csv", states=["note"])


def test_an_id_of_each_row_is_no_trajectory() -> None:
    assert len(read(frame().assign(id=range(N))).data) == 1
    assert len(read(frame().assign(id=np.arange(N) % 2)).data) == 2


def test_a_counter_of_frames_is_scaled_by_dt() -> None:
    counted = frame().assign(t=range(N)).rename(columns={"t": "frame"})
    assert read(counted, dt=0.04).data.mean_dt == pytest.approx(0.04)
    with pytest.warns(GuessedColumnWarning, match="'column 0' .* is taken as time"):
        data = read(np.column_stack([np.arange(N), walk()]), dt=0.04).data
    assert data.dimension == 2
    assert data.mean_dt == pytest.approx(0.04)


def test_a_state_is_not_mistaken_for_time() -> None:
    lattice = np.cumsum(np.sign(np.diff(walk(), axis=0)), axis=0)
    growing = np.cumsum(np.abs(walk()), axis=0)
    for source in (walk(), lattice):
        with pytest.raises(DataError, match="no column of times that can be recognised"):
            read(source)
    assert read(growing, dt=DT).data.dimension == 2


def test_names_are_made_fit_for_formulas() -> None:
    alike = frame().rename(columns={"x": "a b", "y": "a-b"})
    with pytest.warns(RenamedColumnsWarning, match="a-b -> a_b_"):
        assert read(alike).data.names == ("a_b", "a_b_")
    odd = frame().rename(columns={"x": "Temp (°C)", "y": "2nd"})
    with pytest.warns(RenamedColumnsWarning, match=r"Temp \(°C\) -> Temp_C; 2nd -> x_2nd"):
        assert read(odd).data.names == ("Temp_C", "x_2nd")


def test_a_logarithm_is_read_as_the_state() -> None:
    data = read(frame().assign(x=np.exp(walk()[:, 0])), log=("x",)).data
    assert data.names == ("log_x", "y")
    np.testing.assert_allclose(data.states, walk(), atol=1e-12)


def test_a_long_table_that_contradicts_itself_is_refused() -> None:
    long = frame().melt(id_vars="t")
    with pytest.raises(DataError, match="two different states at one time, 1 time in all"):
        read(pd.concat([long, long.iloc[[7]].assign(value=9.0)]))
    with pytest.raises(DataError, match="two different states at one time"):
        read(pd.concat([long, long.iloc[[7]]]))  # half a row of copies is no copy of a row


def test_a_transposed_array_is_refused() -> None:
    with pytest.raises(DataError, match=r"shape \(2, 200\): 200 coordinates.*pass its transpose"):
        read(walk().T, dt=DT)


# Times


def stamped(times: Any) -> pd.DataFrame:
    return frame().drop(columns="t").assign(time=times)


@pytest.mark.parametrize(
    ("times", "options", "dt"),
    [
        (pd.date_range("2024-02-28", periods=N, freq="D"), {"unit": "days"}, 1.0),
        (pd.date_range("2024-02-28", periods=N, freq="D").astype(str), {}, 86_400.0),
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


def test_a_clock_that_is_not_iso_is_refused() -> None:
    times = pd.date_range("2024-02-28", periods=N, freq="h").strftime("%d/%m/%Y %H:%M")
    with pytest.raises(DataError, match=r"such as '28/02/2024 00:00', are not in ISO 8601; pass"):
        read(stamped(times))


# Repairs


def test_rows_out_of_order_are_sorted() -> None:
    backwards = frame().iloc[::-1]
    for source in (backwards, backwards.assign(t=np.arange(N, dtype=np.uint8)[::-1])):
        with pytest.warns(UnsortedTimesWarning, match="200 rows out of order: sorted"):
            reading = read(source)
        np.testing.assert_array_equal(reading.data[0], walk())
    swapped = frame().iloc[[*range(50), 51, 50, *range(52, N)]]
    with pytest.warns(UnsortedTimesWarning, match="2 rows"):
        np.testing.assert_array_equal(read(swapped).data[0], walk())


def test_time_that_starts_again_is_another_trajectory() -> None:
    both = pd.concat([frame(0), frame(1)])
    with pytest.warns(TimeRestartsWarning, match="starts again 1 time"):
        data = read(both).data
    np.testing.assert_array_equal(data[1], walk(1))
    halves = pd.concat([frame()[100:], frame()[:100]])
    with pytest.warns(UnsortedTimesWarning):
        np.testing.assert_array_equal(read(halves).data[0], walk())


def test_copies_are_dropped_and_contradictions_refused() -> None:
    with pytest.warns(DuplicateRowsWarning, match="3 rows with the time and states of another"):
        reading = read(frame().iloc[[0, 0, *range(1, 90), 89, 89, *range(90, N)]])
    np.testing.assert_array_equal(reading.data[0], walk())
    with pytest.warns(DuplicateRowsWarning, match="whole trajectories.*: 1 left out"):
        assert len(read([frame(), frame(), frame(1)]).data) == 2
    with pytest.raises(DataError, match=r"two different states at one time, 180 times.*trajectory"):
        read(frame().assign(t=np.floor(TIMES * 10 + 1e-6) / 10))


def test_missing_values_split_and_are_not_filled() -> None:
    x = walk()
    x[50, 0], x[51, 1], x[120, 0] = np.nan, np.inf, np.nan
    with pytest.warns(MissingValuesWarning, match=r"3 rows with a missing.*; 3 trajectories"):
        data = read(x, dt=DT).data
    assert [len(path) for path in data] == [50, 68, 79]
    np.testing.assert_array_equal(data[1], walk()[52:120])
    with pytest.warns(MissingValuesWarning, match="1 row without a time"):
        lost = read(frame().assign(t=np.where(np.arange(N) == 7, np.nan, TIMES))).data
    assert (len(lost), lost.steps(0).max()) == (1, pytest.approx(2 * DT))


def test_a_lone_sample_is_left_out() -> None:
    x = walk()
    x[[50, 52], 0] = np.nan
    with pytest.warns(ReadingWarning) as seen:
        assert [len(path) for path in read(x, dt=DT).data] == [50, 147]
    assert [w.category for w in seen] == [MissingValuesWarning, ShortPiecesWarning]


def test_a_gap_splits_and_its_length_can_be_chosen() -> None:
    holed = frame().drop(range(50, 80))
    with pytest.warns(GapWarning, match=r"1 gap in time \(0\.31 in all\)"):
        assert [len(path) for path in read(holed).data] == [50, 120]
    assert len(read(holed, gap=1.0).data) == 1
    assert len(read(frame().drop(range(50, 53))).data) == 1  # 4 steps are no gap
    with pytest.warns(GapWarning):
        assert len(read(frame().drop(range(50, 53)), gap=2 * DT).data) == 2


def test_random_sampling_has_no_gaps() -> None:
    # 10^5 exponential steps: one false gap in 30 runs; the seed is not one of them.
    steps = np.random.default_rng(0).exponential(size=100_000)
    assert steps.max() < longest_usual_step(steps)
    # Bursts of 10 samples and a night: every tenth step is a gap all the same.
    bursts = np.where(np.arange(1000) % 10 == 9, 1000.0, 1.0)
    assert longest_usual_step(bursts) < 30


def test_columns_measured_at_different_times_are_refused() -> None:
    x = walk()
    x[::2, 0], x[1::2, 1] = np.nan, np.nan
    with pytest.raises(NotEnoughDataError, match=r"200 rows 200 lack a value.*different times"):
        read(x, dt=DT)


# Doubts about states


def test_a_constant_column_is_left_out_or_refused() -> None:
    still = frame().assign(k=3.5)
    with pytest.warns(ConstantColumnWarning, match="'k' never changes"):
        assert read(still).data.names == ("x", "y")
    with pytest.raises(DataError, match="'k' never changes within a trajectory"):
        read(still, states=["x", "k"])
    with pytest.raises(DataError, match="never changes"):
        read(np.ones(50), dt=1.0)
    by_run = pd.concat([frame(k).assign(run=k, k=float(k)) for k in range(2)])
    with pytest.warns(ConstantColumnWarning):
        assert read(by_run).data.names == ("x", "y")


def doubts(x: FloatArray) -> list[tuple[type[Warning], str]]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        data = read(x, dt=DT).data
    np.testing.assert_array_equal(data.states, x)  # doubts never change the data
    return [(w.category, str(w.message)) for w in seen]


def spoiled(rows: Any, value: float) -> FloatArray:
    x = walk()
    x[rows, 0] = value
    return x


def test_stalls_spikes_jumps_and_units_are_named() -> None:
    assert doubts(walk()) == []
    ((kind, sentence),) = doubts(spoiled([50], 40.0))
    assert kind is OutlierWarning
    assert sentence.startswith("1 value of x more than 20 times farther")
    ((kind, sentence),) = doubts(spoiled([50, 51, 80], -999.0))
    assert kind is OutlierWarning
    assert "3 values of x at exactly -999" in sentence
    assert "missing=[-999]" in sentence
    shifted = walk()
    shifted[100:, 1] += 300
    ((kind, sentence),) = doubts(shifted)
    assert kind is OutlierWarning
    assert "1 value of y" in sentence
    scaled = walk()
    scaled[100:150, 1] *= 1000
    ((kind, sentence),) = doubts(scaled)
    assert kind is MixedUnitsWarning
    assert "increments of y change by a factor of 100 or more, 2 times" in sentence
    stalled = walk()
    stalled[50:60] = stalled[50]
    ((kind, sentence),) = doubts(stalled)
    assert kind is RepeatedSamplesWarning
    assert sentence.startswith("9 samples")


def test_a_change_of_unit_is_seen_wherever_it_falls() -> None:
    for seed in range(20):
        for row in range(100, 111):
            path = walk(seed, d=1)[:, 0]
            path[row:] *= 1000
            assert _changes_of_scale(path) == 1


def test_a_file_in_another_unit_is_named() -> None:
    files = [frame(k) for k in range(4)]
    files[2] = files[2].assign(x=files[2].x * 1000)
    with pytest.warns(
        MixedUnitsWarning, match=r"1 trajectory \(first: data frame 2\) with increments"
    ):
        read(files)
    files[2] = frame(2).assign(t=TIMES * 1000)
    with pytest.warns(
        MixedUnitsWarning, match=r"\(first: data frame 2\) with steps in time 1e\+03"
    ):
        read(files)


def test_growing_noise_is_not_another_unit() -> None:
    # The negative control: noise proportional to the state, over five decades.
    rng = np.random.default_rng(0)
    x = np.exp(np.cumsum(rng.normal(0.0, 0.1, (20_000, 1)), axis=0))
    assert np.ptp(np.log10(x)) > 5
    assert doubts(x) == []


@pytest.mark.parametrize("x", [[1, 2, 1], [2, 1, 2], [0, 1, 0, 1], [0, 1, 0, 2, 0]])
def test_a_few_values_are_not_far_from_all_others(x: list[float]) -> None:
    # Two values have no spread to be far away from, nor are most of them the odd ones.
    assert doubts(np.array(x, dtype=float)[:, None]) == []


def test_two_levels_are_no_stand_in() -> None:
    # Nine values near 0 and eleven at 50 exactly: the others are not most of the values.
    x = np.concatenate([np.linspace(0, 1, 9), np.full(11, 50.0)])
    assert "at exactly" not in str(doubts(x[:, None]))


def test_numbers_that_stand_for_nothing_can_be_named() -> None:
    with pytest.warns(MissingValuesWarning, match="2 rows"):
        assert len(read(spoiled([50, 80], -999.0), dt=DT, missing=-999).data) == 3


# Text


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


@pytest.mark.parametrize(
    ("content", "kind", "sentence"),
    [
        (b"", NotEnoughDataError, "data.txt is empty"),
        (b"\n \n", NotEnoughDataError, "data.txt is empty"),
        (b"\x00\x01\x02\x03", DataError, "bytes that no text has"),
        (b"\xff\xfet\x00,", DataError, "cannot be decoded at byte|half written"),
        ("Dear all,\nplease find the data attached.\n", DataError, "no table of numbers"),
        ("# nothing\n", DataError, "nothing but comments"),
        ("t,x\n", DataError, "no table of numbers"),
        ("x\n1\n2\n4\n", DataError, "no column of times .* pass time .* or dt"),
        ("t\n1\n2\n4\n", DataError, "no column of states: its 1 column are 't'"),
        ("t,x\n0,1\n", NotEnoughDataError, "no trajectory has two rows"),
        ("t,x,x\n0,1,2\n1,2,2\n", DataError, "two columns called 'x'"),
        ("t;x\n0;1,5\n1;2.5\n2;3,5\n", DataError, "2 numbers with a decimal comma and 1 with"),
        (b"PAR1garbage", DataError, "cannot be read as Parquet"),
        (b"\x93NUMPYgarbage", DataError, "cannot be read as NPY"),
        (b"PK\x03\x04garbage", DataError, "cannot be read as NPZ"),
        (b"\x89HDF\r\n\x1a\ngarbage", DataError, "cannot be read as HDF5"),
        (b"\x1f\x8bgarbage", DataError, "cannot be unpacked"),
        (b"MATLAB 5.0 MAT-file", DataError, "save it as CSV"),
    ],
)
def test_a_pathological_file_is_a_sentence(
    tmp_path: Path, content: str | bytes, kind: type[WgsindyError], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        read(text(tmp_path, content))


@pytest.mark.parametrize("source", ["nowhere.csv", "*.nothing", ".", [], 3.0, object(), None, "\0"])
def test_a_source_that_is_none_is_a_sentence(
    source: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"cannot be read|no file matches|is a folder|empty|path"):
        read(source)


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(DataError, match=r"needs the package h5py: pip install 'wgsindy\[arrays\]'"):
        read(text(tmp_path, b"\x89HDF\r\n\x1a\n"))
